// The worker of a tab. It waits for the lock of the replica, and has the engine while it holds it.

import { DiarioError } from "./engine.js";
import { Host } from "./host.js";
import { canKeepFiles, SlotFolder } from "./slots.js";

let host;
let letGo;

const told = (error) => ({
  kind: "system",
  message: error.message,
  ...(error instanceof DiarioError ? { ...error } : {}),
});

/** Compiles the module while it comes, and takes it for damaged if it is not whole. */
async function compiled() {
  const reply = await fetch(new URL("./diario.wasm", import.meta.url));
  if (!reply.ok) {
    throw new Error(`The engine cannot be loaded (status ${reply.status}). Reload this page.`);
  }
  try {
    return await WebAssembly.compileStreaming(reply);
  } catch (error) {
    throw new Error(`The engine cannot be used (${error.message}). Reload this page.`);
  }
}

async function lead({ url, token, storage, name }) {
  const isKept = storage !== "memory" && (await canKeepFiles());
  if (storage === "opfs" && !isKept) {
    throw new DiarioError({
      kind: "system",
      message: "This browser keeps no files for this page: it is a private window, or not HTTPS.",
    });
  }
  // Both take their time, and side by side less of it.
  const module = compiled();
  const folder = isKept ? SlotFolder.open("diario", name) : undefined;
  host = new Host({ module, folder, url, token, notify: (news) => postMessage({ news }) });
  // After the answer to the call in which it happened.
  host.onTrap = () => setTimeout(() => postMessage({ failed: { kind: "system", message: "" } }));
  await host.open((progress) => postMessage({ news: { copying: progress } }));
  host.connect();
}

/** Leads once nobody else does, until `letGo` is called. */
function elect(options) {
  // A replica in memory is that of its tab alone; and without HTTPS there are no locks.
  const request = navigator.locks ?? { request: (_, body) => body() };
  request.request(`diario:${options.name}`, async () => {
    try {
      await lead(options);
      postMessage({ leads: true });
    } catch (error) {
      postMessage({ failed: told(error) });
      return;
    }
    await new Promise((resolve) => {
      letGo = resolve;
    });
  });
}

/** Reads what can be read of a replica that does not open. */
function salvage({ name }) {
  navigator.locks.request(`diario:${name}`, async () => {
    try {
      const folder = await SlotFolder.open("diario", name);
      host = new Host({ module: compiled(), folder });
      postMessage({ salvaged: await host.salvage() });
    } catch (error) {
      postMessage({ failed: told(error) });
    }
  });
}

/** What ends a question that is answered, by the ids of calls. */
const ends = new Map();

async function call({ id, method, values }) {
  if (method === "ask") {
    ends.set(id, new AbortController());
    values.push(ends.get(id).signal);
  }
  try {
    if (!host) {
      throw new DiarioError({ kind: "busy", message: "This tab does not have the diary." });
    }
    if (typeof host[method] !== "function") {
      const message = "The tab that has the diary runs an older version. Reload or close it.";
      throw new DiarioError({ kind: "incompatible", message });
    }
    postMessage({ id, result: await host[method](...values) });
  } catch (error) {
    postMessage({ id, error: told(error) });
  } finally {
    ends.delete(id);
  }
}

onmessage = ({ data }) => {
  if (data.open) elect(data.open);
  else if (data.salvage) salvage(data.salvage);
  else if (data.method) call(data);
  else if (data.cancel) {
    ends.get(data.cancel)?.abort();
    postMessage({ canceled: data.cancel });
  } else if (data.online) host?.heardOfNews();
  else if (data.close) {
    host?.close();
    host = undefined;
    letGo?.();
    postMessage({ closed: true });
  }
};
