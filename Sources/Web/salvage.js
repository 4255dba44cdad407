// Where a diary of this browser is, and what can be read of one that is damaged.

import { DiarioError } from "./engine.js";

/** The name of a replica in this browser: the address of its space. */
export const nameOf = (url) => encodeURIComponent(url.host + url.pathname);

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
