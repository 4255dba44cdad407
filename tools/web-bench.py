#!/usr/bin/env python3
"""How fast the diary in a browser is, beside IndexedDB and the native program, in one run.

    .build/browser/bin/python3 tools/web-bench.py DIARIO [EVENTS]

DIARIO is the program, built with `-c release`; the pages are those of tools/web.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "validators"))

from diario_program import Diario, weight  # noqa: E402, the path is set above
from diario_program.browsing import WEB, Browser  # noqa: E402
from diario_program.serving import Server  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

OPEN = """async ([url, token]) => {
    const began = performance.now();
    const { open } = await import("/diario.js");
    window.diary = await open({ url, token, storage: "opfs" });
    const opened = performance.now() - began;
    await diary.sql("SELECT count(*) AS n FROM weight");
    return { opened, answered: performance.now() - began };
}"""

# One event or transaction after the other: each is durable before the next begins.
SINGLE = """async (count) => {
    const ask = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const request = indexedDB.open("bench", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("events",
        { autoIncrement: true });
    const database = await ask(request);
    const event = (g) => ({ type: "meals.weight.recorded",
        payload: { day: "2026-03-02", weightG: g, source: "manual" } });
    const store = (numbers) => new Promise((resolve, reject) => {
        const transaction = database.transaction("events", "readwrite", { durability: "strict" });
        for (const g of numbers) transaction.objectStore("events").add(event(g));
        transaction.oncomplete = resolve;
        transaction.onerror = () => reject(transaction.error);
    });
    const times = { diario: [], indexedDB: [] };
    const timed = async (name, body) => {
        const began = performance.now();
        await body();
        times[name].push(performance.now() - began);
    };
    for (let i = 0; i < count; i += 1) {
        const { type, payload } = event(50_000 + i);
        await timed("diario", () => diary.record(type, payload));
        await timed("indexedDB", () => store([i]));
    }
    const batches = { diario: [], indexedDB: [] };
    for (let i = 0; i < 20; i += 1) {
        const numbers = Array.from({ length: 500 }, (_, k) => 60_000 + k);
        let began = performance.now();
        await diary.batch(numbers.map(event));
        batches.diario.push(performance.now() - began);
        began = performance.now();
        await store(numbers);
        batches.indexedDB.push(performance.now() - began);
    }
    return { times, batches };
}"""


def at(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def tell(name, value):
    print(f"{name:<58} {value}", flush=True)


def measure(server, token, browser, diario, folder, count):
    page = browser.page()
    first = page.evaluate(OPEN, [server.url(), token])
    tell(f"first copy of {count} events, first answer", f"{first['answered']:.0f} ms")
    began = time.monotonic()
    diario.good("clone", server.url(), str(folder / "copy"), "--token-file",
                str(folder / "token"))
    diario.good("-C", str(folder / "copy"), "sql", "SELECT count(*) FROM weight")
    native = 1000 * (time.monotonic() - began)
    tell("  diario clone and its first answer", f"{native:.0f} ms, "
         f"{first['answered'] / native:.2f} times")
    tell("  longest calls", told(page))
    page.close()
    opened = []
    for _ in range(5):
        page = browser.page()
        opened.append(page.evaluate(OPEN, [server.url(), token]))
        tell("opened again: open, first answer; longest calls",
             f"{opened[-1]['opened']:.0f}, {opened[-1]['answered']:.0f} ms; {told(page)}")
        page.close()
    page = browser.page()
    page.evaluate(OPEN, [server.url(), token])
    single = page.evaluate(SINGLE, 500)
    for name, times in single["times"].items():
        tell(f"one event, durable, {name}: p50, p99",
             f"{at(times, 0.5):.2f}, {at(times, 0.99):.2f} ms")
    for name, times in single["batches"].items():
        tell(f"500 events in a batch, durable, {name}: median",
             f"{statistics.median(times):.1f} ms, {500_000 / statistics.median(times):.0f}/s")
    other = browser.page()
    other.evaluate(OPEN, [server.url(), token])
    waits = other.evaluate("""async () => {
        const waits = [];
        const channel = new BroadcastChannel("bench");
        window.stop = diary.live("meals.weights",
            { user: "bench", first: "2026-01-01", last: "2026-12-31" },
            (rows) => channel.postMessage(rows.length));
        return waits;
    }""")
    del waits
    seen = page.evaluate("""async () => {
        const channel = new BroadcastChannel("bench");
        const waits = [];
        await new Promise((resolve) => setTimeout(resolve, 500));
        for (let i = 1; i <= 50; i += 1) {
            const heard = new Promise((resolve) => {
                channel.onmessage = ({ data }) => data >= i && resolve();
            });
            const began = performance.now();
            await diary.record("meals.weight.recorded",
                { day: "2026-03-05", weightG: 70_000 + i, source: "manual" }, { actor: "bench" });
            await heard;
            waits.push(performance.now() - began);
        }
        return waits;
    }""")
    tell("an event of one tab in a live query of another: p50, p99",
         f"{at(seen, 0.5):.1f}, {at(seen, 0.99):.1f} ms")
    began = time.monotonic()
    page.evaluate("diary.verify()")
    tell("verify", f"{1000 * (time.monotonic() - began):.0f} ms")
    tell("longest calls", told(page))


def told(page):
    timings = page.evaluate("diary.timings()")
    longest = sorted(timings["longest"].items(), key=lambda item: -item[1])[:5]
    memory = timings["memory"] / 1048576
    return ", ".join(f"{name} {took:.0f}" for name, took in longest) + f"; {memory:.0f} MiB"


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) == 3 else 100_000
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        diario = Diario(sys.argv[1], folder)
        with Server(diario, folder / "served", "--web", str(WEB)) as server, \
                sync_playwright() as play:
            token = server.token("home", "read,append")
            (folder / "token").write_text(token)
            for start in range(0, count, 5000):
                lines = "\n".join(weight(n) for n in range(start, min(start + 5000, count)))
                server.ask("POST", "/v1/spaces/home/events", token, lines.encode(),
                           {"Content-Type": "application/x-ndjson"}, timeout=120)
            for name in sorted((WEB / "web").glob("*/diario.wasm*")):
                tell(name.name, f"{name.stat().st_size} bytes")
            browser = Browser(play, folder / "profile", f"http://127.0.0.1:{server.port}").start()
            try:
                measure(server, token, browser, diario, folder, count)
            finally:
                browser.close()


if __name__ == "__main__":
    main()
