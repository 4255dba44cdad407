"""The pages in a real browser: from the first visit on, as people use them.

Needs the pages of tools/web, Chromium, and playwright, which drives it. With DIARIO_SHOTS=FOLDER
a picture of each screen is left there.
"""

import functools
import json
import pathlib
import re
import shutil

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from diario_program import Diario, main, require, wait_for
from diario_program.browsing import DAMAGE, WEB, Browser
from diario_program.serving import Server
from diario_program.visiting import Visit, look, signed_in

PACKS = ("--pack", "all")
PHONE, DESKTOP, NARROW = (390, 844), (1440, 900), (320, 700)
MARKUP = "<img src=x onerror=\"document.title='hit'\"> \u202egnp.exe <script>1</script>"


# ---- Signing in ----

def check_first_visit(browser, token):
    """What is wrong with a token stands beside the field; a link leaves no trace of its own."""
    visit = Visit(browser)
    visit.sees("Open a space")
    visit.sees("Opens without a network from now on")
    for typed, told in [
        ("", "Paste the link or the token"),
        ("dt1_something", "neither a token nor a link"),
        ("ftp://127.0.0.1/#token=x", "neither a token nor a link"),
        (f"{browser.address}/", "has no token"),
        (f"https://example.org/#token={token}", "leads to example.org"),
        (token[:-4] + "0000", "does not know this token"),
        (MARKUP, "neither a token nor a link"),
    ]:
        visit.fill("Link or token", typed)
        visit.press("Sign in")
        visit.sees(told)
        require(visit.page.evaluate("document.activeElement.id") == "token", "the field is chosen")
    require(visit.page.title() != "hit", "what was typed is text")
    visit.fill("Link or token", token)
    visit.press("Sign in")
    visit.sees("Apps of this space")
    for name in ["Maps", "Meals", "Music", "Zones"]:
        visit.sees(name)
    visit.sees("1 plan")
    visit.close()

    visit = signed_in(browser, token)
    require("token" not in visit.page.url, "the token is not in the address", visit.page.url)
    visit.page.go_back()
    require("token" not in visit.page.url, "nor in the history", visit.page.url)
    visit.close()


# ---- Queries and forms ----

def record(visit, day, grams):
    """A weight, by its form."""
    visit.fill("Day", day)
    visit.fill("Weight", grams)
    visit.choose("Manual")
    visit.press("Record")


def check_all_queries(browser):
    """Every query of every pack answers in the page, with its values as they usually are."""
    visit = Visit(browser)
    visit.sees("Apps of this space")
    told = visit.ask("""
        const failed = [];
        let count = 0;
        for (const pack of session.declared) {
            for (const query of pack.queries) {
                if (query.parameters.some((one) => one.default === undefined)) continue;
                try {
                    await session.diary.query(`${pack.name}.${query.name}`);
                    count += 1;
                } catch (error) {
                    failed.push(`${pack.name}.${query.name}: ${error.message}`);
                }
            }
        }
        return { failed, count };
    """)
    require(told["count"] > 20 and not told["failed"], "all queries answer", told)
    visit.close()
    return told["count"]


def check_forms(browser):
    """A form says what is wrong, records what is right, and the table of a query follows."""
    visit = Visit(browser, "/#/app/meals/record/weight.recorded")
    visit.sees("A person was weighed.")
    visit.press("Record")
    visit.sees("This is needed.")
    visit.sees("2 fields to correct")
    visit.fill("Day", "2026-03-02")
    visit.fill("Weight", "heavy")
    visit.press("Record")
    visit.sees("A whole number, please.")
    visit.fill("Weight", "1")
    visit.press("Record")
    visit.sees("From 20000 to 400000, please.")
    require(visit.status()["pending"] == 0, "nothing is recorded")
    visit.fill("Weight", "78400")
    visit.fill("Note", MARKUP)
    visit.choose("Manual")
    visit.press("Record")
    visit.sees("Recorded", exact=True)
    other = Visit(browser, "/#/app/meals/query/weights?first=2026-01-01")
    other.sees("1 row")
    other.sees("78.4")
    require("first=2026-01-01" in other.page.url, "the address keeps what is asked for")
    record(visit, "2026-03-03", "79200")
    other.sees("2 rows")
    other.page.reload()
    other.sees("2 rows")
    visit.close()
    other.close()


# ---- Without a network ----

def check_offline(browser, server):
    """Opened, read and recorded without a server, after a reload too; then it is sent."""
    visit = Visit(browser, "/#/app/meals/record/weight.recorded")
    visit.sees("A person was weighed.")
    wait_for(lambda: visit.page.evaluate("Boolean(navigator.serviceWorker.controller)"),
             "the service worker")
    port = server.port
    server.kill()
    visit.page.reload()
    visit.sees("A person was weighed.")
    record(visit, "2026-03-04", "77000")
    wait_for(lambda: "Offline, 1 saved only here" in visit.saving(), "the sign says so", 60)
    visit.page.locator("button.saving").click()
    visit.sees("1 thing is saved only here")
    visit.sees("meals.weight.recorded")
    with visit.page.expect_download() as download:
        visit.press("Download the 1")
    line = json.loads(pathlib.Path(download.value.path()).read_text())
    require(line["payload"]["weightG"] == 77000, "what is pending is downloaded", line)
    visit.page.keyboard.press("Escape")
    require(visit.page.evaluate("document.activeElement.className").startswith("saving"),
            "the focus is where it was")
    new = Visit(browser, "/#/app/maps/query/maps")
    new.sees("1 row")
    new.close()
    server.port = port
    server.start()
    visit.page.evaluate("dispatchEvent(new Event('online'))")
    wait_for(lambda: "All on the server" in visit.saving(), "it is sent", 60)
    browser.context.set_offline(True)
    wait_for(lambda: "Offline" in visit.saving(), "the network is gone")
    browser.context.set_offline(False)
    wait_for(lambda: "All on the server" in visit.saving(), "and there again")
    visit.close()


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


# ---- How it looks ----

SCREENS = {
    "home": "/#/",
    "app": "/#/app/meals",
    "query": "/#/app/maps/query/maps",
    "form": "/#/app/meals/record/food.logged",
    "settings": "/#/settings",
    "spaces": "/#/spaces",
    "inbox": "/#/inbox",
    "log": "/inspect#/log",
    "event": "/inspect#/event/1",
    "nowhere": "/#/nowhere",
    "sign-in": "/#/sign-in",
}


# What shows that a screen has all that it shows.
DRAWN = {"home": "aside li", "query": "td", "form": "form", "settings": "dl",
         "log": "main li", "event": ".note"}


def check_looks(browser):
    """Axe finds nothing on any screen, in both themes and languages; nothing is too wide."""
    visit = Visit(browser)
    visit.sees("Apps of this space")
    axe = Axe()
    found = []
    for language, theme, size in [("en", "light", PHONE), ("it", "dark", DESKTOP),
                                  ("it", "light", NARROW), ("en", "dark", PHONE),
                                  ("en", "light", DESKTOP)]:
        visit.page.set_viewport_size({"width": size[0], "height": size[1]})
        visit.page.evaluate("""([language, theme]) => {
            localStorage.setItem("diario.language", language);
            localStorage.setItem("diario.theme", theme);
        }""", [language, theme])
        for name, path in SCREENS.items():
            visit.go(path)
            visit.page.reload()
            visit.page.locator(DRAWN.get(name, ".frame h1, .sign-in h1")).first.wait_for()
            found += look(visit, axe, f"{name}-{size[0]}-{theme}-{language}")
        visit.go("/#/")
        visit.page.locator("button.saving").click()
        visit.page.wait_for_timeout(300)
        found += look(visit, axe, f"saving-{size[0]}-{theme}-{language}")
        visit.page.keyboard.press("Escape")
    require(not found, "axe and widths", "\n".join(found[:20]))
    visit.page.evaluate("localStorage.removeItem('diario.language')")
    visit.page.evaluate("localStorage.removeItem('diario.theme')")
    visit.close()


def check_keyboard(browser):
    """Everything is reached with the keyboard, and the first stop leads to the content."""
    visit = Visit(browser)
    visit.sees("Apps of this space")
    visit.page.locator("body").press("Tab")
    require(visit.page.evaluate("document.activeElement.className") == "skip", "the skip link")
    visit.page.keyboard.press("Enter")
    require(visit.page.evaluate("document.activeElement.id") == "content", "the content")
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Enter")
    visit.sees("Look", exact=True)
    visit.close()


def check(path, folder):
    require((WEB / "index.html").exists(), f"no pages in {WEB}: build them with tools/web")
    diario = Diario(path, folder)
    with Server(diario, folder / "served", "--web", str(WEB)) as server, \
            sync_playwright() as play:
        token = server.token("home", "read,append", "--actor", "user-5", packs=PACKS)
        address = f"http://127.0.0.1:{server.port}"
        browser = Browser(play, folder / "profile", address).start(locale="en-GB")
        try:
            check_first_visit(browser, token)
            count = check_all_queries(browser)
            check_forms(browser)
            check_keyboard(browser)
            check_looks(browser)
            check_offline(browser, server)
        finally:
            browser.close()
        browser = Browser(play, folder / "second", address).start(locale="en-GB")
        try:
            check_inbox(browser, server, token)
            check_damaged(browser, token)
        finally:
            browser.close()
        browser = Browser(play, folder / "third", address).start(locale="en-GB")
        try:
            check_revoked(browser, server, diario)
            check_leaving(browser, server)
        finally:
            browser.close()
        check_away(play, folder, server, token)
        check_spoiled(play, folder, server, token)
        check_unsafe(play, folder, server, token)
        check_versions(play, folder, diario)
    return f"{len(SCREENS) + 1} screens, {count} queries"


if __name__ == "__main__":
    main("browser_pages.py", __doc__, check)
