"""Fish in a real browser: its commands in a page, and pictures that stay on the device.

Needs what browser.py needs.
"""

import json
import pathlib

from playwright.sync_api import sync_playwright

from browser import opened
from browser_data import hexadecimal
from diario_program import Diario, main, require, wait_for
from diario_program.browsing import WEB, Browser
from diario_program.serving import Server
from diario_program.visiting import Visit


def check_commands(browser, token):
    """A command can be tried first; what it refuses is told in words of the pack."""
    visit = Visit(browser, f"/#token={token}&space=quay")
    visit.sees("species in season")
    visit.go("/#/app/fish")
    visit.fill("Find", "judge a fish")
    visit.sees("Begins to judge a fish.")
    require("What to buy instead" not in visit.text(), "what was not looked for is gone")
    visit.page.get_by_role("link", name="Begins to judge a fish.").click()
    visit.fill("Species", "sgombro")
    visit.press("Check without recording")
    visit.sees("This would be recorded:")
    before = visit.status()
    visit.press("Do it")
    visit.sees("Recorded:", exact=True)
    after = visit.status()
    require(after["head"] + after["pending"] > before["head"], "it is recorded", after)
    visit.fill("Species", "unicorn")
    visit.press("Do it")
    visit.sees("There is no such species on that day.")
    visit.go("/#/app/fish/do/species.define")
    visit.sees("Only for who has the role curator.")
    require(visit.page.get_by_role("button", name="Do it").is_disabled(), "and is not offered")
    visit.go("/#/spaces")
    visit.press("Remove from this device: quay")
    visit.sees("1 picture is on this device alone.")
    with visit.page.expect_download() as download:
        visit.press("Download")
    picture = pathlib.Path(download.value.path()).read_bytes()
    require(picture == bytes(1000), "it is the picture", picture[:20])
    visit.close()


def check_stays(browser, server):
    """A fish's picture stays in the page until whoever took it agrees."""
    token = server.token("quay", "read,append", "--actor", "anna", packs=("--pack", "fish"))
    page = browser.page()
    opened(page, server.url("quay"), token)
    page.evaluate("""async () => {
        const run = (name, input) => diary.run(`fish.${name}`, input, { actor: "anna" });
        await run("assessment.start", { speciesId: "sardina", assessmentId: "a1" });
        const source = new Blob([new Uint8Array(1000)], { type: "image/png" });
        const photo = await diary.blobs.put(source, { field: "image" });
        await run("photo.capture",
            { assessmentId: "a1", widthPx: 4000, heightPx: 3000, ...photo });
    }""")
    wait_for(lambda: page.evaluate("diary.status()")["pending"] == 0, "the events are sent")
    status = page.evaluate("diary.blobs.status()")
    require(len(status) == 1 and status[0]["stays"] and status[0]["isRecordedHere"],
            "the picture stays", status)
    page.wait_for_timeout(500)
    wanted = json.dumps({"ids": [hexadecimal(status[0]["id"])]})
    told = server.ask("POST", "/v1/spaces/quay/blobs/want", token, wanted)
    require(told.json == {"missing": [], "here": []}, "and nothing of it left", told)
    page.close()


def check(path, folder):
    require((WEB / "index.html").exists(), f"no pages in {WEB}: build them with tools/web")
    diario = Diario(path, folder)
    with Server(diario, folder / "served", "--web", str(WEB)) as server, \
            sync_playwright() as play:
        words = ("--actor", "anna", "--role", "fish.researcher")
        token = server.token("quay", "read,append", *words, packs=("--pack", "fish"))
        address = f"http://127.0.0.1:{server.port}"
        browser = Browser(play, folder / "profile", address).start(locale="en-GB")
        try:
            check_stays(browser, server)
            check_commands(browser, token)
        finally:
            browser.close()
    return "commands, and a picture that stays"


if __name__ == "__main__":
    main("browser_fish.py", __doc__, check)
