"""A real browser, driven by playwright, and the pages that tools/web made."""

import os
import pathlib
import shutil
import signal

from . import require

WEB = pathlib.Path(__file__).resolve().parents[3] / ".build" / "web"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
WAIT = 30_000

# All manifests of a replica of the space home lose a bit; the diary must be closed.
DAMAGE = """async () => {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle("diario");
    for await (const replica of folder.values()) {
        if (!decodeURIComponent(replica.name).endsWith("/home")) continue;
        for await (const file of replica.values()) {
            const bytes = new Uint8Array(await (await file.getFile()).arrayBuffer());
            if (String.fromCharCode(...bytes.slice(0, 4)) !== "dman") continue;
            bytes[bytes.length - 1] ^= 1;
            const writable = await file.createWritable();
            await writable.write(bytes);
            await writable.close();
        }
    }
}"""


class Browser:
    """Chromium with a profile that stays when it is killed."""

    def __init__(self, play, profile, address):
        self.play = play
        self.profile = profile
        self.address = address
        self.context = None

    def start(self, extra=(), **more):
        """With a person's settings, such as `locale`."""
        self.context = self.play.chromium.launch_persistent_context(
            str(self.profile), executable_path=shutil.which("chromium"), args=[*FLAGS, *extra],
            **more)
        self.context.set_default_timeout(WAIT)
        self.foreign = []
        self.context.on("request", self.note)
        return self

    def note(self, request):
        """No request leaves the origin."""
        if not request.url.startswith((self.address, "blob:", "data:")):
            self.foreign.append(request.url)

    def page(self):
        page = self.context.new_page()
        page.goto(f"{self.address}/healthz")
        return page

    def close(self):
        self.context.close()
        require(not self.foreign, f"requests left the origin: {self.foreign[:5]}")

    def kill(self):
        """All its processes at once, as when a phone's battery is empty."""
        for process in pathlib.Path("/proc").iterdir():
            if not process.name.isdecimal():
                continue
            try:
                words = (process / "cmdline").read_bytes()
                if str(self.profile).encode() in words:
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                pass
        try:
            self.context.close()
        except Exception:  # noqa: BLE001, whatever playwright says of a browser that is gone
            pass
