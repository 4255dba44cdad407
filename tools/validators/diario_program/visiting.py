"""A page as a person sees and uses it."""

import os

from . import require

PACKS = ("--pack", "all")
SHOTS = os.environ.get("DIARIO_SHOTS")


class Visit:
    """A page with what a person sees and does."""

    def __init__(self, browser, path="/"):
        self.browser = browser
        self.page = browser.context.new_page()
        self.faults = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.go(path)

    def go(self, path):
        self.page.goto(f"{self.browser.address}{path}")

    def text(self):
        return self.page.inner_text("body")

    def sees(self, text, seconds=30, exact=False):
        """Waits until a text is there."""
        try:
            found = self.page.get_by_text(text, exact=exact).filter(visible=True)
            found.first.wait_for(timeout=seconds * 1000)
        except Exception:
            require(False, f"{text!r} is not seen at {self.page.url} ({self.faults})", self.text())

    def fill(self, label, text):
        self.page.get_by_label(label, exact=False).first.fill(text)

    def choose(self, text):
        self.page.locator(".choice label").filter(has_text=text).first.click()

    def press(self, name, exact=True):
        self.page.get_by_role("button", name=name, exact=exact).filter(visible=True).first.click()

    def ask(self, body, value=None):
        """Runs a part of JavaScript in the page, with its `session` and a `value`."""
        return self.page.evaluate("""async (value) => {
            const main = [...document.scripts].find(({ src }) => src.endsWith("/main.js")).src;
            const { session } = await import(main.replace("main.js", "session.js"));
            """ + body + "}", value)

    def status(self):
        return self.ask("return session.diary.status()")

    def saving(self):
        return self.page.locator("button.saving").get_attribute("aria-label")

    def close(self):
        require(not self.faults, "no code of the page fails", self.faults)
        self.page.close()


def signed_in(browser, token, path="/"):
    visit = Visit(browser, f"{path}#token={token}&space=home")
    visit.sees("Apps of this space")
    return visit


def look(visit, axe, name):
    """What axe finds, and whether it is too wide; with DIARIO_SHOTS also a picture."""
    if SHOTS:
        visit.page.screenshot(path=f"{SHOTS}/{name}.png", full_page="320" in name)
    found = []
    width = visit.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if width > 0:
        found.append(f"{name}: {width} px too wide")
    for violation in axe.run(visit.page).response["violations"]:
        nodes = [node["html"][:160] for node in violation["nodes"][:2]]
        found.append(f"{name}: {violation['id']}: {violation['help']}: {nodes}")
    return found


def record(visit, day, grams):
    """A weight, by its form."""
    visit.fill("Day", day)
    visit.fill("Weight", grams)
    visit.choose("Manual")
    visit.press("Record")
