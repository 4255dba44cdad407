// A diary in the browser: a replica of a space, recorded offline and synced later.
//
//     import { open } from "/diario.js";
//     const diary = await open({ url: "/v1/spaces/home", token });

import { DiarioError } from "./engine.js";
import { follow } from "./follow.js";
import { Live } from "./live.js";
import { checkProof, stepsOf } from "./proofs.js";
import { nameOf, remove, salvage } from "./salvage.js";

export { checkProof, DiarioError, remove, salvage, stepsOf };

/** Milliseconds after which a tab that has the diary and says nothing counts as busy. */
const SILENCE = 2000;
/** Milliseconds that a worker has to hear that a question is ended. */
const CANCELING = 500;
/** Milliseconds until a tab that could not open the diary tries again. */
const AGAIN = 1000;
/** Calls that are not done twice. */
const WRITING = new Set(["record", "run", "recordAgain", "discard"]);

/**
 * Opens the diary of a space; the first time, its events are copied from the server.
 *
 * Several tabs may have it open: one of them has its files, and answers the others.
 */
export async function open(options) {
  const diary = new Diary(options);
  await diary.opened;
  return diary;
}

/** A name that nothing else has; the browser's own are there over HTTPS alone. */
const newName = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) =>
  word.toString(36)).join("-");

class Diary {
  #worker;
  #channel;
  #name;
  /** Calls that wait for an answer, by their numbers. */
  #waiting = new Map();
  #lastNumber = 0;
  #leads = false;
  #isClosed = false;
  #isKept = false;
  #live = new Set();
  #listeners = new Set();
  #tab = newName();
  #options;
  opened;

  constructor({ url, token, storage = "auto", onProgress }) {
    const address = new URL(url, location.href);
    this.#name = nameOf(address);
    // In memory each tab has a replica of its own; so it is where there are no locks.
    if (storage === "auto" && !navigator.locks) storage = "memory";
    if (storage === "memory") this.#name += `:${this.#tab}`;
    this.#options = { url: address.href.replace(/\/$/, ""), token, storage, name: this.#name };
    this.#channel = new BroadcastChannel(`diario:${this.#name}`);
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    this.opened = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject, onProgress };
    });
    this.#start();
    addEventListener("online", this.#online);
    addEventListener("visibilitychange", this.#visibility);
    // Another tab may have it.
    this.#channel.postMessage({ asks: this.#tab });
  }

  #settle;
  #isOpen = false;

  #opened() {
    this.#isOpen = true;
    this.#settle.resolve();
  }

  #start() {
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#take(data);
    this.#worker.onerror = (event) => {
      const message = event.message ?? "The worker ended. Reload this page.";
      this.#failed(new DiarioError({ kind: "system", message }));
    };
    this.#worker.postMessage({ open: this.#options });
  }

  #online = () => this.#worker.postMessage({ online: true });
  #visibility = () => {
    if (document.visibilityState === "visible") this.#worker.postMessage({ online: true });
    else if (this.#leads) this.#channel.postMessage({ offers: this.#tab });
  };

  /** A message of the own worker. */
  #take(data) {
    if (data.leads) {
      this.#leads = true;
      this.#opened();
      this.#channel.postMessage({ leads: this.#tab });
      this.#sendAgain();
    } else if (data.failed) {
      this.#failed(new DiarioError(data.failed));
    } else if (data.news) {
      this.#tell(data.news);
      this.#channel.postMessage({ news: data.news });
    } else if (data.canceled) {
      clearTimeout(this.#ending.get(data.canceled));
      this.#ending.delete(data.canceled);
    } else if (data.closed) {
      this.#worker.terminate();
    } else {
      this.#answer(data);
    }
  }

  /** The worker could not open the diary, or ended; where it was open once, it is tried again. */
  #failed(error) {
    this.#worker.terminate();
    this.#leads = false;
    if (this.#isOpen && error.message !== "") this.#tell({ problem: error.message });
    if (this.#isOpen) setTimeout(() => this.#isClosed || this.#start(), AGAIN);
    else this.#fail(error);
  }

  /** A message of another tab. */
  #hear(data) {
    if (this.#isClosed) return;
    if (data.asks && this.#leads) {
      this.#channel.postMessage({ leads: this.#tab });
    } else if (data.leads) {
      this.#opened();
      this.#sendAgain();
    } else if (data.offers && document.visibilityState === "visible") {
      this.#channel.postMessage({ takes: this.#tab, from: data.offers });
    } else if (data.takes && data.from === this.#tab && this.#leads) {
      this.#handOver();
    } else if (data.news) {
      this.#tell(data.news);
    } else if (data.call && this.#leads) {
      this.#channel.postMessage({ heard: data.call.id });
      this.#serve(data.call);
    } else if (data.cancel && this.#leads) {
      this.#end(data.cancel);
    } else if (data.heard) {
      const call = this.#waiting.get(data.heard);
      if (call) call.isHeard = true;
    } else if (data.answer) {
      this.#answer(data.answer);
    }
  }

  #serve(call) {
    this.#waiting.set(call.id, { isForeign: true });
    this.#worker.postMessage(call);
  }

  #answer({ id, result, error }) {
    const call = this.#waiting.get(id);
    if (!call) return;
    this.#waiting.delete(id);
    if (call.isForeign) {
      this.#channel.postMessage({ answer: { id, result, error } });
      return;
    }
    if (error) call.reject(new DiarioError(error));
    else call.resolve(result);
  }

  /** Lets a tab that is seen have the diary. */
  #handOver() {
    this.#leads = false;
    const worker = this.#worker;
    worker.onmessage = ({ data }) => {
      if (data.closed) worker.terminate();
      else if (!data.news) this.#answer(data);
    };
    worker.postMessage({ close: true });
    this.#start();
  }

  #fail(error) {
    this.#settle.reject(error);
    for (const [id, call] of this.#waiting) {
      this.#waiting.delete(id);
      if (!call.isForeign) call.reject(error);
    }
  }

  // ---- Calls ----

  #call(method, ...values) {
    if (this.#isClosed) {
      return Promise.reject(new DiarioError({ kind: "readOnly", message: "The diary is closed." }));
    }
    this.#lastNumber += 1;
    const id = `${this.#tab}/${this.#lastNumber}`;
    return new Promise((resolve, reject) => {
      const call = { resolve, reject, message: { id, method, values }, isHeard: false };
      this.#waiting.set(id, call);
      this.#post(call);
    });
  }

  #post(call) {
    if (this.#leads) {
      call.isHeard = true;
      this.#worker.postMessage(call.message);
      return;
    }
    this.#channel.postMessage({ call: call.message });
    setTimeout(() => {
      if (!this.#waiting.has(call.message.id) || call.isHeard || this.#leads) return;
      this.#tell({ busy: true });
    }, SILENCE);
  }

  /** Questions that are being ended: the worker may be in the middle of a long step. */
  #ending = new Map();

  /** Ends a call; if the worker does not hear of it, it is ended, and another one goes on. */
  #end(id) {
    this.#worker.postMessage({ cancel: id });
    const timer = setTimeout(() => {
      this.#ending.delete(id);
      this.#failed(new DiarioError({ kind: "busy", message: "" }));
    }, CANCELING);
    this.#ending.set(id, timer);
  }

  /** Lets who asked end it. */
  #abort(id) {
    const call = this.#waiting.get(id);
    if (!call) return;
    this.#waiting.delete(id);
    call.reject(new DiarioError({ kind: "system", message: "It was ended before it was done." }));
    if (this.#leads) this.#end(id);
    else this.#channel.postMessage({ cancel: id });
  }

  /** Another tab has the diary now, or this one: what nobody answered is sent once more. */
  #sendAgain() {
    for (const [id, call] of this.#waiting) {
      if (call.isForeign) continue;
      if (!call.isHeard || !WRITING.has(call.message.method)) {
        call.isHeard = false;
        this.#post(call);
      } else {
        this.#waiting.delete(id);
        const message = "The tab that had the diary ended meanwhile, so it is not known whether "
          + "this was recorded. Look for it before you record it again.";
        call.reject(new DiarioError({ kind: "busy", message }));
      }
    }
  }

  // ---- What changes ----

  #tell(news) {
    if (news.copying) this.#settle.onProgress?.(news.copying);
    if (news.tables) for (const live of this.#live) live.changed(news.tables);
    // Queries may say where the bytes are.
    if (news.blobs) for (const live of this.#live) live.ask();
    for (const listener of this.#listeners) listener(news);
  }

  /** Calls `listener` with what happens: changes of tables, of the sync, and what went wrong. */
  on(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // ---- Recording ----

  /** Records an event; resolves with its origin once it is durable. */
  async record(type, payload, { subject, at, actor } = {}) {
    const [origin] = await this.#write([line({ type, payload, subject, at, actor })]);
    return { origin };
  }

  /** Records events together, all of them or none; resolves with their origins. */
  async batch(events) {
    const name = newName();
    return this.#write(events.map((event) => line({ ...event, batch: name })));
  }

  async #write(lines) {
    const origins = await this.#call("record", lines);
    this.#keep();
    return origins;
  }

  /** Asks the browser once not to clear what is here when room gets scarce. */
  #keep() {
    if (this.#isKept) return;
    this.#isKept = true;
    navigator.storage?.persist?.();
  }

  /** Calls a command of a pack, `PACK.COMMAND`. */
  async run(name, input, { at, actor, language, dryRun } = {}) {
    const call = { name, input, at: text(at), actor, language, dryRun };
    const answer = await this.#call("run", call);
    if (answer.events.length > 0) this.#keep();
    return answer;
  }

  /** Calls a view of a pack: a calculation that records nothing. */
  async view(name, input, { language } = {}) {
    return (await this.#call("run", { name, input, language })).result;
  }

  // ---- Pictures and other bytes ----

  blobs = {
    /**
     * Keeps bytes, encrypted under a new key; resolves with what an event says of them once they
     * are durable: record it after that. With `field` as the fields of a payload: `photoId` etc.
     */
    put: async (source, { field, type, isPublic } = {}) => {
      const blob = await this.#call("putBlob", source, { type, isPublic });
      this.#keep();
      if (!field) return blob;
      const named = Object.entries(blob).map(([name, value]) => [
        field + name[0].toUpperCase() + name.slice(1),
        value,
      ]);
      return Object.fromEntries(named);
    },

    /** The bytes to which an event refers, by its id or what `put` told, as a Blob. */
    get: (named) => this.#call("getBlob", named),

    /** The blobs to which events refer, and where their bytes are. */
    status: () => this.#call("blobStatus"),
  };

  // ---- Asking ----

  /** The rows of a query of a pack. */
  async query(query, parameters = {}, { bigint = false, signal } = {}) {
    return (await this.#ask({ query, parameters, bigint }, signal)).rows;
  }

  /** The rows of a SELECT over the read models of all packs. */
  async sql(sql, parameters = {}, { bigint = false, signal } = {}) {
    return (await this.#ask({ sql, parameters, bigint }, signal)).rows;
  }

  async #ask(question, signal) {
    signal?.throwIfAborted();
    const answer = this.#call("ask", question);
    const id = `${this.#tab}/${this.#lastNumber}`;
    const abort = () => this.#abort(id);
    signal?.addEventListener("abort", abort);
    try {
      return await answer;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Gives the rows of a query now, and again each time a table changes that it was read from. */
  live(query, parameters, take, failed = () => {}) {
    const live = new Live(() => this.#call("ask", { query, parameters }), query, take, failed);
    this.#live.add(live);
    live.ask();
    return () => {
      live.isOver = true;
      this.#live.delete(live);
    };
  }

  // ---- The replica ----

  /** Where it stands: `saved` is "opfs", or "no" in memory; `quota` and `usage` are bytes. */
  async status() {
    const [status, { quota, usage } = {}] = await Promise.all([
      this.#call("status"),
      navigator.storage?.estimate?.(),
    ]);
    return { ...status, quota, usage };
  }

  /** Events, the newest first: those that are only here before those that have a position. */
  events(wanted = {}) {
    const { since, until } = wanted;
    return this.#call("events", { ...wanted, since: text(since), until: text(until) });
  }

  /** All of an event, by its position or its origin. */
  event(name) {
    return this.#call("event", name);
  }

  /**
   * Gives the events from a position on to `take`, one after the other, and then those that come;
   * what it returns ends that. `take` may be asynchronous: the next event waits for it.
   */
  follow(from, take, { failed = () => {}, ...wanted } = {}) {
    const head = async () => (await this.#call("place")).head;
    return follow(this, head, from, take, failed, wanted);
  }

  /**
   * The proof that an event is in the log, by its position or origin; `checkProof` checks it, and
   * so does `diario check`. With `from` in place of an event: that the log begins as it did then.
   */
  prove(event, { size, row, from } = {}) {
    const name = event === undefined ? undefined : `${event}`;
    return this.#call("prove", { event: name, size, row, from });
  }

  /** Events as lines of JSON, as `diario import` takes them; with `pending` what is only here. */
  async export({ pending = false } = {}) {
    const lines = await this.#call("export", { pending });
    return new Blob([lines], { type: "application/x-ndjson" });
  }

  /** The packs in use, with their commands, views and queries. */
  declared() {
    return this.#call("declared");
  }

  /** How long the engine took at most for what, and its memory: for who measures. */
  timings() {
    return this.#call("timings");
  }

  /** Own events that the server refused. */
  inbox() {
    return this.#call("inbox");
  }

  /** One of them, by the origin of any of its events, with these and what others wrote. */
  refused(origin) {
    return this.#call("refused", origin);
  }

  /** Records refused events once more, as new ones; `force` also if others wrote meanwhile. */
  recordAgain(origin, { force } = {}) {
    return this.#call("recordAgain", origin, { force });
  }

  /** Removes refused events for good. */
  discard(origin) {
    return this.#call("discard", origin);
  }

  /** The events that a read model could not take. */
  quarantine() {
    return this.#call("quarantine");
  }

  /** Builds the read models again that left events out, and tells which they still leave out. */
  retryQuarantine() {
    return this.#call("retryQuarantine");
  }

  sync() {
    return this.#call("sync");
  }

  /** Reads and checks everything. */
  verify() {
    return this.#call("verify");
  }

  async close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    removeEventListener("online", this.#online);
    removeEventListener("visibilitychange", this.#visibility);
    this.#live.clear();
    this.#fail(new DiarioError({ kind: "readOnly", message: "The diary is closed." }));
    await new Promise((resolve) => {
      this.#worker.onmessage = ({ data }) => data.closed && resolve();
      this.#worker.postMessage({ close: true });
    });
    this.#worker.terminate();
    this.#channel.close();
  }
}

const text = (at) => (at instanceof Date ? at.toISOString() : at);

/** A line of JSON as events are imported; BigInt is written as a number. */
function line(event) {
  const numbers = [];
  const mark = `#${newName()}#`;
  const json = JSON.stringify({ ...event, at: text(event.at) }, (_, value) => {
    if (typeof value !== "bigint") return value;
    numbers.push(value);
    return mark;
  });
  // The marks come in the order in which they were put.
  return numbers.length === 0 ? json : json.replaceAll(`"${mark}"`, () => `${numbers.shift()}`);
}
