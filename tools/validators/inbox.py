#!/usr/bin/env python3
"""Goes through the inbox of a space in which events were refused, as `schema/vectors` has one.

    inbox.py DIARIO

Both readers of the log must see the same, before and after each command.
"""

import json
import pathlib
import sys

import reader
from diario_format.refused_vectors import unpack
from diario_program import Diario, main
from diario_program.checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[2]
VECTOR = ROOT / "schema" / "vectors" / "refused-1.json"


def space_of(folder):
    return next((folder / ".diario" / "spaces").iterdir())


def agree(checks, program, folder, what):
    checks.true(reader.compare(program, str(folder), what), f"the readers agree: {what}")


def seen_by_reader(folder):
    """How many events the second reader finds pending, and in the inbox."""
    text = reader.run(sys.executable, str(reader.READER), "log", str(folder))
    space, = json.loads(text)["spaces"]
    return space["pending"], space["inbox"]


def check_reading(checks, folder, vector):
    first, second = [origin for origin, _ in vector["inbox"]]
    stats = checks.run("stats", "--json").json
    checks.equal((stats["head"], stats["root"]), (vector["head"], vector["root"]), "the log")
    checks.equal((stats["pending"], stats["inbox"]), (len(vector["pending"]), 2), "the lane")
    checks.equal(seen_by_reader(folder), (len(vector["pending"]), 2), "the second reader")
    listed = checks.run("inbox", "list", "--json").json
    checks.equal([(batch["origin"], batch["rule"]) for batch in listed],
                 [tuple(entry) for entry in vector["inbox"]], "inbox list --json")
    text = checks.run("inbox", "list").text
    checks.true(first in text and second in text and "actor" in text, "inbox list for people")
    shown = checks.run("inbox", "show", first, "--json").json
    checks.equal([event["origin"] for event in shown["events"]], [first], "inbox show --json")
    checks.equal(shown["concurrent"], [], "nothing was concurrent")
    checks.equal(shown["refusalKnown"], True, "it was refused")
    text = checks.run("inbox", "show", first).text
    for word in (first, "actor", "events", "no concurrent events", '{"text":"b"}'):
        checks.true(word in text, f"inbox show has {word}: {text}")
    return first, second


def check_importing(checks, program, folder):
    """An import where another server gives positions: its events are pending, each once."""
    made = [line for line in checks.run("export").text.splitlines() if '"text"' in line][:2]
    lines = [json.loads(line) for line in made]
    for number, line in enumerate(lines, 1):
        line["origin"] = f"7zk3m9q2c1f4a-{2 * number}"
    source = folder.parent / "others.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    before = checks.run("stats", "--json").json["pending"]
    for counts in ((len(lines), 0), (0, len(lines))):
        done = checks.run("import", str(source), "--json").json
        checks.equal((done["imported"], done["known"]), counts, "import into a replica")
        agree(checks, program, folder, "events of another space were imported")
    after = checks.run("stats", "--json").json["pending"]
    checks.equal(after, before + len(lines), "what was imported is pending")
    known, = (space_of(folder) / "imports").glob("*.dimp")
    checks.true("2 events of other spaces" in checks.run("inspect", str(known)).text, "inspect")
    whole = known.read_bytes()
    known.write_bytes(whole[:-1])
    verified = Diario(program, folder.parent).run("-C", str(folder), "verify", "--json")
    checks.true([fault["file"].endswith(known.name) for fault in verified.json["faults"]] == [True],
                "verify names the file", verified)
    checks.bad("import", str(source), has=["diario repair"])
    known.write_bytes(whole)


def check_changing(checks, program, folder, first, second):
    checks.bad("inbox", "drop", second, has=["--yes"])
    checks.equal(len(checks.run("inbox", "list", "--json").json), 2, "nothing was dropped")
    checks.bad("inbox", "show", "7zk3m9q2c1f4a-17", has=["inbox list"])
    checks.bad("inbox", "retry", "7zk3m9q2c1f4a-17", has=["inbox"])
    checks.bad("inbox", "retry", "seventeen", code=2, has=["no origin"])
    checks.bad("inbox", "drop", code=2, has=["ORIGIN"])
    before = checks.run("stats", "--json").json
    retried = checks.run("inbox", "retry", first, "--json").json
    checks.equal((retried["origin"], retried["events"], retried["wasRecorded"]), (first, 1, False),
                 "inbox retry")
    new = checks.run("show", retried["recordedAs"], "--json").json
    checks.equal((new["payload"], new["actor"]), ({"text": "b"}, "bob"), "the new event")
    checks.equal(new["base"], before["head"], "the base is the head")
    stats = checks.run("stats", "--json").json
    checks.equal((stats["pending"], stats["inbox"]), (before["pending"] + 1, 1), "one was retried")
    agree(checks, program, folder, "one was recorded again")
    dropped = checks.run("inbox", "drop", second, "--yes").text
    checks.true("dropped 1 event" in dropped, f"inbox drop: {dropped}")
    checks.equal(checks.run("inbox", "list", "--json").json, [], "an empty inbox, for programs")
    checks.true("nothing is in the inbox" in checks.run("inbox", "list").text, "an empty inbox")
    checks.equal(seen_by_reader(folder)[1], 0, "the second reader finds nothing in the inbox")
    agree(checks, program, folder, "one was dropped")


def check_damage(checks, program, vector, folder):
    """A file of the inbox that was damaged is named by both readers, and the other is listed."""
    damaged = Checks(program, folder)
    path = sorted((space_of(folder) / "inbox").glob("*.dbox"))[0]
    data = bytearray(path.read_bytes())
    data[30] ^= 8
    path.write_bytes(data)
    result = damaged.failing("-C", str(folder), "inbox", "list", has=[path.name])
    damaged.true(vector["inbox"][1][0] in result.text, "the other batch is listed", result)
    verified = program.run("-C", str(folder), "verify", "--json")
    damaged.equal(verified.code, 1, "verify finds it")
    damaged.true([fault["file"].endswith(path.name) for fault in verified.json["faults"]] == [True],
                 "verify names the file", verified)
    theirs = program.run("-C", str(folder), "repair", "--yes")
    damaged.equal(theirs.code, 0, "repair sets it aside")
    damaged.equal(program.good("-C", str(folder), "verify", "--json").json["ok"], True, "verify")
    damaged.equal(len(damaged.run("inbox", "list", "--json").json), 1, "the other one is there")
    checks.count += damaged.count


def check(path, folder):
    vector = json.loads(VECTOR.read_text())
    program = Diario(path, folder)
    space, other = folder / "space", folder / "damaged"
    unpack(vector, space)
    unpack(vector, other)
    checks = Checks(program, space)
    agree(checks, program.program, space, "events were refused")
    first, second = check_reading(checks, space, vector)
    check_changing(checks, program.program, space, first, second)
    check_importing(checks, program.program, space)
    check_damage(checks, program, vector, other)
    return f"{checks.count} checks"


if __name__ == "__main__":
    main("inbox.py", __doc__, check)
