"""The pages in a real browser: from the first visit on, as people use them.

Needs the pages of tools/web, Chromium, and playwright, which drives it. With DIARIO_SHOTS=FOLDER
a picture of each screen is left there.
"""

import json
import pathlib

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from diario_program import Diario, main, require, wait_for
from diario_program.browsing import WEB, Browser
from diario_program.serving import Server
from diario_program.visiting import PACKS, Visit, look, record, signed_in

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
    # Each has a page, as each command, view and type; `close` asks whether one failed.
    paths = visit.ask("""
        const short = (name) => name.slice(name.indexOf(".") + 1);
        return session.declared.filter(({ name }) => name !== "engine").flatMap((pack) => [
            ...pack.queries.map(({ name }) => `${pack.name}/query/${name}`),
            ...pack.commands.map(({ name, kind }) =>
                `${pack.name}/${kind === "view" ? "view" : "do"}/${short(name)}`),
            ...pack.types.map(({ name }) => `${pack.name}/record/${short(name)}`),
        ]);
    """)
    for path in paths:
        visit.page.evaluate("(path) => { location.hash = `#/app/${path}`; }", path)
        visit.page.wait_for_timeout(80)
        require(visit.page.locator(".frame .state").count() == 0, f"there is no page of {path}")
    visit.close()
    return f"{told['count']} queries answered, {len(paths)} pages of apps"


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
    other.go("/inspect#/log")
    other.page.locator("main a.row").nth(1).click()
    other.sees("<script>1</script>")
    other.sees("Proved in this page.")
    require(other.page.title() != "hit", "markup is text")
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
    return f"{len(SCREENS) + 1} screens, {count}"


if __name__ == "__main__":
    main("browser_pages.py", __doc__, check)
