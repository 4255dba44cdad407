// The first copy of a space of a server: its segments as they lie, and what is in none.

import { DiarioError } from "./engine.js";

/** Milliseconds of a step: messages are answered between two. */
export const STEP = 30;

/** Lets messages come in: sooner than a timer, which waits four milliseconds. */
export function breathe() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}

/** Copies the space into the files of the engine, which has none open. */
export async function copySpace({ engine, fetch, told, makeRoom, send, progress }) {
  const refused = async (reply) =>
    new DiarioError(engine.call("refusal", told(reply, await reply.arrayBuffer())));
  const listed = async () => {
    const reply = await fetch("/segments", { headers: { accept: "application/json" } });
    if (reply.status !== 200) throw await refused(reply);
    return new Uint8Array(await reply.arrayBuffer());
  };
  const fetchPart = async ({ name, size, first, last }) => {
    const isWhole = first === 0 && last === size - 1;
    const headers = { accept: "application/octet-stream" };
    if (!isWhole) headers.range = `bytes=${first}-${last}`;
    const reply = await fetch(`/segments/${name}`, { headers });
    if (reply.status === 404) {
      engine.call("copy.skip");
      return;
    }
    if (reply.status !== (isWhole ? 200 : 206)) throw await refused(reply);
    engine.call("copy.part", new Uint8Array(await reply.arrayBuffer()));
  };
  const job = engine.begin("copy", await listed());
  while (engine.step(job, STEP)) {
    const next = JSON.parse(engine.text());
    if (next.action === "list") {
      engine.call("copy.listing", await listed());
    } else if (next.action === "fetch") {
      await fetchPart(next);
    } else if (next.action === "send") {
      engine.call("copy.answer", await send(engine.callBytes("copy.request")));
    } else {
      progress(next);
      await breathe();
    }
    await makeRoom();
  }
}
