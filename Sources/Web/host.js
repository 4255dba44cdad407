// The replica in the worker that owns it: calls of pages, syncs, and what the log has to do.

import { HostBlobs } from "./blobs.js";
import { breathe, copySpace, STEP } from "./copy.js";
import { DiarioError, Engine, MemorySlot, readJSON } from "./engine.js";

/** Slots that are kept free, and those that are opened when fewer are. */
const FREE_MIN = 24;
const GROWTH = 32;
const FIRST_COUNT = 128;
/** Seconds that a server is asked to wait for news. */
const NEWS_WAIT = 50;
const MESSAGE = "application/vnd.diario.message";

const pause = (milliseconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** One replica: its engine, its files and its sync. */
export class Host {
  #engine;
  #folder;
  #options;
  #about;
  #blobs;
  #replica;
  #head = 0;
  #isClosed = false;
  #isResting = false;
  /** What comes in a moment anyway. */
  #planned = new Set();
  #sync = { state: "idle" };
  #syncing;
  #wake = new AbortController();
  #notify;
  /** Called once the engine cannot be used any more: this host is to be left then. */
  onTrap;

  /**
   * `url` and `token` lead to the space of the server; `module` is the compiled engine, and
   * `folder` a SlotFolder, or missing for a replica in memory: both may be promises. `notify` is
   * told what changed.
   */
  constructor({ module, folder, url, token, notify = () => {} }) {
    this.#options = { module, url, token };
    this.#folder = folder;
    this.#notify = notify;
  }

  // ---- Opening ----

  /** Opens the replica, or copies the space of the server first. */
  async open(progress = () => {}) {
    await this.#takePool();
    this.#about = this.#engine.call("about");
    const server = this.#options.url;
    this.#blobs = new HostBlobs({ ...this.#tools(), server, notify: this.#notify });
    try {
      this.#take(this.#engine.call("open"));
    } catch (error) {
      if (error.kind !== "notFound") throw error;
      await copySpace({ ...this.#tools(), send: (body) => this.#send(body), progress });
      this.#take(this.#engine.call("open"));
    }
    this.#rest();
  }

  async #takePool() {
    const [module, slots] = await Promise.all([this.#options.module, this.#firstSlots()]);
    this.#engine = new Engine(module, slots);
    this.#engine.onTrap = () => this.onTrap?.();
    this.#engine.takePool();
  }

  /** In place of `open`: what can be read of the pending events where it does not open. */
  async salvage() {
    const told = [];
    await this.#takePool();
    await this.#work("salvage", "", (text) => told.push(text));
    return { ...JSON.parse(told.pop()), lines: told.join("") };
  }

  /** What others need of a host to work for it. */
  #tools() {
    return {
      engine: this.#engine,
      fetch: (path, options) => this.#fetch(path, options),
      told: (reply, body) => this.#told(reply, body),
      makeRoom: () => this.#makeRoom(),
      follow: () => this.#work("follow", ""),
    };
  }

  async #firstSlots() {
    if (!this.#folder) return Array.from({ length: FIRST_COUNT }, () => new MemorySlot());
    return (await this.#folder).openUpTo(FIRST_COUNT);
  }

  #take({ replica, head }) {
    this.#replica = replica;
    this.#head = head;
  }

  // ---- The server ----

  async #fetch(path, options = {}) {
    const headers = {
      authorization: `Bearer ${this.#options.token}`,
      "diario-packs": String(this.#about.packs),
      ...options.headers,
    };
    if (this.#replica) headers["diario-replica"] = this.#replica;
    // Never from a cache: what a server says now is asked for.
    let reply;
    try {
      reply = await fetch(this.#options.url + path, { ...options, headers, cache: "no-store" });
    } catch (error) {
      const message = `The server cannot be reached (${error.message}).`;
      throw new DiarioError({ kind: "offline", message });
    }
    if (reply.ok) this.#blobs.losses = reply.headers.get("diario-blobs-lost") ?? this.#blobs.losses;
    return reply;
  }

  /** The answer to a message, as the engine takes it: its head, a zero byte, its body. */
  async #send(body) {
    const reply = await this.#fetch("/sync", {
      method: "POST",
      headers: { accept: MESSAGE, "content-type": MESSAGE },
      body,
    });
    return this.#told(reply, await reply.arrayBuffer());
  }

  #told(reply, body) {
    const head = new TextEncoder().encode(
      JSON.stringify({
        status: reply.status,
        headers: Object.fromEntries(reply.headers),
        server: new URL(this.#options.url).host,
      }),
    );
    const told = new Uint8Array(head.length + 1 + body.byteLength);
    told.set(head);
    told.set(new Uint8Array(body), head.length + 1);
    return told;
  }

  /** Keeps the replica in sync until it is closed. */
  connect() {
    if (!this.#options.token) {
      this.#note({ state: "paused", lastError: "There is no token. Sign in to sync again." });
      return;
    }
    this.#syncing ??= Promise.all([this.#keepSynced(), this.#listen()]);
  }

  async #keepSynced() {
    while (!this.#isClosed) {
      let next;
      try {
        // The root goes along, and many hashes take long.
        await this.#work("hash", "");
        next = this.#engine.call("sync.next");
      } catch (error) {
        if (this.#isClosed) return;
        this.#note({ state: "paused", lastError: error.message });
        return;
      }
      if (next.action === "send") {
        await this.#exchange();
      } else if (next.action === "rest") {
        this.#note({ state: "idle" });
        this.#blobs.sync();
        await this.#sleep(60_000);
      } else if (next.action === "wait") {
        const state = navigator.onLine === false ? "offline" : "waiting";
        this.#note({ state, lastError: next.message });
        await this.#sleep(next.milliseconds);
      } else {
        this.#note({ state: "paused", lastError: next.message });
        await this.#sleep(Infinity);
      }
    }
  }

  async #exchange() {
    try {
      const answer = await this.#send(this.#engine.callBytes("sync.request"));
      if (this.#isClosed) return;
      const before = this.#head;
      this.#take(this.#engine.call("sync.answer", answer));
      await this.#makeRoom();
      if (this.#head !== before) {
        this.#notify({ head: this.#head });
        this.#tellChanges();
      }
      this.#rest();
    } catch (error) {
      if (this.#isClosed) return;
      // Whatever it is, it is tried again later.
      this.#engine.call("sync.failed", { message: error.message });
    }
  }

  /** Waits for news of others by long polls. */
  async #listen() {
    let failures = 0;
    while (!this.#isClosed) {
      try {
        const path = `/head?after=${this.#head}&wait=${NEWS_WAIT}`;
        const reply = await this.#fetch(path, { headers: { accept: "application/json" } });
        if (reply.status !== 200 && reply.status !== 204) throw new Error(`status ${reply.status}`);
        failures = 0;
        if (reply.status === 200) {
          const { head } = await reply.json();
          if (head > this.#head) this.heardOfNews();
          // Until that is here, the server would answer the same at once.
          for (let i = 0; i < 50 && head > this.#head; i += 1) await pause(20);
        }
      } catch {
        failures += 1;
        await pause(Math.min(60_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2));
      }
    }
  }

  /** There may be something to send or to fetch. */
  heardOfNews() {
    if (this.#isClosed || !this.#engine) return;
    this.#engine.call("sync.news");
    this.#wakeUp();
  }

  #wakeUp() {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  async #sleep(milliseconds) {
    const { signal } = this.#wake;
    await (Number.isFinite(milliseconds)
      ? pause(milliseconds, signal)
      : new Promise((resolve) => signal.addEventListener("abort", resolve)));
  }

  #note(sync) {
    const isNew = sync.state !== this.#sync.state || sync.lastError !== this.#sync.lastError;
    this.#sync = sync;
    if (isNew) this.#notify({ sync });
  }

  // ---- Work in steps ----

  /** Does something to its end; what it tells goes to `take`. */
  async #work(name, input, take = () => {}, signal) {
    const job = this.#engine.begin(name, input);
    for (;;) {
      if (signal?.aborted || this.#isClosed) {
        this.#engine.cancel(job);
        throw new DiarioError({ kind: "system", message: "It was ended before it was done." });
      }
      const isMore = this.#engine.step(job, STEP);
      const text = this.#engine.text();
      if (text !== "") take(text);
      if (!isMore) return;
      await this.#makeRoom();
      await breathe();
    }
  }

  /** Hashes and seals what is due, between calls. */
  async #rest() {
    if (this.#isResting) return;
    this.#isResting = true;
    try {
      await breathe();
      await this.#work("rest", "");
    } catch (error) {
      if (!this.#isClosed) this.#notify({ problem: error.message });
    } finally {
      this.#isResting = false;
    }
  }

  async #makeRoom() {
    if (this.#engine.freeCount >= FREE_MIN) return;
    if (!this.#folder) {
      this.#engine.addSlots(Array.from({ length: GROWTH }, () => new MemorySlot()));
      return;
    }
    const folder = await this.#folder;
    const first = folder.count;
    this.#engine.addSlots(await folder.openUpTo(first + GROWTH, first));
  }

  async #tellChanges() {
    try {
      await this.#work("follow", "");
      const tables = this.#engine.call("changed");
      if (tables && Object.keys(tables).length > 0) this.#notify({ tables });
    } catch (error) {
      if (!this.#isClosed) this.#notify({ problem: error.message });
    }
  }

  // ---- What pages call ----

  async record(lines) {
    await this.#makeRoom();
    const { origins } = this.#engine.call("record", lines.join("\n"));
    this.#recorded();
    return origins;
  }

  async run(call) {
    await this.#work("follow", "");
    await this.#makeRoom();
    const answer = this.#engine.call("run", call);
    if (answer.events.length > 0) this.#recorded();
    return answer;
  }

  /** Who records once records more: what follows comes a moment later, and once for all. */
  #recorded() {
    this.#soon("changes", 10, () => this.#tellChanges());
    this.#soon("sync", 40, () => this.heardOfNews());
    this.#soon("rest", 200, () => this.#rest());
  }

  #soon(name, milliseconds, body) {
    if (this.#planned.has(name)) return;
    this.#planned.add(name);
    setTimeout(() => {
      this.#planned.delete(name);
      if (!this.#isClosed) body();
    }, milliseconds);
  }

  /** Rows of a query or of SQL: `{columns, tables, rows}`, where a row is an object. */
  async ask(question, signal) {
    let head;
    const rows = [];
    const take = (text) => {
      if (!head) {
        head = JSON.parse(text);
        return;
      }
      for (const line of text.split("\n")) {
        if (line !== "") rows.push(readJSON(line, question.bigint));
      }
    };
    await this.#work("ask", question, take, signal);
    return { ...head, rows };
  }

  async status() {
    // The root is asked for, and many hashes take long.
    await this.#work("hash", "");
    const saved = this.#folder ? "opfs" : "no";
    const { state: sync, lastError } = this.#sync;
    return { ...this.#engine.call("status"), saved, sync, ...(lastError && { lastError }) };
  }

  /** The longest calls of the engine since it began, in milliseconds, by what they did. */
  timings() {
    return { longest: this.#engine.longest, memory: this.#engine.memorySize };
  }

  declared() {
    return this.#engine.call("declared");
  }

  /** Some events to look at, the newest first. */
  async events({ bigint, ...wanted } = {}) {
    const events = [];
    await this.#work("events", wanted, (text) => {
      for (const line of text.split("\n")) if (line !== "") events.push(readJSON(line, bigint));
    });
    return events;
  }

  /** The last position. */
  place() {
    return { head: this.#head };
  }

  event(event) {
    return this.#engine.call("event", { event: `${event}` });
  }

  /** The proof that an event is in the log, or that the log begins with its first events. */
  async prove(wanted) {
    await this.#work("hash", "");
    return this.#engine.call("prove", wanted);
  }

  inbox() {
    return this.#engine.call("inbox").batches;
  }

  refused(origin) {
    return this.#engine.call("refused", { origin });
  }

  async recordAgain(origin, { force } = {}) {
    await this.#makeRoom();
    const recorded = this.#engine.call("recordAgain", { origin, force });
    this.#recorded();
    return recorded;
  }

  discard(origin) {
    const discarded = this.#engine.call("discard", { origin });
    this.#soon("changes", 10, () => this.#tellChanges());
    return discarded;
  }

  async quarantine() {
    await this.#work("follow", "");
    return this.#engine.call("quarantine").events;
  }

  async retryQuarantine() {
    this.#engine.call("quarantine.retry");
    await this.#tellChanges();
    return this.quarantine();
  }

  /** Events as lines of JSON: all, or with `pending` those that are only here. */
  async export(options = {}) {
    const parts = [];
    await this.#work("export", options, (text) => parts.push(text));
    return parts.join("");
  }

  putBlob(source, options) {
    return this.#blobs.put(source, options);
  }

  getBlob(named) {
    return this.#blobs.get(named);
  }

  blobStatus() {
    return this.#blobs.status();
  }

  async verify() {
    let last;
    await this.#work("verify", "", (text) => {
      last = text;
    });
    return JSON.parse(last);
  }

  /** Syncs until nothing is left to exchange. */
  async sync() {
    this.heardOfNews();
    for (;;) {
      await pause(10);
      const { state, lastError: message } = this.#sync;
      if (state === "paused") throw new DiarioError({ kind: "unauthorized", message });
      if (message) throw new DiarioError({ kind: "offline", message });
      if (state !== "idle") continue;
      const status = await this.status();
      if (status.pending === 0) return status;
    }
  }

  /** Ends the use of it; all that was recorded is durable already. */
  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wakeUp();
    this.#blobs?.close();
    try {
      this.#engine?.call("close");
    } finally {
      this.#engine?.release();
    }
  }
}
