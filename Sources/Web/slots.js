// The files of a replica in the private file system of the origin (OPFS), all open.

const TAKEN_WAIT = 5000;
const TAKEN_PAUSE = 100;
/** Files that are opened at once: more wait for one another anyway. */
const AT_ONCE = 32;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A folder of numbered files: schema/format/page.md. */
export class SlotFolder {
  #folder;
  count = 0;

  /** The folder below the origin's root that these names lead to, made if it is not there. */
  static async open(...names) {
    let folder = await navigator.storage.getDirectory();
    for (const name of names) folder = await folder.getDirectoryHandle(name, { create: true });
    const opened = new SlotFolder();
    opened.#folder = folder;
    for await (const name of folder.keys()) {
      if (/^\d+$/.test(name)) opened.count = Math.max(opened.count, Number(name) + 1);
    }
    return opened;
  }

  /** Opens the next files, `count` in all or those that are there, if they are more. */
  async openUpTo(count, first = 0) {
    const end = Math.max(count, this.count);
    const slots = [];
    for (let from = first; from < end; from += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, end - from) }, (_, i) => from + i);
      slots.push(...(await Promise.all(numbers.map((number) => this.#openFile(number)))));
    }
    this.count = end;
    return slots;
  }

  async #openFile(number) {
    const file = await this.#folder.getFileHandle(String(number), { create: true });
    const end = performance.now() + TAKEN_WAIT;
    for (;;) {
      try {
        return await file.createSyncAccessHandle();
      } catch (error) {
        // A worker that ended a moment ago may still have it.
        if (error.name !== "NoModificationAllowedError" || performance.now() > end) throw error;
        await pause(TAKEN_PAUSE);
      }
    }
  }

  /** Removes a folder with all that is in it. */
  static async remove(...names) {
    let folder = await navigator.storage.getDirectory();
    for (const name of names.slice(0, -1)) folder = await folder.getDirectoryHandle(name);
    await folder.removeEntry(names.at(-1), { recursive: true });
  }
}

/** Whether this browser keeps files for this origin: it does so over HTTPS, and on this machine. */
export async function canKeepFiles() {
  try {
    await navigator.storage.getDirectory();
    return "createSyncAccessHandle" in FileSystemFileHandle.prototype;
  } catch {
    return false;
  }
}
