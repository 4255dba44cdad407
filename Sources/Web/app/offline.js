// The service worker: whether the pages are kept on this device, and newer versions of them.

import { session } from "./session.js";
import { Observed } from "./ui.js";

class Kept extends Observed {
  /** The size of what is kept; 0 until all of it is. */
  bytes = 0;

  async begin() {
    const workers = navigator.serviceWorker;
    if (!workers) return;
    workers.addEventListener("message", ({ data }) => {
      if (data.kept === undefined) return;
      this.bytes = data.kept;
      this.changed();
    });
    // The old pages go on until somebody asks for the new ones, in each tab.
    let isAsked = false;
    let hadOne = Boolean(workers.controller);
    workers.addEventListener("controllerchange", () => {
      if (isAsked) location.reload();
      else if (hadOne) {
        session.newVersion = () => location.reload();
        session.changed();
      }
      hadOne = true;
    });
    const offer = (worker) => {
      session.newVersion = () => {
        isAsked = true;
        worker.postMessage("take over");
      };
      session.changed();
    };
    try {
      const registration = await workers.register("/sw.js", { updateViaCache: "none" });
      if (registration.waiting && workers.controller) offer(registration.waiting);
      registration.addEventListener("updatefound", () => {
        const worker = registration.installing;
        worker.addEventListener("statechange", () => {
          if (worker.state === "installed" && workers.controller) offer(worker);
        });
      });
      const active = await workers.ready;
      active.active.postMessage("what is kept");
      const look = () => document.visibilityState === "visible" && registration.update();
      addEventListener("visibilitychange", () => look()?.catch?.(() => {}));
    } catch (error) {
      // A browser may refuse it: the pages work, but not without a network.
      console.warn(error);
    }
  }
}

export const kept = new Kept();
