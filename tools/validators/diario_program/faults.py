"""Directories that are damaged, foreign, newer, or may not be written."""

import os
import shutil
import subprocess

from . import Diario, weight
from .checks import Checks

NOBODY = 65_534
PAYLOAD = '{"day":"2026-03-02","weightG":78400,"source":"manual"}'
RECORD = ("record", "meals.weight.recorded", PAYLOAD)


def check(diario, folder):
    source = folder / "source"
    diario.good("init", str(source), "--pack", "all")
    for start in range(0, 60, 20):
        lines = "".join(weight(number) + "\n" for number in range(start, start + 20))
        diario.good("-C", source, "record", "-", "--quiet", stdin=lines)
    count = 0
    for part in (check_damage, check_foreign, check_read_only, check_torn, check_links):
        copy = folder / part.__name__
        shutil.copytree(source, copy)
        checks = Checks(diario, copy)
        part(checks, copy / ".diario")
        count += checks.count
    return count


def log_file(data):
    return sorted((data / "wal").glob("*.dwal"))[-1]


def last_frame_end(path):
    """The offset behind the last byte that is not zero."""
    return len(path.read_bytes().rstrip(b"\0"))


def check_damage(checks, data):
    path = log_file(data)
    good = path.read_bytes()
    for offset in (4096 + 50, 4096 + 400, last_frame_end(path) - 300):
        damaged = bytearray(good)
        damaged[offset] ^= 0x10
        path.write_bytes(damaged)
        result = checks.diario.run("-C", checks.space, "verify", "--json")
        checks.true(result.code == 1 and not result.json["ok"], "verify finds damage", result)
        faults = result.json["faults"]
        checks.true(any(path.name in fault["file"] and fault["offset"] <= offset
                        and fault["what"] for fault in faults), "with file and offset", result)
        people = checks.diario.run("-C", checks.space, "verify")
        checks.true(people.code == 1 and path.name in people.text, "verify for people", people)
        checks.failing("-C", checks.space, *RECORD, has=[path.name, "damaged"])
        checks.equal(path.read_bytes(), bytes(damaged), "damage is not repaired in silence")
        stats = checks.diario.run("-C", checks.space, "stats")
        checks.true(stats.code in (0, 1), "stats of a damaged log", stats)
    path.write_bytes(good[:5000])
    checks.failing("-C", checks.space, *RECORD, has=[path.name])
    path.write_bytes(good)
    checks.run("verify")


def check_foreign(checks, data):
    line = (data / "format").read_text()
    (data / "format").write_text("diario format 99 readable by 2\n")
    checks.run("log", "--limit", "1")
    checks.failing("-C", checks.space, *RECORD, has=["newer"])
    (data / "format").write_text("diario format 99 readable by 99\n")
    for words in (["log"], ["verify"], RECORD):
        checks.failing("-C", checks.space, *words, has=["format 99", "newer"])
    (data / "format").write_text("what is this\n")
    checks.failing("-C", checks.space, "log", has=["format"])
    (data / "format").unlink()
    checks.failing("-C", checks.space, "log", has=["format", "missing", "diario repair"])
    result = checks.diario.run("-C", checks.space, "verify", "--json")
    checks.true(result.code == 1 and not result.json["ok"]
                and result.json["faults"][0]["file"] == "format",
                "verify --json tells what keeps a space from being opened", result)
    (data / "format").write_text(line)
    manifest = next((data / "spaces").glob("*/manifest"))
    good = manifest.read_bytes()
    for content in (good[:30], bytes(64), good[:20] + b"\1" + good[21:]):
        manifest.write_bytes(content)
        checks.failing("-C", checks.space, "log", has=["manifest"])
        checks.failing("-C", checks.space, *RECORD, has=["manifest"])
    manifest.write_bytes(good)
    path = log_file(data)
    content = path.read_bytes()
    path.write_bytes(b"PK\3\4" + content[4:])
    # The newest file without a valid header counts as not begun, unless the mark knows better.
    result = checks.diario.run("-C", checks.space, "verify")
    checks.true(result.code == 1, "a foreign file in the place of the log", result)
    path.write_bytes(content)
    pack = next((data / "packs").glob("*/pack.json"))
    good = pack.read_bytes()
    pack.write_bytes(good + b" ")
    checks.failing("-C", checks.space, "log", has=["packs/"])
    pack.write_bytes(good)
    checks.run("verify")


def check_read_only(checks, data):
    if os.getuid() != 0:
        checks.true(refuses(checks, data, {}), "a directory that cannot be written")
        return
    # Root may write anywhere, so somebody else has to try, with a program that he can reach.
    options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    folder = os.path.dirname(checks.space)
    program = os.path.join(folder, "diario")
    shutil.copy(checks.diario.program, program)
    while os.stat(folder).st_uid == 0 and os.path.dirname(folder) != "/":
        os.chmod(folder, 0o755)
        folder = os.path.dirname(folder)
    somebody = Diario(program, checks.space)
    try:
        able = somebody.run("--version", **options).code == 0
    except (PermissionError, FileNotFoundError):
        able = False
    if not able:
        print("cli.py: skipped what needs another user: he cannot start the program")
        return
    for words in (["log"], RECORD, ["repair"]):
        checks.failing(
            "-C", checks.space, *words, has=["another user (id 0)", "--trust-owner"],
            program=somebody, **options)
    foreign = Checks(Diario(program, checks.space, front=["--trust-owner"]), checks.space)
    checks.true(refuses(foreign, data, options), "a directory of somebody else")
    checks.count += foreign.count


def refuses(checks, data, options):
    before = checks.export()
    if not options:
        subprocess.run(["chmod", "-R", "a-w", str(data)], check=True)
    try:
        checks.run("log", "--limit", "1", **options)
        checks.run("verify", **options)
        checks.run("export", **options)
        checks.failing("-C", checks.space, *RECORD, has=["nothing can be recorded", ".diario"],
                       **options)
        if options:
            checks.failing("init", os.path.join(checks.space, "new"), has=["new"], **options)
    finally:
        if not options:
            subprocess.run(["chmod", "-R", "u+w", str(data)], check=True)
    return checks.export() == before


def check_links(checks, data):
    """An unpacked folder of somebody else leads no command to other files, and to no pipe."""
    mine = data.parent.parent / "mine"
    space = next((data / "spaces").iterdir())
    model = space / "models"
    checks.run("sql", "SELECT count(*) FROM weight")
    live = model / os.readlink(model / "meals.sqlite")
    for path, words in (
        (data / "lock", RECORD), (data / "wal" / "synced", RECORD), (data / "format", ["log"]),
        (space / "manifest", ["log"]), (space / "sealing", ["seal"]),
        (live, ["sql", "SELECT count(*) FROM weight"]),
        (data / "control.sqlite", ["token", "list"]),
    ):
        mine.write_bytes(b"mine")
        content = path.read_bytes() if path.exists() else None
        for make in (lambda: path.symlink_to(mine), lambda: os.mkfifo(path)):
            path.unlink(missing_ok=True)
            make()
            result = checks.diario.run("-C", checks.space, *words)
            checks.true(result.code == 1 and "diario: " in result.message, str(path), result)
            checks.equal(mine.read_bytes(), b"mine", f"a file behind {path}")
            path.unlink()
        if content is not None:
            path.write_bytes(content)
    for name in ("wal", "spaces"):
        (data / name).rename(data.parent.parent / name)
        (data / name).symlink_to(data.parent.parent / name)
        checks.failing("-C", checks.space, *RECORD, has=[name, "link"])
        (data / name).unlink()
        (data.parent.parent / name).rename(data / name)
    checks.run(*RECORD)
    checks.run("verify")
    pipe = data.parent.parent / "pipe"
    os.mkfifo(pipe)
    checks.failing("inspect", str(pipe), has=["no file but", "pipe"])
    pack = data.parent.parent / "pack"
    (pack / "events").mkdir(parents=True)
    (pack / "pack.json").write_text('{"name":"pack","version":1}')
    (pack / "events" / "x.json").symlink_to(mine)
    result = checks.diario.run("schema", "check", str(pack))
    checks.true(result.code == 1 and "link" in result.text + result.message
                and "mine" not in result.text + result.message, "a link in a pack", result)


def check_torn(checks, data):
    """The last frame of an unclean stop is cut, kept aside and told; nothing else is."""
    path = log_file(data)
    (data / "wal" / "synced").unlink(missing_ok=True)
    content = bytearray(path.read_bytes())
    end = last_frame_end(path)
    before = len(checks.diario.origins(checks.space))
    content[end - 4] ^= 1
    path.write_bytes(content)
    remaining = len(checks.diario.origins(checks.space))
    checks.true(remaining < before, "the torn frame is not shown")
    checks.run(*RECORD)
    cut = checks.diario.verify(checks.space)["cut"]
    checks.true(len(cut) == 1 and (data / cut[0]).exists(), f"the cut frame is kept: {cut}")
    checks.diario.run("-C", checks.space, "inspect", str(data / cut[0]))
    checks.equal(len(checks.diario.origins(checks.space)), remaining + 1, "and it goes on")
