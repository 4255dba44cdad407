// Keeps the pages of one version on the device, so that they open without a network.
//
// A version is kept whole or not at all. Its followers wait until somebody asks for them.

const NAME = "diario-VERSION";
const FILES = FILE_LIST;
const PROGRAMS = new Set(["/healthz", "/metrics"]);
/** The version before stays for tabs that still have it open. */
const KEPT_COUNT = 2;

/** All files from the server, not from what the browser has of an older version. */
async function install() {
  const cache = await caches.open(NAME);
  await cache.addAll(FILES.map((path) => new Request(path, { cache: "reload" })));
}

async function activate() {
  const names = (await caches.keys()).filter((name) => name.startsWith("diario-"));
  const others = names.filter((name) => name !== NAME);
  const old = others.slice(0, Math.max(0, others.length - KEPT_COUNT + 1));
  await Promise.all(old.map((name) => caches.delete(name)));
  await clients.claim();
  for (const client of await clients.matchAll()) client.postMessage({ kept: await keptSize() });
}

/** The bytes that came from the server, as far as it says. */
async function keptSize() {
  const cache = await caches.open(NAME);
  const replies = await Promise.all(FILES.map((path) => cache.match(path)));
  if (replies.some((reply) => !reply)) return 0;
  const sizes = replies.map((reply) => Number(reply.headers.get("content-length") ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** What is kept; whatever else is on the server. */
async function answer(request, path) {
  const cache = await caches.open(NAME);
  const found = (await cache.match(path)) ?? (await caches.match(path));
  return found ?? fetch(request);
}

addEventListener("install", (event) => event.waitUntil(install()));
addEventListener("activate", (event) => event.waitUntil(activate()));

addEventListener("message", (event) => {
  if (event.data === "take over") skipWaiting();
  else if (event.data === "what is kept") {
    event.waitUntil(keptSize().then((kept) => event.source.postMessage({ kept })));
  }
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  // A page finds in its address which one it is; what programs ask is none.
  const isPage = request.mode === "navigate" && /^\/[a-z]*$/.test(url.pathname)
    && !PROGRAMS.has(url.pathname);
  const path = isPage ? "/" : url.pathname;
  // The interface of programs is none of ours, nor is a later version of this file.
  if (path !== "/" && path !== "/diario.js" && !path.startsWith("/web/") && !FILES.includes(path)) {
    return;
  }
  event.respondWith(answer(request, path));
});
