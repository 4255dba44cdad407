// The spaces on this device, and the one that is open: its diary, its state, and signing in.

import { DiarioError, open, remove } from "../diario.js";
import { Observed } from "./ui.js";
import { t } from "./words.js";

const SPACES = "diario.spaces";
const CURRENT = "diario.space";
const TOKEN = /^diario_[a-z0-9]+_[a-z0-9]+$/;
/** Milliseconds between two looks at the state while much happens. */
const CALM = 100;

/** What people fill in at sign-in is wrong. */
export class SignInError extends Error {}

const read = (key, fallback) => {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? fallback;
  } catch {
    return fallback;
  }
};

/** The token, and the space if it is named, of a token or of a link. */
function parse(text) {
  const typed = text.trim();
  if (typed === "") throw new SignInError(t("tokenEmpty"));
  if (TOKEN.test(typed)) return { token: typed };
  let link;
  try {
    link = new URL(typed);
  } catch {
    throw new SignInError(t("tokenForm"));
  }
  if (!link.protocol.startsWith("http")) throw new SignInError(t("tokenForm"));
  const fields = new URLSearchParams(link.hash.replace(/^#\/?/, ""));
  const token = fields.get("token") ?? "";
  if (!TOKEN.test(token)) throw new SignInError(t("tokenIncomplete"));
  if (link.origin !== location.origin) throw new SignInError(t("otherServer", link.host));
  return { token, space: fields.get("space") ?? undefined };
}

/** The space of a token, as the server knows it. */
async function spaceOf(token) {
  let reply;
  try {
    const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
    reply = await fetch("/v1/spaces", { headers, cache: "no-store" });
  } catch {
    throw new SignInError(t("unreachable"));
  }
  if (reply.status === 401) throw new SignInError(t("tokenUnknown"));
  if (reply.status === 403) throw new SignInError(t("tokenRead"));
  if (!reply.ok) {
    const told = await reply.json().catch(() => ({}));
    throw new SignInError(told.detail ?? t("unreachable"));
  }
  return (await reply.json())[0];
}

class Session extends Observed {
  spaces = read(SPACES, []);
  /** "out", "opening", "copying", "open" or "failed". */
  phase = "out";
  diary;
  status;
  declared;
  progress;
  error;
  /** How much was pending when sending began. */
  burst = 0;
  isFull = false;
  isBusy = false;
  isOutdated = false;
  heard;
  #isLooking = false;
  #current = localStorage.getItem(CURRENT);

  constructor() {
    super();
    addEventListener("storage", ({ key }) => {
      if (key !== SPACES) return;
      const before = this.space?.token;
      this.spaces = read(SPACES, []);
      if (this.space?.token !== before && this.phase !== "out") this.#reopen();
      else this.changed();
    });
    addEventListener("online", () => this.look());
    addEventListener("offline", () => this.look());
  }

  /** The space that is open, or was last. */
  get space() {
    return this.spaces.find((space) => space.name === this.#current);
  }

  #keep() {
    localStorage.setItem(SPACES, JSON.stringify(this.spaces));
    if (this.#current) localStorage.setItem(CURRENT, this.#current);
    else localStorage.removeItem(CURRENT);
    this.changed();
  }

  #note(space) {
    const others = this.spaces.filter((other) => other.name !== space.name);
    this.spaces = [...others, space].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#keep();
  }

  // ---- Signing in and out ----

  /** With a token or a link; throws `SignInError` with what is wrong with it. */
  async signIn(text) {
    const { token } = parse(text);
    const { space: name, actor } = await spaceOf(token);
    const known = this.spaces.find((space) => space.name === name);
    if (known?.actor && actor !== known.actor) {
      throw new SignInError(t("otherActor", name, known.actor));
    }
    await this.enter({ ...known, name, token, actor: actor ?? known?.actor });
  }

  /** Notes a space, and opens it. */
  async enter(space) {
    await this.#end();
    this.#current = space.name;
    this.#note(space);
    await this.open();
  }

  /** The token is gone from this browser; what was recorded stays. */
  async signOut() {
    const space = this.space;
    await this.#end();
    this.#note({ ...space, token: undefined });
    this.#current = undefined;
    this.phase = "out";
    this.#keep();
  }

  async choose(name) {
    if (name === this.#current && this.phase === "open") return;
    await this.#end();
    this.#current = name;
    this.#keep();
    await this.open();
  }

  async removeSpace(name) {
    if (name === this.#current) {
      await this.#end();
      this.#current = undefined;
      this.phase = "out";
    }
    await this.forget(name);
  }

  /** Gives up what is here of the open space, and takes it from the server again. */
  async copyAgain() {
    await remove({ url: `/v1/spaces/${this.space.name}` });
    await this.open();
  }

  /** Removes the files of a space. Other tabs hear that it is gone, and close it. */
  async forget(name) {
    const space = this.spaces.find((other) => other.name === name);
    this.spaces = this.spaces.filter((other) => other !== space);
    this.#keep();
    try {
      await remove({ url: `/v1/spaces/${name}` });
    } catch (error) {
      this.#note(space);
      throw error;
    }
  }

  // ---- The diary ----

  /** Opens the space that was open last, if there is one. */
  async open() {
    const space = this.space;
    if (!space) return;
    Object.assign(this, { phase: "opening", error: undefined, progress: undefined, burst: 0 });
    this.changed();
    try {
      const opened = await open({
        url: `/v1/spaces/${space.name}`,
        token: space.token,
        onProgress: (progress) => {
          Object.assign(this, { phase: "copying", progress });
          this.changed();
        },
      });
      this.diary = opened;
      opened.on((news) => this.#hear(news));
      this.declared = (await opened.declared()).packs;
      await this.#look();
      this.phase = "open";
    } catch (error) {
      Object.assign(this, { phase: "failed", error });
    }
    this.changed();
  }

  async #end() {
    const diary = this.diary;
    // No page is drawn meanwhile: each has a diary.
    Object.assign(this, { phase: "opening", diary: undefined, status: undefined });
    this.changed();
    await diary?.close();
  }

  async #reopen() {
    await this.#end();
    if (this.space) await this.open();
    else this.phase = "out";
    this.changed();
  }

  #hear(news) {
    if (news.busy) this.isBusy = true;
    if (news.outdated) this.isOutdated = true;
    if (news.problem) this.problem = news.problem;
    if (news.sync?.state === "idle") this.heard = Date.now();
    this.look();
  }

  /** Looks at the state in a moment, once for all that asked. */
  look() {
    if (this.#isLooking || !this.diary) return;
    this.#isLooking = true;
    setTimeout(async () => {
      this.#isLooking = false;
      try {
        await this.#look();
      } catch (error) {
        this.problem = error.message;
      }
      this.changed();
    }, CALM);
  }

  async #look() {
    const diary = this.diary;
    if (!diary) return;
    const status = await diary.status();
    this.isBusy = false;
    const packs = this.status?.packs;
    this.status = status;
    if (status.sync === "idle" && !status.lastError && status.pending === 0) {
      this.heard ??= Date.now();
    }
    this.burst = status.pending === 0 ? 0 : Math.max(this.burst, status.pending);
    if (packs !== undefined && packs !== status.packs) {
      this.declared = (await diary.declared()).packs;
    }
    const space = this.space;
    const seen = { pending: status.pending, apps: this.declared?.map((pack) => pack.name) };
    if (space && (space.pending !== seen.pending || String(space.apps) !== String(seen.apps))) {
      this.#note({ ...space, ...seen });
    }
  }

  /** Does something that records; a full storage is told in the frame. */
  async recording(body) {
    try {
      const result = await body(this.diary);
      this.isFull = false;
      return result;
    } catch (error) {
      this.isFull = error instanceof DiarioError && error.kind === "full";
      throw error;
    } finally {
      this.look();
    }
  }

  // ---- What the state of saving says ----

  get isOffline() {
    return navigator.onLine === false || Boolean(this.status?.lastError);
  }

  /** `{ state, tone, short, long }` of the sign. */
  get saving() {
    const { pending = 0, saved, sync, inbox = 0 } = this.status ?? {};
    if (this.isFull) {
      return { state: "unsaved", tone: "bad", short: t("full"), long: t("fullMore") };
    }
    if (saved === "no") {
      return { state: "unsaved", tone: "warning", short: t("notSaved"), long: t("keepsNothing") };
    }
    if (inbox > 0) {
      return {
        state: "refused", tone: "bad", count: inbox,
        short: t("refused", inbox), long: t("refusedByServer", inbox),
      };
    }
    if (sync === "paused") {
      const short = pending > 0 ? t("pausedHere", pending) : t("paused");
      return { state: "paused", tone: "warning", count: pending, short, long: short };
    }
    if (this.isOffline) {
      return pending > 0
        ? {
            state: "offline", count: pending,
            short: t("offlineHere", pending), long: t("offlineSaved", pending),
          }
        : { state: "offline", short: t("offline"), long: t("offline") };
    }
    if (pending === 0) return { state: "both", short: t("onServer"), long: t("allOnServer") };
    if (pending < this.burst) {
      const words = t("sent", this.burst - pending, this.burst);
      return { state: "sending", count: pending, short: words, long: words };
    }
    return {
      state: "here", count: pending,
      short: t("onlyHere", pending), long: t("savedOnlyHere", pending),
    };
  }
}

export const session = new Session();
