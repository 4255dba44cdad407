#!/usr/bin/env python3
"""Uses the commands as a new user would, and with what can be wrong.

    cli.py DIARIO

Each command does its work at least once. What is asked for wrongly ends with 1, or with 2 where the
words were wrong, is explained in one sentence on stderr, and leaves the log as it was; only
`record -` keeps what came before a bad line.
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

from diario_format import blobs
from diario_format.refused_vectors import unpack
from diario_program import Diario, main, require, weight
from diario_program.checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPE = "meals.weight.recorded"
GOOD = {"day": "2026-03-02", "weightG": 78400, "source": "manual"}
NOBODY = 65_534
# How bash is asked for what it would offer after `diario WORDS`.
BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
compopt() { return 0; }
spec=$(complete -p diario) || exit 1
function=${spec#*-F }; function=${function%% *}
"$function" || true
printf '%s\\n' "${COMPREPLY[@]}"
"""
COMPLETIONS = (
    (["sch"], {"schema"}), (["schema", ""], {"check", "list", "adopt", "types"}),
    (["log", "--re"], {"--replica", "--reverse"}), (["help", "ver"], {"verify"}),
    (["-C", "space", "log", "--type", "meals.we"], {TYPE}),
    (["export", "--csv-dir", "spa"], {"space"}),
)


def changed(**members):
    """The good payload with other members; None leaves one out."""
    return json.dumps({key: value for key, value in (GOOD | members).items() if value is not None})


def check_words(checks, diario):
    """Every command that the help lists explains itself, and refuses an option of no command."""
    require(re.fullmatch(r"diario \d+\.\d+\.\d+ .*\n", diario.good("--version").text), "--version")
    overview = diario.good("help").text
    commands = re.findall(r"^  ([a-z]+(?: [a-z]+)?) +\S", overview, re.MULTILINE)
    require(len(commands) > 40, f"commands of the help: {commands}")
    for command in commands:
        words = command.split()
        text = diario.good(*words, "--help").text
        checks.true(text.startswith("use: diario ") and command in text, f"help of {command}")
        checks.failing(*words, "--nonsense", code=2, has=["--nonsense"])
    checks.failing(code=2)
    checks.failing("recrod", code=2, has=["recrod"])
    checks.true(diario.good("man").text.startswith("."), "man")


def check_shells(checks, diario, folder):
    """The completions of a shell after some words."""
    (folder / "bin").mkdir()
    (folder / "bin" / "diario").symlink_to(diario.program)
    environment = diario.environment | {"PATH": f"{folder}/bin:{os.environ['PATH']}"}
    for shell in filter(shutil.which, ("bash", "zsh")):
        path = folder / f"completion.{shell}"
        path.write_text(diario.good("completion", shell).text)
        parsed = subprocess.run([shell, "-n", path], capture_output=True, check=False)
        checks.equal((parsed.returncode, parsed.stderr), (0, b""), f"{shell} -n")
    for words, wanted in COMPLETIONS:
        result = subprocess.run(
            ["bash", "-c", BASH, "bash", folder / "completion.bash", "diario", *words], cwd=folder,
            env=environment, capture_output=True, text=True, timeout=30, check=False)
        checks.equal((result.returncode, result.stderr), (0, ""), f"bash with {words}")
        checks.equal(set(result.stdout.split()), wanted, f"bash offers after {words}")


def check_recording(checks):
    for payload, has in (
        ('{"day":"2026-03-02",', ["no JSON"]), ("[1]", ["object"]), ("", ["no JSON"]),
        (changed(weightG=78.5), ["weightG", "integer"]), (changed(weightG=-1), ["weightG"]),
        (changed(day="2026-02-30"), ["day", "date"]), (changed(colour="red"), ["colour"]),
        (changed(source=None), ["source", "required"]),
    ):
        checks.bad("record", TYPE, payload, has=has)
        checks.bad("record", TYPE, "-", stdin=payload, has=has)
    checks.bad("record", "meals.weight.recordde", changed(), has=[f"did you mean {TYPE}?"])
    origin = checks.run("record", TYPE, "--actor", "user-1", "--at", "2026-03-02T08:00:00+01:00",
                        "-", stdin=b"\xef\xbb\xbf" + changed().encode()).lines[0]
    shown = checks.run("show", origin, "--json").json
    checks.equal((shown["actor"], shown["at"], shown["payload"]["weightG"]),
                 ("user-1", "2026-03-02T07:00:00.000Z", 78400), "an event as it was recorded")
    checks.true("weightG: 78400 g" in checks.run("show", str(shown["position"])).text, "for people")
    for line, has in (("{", []), ('{"payload":{}}', ["type"]), (weight(2, at="noon"), ["at"]),
                      (weight(2, position=3), ["position"])):
        before = len(checks.diario.origins(checks.space))
        lines = f"{weight(1)}\n\n{weight(1)}\n{line}\n{weight(1)}\n"
        result = checks.bad("record", "-", stdin=lines, has=["line 4", *has], is_unchanged=False)
        after = len(checks.diario.origins(checks.space))
        checks.equal((len(result.lines), after), (2, before + 2), "events before the bad line")
    # A bad line takes its batch with it; ids that a batch makes may be mentioned in it.
    made = {"type": "maps.map.created", "batch": "b",
            "payload": {"name": "Fiera", "widthMpx": 4_000_000, "heightMpx": 3_000_000}}
    place = {"type": "maps.place.added", "batch": "b", "payload": {
        "mapId": "#1", "kind": "pavilion", "title": "x", "xMpx": 1, "yMpx": 1}}
    lines = "\n".join(map(json.dumps, [made, place]))
    origins = checks.run("record", "-", stdin=lines).lines
    shown = checks.run("show", origins[1], "--json").json
    checks.equal((shown["payload"]["mapId"], shown["batch"]), (origins[0],) * 2, "a batch")
    checks.bad("record", "-", stdin=lines.replace("#1", "#9"), has=["line 2", "#9"])
    many = "\n".join(weight(number, batch="many") for number in range(1001))
    checks.bad("record", "-", stdin=many, has=["line 1001", "1000"])


def check_interrupt(checks):
    process = checks.diario.start("-C", checks.space, "record", "-")
    process.stdin.write(weight(1).encode() + b"\n")
    origin = process.stdout.readline().decode().strip()
    process.stdin.write(weight(6, batch="open").encode() + b"\n")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    require(process.returncode == 1 and b"interrupted" in err and not out, f"Ctrl-C: {out} {err}")
    checks.equal(checks.diario.origins(checks.space).get(origin), 1, "what was acknowledged")


def check_reading(checks, folder):
    events = checks.run("log", "--all", "--json").events
    positions = [event["position"] for event in events]
    checks.equal(positions, list(range(1, len(events) + 1)), "positions without gaps")
    checks.equal(checks.export(), checks.run("log", "--all", "--json").out, "export --all")
    backwards = checks.run("log", "--all", "--json", "--reverse", "--limit", "3").events
    checks.equal(backwards, events[:-4:-1], "log --reverse --limit")
    weights = checks.run("log", "--json", "--type", TYPE).events
    checks.equal({event["type"] for event in weights}, {TYPE}, "log --type")
    stats, verified = checks.run("stats", "--json").json, checks.run("verify", "--json").json
    checks.equal((verified["ok"], verified["root"]), (True, stats["root"]), "verify")
    checks.run("seal")
    checks.equal(checks.run("stats", "--json").json["tailEvents"], 0, "all is sealed")
    proof = checks.run("prove", "5", "--json").text
    checks.diario.good("check", "-", stdin=proof)
    spoilt = checks.diario.run("check", "-", stdin=proof.replace('"position":5', '"position":6'))
    checks.true(spoilt.code == 1 and "does not hold" in spoilt.text, "a spoilt proof", spoilt)
    count = checks.run("sql", "SELECT count(*) AS n FROM weight", "--json").json
    checks.equal(count[0]["n"], len(weights), "read models have the events")
    checks.true(checks.run("query").text and checks.run("rebuild", "--json").json, "models")
    checks.bad("sql", "DELETE FROM weight", is_unchanged=False)
    # A file that is replaced is replaced as a whole, and nobody may read more of it.
    (folder / "secret").write_text("old")
    (folder / "secret").chmod(0o600)
    checks.run("export", "--all", "--output", str(folder / "secret"))
    checks.equal(((folder / "secret").read_bytes(), (folder / "secret").stat().st_mode & 0o777),
                 (checks.export(), 0o600), "export --output")
    checks.bad("export", "--output", f"{checks.space}/.diario/x", has=["the files of a space"])


def check_transfer(checks, diario, folder):
    exported, people = checks.export(), checks.run("export").out
    for form in ([], ["--cloudevents"]):
        text = checks.run("export", "--all", *form).out
        diario.good("init", f"copy{len(form)}", "--pack", "all")
        copy = Checks(diario, folder / f"copy{len(form)}")
        for _ in range(2):
            copy.run("import", "-", stdin=text)
            checks.equal(copy.export(), exported, f"an import of an export {form}")
    diario.good("init", "other", "--pack", "all")
    other = Checks(diario, folder / "other")
    other.run("record", "-", stdin=weight(1))
    for count in (len(people.splitlines()), 0):
        taken = other.run("import", "-", "--json", stdin=people).json["imported"]
        checks.equal(taken, count, "events of another space come once")
    for content, has in ((exported[:2000], ["line "]), (b"\0\1", ["line 1"])):
        other.bad("import", "-", stdin=content, has=has)
    other.bad("import", "missing.jsonl", has=["missing.jsonl"])


def check_packs(checks, diario, folder):
    pack = folder / "plants"
    shutil.copytree(ROOT / "Tests/ExampleApp/Sources/Garden/Packs/plants", pack)
    diario.good("schema", "check", str(pack))
    checks.run("schema", "adopt", str(pack))
    listed = checks.run("schema", "list", "--json").json
    checks.true("plants" in [found["name"] for found in listed["packs"]], "schema list")
    # A question about a pack whose read models lack events says so.
    model = pack / "readmodel" / "plants.sql"
    model.write_text(model.read_text().replace(
        "waterMl INT NOT NULL", "waterMl INT NOT NULL CHECK (waterMl < 250)"))
    diario.good("init", "garden", "--schema", str(pack))
    garden = Checks(diario, folder / "garden")
    garden.run("record", "plants.plant.bought", '{"plantId":"basil","name":"B","light":"sun"}')
    garden.run("record", "plants.plant.watered", '{"plantId":"basil","amountMl":300}')
    told = garden.run("sql", "SELECT count(*) AS n FROM plant")
    checks.true("diario quarantine list" in told.message, "a note on stderr", told)
    checks.true("plants" in garden.run("quarantine", "list").text, "quarantine list")
    (pack / "events" / "plant.watered.1.json").write_text("{")
    bad = diario.run("schema", "check", str(pack))
    checks.true(bad.code == 1 and "plant.watered.1.json:" in bad.text, "a bad pack", bad)
    checks.failing("init", "unmade", "--schema", str(pack), has=["plant.watered.1.json"])
    checks.true(not (folder / "unmade" / ".diario").exists(), "no half space")


BLOB_SCHEMA = {
    "title": "album.photo.taken", "x-diario-version": 1, "type": "object",
    "additionalProperties": False, "required": ["photo"],
    "properties": {
        "photo": {"type": "object", "x-diario-blob": {
            "maxSize": 20_000_000, "types": ["image/png"]}},
        "tile": {"type": "object", "x-diario-blob": {
            "maxSize": 9, "types": ["application/octet-stream"], "public": True}}},
}


def check_blobs(diario, folder):
    """From a picture to an event and back, with a backup in between."""
    pack = folder / "album"
    (pack / "events").mkdir(parents=True)
    (pack / "pack.json").write_text('{"name": "album", "version": 1}')
    (pack / "events" / "photo.taken.1.json").write_text(json.dumps(BLOB_SCHEMA))
    diario.good("schema", "check", str(pack))
    diario.good("init", "pictures", "--schema", str(pack))
    checks = Checks(diario, folder / "pictures")
    picture = bytes(range(256)) * 1000
    (folder / "basil.png").write_bytes(picture)
    put = checks.run("blob", "put", str(folder / "basil.png"), "--json").json
    checks.equal((put["size"], put["type"]), (len(picture), "image/png"), "blob put")
    stored = (folder / "pictures" / ".diario" / "blobs" / put["sha256"]).read_bytes()
    found = hashlib.sha256(stored).digest(), blobs.read(stored, base64.b64decode(put["key"]))
    checks.equal(found, (base64.b64decode(put["id"]), picture), "the second reader")
    again = checks.run("blob", "put", str(folder / "basil.png"), "--json").json
    checks.true(again["id"] != put["id"] and again["key"] != put["key"], "another key and id")
    open_tile = checks.run("blob", "put", "-", "--public", "--json", stdin=b"tile").json
    checks.true("key" not in open_tile, "a public blob")
    payload = {f"photo{name.capitalize()}": put[name] for name in ("id", "size", "type", "key")}
    payload |= {f"tile{name.capitalize()}": open_tile[name] for name in ("id", "size", "type")}
    checks.run("record", "album.photo.taken", json.dumps(payload))
    listed = checks.run("blob", "list", "--json").json
    checks.equal(sorted((blob["state"], blob["events"]) for blob in listed),
                 [("here", 0), ("here", 1), ("here", 1)], "blob list")
    checks.equal(checks.run("blob", "get", put["id"]).out, picture, "blob get")
    checks.equal(checks.run("blob", "get", open_tile["sha256"]).out, b"tile", "a public one")
    checks.run("blob", "get", again["id"], "--key", again["key"], "-o", str(folder / "got.png"))
    checks.equal((folder / "got.png").read_bytes(), picture, "blob get with a key")
    checks.failing("-C", checks.space, "blob", "get", again["id"], has=["no event", "--key"])
    checks.failing("-C", checks.space, "blob", "get", again["id"], "--key", put["key"],
                   has=["another"])
    checks.failing("-C", checks.space, "blob", "get", "basil", code=2, has=["no id"])
    checks.failing("-C", checks.space, "blob", "put", "nowhere.png", has=["nowhere.png"])
    checks.failing("-C", checks.space, "blob", "put", str(folder / "basil.png"), "--type", "PNG",
                   code=2, has=["media type"])
    checks.bad("record", "album.photo.taken", json.dumps(payload | {"photoId": "AA=="}),
               has=["photoId"])
    del payload["photoSize"]
    checks.bad("record", "album.photo.taken", json.dumps(payload), has=["photoSize", "required"])
    checks.equal(checks.run("verify", "--blobs", "--json").json["blobs"], 3, "verify --blobs")
    checks.true("2 here" in checks.run("status").text, "status")
    checks.run("backup", str(folder / "kept"))
    checks.failing("-C", checks.space, "blob", "drop", put["id"], has=["--force"])
    checks.run("blob", "drop", put["id"], "--force")
    checks.run("blob", "drop", again["id"])
    state = checks.run("sql", "SELECT blob_state(id) AS state FROM diario_blob ORDER BY field",
                       "--json").json
    checks.equal([row["state"] for row in state], ["missing", "here"], "blob_state")
    checks.failing("-C", checks.space, "blob", "get", put["id"], has=["not here"])
    checks.equal(checks.run("status", "--json").json["blobsMissing"], 1, "what is missing")
    copy = Checks(diario, folder / "kept")
    checks.equal(copy.run("blob", "get", put["id"]).out, picture, "from the backup")
    place = folder / "kept" / ".diario" / "blobs" / put["sha256"]
    place.write_bytes(stored[:-1] + bytes([stored[-1] ^ 1]))
    found = diario.run("-C", copy.space, "verify", "--blobs")
    copy.true(found.code == 1 and put["sha256"] in found.text, "damage", found)
    copy.failing("-C", copy.space, "blob", "get", put["id"], "-o", str(folder / "bad.png"),
                 has=["chunk 3"])
    checks.true(not (folder / "bad.png").exists(), "nothing is left of a damaged picture")
    return checks.count + copy.count


def check_places(checks, diario, folder):
    checks.equal(diario.good("export", "--all", folder=folder / "space").out, checks.export(),
                 "the space of the folder")
    checks.failing("log", has=["no space", "diario init"])
    checks.failing("-C", "nowhere", "log", has=["nowhere"])
    checks.failing("init", "space", has=["already"])
    data = ("--data", str(folder / "served"))
    for name in ("one", "two"):
        diario.good("space", "create", name, *data, "--pack", "meals")
    served = ("-C", str(folder / "served"))
    diario.good(*served, "--space", "one", "record", TYPE, changed())
    checks.failing(*served, "log", code=2, has=["2 spaces", "--space"])
    checks.equal(len(diario.good(*served, "--space", "one", "log").lines), 1, "one of two")
    diario.good("space", "rename", "two", "due", *data)
    diario.good("space", "quota", "due", *data, "--events", "7")
    token = diario.good("token", "create", *data, "--space", "one", "--json").json
    listed = diario.good("token", "list", *data, "--json").text
    checks.true(token["id"] in listed and token["token"] not in listed, "no secret is listed")
    diario.good("token", "revoke", token["id"], *data)
    for word, waits in (("hold", True), ("resume", False)):
        diario.good("authority", word, *data, "--space", "one")
        status = diario.good("authority", "status", *data, "--json").json
        checks.equal([space["waiting"] for space in status if space["space"] == "one"], [waits],
                     f"authority {word}")
    checks.equal(diario.run("space", "remove", "one", *data).code, 1, "it asks for --yes")
    diario.good("space", "remove", "one", *data, "--yes")
    names = [space["space"] for space in diario.good("space", "list", *data, "--json").json]
    checks.equal(names, ["due"], "space list")


def check_inbox(diario, folder):
    """A space in which two batches were refused, as `schema/vectors` has it."""
    vector = json.loads((ROOT / "schema/vectors/refused-1.json").read_text())
    unpack(vector, folder / "refused")
    checks = Checks(diario, folder / "refused")
    first, second = [origin for origin, _ in vector["inbox"]]
    checks.true(first in checks.run("inbox", "list").text, "inbox list")
    checks.true("actor" in checks.run("inbox", "show", first).text, "inbox show")
    retried = checks.run("inbox", "retry", first, "--json").json
    checks.equal(checks.run("show", retried["recordedAs"], "--json").json["payload"],
                 {"text": "b"}, "inbox retry")
    checks.bad("inbox", "drop", second, has=["--yes"])
    checks.run("inbox", "drop", second, "--yes")
    checks.equal(checks.run("inbox", "list", "--json").json, [], "an empty inbox")
    return checks.count


def check_foreign(checks, folder):
    """Folders of others, newer formats, and links to other files."""
    data = pathlib.Path(checks.space, ".diario")
    line = (data / "format").read_text()
    (data / "format").write_text("diario directory 99\n")
    checks.failing("-C", checks.space, "log", has=["format 99", "newer"])
    (data / "format").write_text(line)
    mine = folder / "mine"
    mine.write_bytes(b"mine")
    for path in (data / "lock", data / "format", next(data.glob("spaces/*/manifest"))):
        content = path.read_bytes()
        for make in (lambda: path.symlink_to(mine), lambda: os.mkfifo(path)):
            path.unlink()
            make()
            checks.failing("-C", checks.space, "record", TYPE, changed())
            checks.equal(mine.read_bytes(), b"mine", f"a file behind {path}")
        path.unlink()
        path.write_bytes(content)
    checks.run("verify")
    if os.getuid() != 0:
        return
    # Root may write anywhere, so somebody else has to try, with a program that he can reach.
    program = folder / "diario"
    shutil.copy(checks.diario.program, program)
    place = folder
    while place.stat().st_uid == 0 and place.parent != place.parent.parent:
        place.chmod(0o755)
        place = place.parent
    somebody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    checks.failing("-C", checks.space, "log", has=["another user (id 0)", "--trust-owner"],
                   program=Diario(program, folder), **somebody)
    trusting = Diario(program, folder, front=["--trust-owner"])
    trusting.good("-C", checks.space, "log", "--limit", "1", **somebody)
    checks.failing("-C", checks.space, "record", TYPE, changed(), has=["nothing can be recorded"],
                   program=trusting, **somebody)


def check(program, folder):
    diario = Diario(program, folder)
    diario.good("init", "space", "--pack", "all")
    checks = Checks(diario, folder / "space")
    check_words(checks, diario)
    check_shells(checks, diario, folder)
    check_recording(checks)
    check_interrupt(checks)
    check_reading(checks, folder)
    check_transfer(checks, diario, folder)
    check_packs(checks, diario, folder)
    check_places(checks, diario, folder)
    check_foreign(checks, folder)
    count = checks.count + check_inbox(diario, folder) + check_blobs(diario, folder)
    return f"{count} checks"


if __name__ == "__main__":
    main("cli.py", __doc__, check)
