// Where a diary of this browser is; its end, and what can be read of one that is damaged.

import { DiarioError } from "./engine.js";
import { SlotFolder } from "./slots.js";

/** Milliseconds that other tabs have to close a space that is removed. */
const CLOSING = 5000;

/** The name of a replica in this browser: the address of its space. */
export const nameOf = (url) => encodeURIComponent(url.host + url.pathname.replace(/\/$/, ""));

/** Removes what this browser has of a space, once no tab has it open; what is only here is lost. */
export async function remove({ url }) {
  const name = nameOf(new URL(url, location.href));
  // Without locks nothing was kept.
  if (!navigator.locks) return;
  const signal = AbortSignal.timeout(CLOSING);
  try {
    await navigator.locks.request(`diario:${name}`, { signal }, () =>
      SlotFolder.remove("diario", name));
  } catch (error) {
    if (error.name === "NotFoundError") return;
    if (!signal.aborted) throw error;
    const message = "Another tab has this space open. Close that tab, and remove it again.";
    throw new DiarioError({ kind: "busy", message });
  }
}

/**
 * Reads what can be read of a diary in this browser that does not open: `lines` are its events that
 * are only here, as `diario import` takes them, and `faults` what is damaged. Nothing is changed.
 */
export async function salvage({ url }) {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  try {
    const { salvaged, failed } = await new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => resolve({ failed: { kind: "system", message } });
      worker.postMessage({ salvage: { name: nameOf(new URL(url, location.href)) } });
    });
    if (failed) throw new DiarioError(failed);
    const lines = new Blob([salvaged.lines], { type: "application/x-ndjson" });
    return { ...salvaged, lines };
  } finally {
    worker.terminate();
  }
}
