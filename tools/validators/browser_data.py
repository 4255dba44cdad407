"""What a page reads and keeps beside rows: events, proofs, refused events, blobs, a damaged store.

Needs what browser.py needs.
"""

import base64
import hashlib
import json
import pathlib

from playwright.sync_api import sync_playwright

from blobs import SCHEMA
from browser import FAILS, RECORD, ROOT, opened
from diario_program import Diario, main, require, wait_for
from diario_program.browsing import DAMAGE, WEB, Browser
from diario_program.serving import Server

HOME = "/v1/spaces/home"
TEXTS = {"Content-Type": "application/x-ndjson"}


def vectors():
    """Proofs of other programs' trees, that a page checks: schema/vectors."""
    golden = json.loads((ROOT / "schema/vectors/proofs-1.json").read_text())
    for case in golden["inclusion"]:
        leaf = hashlib.sha256(case["index"].to_bytes(8, "little")).hexdigest()
        yield {"proof": "inclusion", "position": case["index"] + 1, "size": case["size"],
               "leaf": leaf, "root": golden["roots"][case["size"]], "path": case["path"]}


def check_proofs(page):
    proof = page.evaluate("diary.prove(3)")
    status = page.evaluate("diary.status()")
    require(proof["root"] == status["root"] and proof["size"] == status["head"], "the proof", proof)
    told = page.evaluate("""async ([proof, vectors]) => {
        const { checkProof, stepsOf } = await import("/diario.js");
        const spoiled = structuredClone(proof);
        const last = spoiled.path.length - 1;
        spoiled.path[last] = spoiled.leaf;
        const golden = [];
        for (const vector of vectors) golden.push(await checkProof(vector));
        return {
            holds: await checkProof(proof),
            spoiled: await checkProof(spoiled),
            short: await checkProof({ ...proof, path: proof.path.slice(1) }),
            other: await checkProof({ ...proof, position: proof.position + 1 }),
            golden,
            steps: stepsOf(proof).length,
        };
    }""", [proof, list(vectors())])
    require(told["holds"] and not told["spoiled"] and not told["short"] and not told["other"],
            "a right proof holds, and no other", told)
    require(len(told["golden"]) > 40 and all(told["golden"]), "golden proofs", told["golden"])
    growth = page.evaluate("diary.prove(undefined, { from: 2 })")
    require(growth["fromSize"] == 2, "that the log grew", growth)
    return proof


def check_follow(page, server, token):
    """All events in order, those that come included."""
    head = page.evaluate("diary.status()")["head"]
    page.evaluate("""() => {
        window.heard = [];
        window.end = diary.follow(2, ({ position }) => heard.push(position), { all: true });
    }""")
    line = json.dumps({"type": "meals.weight.recorded", "payload": {
        "day": "2026-03-02", "weightG": 50_000, "source": "manual"}})
    made = server.ask("POST", f"{HOME}/events", token, line.encode(), TEXTS)
    require(made.status == 201, "another one records", made)
    wait_for(lambda: page.evaluate("heard.length") >= head, "what comes is heard of")
    heard = page.evaluate("(end(), heard)")
    require(heard == list(range(2, head + 2)), "each once and in order", heard)


def check_refused(browser, page, server, token):
    """A change of what others changed meanwhile: it is looked at, recorded again, or dropped."""
    entry = page.evaluate("""diary.record("meals.food.logged", { day: "2026-03-02", meal: "lunch",
        foodId: "off:1", amountMg: 1000, energyMkcal: 1000, method: "search" })""")["origin"]
    wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "it is sent")
    browser.context.route("**/sync", lambda route: route.abort())
    moved = {"entryId": entry, "day": "2026-03-03", "meal": "dinner"}
    line = json.dumps({"type": "meals.food.moved", "payload": moved})
    made = server.ask("POST", f"{HOME}/events", token, line.encode(), TEXTS)
    require(made.status == 201, "another one moves it", made)
    for meal in ("snack", "breakfast"):
        page.evaluate("""(payload) => diary.batch([
            { type: "meals.food.moved", payload, ifUnchanged: true }])""", moved | {"meal": meal})
    browser.context.unroute("**/sync")
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_for(lambda: len(page.evaluate("diary.inbox()")) == 2, "both are refused", 60)
    first, second = page.evaluate("diary.inbox()")
    require(first["rule"] == "changed" and first["events"] == 1, "why", first)
    shown = page.evaluate("(origin) => diary.refused(origin)", first["origin"])
    require(shown["events"][0]["payload"]["meal"] == "snack"
            and [event["payload"]["meal"] for event in shown["concurrent"]] == ["dinner"],
            "what it was, and what came in between", shown)
    again = page.evaluate("(origin) => diary.recordAgain(origin, { force: true })",
                          first["origin"])
    require(again["recordedAs"] != first["origin"], "it is recorded again", again)
    page.evaluate("(origin) => diary.discard(origin)", second["origin"])
    wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "and sent")
    status = page.evaluate("diary.status()")
    require(status["inbox"] == 0 and page.evaluate("diary.quarantine()") == [], "all is well",
            status)
    require(page.evaluate("diary.retryQuarantine()") == [], "nothing was left out")


def make_pack(folder):
    pack = folder / "album"
    (pack / "events").mkdir(parents=True)
    (pack / "pack.json").write_text(json.dumps({"name": "album", "version": 1}))
    (pack / "events" / "photo.taken.1.json").write_text(json.dumps(SCHEMA))
    return pack


PUT = """async ([size, name]) => {
    const bytes = new Uint8Array(size).map((_, i) => (i * 31 + (i >> 8)) & 255);
    const source = new Blob([bytes], { type: "image/png" });
    const fields = await diary.blobs.put(source, { field: "photo" });
    await diary.record("album.photo.taken", { name, ...fields });
    return fields;
}"""
GET = """async (id) => {
    const blob = await diary.blobs.get(id);
    return [blob.type, Array.from(new Uint8Array(await blob.arrayBuffer()))];
}"""


def hexadecimal(digest):
    """An id as requests have it, from one as events have it."""
    return base64.b64decode(digest).hex()


def plain(size):
    return bytes((i * 31 + (i >> 8)) & 255 for i in range(size))


def check_blobs(browser, server, diario, folder):
    """Put without a network, there after a reload, sent, and got elsewhere; the other way round."""
    token = server.token("album", "read,append", packs=("--schema", str(make_pack(folder))))
    url = server.url("album")
    page = browser.page()
    opened(page, url, token)
    browser.context.route("**/v1/**", lambda route: route.abort())
    sizes = [0, 1, 65_536, 200_001]
    put = [page.evaluate(PUT, [size, f"p{size}"]) for size in sizes]
    page.close()
    page = browser.page()
    opened(page, url, token)
    for size, fields in zip(sizes, put):
        require(page.evaluate(GET, fields["photoId"]) == ["image/png", list(plain(size))],
                f"{size} bytes are there after a reload")
    states = {row["state"] for row in page.evaluate("diary.blobs.status()")}
    require(states == {"here"}, "their states", states)
    browser.context.unroute("**/v1/**")
    page.evaluate("dispatchEvent(new Event('online'))")
    clone = folder / "clone"
    wanted = json.dumps({"ids": [hexadecimal(fields["photoId"]) for fields in put]})

    def is_sent():
        page.wait_for_timeout(100)
        told = server.ask("POST", "/v1/spaces/album/blobs/want", token, wanted)
        return len(told.json["here"]) == len(sizes)

    wait_for(is_sent, "the server has them", 60)
    diario.good("clone", url, str(clone), "--token", token, "--with-blobs")
    for size, fields in zip(sizes, put):
        got = diario.good("-C", str(clone), "blob", "get", fields["photoId"])
        require(got.out == plain(size), f"{size} bytes came to the program")
    (folder / "native.png").write_bytes(plain(150_000))
    native = diario.good("-C", str(clone), "blob", "put", str(folder / "native.png"), "--json").json
    fields = {f"photo{name.capitalize()}": native[name] for name in ("id", "size", "type", "key")}
    diario.good("-C", str(clone), "record", "album.photo.taken",
                json.dumps({"name": "native"} | fields))
    diario.good("-C", str(clone), "sync", "--token", token)
    wait_for(lambda: len(page.evaluate("diary.events({ limit: 9 })")) == 5, "its event comes")
    require(page.evaluate(GET, native["id"]) == ["image/png", list(plain(150_000))],
            "and its bytes")
    told = page.evaluate(FAILS, ["record", "album.photo.taken", {"name": "x", "photoId": "AA=="}])
    require(told and told["kind"] == "invalid", "half a blob is refused", told)
    page.close()


def check_salvage(browser, server, diario, folder, token):
    """A store that does not open: what is only there is got out of it."""
    page = browser.page()
    opened(page, server.url(), token)
    browser.context.route("**/sync", lambda route: route.abort())
    page.evaluate(RECORD, [98_001, 98_002])
    page.evaluate("diary.close()")
    page.evaluate(DAMAGE)
    told = page.evaluate("""async ([url, token]) => {
        const { open } = await import("/diario.js");
        try {
            await open({ url, token, storage: "opfs" });
        } catch (error) {
            return { kind: error.kind, message: error.message };
        }
    }""", [server.url(), token])
    require(told and told["kind"] == "corrupt", "it does not open", told)
    page.close()
    page = browser.page()
    saved = page.evaluate("""async (url) => {
        const { salvage } = await import("/diario.js");
        const { lines, ...report } = await salvage({ url });
        return { ...report, lines: await lines.text() };
    }""", server.url())
    require(saved["events"] == 2 and saved["faults"], "what is pending is saved", saved)
    browser.context.unroute("**/sync")
    (folder / "saved.jsonl").write_text(saved["lines"])
    diario.good("init", str(folder / "saved"), "--pack", "meals")
    diario.good("-C", str(folder / "saved"), "import", str(folder / "saved.jsonl"))
    found = diario.good("-C", str(folder / "saved"), "sql", "SELECT weightG AS g FROM weight",
                        "--json").json
    require({row["g"] for row in found} == {98_001, 98_002}, "and imported elsewhere", found)
    page.close()


def check(path, folder):
    require((WEB / "diario.js").exists(), f"there are no pages in {WEB}: build them with tools/web")
    folder = pathlib.Path(folder)
    diario = Diario(path, folder)
    with Server(diario, folder / "served", "--web", str(WEB)) as server, \
            sync_playwright() as play:
        token = server.token("home", "read,append")
        browser = Browser(play, folder / "profile", f"http://127.0.0.1:{server.port}").start()
        try:
            page = browser.page()
            opened(page, server.url(), token)
            page.evaluate(RECORD, list(range(97_001, 97_021)))
            wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "a sync")
            proof = check_proofs(page)
            (folder / "proof.json").write_text(json.dumps(proof))
            diario.good("check", str(folder / "proof.json"))
            check_follow(page, server, token)
            check_refused(browser, page, server, token)
            page.close()
            check_blobs(browser, server, diario, folder)
            check_salvage(browser, server, diario, folder, token)
        finally:
            browser.close()
        require(server.stop() == 0, "the server ends with 0")
    return "events, proofs, refused events, blobs and a damaged store"


if __name__ == "__main__":
    main("browser_data.py", __doc__, check)
