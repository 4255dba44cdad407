"""The diary in a real browser: records offline, syncs, and loses nothing when it is killed.

Needs the pages of tools/web, Chromium, and playwright, which drives it.
"""

import json
import os
import pathlib
import random
import shutil
import time

from playwright.sync_api import sync_playwright

from diario_program import Diario, Failed, main, require, wait_for, weight
from diario_program.browsing import WEB, Browser
from diario_program.serving import Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("DIARIO_KILLS", "5"))

# What tests do in a page; `diary` stays there between two of them.
OPEN = """async ([url, token, storage]) => {
    const { open } = await import("/diario.js");
    const began = performance.now();
    window.diary = await open({ url, token, storage });
    window.days = { first: "2026-01-01", last: "2026-12-31" };
    return performance.now() - began;
}"""
RECORD = """async (numbers) => {
    const told = [];
    for (const number of numbers) {
        const payload = { day: "2026-03-02", weightG: number, source: "manual" };
        const { origin } = await diary.record("meals.weight.recorded", payload, { actor: "u1" });
        told.push(origin);
    }
    return told;
}"""
FAILS = """async ([method, ...values]) => {
    try {
        await diary[method](...values);
        return null;
    } catch (error) {
        return { name: error.constructor.name, kind: error.kind, message: error.message };
    }
}"""


def opened(page, url, token, storage="opfs"):
    took = page.evaluate(OPEN, [url, token, storage])
    return took


def events_of(page):
    return page.evaluate("diary.sql('SELECT weightG AS g FROM weight ORDER BY weightG')")


def check_first_visit(browser, server, token, space):
    """From the server's events to answers, and back."""
    page = browser.page()
    opened(page, server.url(), token)
    require(len(events_of(page)) == 200, "the server's events are there", events_of(page)[:3])
    status = page.evaluate("diary.status()")
    require(status["saved"] == "opfs" and status["pending"] == 0 and "append" in status["rights"],
            "the status", status)
    origins = page.evaluate(RECORD, [90_001, 90_002])
    require(len(set(origins)) == 2, "two events have two origins", origins)
    wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "a sync by itself")
    told = json.loads(server.ask("GET", f"/v1/spaces/{space}", token).body)
    require(told["head"] == page.evaluate("diary.status()")["head"], "the same head", told)
    verified = page.evaluate("diary.verify()")
    require(verified["ok"] and verified["root"], "it verifies", verified)
    rows = page.evaluate("diary.query('weights', { user: 'u1', ...days })")
    require([row["kg"] for row in rows] == [90.001, 90.002], "a query of the pack", rows)
    events = page.evaluate("diary.events({ limit: 2 })")
    require([event["payload"]["weightG"] for event in events] == [90_002, 90_001]
            and page.evaluate("diary.event('%s')" % origins[1]) == events[0],
            "the newest events", events)
    big = page.evaluate("diary.sql('SELECT 9007199254740993 AS n').then((rows) => `${rows[0].n}`)")
    require(big == "9007199254740993", "an integer beyond 2^53", big)
    page.close()


def check_errors(browser, server, token):
    page = browser.page()
    opened(page, server.url(), token)
    for method, values, kind in [
        ("record", ["meals.weight.recorded", {"day": "2026-03-02"}], "invalid"),
        ("record", ["meals.nothing", {}], "invalid"),
        ("query", ["nothing", {}], "notFound"),
        ("sql", ["DELETE FROM weight"], "readOnly"),
        ("run", ["meals.nothing", {}], "notFound"),
    ]:
        told = page.evaluate(FAILS, [method, *values])
        require(told and told["name"] == "DiarioError" and told["kind"] == kind,
                f"{method} is refused", told)
    page.close()


def check_tabs(browser, server, token):
    """Two and three tabs have the same diary; the one that has its files may go."""
    first = browser.page()
    opened(first, server.url(), token)
    second, third = browser.page(), browser.page()
    for page in (second, third):
        opened(page, server.url(), token)
    count = len(events_of(third))
    second.evaluate("""() => {
        window.seen = [];
        diary.live("weights", { user: "u1", ...days }, (rows) => seen.push(rows.length));
    }""")
    wait_for(lambda: second.evaluate("seen.length") > 0, "rows of a live query")
    before = second.evaluate("seen.length")
    third.evaluate(RECORD, [91_001])
    wait_for(lambda: second.evaluate("seen.length") > before, "another tab hears of an event")
    first.close()
    require(len(events_of(second)) == count + 1, "the next tab has the files")
    second.evaluate(RECORD, [91_002])
    require(len(events_of(third)) == count + 2, "and the third one asks it")
    second.close()
    third.close()


def check_hung(browser, server, token):
    """While the tab that has the files hangs, another one says so, and loses nothing."""
    first, second = browser.page(), browser.page()
    opened(first, server.url(), token)
    opened(second, server.url(), token)
    second.evaluate("""() => {
        window.heard = [];
        diary.on((news) => heard.push(news));
    }""")
    first.evaluate("""() => {
        setTimeout(() => {
            const end = Date.now() + 4000;
            while (Date.now() < end);
        }, 50);
    }""")
    second.wait_for_timeout(200)
    told = second.evaluate(RECORD, [97_001])
    require(len(told) == 1, "it is recorded once the other one answers", told)
    require(second.evaluate("heard.some(({ busy }) => busy)"), "meanwhile it is said to be busy")
    found = [row["g"] for row in events_of(second) if row["g"] == 97_001]
    require(found == [97_001], "and is there once", found)
    first.close()
    second.close()


def check_ended(browser, server, token):
    """A question without an end is ended, by who asked or by itself; a trap ends nothing else."""
    page = browser.page()
    opened(page, server.url(), token)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) " \
        "SELECT sum(i) FROM n"
    told = page.evaluate("""async (sql) => {
        const began = performance.now();
        try {
            await diary.sql(sql, {}, { signal: AbortSignal.timeout(300) });
        } catch (error) {
            const rows = await diary.sql("SELECT 1 AS one");
            return { message: error.message, rows, took: performance.now() - began };
        }
    }""", endless)
    require(told and told["rows"] == [{"one": 1}] and told["took"] < 8000, "it is ended", told)
    told = page.evaluate(FAILS, ["sql", endless])
    require(told and "10" in told["message"] or told["kind"] == "tooLarge", "and by itself", told)
    count = len(events_of(page))
    # What the engine asks of the browser fails as a trap does.
    page.workers[0].evaluate("""() => {
        const now = Date.now;
        Date.now = () => {
            Date.now = now;
            throw new WebAssembly.RuntimeError("unreachable");
        };
    }""")
    told = page.evaluate(FAILS, ["record", "meals.weight.recorded",
                                 {"day": "2026-03-02", "weightG": 97_500, "source": "manual"}])
    require(told and told["kind"] == "system", "a trap is told", told)
    require(len(events_of(page)) in (count, count + 1), "and it goes on")
    page.evaluate(RECORD, [97_501])
    require(page.evaluate("diary.verify()")["ok"], "it verifies")
    page.close()


def check_clock(browser, server, token):
    """A device whose clock is years ahead, and then right again, records and syncs."""
    page = browser.page()
    opened(page, server.url(), token)
    page.workers[0].evaluate("""() => {
        const now = Date.now;
        Date.now = () => now() + 5 * 365 * 86_400_000;
        self.right = () => { Date.now = now; };
    }""")
    page.evaluate(RECORD, [97_601])
    wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "it is sent", 60)
    page.workers[0].evaluate("right()")
    page.evaluate(RECORD, [97_602])
    wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "the next one too", 60)
    require(page.evaluate("diary.status()")["inbox"] == 0, "neither is refused")
    require({97_601, 97_602} <= {row["g"] for row in events_of(page)}, "both are there")
    page.close()


def check_copied(browser, server, token, folder):
    """A profile that was copied is noticed: both record, and nothing of either is lost."""
    page = browser.page()
    opened(page, server.url(), token)
    page.evaluate(RECORD, [98_001])
    wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "it is sent")
    before = page.evaluate("diary.status()")["replica"]
    browser.close()
    shutil.copytree(browser.profile, folder / "copied", symlinks=True)
    browser.start()
    other = Browser(browser.play, folder / "copied", browser.address).start()
    replicas = []
    for number, each in enumerate([browser, other]):
        page = each.page()
        opened(page, server.url(), token)
        page.evaluate(RECORD, [98_010 + 10 * number + k for k in range(3)])
        wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "both send", 60)
        replicas.append(page.evaluate("diary.status()")["replica"])
        page.close()
    require(replicas[0] == before and replicas[1] != before, "one takes a new id", replicas)
    page = browser.page()
    opened(page, server.url(), token)
    wanted = {98_001, 98_010, 98_011, 98_012, 98_020, 98_021, 98_022}
    wait_for(lambda: wanted <= {row["g"] for row in events_of(page)}, "all of both are there", 60)
    require(page.evaluate("diary.verify()")["ok"], "it verifies")
    other.close()
    page.close()


def check_lineage(browser, server, token, diario, folder):
    """Another space under the same address is not mixed with the one that is here."""
    page = browser.page()
    opened(page, server.url(), token)
    head = page.evaluate("diary.status()")["head"]
    page.close()
    port = server.port
    server.stop()
    with Server(diario, folder / "other", port=port) as other:
        token = other.token("home", "read,append")
        page = browser.page()
        opened(page, other.url(), token)
        page.evaluate(RECORD, [99_001])
        wait_for(lambda: page.evaluate("diary.status()")["sync"] == "paused", "it pauses", 60)
        status = page.evaluate("diary.status()")
        require(status["pending"] == 1 and status["head"] == head and status["lastError"],
                "nothing is sent or lost", status)
        require("lineage" in status["lastError"], "why", status)
        page.close()
    server.port = port
    server.start()


def check_offline(browser, server, token):
    """Recorded without a network, and sent when there is one."""
    page = browser.page()
    opened(page, server.url(), token)
    head = page.evaluate("diary.status()")["head"]
    port = server.port
    server.kill()
    page.evaluate(RECORD, [92_001, 92_002, 92_003])
    # More than a step of the read models takes.
    added = page.evaluate("""async () => {
        const count = async () => (await diary.sql("SELECT count(*) AS n FROM weight"))[0].n;
        const before = await count();
        for (let batch = 0; batch < 5; batch += 1) {
            await diary.batch(Array.from({ length: 500 }, (_, k) => ({
                type: "meals.weight.recorded",
                payload: { day: "2026-03-05", weightG: 40_000 + k, source: "manual" },
            })));
        }
        return await count() - before;
    }""")
    require(added == 2500, "many are answered at once", added)
    status = page.evaluate("diary.status()")
    require(status["pending"] == 2503 and status["head"] == head, "they are pending", status)
    told = page.evaluate(FAILS, ["sync"])
    require(told and told["kind"] == "offline", "a sync says why not", told)
    server.port = port
    server.start()
    wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "they are sent", 60)
    page.close()


def check_hostile(browser, server, token):
    """What comes in place of an answer harms nothing, and is told."""
    page = browser.page()
    opened(page, server.url(), token)
    message = "application/vnd.diario.message"
    answers = [
        {"status": 200, "content_type": message, "body": b"\x00" * 4000},
        {"status": 200, "content_type": message, "body": b"dmsg\x01" + b"\xff" * 200},
        {"status": 200, "content_type": "text/html", "body": "<h1>Welcome to the hotel</h1>"},
        {"status": 500, "content_type": "text/plain", "body": "no"},
        {"status": 429, "headers": {"retry-after": "1"}, "body": ""},
    ]
    heard = []

    def spoil(route):
        heard.append(route.request.url)
        route.fulfill(**answers[len(heard) % len(answers)])

    browser.context.route("**/sync", spoil)
    page.evaluate(RECORD, [94_001])
    # Nothing is heard but while the page is asked.
    wait_for(lambda: page.evaluate("1") and len(heard) >= len(answers), "it tries again", 90)
    status = page.evaluate("diary.status()")
    require(status["pending"] == 1 and status["lastError"], "it says what failed", status)
    browser.context.unroute("**/sync")
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "then it syncs", 60)
    require(page.evaluate("diary.verify()")["ok"], "it verifies")
    page.close()


def check_refused(browser, server):
    """A token that may only read, and one that is revoked."""
    reading = server.token("home", "read")
    page = browser.page()
    opened(page, server.url(), reading, "memory")
    require(page.evaluate("diary.status()")["rights"] == ["read"], "its rights are known")
    told = page.evaluate(FAILS, ["record", "meals.weight.recorded",
                                 {"day": "2026-03-02", "weightG": 1, "source": "manual"}])
    wait_for(lambda: told or page.evaluate("diary.status()")["sync"] == "paused",
             "it is refused, here or by the server")
    page.close()
    page = browser.page()
    told = page.evaluate("""async ([url]) => {
        const { open } = await import("/diario.js");
        try {
            await open({ url, token: "wrong", storage: "memory" });
        } catch (error) {
            return { kind: error.kind, message: error.message };
        }
    }""", [server.url()])
    require(told and told["kind"] == "unauthorized", "an unknown token", told)
    page.close()


def check_full(browser, server, token):
    """Without room nothing is recorded, and what is there is read; with room it goes on."""
    page = browser.page()
    opened(page, server.url(), token)
    devtools = browser.context.new_cdp_session(page)
    quota = {"origin": browser.address}
    usage = page.evaluate("navigator.storage.estimate().then(({ usage }) => usage)")
    devtools.send("Storage.overrideQuotaForOrigin", quota | {"quotaSize": usage + 100_000})
    told = page.evaluate("""async () => {
        for (let i = 0; i < 200; i += 1) {
            const events = Array.from({ length: 100 }, (_, k) => ({
                type: "meals.weight.recorded",
                payload: { day: "2026-03-04", weightG: 95_000 + k, source: "manual",
                    note: crypto.randomUUID().repeat(8) },
            }));
            try {
                await diary.batch(events);
            } catch (error) {
                return { kind: error.kind, message: error.message, batches: i };
            }
        }
    }""")
    require(told and told["kind"] == "full", "a full quota", told)
    count = len(events_of(page))
    require(count >= 100 * told["batches"], "what was acknowledged is read", told)
    devtools.send("Storage.overrideQuotaForOrigin", quota)
    page.evaluate(RECORD, [96_001])
    require(page.evaluate("diary.verify()")["ok"], "it verifies")
    wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "it syncs", 60)
    page.close()
    return told["batches"]


def check_kills(browser, server, token):
    """Killed in the middle of records: what was acknowledged is there."""
    acknowledged = []
    draw = random.Random(47)
    for number in range(KILLS):
        page = browser.page()
        opened(page, server.url(), token)
        found = {row["g"] for row in events_of(page)}
        lost = [g for g in acknowledged if g not in found]
        require(not lost, f"after {number} kills {len(lost)} are lost, such as {lost[:3]}")
        page.expose_function("acknowledge", lambda number: acknowledged.append(number))
        page.evaluate("""(start) => {
            (async () => {
                for (let g = start; ; g += 1) {
                    const payload = { day: "2026-03-03", weightG: g, source: "manual" };
                    await diary.record("meals.weight.recorded", payload, { actor: "u1" });
                    acknowledge(g);
                }
            })();
        }""", 100_000 + 10_000 * number)
        end = time.monotonic() + draw.uniform(0.3, 1.5)
        while time.monotonic() < end:
            page.wait_for_timeout(50)
        browser.kill()
        browser.start()
    page = browser.page()
    opened(page, server.url(), token)
    found = {row["g"] for row in events_of(page)}
    require(set(acknowledged) <= found, f"lost: {sorted(set(acknowledged) - found)[:5]}")
    require(page.evaluate("diary.verify()")["ok"], "it verifies")
    page.close()
    return len(acknowledged)


def check_readme(browser, server, token):
    """The list of the README, in two tabs."""
    block = (ROOT / "Sources/Web/README.md").read_text().split("```js tested\n")[1].split("```")[0]
    block = block.replace('import { open } from', "const { open } = await import(").replace(
        '"/diario.js";', '"/diario.js");')
    pages = [browser.page(), browser.page()]
    for page in pages:
        page.evaluate("document.body.innerHTML = '<select id=list></select>'")
        page.evaluate(f"async (token) => {{ {block} window.diary = diary; }}", token)
    for page in pages:
        wait_for(lambda: page.evaluate("document.querySelectorAll('option').length") >= 2,
                 "both tabs show what both recorded")
        require("78.4 kg" in page.evaluate("document.body.textContent"), "what was recorded")
    for page in pages:
        page.close()


def check_export(browser, server, token, diario, folder):
    """What a page exports, the program imports."""
    page = browser.page()
    opened(page, server.url(), token)
    lines = page.evaluate("diary.export().then((blob) => blob.text())")
    (folder / "exported.jsonl").write_text(lines)
    diario.good("init", str(folder / "imported"), "--pack", "meals")
    diario.good("-C", str(folder / "imported"), "import", str(folder / "exported.jsonl"))
    count = diario.good("-C", str(folder / "imported"), "sql", "SELECT count(*) AS n FROM weight",
                        "--json")
    require(count.json[0]["n"] == len(events_of(page)), "as many are imported", count)
    page.close()


def check_memory(browser, server, token):
    page = browser.page()
    opened(page, server.url(), token, "memory")
    page.evaluate(RECORD, [93_001])
    require(page.evaluate("diary.status()")["saved"] == "no", "it is not saved")
    wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "it syncs all the same")
    page.close()


def check(path, folder):
    require((WEB / "diario.js").exists(), f"there are no pages in {WEB}: build them with tools/web")
    diario = Diario(path, folder)
    with Server(diario, folder / "served", "--web", str(WEB)) as server, \
            sync_playwright() as play:
        token = server.token("home", "read,append")
        lines = "\n".join(weight(number) for number in range(200))
        made = server.ask("POST", "/v1/spaces/home/events", token, lines.encode(),
                          {"Content-Type": "application/x-ndjson"})
        require(made.status == 201, "events are recorded", made)
        browser = Browser(play, folder / "profile", f"http://127.0.0.1:{server.port}").start()
        try:
            check_first_visit(browser, server, token, "home")
            check_errors(browser, server, token)
            check_memory(browser, server, token)
            check_readme(browser, server, token)
            check_export(browser, server, token, diario, folder)
            check_refused(browser, server)
            check_hostile(browser, server, token)
            check_tabs(browser, server, token)
            check_hung(browser, server, token)
            check_ended(browser, server, token)
            check_clock(browser, server, token)
            check_full(browser, server, token)
            check_offline(browser, server, token)
            check_copied(browser, server, token, folder)
            check_lineage(browser, server, token, diario, folder)
            count = check_kills(browser, server, token)
        finally:
            browser.close()
        require(server.stop() == 0, "the server ends with 0")
    if count == 0:
        raise Failed("nothing was recorded before a kill")
    return f"{KILLS} kills, {count} events acknowledged before, none lost"


if __name__ == "__main__":
    main("browser.py", __doc__, check)
