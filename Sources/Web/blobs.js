// The blobs of a replica: pictures and other bytes beside its events (schema/format/blobs.md).
//
// The browser encrypts and decrypts, a chunk after the other; the engine hashes and keeps them.

import { DiarioError } from "./engine.js";

/** Bytes of a chunk, and of its tag. */
const CHUNK = 65536;
const TAG = 16;
const HEADER = Uint8Array.of(0x64, 0x62, 0x6c, 0x62, 1, 0, 0, 0);
/** Chunks that are encrypted, or read, at once. */
const AT_ONCE = 8;
/** How often a request is made again that got no answer. */
const FAILURES = 3;
const PAUSE_MIN = 2_000;
const PAUSE_MAX = 300_000;

const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const toBase64 = (bytes) => btoa(String.fromCharCode(...bytes));

function subtle() {
  if (globalThis.crypto?.subtle) return crypto.subtle;
  const message = "This browser encrypts nothing for a page that came without HTTPS.";
  throw new DiarioError({ kind: "system", message });
}

const damaged = () =>
  new DiarioError({ kind: "corrupt", message: "The blob is damaged, or its key is another's." });

/** How a chunk is encrypted: by its number, and whether it is the last one. */
function algorithm(index, isLast) {
  const iv = new Uint8Array(12);
  new DataView(iv.buffer).setBigUint64(0, BigInt(index), true);
  iv[8] = isLast ? 1 : 0;
  return { name: "AES-GCM", iv, additionalData: HEADER };
}

const countOf = (size) => Math.max(1, Math.ceil(size / CHUNK));

export class HostBlobs {
  #engine;
  #fetch;
  #told;
  #makeRoom;
  #follow;
  #server;
  #notify;
  #isExchanging = false;
  #pause = PAUSE_MIN;
  #timer;
  /** The last of what is put, one after the other. */
  #turn = Promise.resolve();
  /** What the server said last of blobs that it lost. */
  losses;

  /** With what the host has: its engine, and how it asks its server. */
  constructor({ engine, fetch, told, makeRoom, follow, server, notify }) {
    this.#engine = engine;
    this.#fetch = fetch;
    this.#told = told;
    this.#makeRoom = makeRoom;
    this.#follow = follow;
    this.#server = server;
    this.#notify = notify;
  }

  // ---- Putting ----

  /** Keeps bytes; durable when it resolves with what an event says of them. */
  put(source, options = {}) {
    const put = this.#turn.then(() => this.#put(source, options));
    this.#turn = put.catch(() => {});
    return put;
  }

  async #put(source, { type, isPublic = false }) {
    const blob = source instanceof Blob ? source : new Blob([source]);
    const bytes = isPublic ? undefined : crypto.getRandomValues(new Uint8Array(32));
    const key = bytes && (await subtle().importKey("raw", bytes, "AES-GCM", false, ["encrypt"]));
    await this.#makeRoom();
    this.#engine.call("blobs.begin");
    try {
      if (key) this.#engine.call("blobs.write", HEADER);
      const count = countOf(blob.size);
      for (let first = 0; first < count; first += AT_ONCE) {
        const encrypted = async (_, number) => {
          const index = first + number;
          const plain = await blob.slice(index * CHUNK, (index + 1) * CHUNK).arrayBuffer();
          if (!key) return plain;
          return subtle().encrypt(algorithm(index, index === count - 1), key, plain);
        };
        const length = Math.min(AT_ONCE, count - first);
        for (const part of await Promise.all(Array.from({ length }, encrypted))) {
          this.#engine.call("blobs.write", new Uint8Array(part));
        }
      }
      const { id } = this.#engine.call("blobs.finish");
      const told = { id, size: blob.size, type: type ?? (blob.type || "application/octet-stream") };
      return bytes ? { ...told, key: toBase64(bytes) } : told;
    } catch (error) {
      this.#engine.call("blobs.undo");
      throw error;
    }
  }

  // ---- Getting ----

  /** The bytes to which an event refers; fetched if they are not here. */
  async get(named) {
    const { id } = typeof named === "string" ? { id: named } : named;
    await this.#follow();
    let known = this.#engine.call("blobs.reference", { id });
    // Of a blob that no event refers to yet, whoever put it has the key.
    if (known.size === undefined && named.key) known = { ...known, ...named };
    if (known.size === undefined) {
      const message = "No event refers to this blob. Check its id.";
      throw new DiarioError({ kind: "notFound", message });
    }
    if (!known.public && !known.key) {
      throw new DiarioError({ kind: "notFound", message: "The blob was erased." });
    }
    if (known.stored === undefined) {
      const report = await this.#exchange({ id });
      known = { ...known, stored: this.#engine.call("blobs.reference", { id }).stored };
      if (known.stored === undefined) {
        const message = report?.failure ?? "The bytes are not here, and not on the server.";
        throw new DiarioError({ kind: report?.failure ? "offline" : "notFound", message });
      }
    }
    try {
      return await this.#read(id, known);
    } catch (error) {
      // If they are not those of the id, the next sync brings them again.
      if (error.kind === "corrupt") this.#engine.call("blobs.damaged", { id });
      throw error;
    }
  }

  async #read(id, { size, stored, type, key, public: isPublic }) {
    const chunks = countOf(size);
    if (stored !== (isPublic ? size : HEADER.length + size + TAG * chunks)) throw damaged();
    const read = (first, count) => this.#engine.callBytes("blobs.read", { id, first, count });
    const parts = [];
    if (isPublic) {
      for (let first = 0; first < size; first += AT_ONCE * CHUNK) {
        parts.push(read(first, Math.min(AT_ONCE * CHUNK, size - first)));
      }
      const blob = new Blob(parts, { type });
      const hash = await subtle().digest("SHA-256", await blob.arrayBuffer());
      if (toBase64(new Uint8Array(hash)) !== id) throw damaged();
      return blob;
    }
    const header = read(0, HEADER.length);
    if (header.some((byte, index) => byte !== HEADER[index])) throw damaged();
    const opener = await subtle().importKey("raw", fromBase64(key), "AES-GCM", false, ["decrypt"]);
    for (let index = 0; index < chunks; index += 1) {
      const isLast = index === chunks - 1;
      const length = (isLast ? size - index * CHUNK : CHUNK) + TAG;
      const chunk = read(HEADER.length + index * (CHUNK + TAG), length);
      try {
        parts.push(await subtle().decrypt(algorithm(index, isLast), opener, chunk));
      } catch {
        throw damaged();
      }
    }
    return new Blob(parts, { type });
  }

  /** The blobs to which events refer, and where their bytes are. */
  async status() {
    await this.#follow();
    return this.#engine.call("blobs.list").blobs;
  }

  // ---- The exchange ----

  /** Sends and fetches what is due, now and again until all is done. */
  async sync() {
    clearTimeout(this.#timer);
    const report = await this.#exchange({}).catch((error) => ({ failure: error.message }));
    if (!report) return;
    const isDone = !report.failure && !report.missing;
    this.#pause = isDone ? PAUSE_MIN : Math.min(2 * this.#pause, PAUSE_MAX);
    if (!isDone) this.#timer = setTimeout(() => this.sync(), this.#pause);
    if (report.sent || report.fetched || report.refused) this.#notify({ blobs: report });
  }

  close() {
    clearTimeout(this.#timer);
  }

  /** What came of it; nothing if another exchange is under way, or there is nothing to do. */
  async #exchange(only) {
    if (this.#isExchanging) {
      if (!only.id) return undefined;
      while (this.#isExchanging) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    this.#isExchanging = true;
    try {
      await this.#follow();
      const wanted = { server: this.#server, losses: this.losses, ...only };
      if (this.#engine.call("blobs.exchange", wanted).action === "rest") return undefined;
      const failure = await this.#transfer();
      return { ...this.#engine.call("blobs.end"), ...(failure && { failure }) };
    } finally {
      this.#isExchanging = false;
    }
  }

  /** Makes requests until none is left; gives why it ended early. */
  async #transfer() {
    let failures = 0;
    for (;;) {
      await this.#makeRoom();
      const next = this.#engine.call("blobs.next");
      if (next.action === "end") return undefined;
      const { method, path, headers } = next;
      const body = method === "GET" ? undefined : this.#engine.callBytes("blobs.body");
      try {
        const reply = await this.#fetch(path, { method, headers, body });
        this.#engine.call("blobs.answer", this.#told(reply, await reply.arrayBuffer()));
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures > FAILURES) return error.message;
        this.#engine.call("blobs.failed");
        await new Promise((resolve) => setTimeout(resolve, 500 * failures));
      }
    }
  }
}
