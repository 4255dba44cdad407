// The engine in a worker, or in node: a module of WebAssembly, and the files that it is given.
//
// A file is a slot: an object with `read(view, {at})`, `write(view, {at})`, `getSize()`,
// `truncate(size)` and `flush()`, as FileSystemSyncAccessHandle has them.

/** What failed, and what to do about it. */
export class DiarioError extends Error {
  constructor({ kind, message, ...more }) {
    super(message);
    this.name = "DiarioError";
    this.kind = kind;
    Object.assign(this, more);
  }
}

/** A slot in memory, which is gone with the page. */
export class MemorySlot {
  #bytes = new Uint8Array(0);
  #size = 0;

  #grow(size) {
    if (size <= this.#bytes.length) return;
    const more = new Uint8Array(Math.max(size, this.#bytes.length * 2, 4096));
    more.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = more;
  }

  read(view, { at }) {
    const count = Math.max(0, Math.min(view.length, this.#size - at));
    if (count > 0) view.set(this.#bytes.subarray(at, at + count));
    return count;
  }

  write(view, { at }) {
    this.#grow(at + view.length);
    if (at > this.#size) this.#bytes.fill(0, this.#size, at);
    this.#bytes.set(view, at);
    this.#size = Math.max(this.#size, at + view.length);
    return view.length;
  }

  truncate(size) {
    this.#grow(size);
    if (size > this.#size) this.#bytes.fill(0, this.#size, size);
    this.#size = size;
  }

  getSize() {
    return this.#size;
  }

  flush() {}
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const FAILED = -1;
/** As much as `crypto.getRandomValues` gives at once. */
const RANDOM_MAX = 65536;

/** An instance of the module: its calls, and its work in steps. */
export class Engine {
  #exports;
  #slots;
  #names = new Map();
  /** Called once its code stopped where it should not. */
  onTrap;
  /** The longest call of each name, in milliseconds: nobody is answered meanwhile. */
  longest = {};

  /** With a compiled module, and the slots that it may use. */
  constructor(module, slots) {
    this.#slots = slots;
    const instance = new WebAssembly.Instance(module, {
      diario: this.#imports(),
      wasi_snapshot_preview1: this.#wasi(),
    });
    this.#exports = instance.exports;
    this.#exports._initialize?.();
  }

  #view(at, size) {
    return new Uint8Array(this.#exports.memory.buffer, at, size);
  }

  #imports() {
    const attempt = (body) => {
      try {
        return body() ?? 0;
      } catch (error) {
        this.lastError = error;
        return FAILED;
      }
    };
    const slots = this.#slots;
    return {
      random: (at, size) => {
        for (let done = 0; done < size; done += RANDOM_MAX) {
          crypto.getRandomValues(this.#view(at + done, Math.min(RANDOM_MAX, size - done)));
        }
      },
      now: () => Date.now(),
      elapsed: () => performance.now(),
      read: (slot, at, size, offset) =>
        attempt(() => slots[slot].read(this.#view(at, size), { at: offset })),
      write: (slot, at, size, offset) => {
        try {
          return slots[slot].write(this.#view(at, size), { at: offset });
        } catch (error) {
          this.lastError = error;
          // Nothing was written: the module takes that for a full disk.
          return error.name === "QuotaExceededError" ? 0 : FAILED;
        }
      },
      size: (slot) => attempt(() => slots[slot].getSize()),
      truncate: (slot, size) => attempt(() => slots[slot].truncate(size)),
      flush: (slot) => attempt(() => slots[slot].flush()),
    };
  }

  /** What C expects of an operating system: somewhere to say why it stops. */
  #wasi() {
    const write = (file, parts, count, written) => {
      const memory = new DataView(this.#exports.memory.buffer);
      let text = "";
      let size = 0;
      for (let index = 0; index < count; index += 1) {
        const at = memory.getUint32(parts + 8 * index, true);
        const length = memory.getUint32(parts + 8 * index + 4, true);
        text += decoder.decode(this.#view(at, length).slice());
        size += length;
      }
      console.error(text.trimEnd());
      memory.setUint32(written, size, true);
      return 0;
    };
    const missing = () => 52;
    return new Proxy({ fd_write: write }, { get: (known, name) => known[name] ?? missing });
  }

  /** Calls an export; texts and bytes are copied into the module's memory. */
  raw(name, ...values) {
    const held = [];
    const flat = values.flatMap((value) => {
      if (typeof value === "number") return [value];
      const bytes = typeof value === "string" ? encoder.encode(value) : value;
      const at = this.#exports.malloc(bytes.length || 1);
      this.#view(at, bytes.length).set(bytes);
      held.push(at);
      return [at, bytes.length];
    });
    try {
      return this.#exports[name](...flat);
    } finally {
      for (const at of held) this.#exports.free(at);
    }
  }

  /** The bytes of the last answer. */
  bytes() {
    const at = this.#exports.diario_answer();
    return this.#view(at, this.#exports.diario_answer_size()).slice();
  }

  text() {
    return decoder.decode(this.bytes());
  }

  #checked(code) {
    if (code >= 0) return code;
    throw new DiarioError(JSON.parse(this.text()));
  }

  /** Takes the slots, and reads which files are in them. */
  takePool() {
    this.#checked(this.raw("diario_pool", this.#slots.length));
  }

  /** More slots, behind those that are there. */
  addSlots(slots) {
    this.#slots.push(...slots);
    this.raw("diario_pool_add", slots.length);
  }

  get freeCount() {
    return this.raw("diario_pool_free");
  }

  #timed(name, body) {
    const began = performance.now();
    try {
      return this.#checked(body());
    } catch (error) {
      // A trap, or no more stack: what is in its memory cannot be used any more.
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
      this.onTrap?.();
      const message = `The engine stopped (${error.message}), and starts again.`;
      throw new DiarioError({ kind: "system", message });
    } finally {
      const took = performance.now() - began;
      if (took > (this.longest[name] ?? 0)) this.longest[name] = took;
    }
  }

  /** Something that is done at once; its answer as bytes. */
  callBytes(name, input = "") {
    this.#timed(name, () => this.raw("diario_call", name, asInput(input)));
    return this.bytes();
  }

  /** The same, with an answer that is JSON. */
  call(name, input = "") {
    this.#timed(name, () => this.raw("diario_call", name, asInput(input)));
    const text = this.text();
    return text === "" ? undefined : readJSON(text);
  }

  /** Begins something that takes several steps. */
  begin(name, input = "") {
    const job = this.#timed(name, () => this.raw("diario_begin", name, asInput(input)));
    this.#names.set(job, name);
    return job;
  }

  /** Goes on with it; true if there is more to do. What it has to tell is in `text`. */
  step(job, milliseconds) {
    const name = this.#names.get(job);
    const isMore = this.#timed(name, () => this.raw("diario_step", job, milliseconds)) === 1;
    if (!isMore) this.#names.delete(job);
    return isMore;
  }

  cancel(job) {
    this.#names.delete(job);
    this.raw("diario_cancel", job);
  }

  /** Lets go of the slots. */
  release() {
    for (const slot of this.#slots) slot.close?.();
  }

  get memorySize() {
    return this.#exports.memory.buffer.byteLength;
  }
}

function asInput(input) {
  return typeof input === "string" || input instanceof Uint8Array ? input : JSON.stringify(input);
}

/** JSON in which integers beyond 2^53 become BigInt, and with `all` all integers. */
export function readJSON(text, all = false) {
  if (!all && !/\d{16}/.test(text)) return JSON.parse(text);
  // They become strings that begin as no string of the text does, and these are read as numbers.
  let mark = "#";
  while (text.includes(`"${mark}`)) mark += "#";
  const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  const marked = text.replace(token, (found) => {
    if (!/^-?\d+$/.test(found)) return found;
    return !all && Number.isSafeInteger(Number(found)) ? found : `"${mark}${found}"`;
  });
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}
