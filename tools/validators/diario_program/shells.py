"""Completion, the manual page and progress bars, in the shells and on a terminal."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

from . import require, weight
from .checks import Checks
from .commands import listed

CLEAR = b"\r\x1b[K"
# How a shell is asked for what it would offer after `diario WORDS`.
BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
compopt() { return 0; }
spec=$(complete -p diario) || exit 1
function=${spec#*-F }; function=${function%% *}
"$function" || true
printf '%s\\n' "${COMPREPLY[@]}"
"""
# The words before the cursor, and what must and must not be offered.
COMPLETIONS = (
    ([""], {"init", "log", "schema", "completion", "man"}, {"adopt", "--json"}),
    (["-"], {"-C", "--no-progress", "--version"}, {"--json", "log"}),
    (["sch"], {"schema"}, {"log"}),
    (["schema", ""], {"check", "list", "adopt"}, {"log"}),
    (["log", "--re"], {"--replica", "--reverse"}, {"--limit"}),
    (["-C", "SPACE", "log", "--type", "meals.we"], {"meals.weight.recorded"}, {"fish."}),
    (["-C", "SPACE", "query", "wei"], {"weights"}, {"week"}),
    (["-C", "SPACE", "record", "fish.report"], {"fish.report.filed"}, {"meals.weight.recorded"}),
    (["completion", ""], {"bash", "zsh"}, {"log"}),
    (["help", "ver"], {"verify"}, {"init"}),
    (["help", "schema", ""], {"check", "list", "adopt"}, {"log", "schema"}),
    (["help", "log", ""], set(), {"check", "log", "events.jsonl"}),
    (["export", "--csv-dir", "SPA"], {"SPACE"}, {"events.jsonl"}),
    (["import", "ev"], {"events.jsonl"}, {"SPACE"}),
    (["log", "--limit", ""], set(), {"--json", "events.jsonl"}),
)


def check(diario, folder):
    (folder / "events.jsonl").write_text("".join(weight(n) + "\n" for n in range(6000)))
    diario.good("init", "SPACE", "--pack", "all")
    checks = Checks(diario, folder / "SPACE")
    (folder / "bin").mkdir()
    (folder / "bin" / "diario").symlink_to(diario.program)
    checks.failing("completion", "csh", code=2, has=["csh", "bash, zsh"])
    checks.failing("completion", code=2, has=["bash|zsh"])
    skipped = [check_bash(checks, diario, folder), check_zsh(checks, diario, folder),
               check_manual(checks, diario, folder)]
    checks.run("record", "-", "--quiet", stdin=(folder / "events.jsonl").read_bytes())
    check_progress(checks, diario, folder)
    for reason in filter(None, skipped):
        print(f"shells: not checked: {reason}")
    return checks.count


def script(diario, folder, shell):
    path = folder / f"completion.{shell}"
    path.write_text(diario.good("completion", shell).text)
    return path


def environment(diario, folder):
    return diario.environment | {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder)}


def check_offers(checks, shell, words, offered, wanted, unwanted):
    checks.true(wanted <= offered, f"{shell} offers {sorted(wanted)} behind {words}: {offered}")
    checks.true(not unwanted & offered, f"{shell} offers no {sorted(unwanted)} behind {words}: "
                f"{offered}")


def check_bash(checks, diario, folder):
    if not shutil.which("bash"):
        return "bash is not installed"
    path = script(diario, folder, "bash")
    parsed = subprocess.run(["bash", "-n", path], capture_output=True, check=False)
    checks.equal((parsed.returncode, parsed.stderr), (0, b""), "bash -n")
    cases = list(COMPLETIONS)
    # bash makes three words of --type=VALUE.
    cases.append((["-C", "SPACE", "log", "--type", "=", "meals.we"], {"meals.weight.recorded"},
                  set()))
    for words, wanted, unwanted in cases:
        result = subprocess.run(
            ["bash", "-c", BASH, "bash", path, "diario", *words], cwd=folder, timeout=30,
            env=environment(diario, folder), capture_output=True, text=True, check=False)
        checks.equal((result.returncode, result.stderr), (0, ""), f"bash with {words}")
        check_offers(checks, "bash", words, set(result.stdout.split()), wanted, unwanted)
    return None


def check_zsh(checks, diario, folder):
    path = script(diario, folder, "zsh")
    checks.true(path.read_text().startswith("#compdef diario\n"), "a script for zsh")
    if not shutil.which("zsh"):
        return "zsh is not installed"
    parsed = subprocess.run(["zsh", "-n", path], capture_output=True, check=False)
    checks.equal((parsed.returncode, parsed.stderr), (0, b""), "zsh -n")
    return None


def check_manual(checks, diario, folder):
    page = folder / "diario.1"
    page.write_text(diario.good("man").text)
    checks.true(page.read_text().startswith('.TH DIARIO 1 "'), "the head of the page")
    found = []
    for words in (["groff", "-man", "-Tutf8", "-ww"], ["mandoc", "-T", "lint", "-W", "warning"],
                  ["man", "-l", "--warnings=w", "-P", "cat"]):
        if not shutil.which(words[0]):
            continue
        result = subprocess.run([*words, page], capture_output=True, text=True, check=False,
                                env=diario.environment | {"LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
        if words[0] == "man" and "minimized" in result.stdout:
            continue
        checks.equal((result.returncode, result.stderr), (0, ""), f"the page by {words[0]}")
        found.append(words[0])
        if words[0] == "groff":
            shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", result.stdout)
            for command in listed(diario):
                checks.true(f"diario {command}" in shown, f"{command} in the page")
    return None if found else "groff, mandoc and man are not installed"


class Terminal:
    """A command whose stderr is a terminal of 60 columns."""

    def __init__(self, diario, folder, *words, **options):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        extra = options.pop("environment", {"TERM": "xterm"})
        self.process = subprocess.Popen(
            [diario.program, *words], cwd=folder, stderr=slave,
            env=diario.environment | extra, **options)
        os.close(slave)
        self.shown = b""

    def look(self, seconds):
        """Takes in what is shown within that time."""
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0:
            if not select.select([self.master], [], [], rest)[0]:
                return
            try:
                got = os.read(self.master, 65536)
            except OSError:
                return
            if not got:
                return
            self.shown += got

    def wait(self):
        code = self.process.wait(timeout=30)
        self.look(0.2)
        os.close(self.master)
        return code

    @property
    def bars(self):
        """The lines that were drawn, each as it was to be seen."""
        return [part.decode() for part in self.shown.split(CLEAR)[1:] if part]


def slow_record(diario, folder, *words, first=(), **options):
    """Feeds `record` for more than a second, so that there is a bar however fast it is."""
    terminal = Terminal(diario, folder, *first, "-C", "SPACE", "record", "-", "--quiet", *words,
                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, **options)
    for number in range(16):
        terminal.process.stdin.write(weight(number).encode() + b"\n")
        terminal.process.stdin.flush()
        terminal.look(0.1)
    return terminal


def slow_export(diario, folder, *words):
    """Reads an export so slowly that it takes more than a second."""
    terminal = Terminal(diario, folder, "-C", "SPACE", "export", *words, stdout=subprocess.PIPE)
    fd = terminal.process.stdout.fileno()
    for _ in range(20):
        require(os.read(fd, 1 << 16), "the export goes on")
        terminal.look(0.08)
    return terminal


def check_progress(checks, diario, folder):
    terminal = slow_record(diario, folder)
    terminal.process.stdin.close()
    checks.equal(terminal.wait(), 0, "a record with a bar")
    checks.true(terminal.bars, f"a bar: {terminal.shown}")
    for bar in terminal.bars:
        checks.true(bar.startswith("Recording: ") and len(bar) < 60, f"a bar of 59: {bar!r}")
    checks.true(terminal.shown.endswith(CLEAR), "the bar is taken away at the end")
    # A signal that is caught, and a bad line: the bar is gone before the message.
    terminal = slow_record(diario, folder)
    terminal.process.send_signal(signal.SIGINT)
    checks.equal(terminal.wait(), 1, "an interrupted record")
    checks.true(re.search(rb"\r\x1b\[Kdiario: interrupted[^\r]*\r?\n$", terminal.shown),
                f"the end of an interrupted record: {terminal.shown}")
    terminal = slow_record(diario, folder)
    terminal.process.stdin.write(b"nonsense\n")
    terminal.process.stdin.close()
    checks.equal(terminal.wait(), 1, "a record with a bad line")
    checks.true(re.search(rb"\r\x1b\[Kdiario: line 17[^\r]*\r?\n$", terminal.shown),
                f"the end of a record with a bad line: {terminal.shown}")
    # A signal that ends the program at once, and a whole export.
    terminal = slow_export(diario, folder)
    terminal.process.send_signal(signal.SIGINT)
    checks.equal(terminal.wait(), -signal.SIGINT, "an interrupted export")
    checks.true(terminal.bars and terminal.shown.endswith(CLEAR),
                f"the bar is taken away by the signal: {terminal.shown}")
    terminal.process.stdout.close()
    terminal = slow_export(diario, folder)
    rest = len(terminal.process.stdout.read())
    checks.equal(terminal.wait(), 0, "an export with a bar")
    checks.true(rest > 0 and re.search(r"Exporting: [\d,]+ of 6,[\d,]+ events, \d+ %",
                                       terminal.bars[-1]), f"a share: {terminal.bars}")
    terminal.process.stdout.close()
    for first, words, extra in (
        ([], ["--no-progress"], {"TERM": "xterm"}), (["--no-progress"], [], {"TERM": "xterm"}),
        ([], [], {"TERM": "dumb"}), ([], [], {"TERM": "xterm", "DIARIO_NO_PROGRESS": "1"}),
    ):
        terminal = slow_record(diario, folder, *words, first=first, environment=extra)
        terminal.process.stdin.close()
        checks.equal((terminal.wait(), terminal.shown), (0, b""),
                     f"no bar: {first} {words} {extra}")
    checks.diario.verify(checks.space)
