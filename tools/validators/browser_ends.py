"""Pages when something ends: a token, a stay, a version, a store, the way to the server.

Needs what browser.py needs.
"""

import functools
import json
import pathlib
import re
import shutil

from playwright.sync_api import sync_playwright

from diario_program import Diario, main, require, wait_for
from diario_program.browsing import DAMAGE, WEB, Browser
from diario_program.serving import Server
from diario_program.visiting import PACKS, Visit, record, signed_in


def check_away(play, folder, server, token):
    """A space that is not here yet cannot be opened without its server, and says so."""
    browser = Browser(play, folder / "away", f"http://127.0.0.1:{server.port}").start()
    visit = Visit(browser)
    visit.sees("Opens without a network from now on")
    browser.context.route("**/v1/**", lambda route: route.abort())
    visit.fill("Link or token", token)
    visit.press("Sign in")
    visit.sees("The server cannot be reached.")
    browser.context.unroute("**/v1/**")
    browser.context.route("**/segments*", lambda route: route.abort())
    visit.press("Sign in")
    visit.sees("This space is not on this device yet")
    browser.context.unroute("**/segments*")
    visit.press("Try again")
    visit.sees("Apps of this space")
    visit.close()
    browser.close()


# ---- Tokens that end, signing out, removing ----

def check_revoked(browser, server, diario):
    """Nothing is lost when a token ends while something is pending: a new one sends it."""
    old = server.token("home", "read,append", "--actor", "user-7", packs=PACKS)
    visit = signed_in(browser, old)
    diario.good("token", "revoke", old.split("_")[1], "--data", server.data)
    visit.go("/#/app/meals/record/weight.recorded")
    record(visit, "2026-03-05", "76000")
    wait_for(lambda: "Paused, 1 here" in visit.saving(), "sending is paused", 60)
    visit.page.locator("button.saving").click()
    visit.sees("Sending is paused")
    visit.page.get_by_role("link", name="Sign in again").click()
    visit.sees("Spaces on this device")
    other = server.token("home", "read,append", "--actor", "user-8", packs=PACKS)
    visit.fill("Link or token", other)
    visit.press("Sign in")
    visit.sees("This browser has \u201chome\u201d as user-7")
    new = server.token("home", "read,append", "--actor", "user-7", packs=PACKS)
    visit.fill("Link or token", new)
    visit.press("Sign in")
    wait_for(lambda: "All on the server" in visit.saving(), "it is sent", 60)
    visit.close()


def check_leaving(browser, server):
    """Signing out takes the token away; removing says first what would be lost."""
    visit = Visit(browser, "/#/settings")
    visit.sees("This space")
    visit.press("Sign out")
    visit.sees("Sign out of \u201chome\u201d?")
    visit.page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    visit.sees("Spaces on this device")
    kept = visit.page.evaluate("JSON.stringify(localStorage)")
    require("diario_" not in kept, "the token is gone", kept)
    visit.page.get_by_role("button", name=re.compile("^home")).click()
    visit.sees("Apps of this space")
    wait_for(lambda: "Paused" in visit.saving(), "it does not sync without one")
    visit.go("/#/app/meals/record/weight.recorded")
    record(visit, "2026-03-06", "75000")
    wait_for(lambda: "Paused, 1 here" in visit.saving(), "it is only here")
    visit.go("/#/spaces")
    visit.press("Remove from this device: home")
    visit.sees("1 thing is saved only here. It is lost, for everybody")
    visit.press("Keep it")
    visit.press("Remove from this device: home")
    with visit.page.expect_download() as download:
        visit.press("Download the 1, then remove")
    require("75000" in pathlib.Path(download.value.path()).read_text(), "it is downloaded")
    visit.sees("Open a space")
    visit.sees("was removed")
    names = visit.page.evaluate("""async () => {
        const names = [];
        try {
            const root = await navigator.storage.getDirectory();
            const folder = await root.getDirectoryHandle("diario");
            for await (const name of folder.keys()) names.push(name);
        } catch {}
        return names;
    }""")
    require(names == [], "nothing of it is left", names)
    visit.close()


def check_inbox(browser, server, token):
    """What the server refused: why, what others did, recorded again or dropped."""
    visit = signed_in(browser, token)
    entry = visit.ask("""
        const { origin } = await session.diary.record("meals.food.logged", { day: "2026-03-02",
            meal: "lunch", foodId: "off:1", amountMg: 1000, energyMkcal: 1000, method: "search" });
        return origin;
    """)
    wait_for(lambda: "All on the server" in visit.saving(), "it is sent", 60)
    browser.context.route("**/sync", lambda route: route.abort())
    moved = {"entryId": entry, "day": "2026-03-03", "meal": "dinner"}
    line = json.dumps({"type": "meals.food.moved", "payload": moved})
    made = server.ask("POST", "/v1/spaces/home/events", token, line.encode(),
                      {"Content-Type": "application/x-ndjson"})
    require(made.status == 201, "another one moves it", made)
    for meal in ("snack", "breakfast"):
        visit.ask("""await session.diary.batch([
            { type: "meals.food.moved", payload: value, ifUnchanged: true }])""",
                  moved | {"meal": meal})
    browser.context.unroute("**/sync")
    visit.page.evaluate("dispatchEvent(new Event('online'))")
    wait_for(lambda: "2 refused by the server" in visit.saving(), "both are refused", 60)
    visit.page.locator("button.saving").click()
    visit.page.get_by_role("link", name="2 refused").click()
    visit.sees("What others did meanwhile")
    visit.sees("dinner")
    visit.press("Record it again")
    visit.sees("Recorded again")
    wait_for(lambda: visit.page.locator("section h2.bad").count() == 1, "one is left")
    visit.press("Discard")
    visit.page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    visit.sees("Nothing was refused")
    wait_for(lambda: "All on the server" in visit.saving(), "the one is sent", 60)
    visit.close()


def check_damaged(browser, token):
    """A store that does not open: what is only here is offered before it is given up."""
    visit = Visit(browser)
    visit.sees("Apps of this space")
    browser.context.route("**/sync", lambda route: route.abort())
    visit.ask("""return session.diary.record("meals.weight.recorded",
        { day: "2026-03-08", weightG: 73000, source: "manual" })""")
    visit.page.goto(f"{browser.address}/healthz")
    visit.page.wait_for_timeout(500)
    visit.page.evaluate(DAMAGE)
    browser.context.unroute("**/sync")
    visit.go("/")
    visit.sees("copy is damaged")
    visit.sees("1 thing is only here, and can be read.")
    with visit.page.expect_download() as download:
        visit.press("Download the 1")
    require("73000" in pathlib.Path(download.value.path()).read_text(), "it is got out")
    visit.press("Give it up, and copy the space again")
    visit.sees("Apps of this space")
    require(visit.ask("return session.diary.verify()")["ok"], "the new copy is whole")
    visit.close()


# ---- Versions, and what comes spoiled ----

def fulfill(answer, route):
    route.fulfill(**answer)


def check_versions(play, folder, diario):
    """A new version waits until somebody asks for it, and is then whole."""
    pages = folder / "pages"
    shutil.copytree(WEB, pages)
    with Server(diario, folder / "versions", "--web", str(pages)) as server:
        token = server.token("home", packs=PACKS)
        browser = Browser(play, folder / "old", f"http://127.0.0.1:{server.port}").start()
        visit = signed_in(browser, token)
        wait_for(lambda: visit.page.evaluate("Boolean(navigator.serviceWorker.controller)"),
                 "the service worker")
        port = server.port
        server.stop()
        [old] = [path.name for path in (pages / "web").iterdir()]
        new = old[::-1]
        (pages / "web" / old).rename(pages / "web" / new)
        for path in pages.iterdir():
            if path.suffix in (".br", ".gz"):
                path.unlink()
            elif path.is_file():
                path.write_text(path.read_text().replace(old, new))
        server.port = port
        server.start()
        later = Visit(browser)
        later.sees("A new version of Diario is here.")
        require(old in later.page.content(), "until then it is the old one")
        # A tab that loads what it needs late still finds it.
        require(visit.page.evaluate("fetch(document.scripts[1].src).then(({ ok }) => ok)"),
                "the old version is there")
        with later.page.expect_navigation():
            later.press("Reload")
        wait_for(lambda: new in later.page.content(), "then it is the new one")
        later.sees("Apps of this space")
        # The other tab is not forced, and has the same diary meanwhile.
        require(old in visit.page.content(), "the other tab goes on")
        require(visit.status()["head"] == later.status()["head"], "with the same diary")
        with visit.page.expect_navigation():
            visit.press("Reload")
        wait_for(lambda: new in visit.page.content(), "until it is asked for there too")
        visit.sees("Apps of this space")
        later.close()
        visit.page.close()
        browser.close()


def check_spoiled(play, folder, server, token):
    """An engine that comes cut off or as something else is told, and nothing hangs."""
    browser = Browser(play, folder / "spoiled", f"http://127.0.0.1:{server.port}")
    for answer, told in [
        ({"content_type": "application/wasm", "body": (b"\0asm\1\0\0\0" + bytes(2000))}, "engine"),
        ({"content_type": "text/html", "body": "<h1>Welcome to the hotel</h1>"}, "engine"),
        ({"status": 503, "body": ""}, "engine"),
    ]:
        shutil.rmtree(folder / "spoiled", ignore_errors=True)
        browser.start(service_workers="block")
        spoil = functools.partial(fulfill, answer)
        browser.context.route("**/diario.wasm", spoil)
        visit = Visit(browser, f"/#token={token}&space=home")
        visit.sees("The space cannot be opened")
        visit.sees(told)
        browser.context.unroute("**/diario.wasm")
        visit.press("Try again")
        visit.sees("Apps of this space")
        visit.close()
        browser.close()


def check_unsafe(play, folder, server, token):
    """Over plain HTTP to another machine nothing can be kept, and the page says so."""
    browser = Browser(play, folder / "unsafe", f"http://diario.test:{server.port}")
    browser.start(extra=["--host-resolver-rules=MAP diario.test 127.0.0.1"])
    visit = signed_in(browser, token)
    visit.sees("This window keeps nothing.")
    require("This window keeps nothing" in visit.saving(), "the sign says so", visit.saving())
    visit.go("/#/app/meals/record/weight.recorded")
    record(visit, "2026-03-07", "74000")
    wait_for(lambda: visit.status()["pending"] == 0, "it is sent all the same", 60)
    visit.close()
    browser.close()


def check(path, folder):
    require((WEB / "index.html").exists(), f"no pages in {WEB}: build them with tools/web")
    diario = Diario(path, folder)
    with Server(diario, folder / "served", "--web", str(WEB)) as server, \
            sync_playwright() as play:
        token = server.token("home", "read,append", "--actor", "user-5", packs=PACKS)
        address = f"http://127.0.0.1:{server.port}"
        browser = Browser(play, folder / "first", address).start(locale="en-GB")
        try:
            check_inbox(browser, server, token)
            check_damaged(browser, token)
        finally:
            browser.close()
        browser = Browser(play, folder / "second", address).start(locale="en-GB")
        try:
            check_revoked(browser, server, diario)
            check_leaving(browser, server)
        finally:
            browser.close()
        check_away(play, folder, server, token)
        check_spoiled(play, folder, server, token)
        check_unsafe(play, folder, server, token)
        check_versions(play, folder, diario)
    return "tokens, stays, versions, stores and ways that end"


if __name__ == "__main__":
    main("browser_ends.py", __doc__, check)
