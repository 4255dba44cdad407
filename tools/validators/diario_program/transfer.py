"""Exports and imports, and the packs of a space."""

import json
import os
import pathlib

from . import weight
from .checks import Checks

SCHEMA = pathlib.Path(__file__).resolve().parents[3] / "schema"
PACK = {"name": "plants", "version": 1, "title": "House plants"}
WATERED = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "plants.plant.watered",
    "description": "Somebody watered a plant.",
    "x-diario-version": 1,
    "type": "object",
    "additionalProperties": False,
    "required": ["plantId", "amountMl"],
    "properties": {
        "plantId": {"type": "string", "maxLength": 40},
        "amountMl": {"type": "integer", "minimum": 1, "maximum": 20000},
    },
}
WATER = '{"plantId":"basil","amountMl":150}'


def check(diario, folder):
    space = folder / "space"
    diario.good("init", str(space), "--pack", "all")
    checks = Checks(diario, space)
    lines = "".join(weight(number, actor="\u00eb") + "\n" for number in range(50))
    checks.run("record", "-", "--quiet", stdin=lines)
    for examples in sorted(SCHEMA.glob("*/examples/*.jsonl")):
        checks.run("record", "-", "--quiet", stdin=examples.read_bytes())
    check_transfer(checks, diario, folder)
    check_many_small(checks, diario, folder)
    check_bad_imports(checks, diario, folder)
    check_packs(checks, diario, folder)
    return checks.count


def check_transfer(checks, diario, folder):
    exported = checks.export()
    file = folder / "all.jsonl"
    checks.run("export", "--all", "--output", str(file))
    checks.equal(file.read_bytes(), exported, "export --output")
    checks.equal(sorted(os.listdir(folder)), ["all.jsonl", "space"], "no other file is left")
    check_output_files(checks, folder, exported)
    checks.failing("init", "unmade", "--schema", "all.jsonl", has=["all.jsonl"])
    for name, words, stdin in (
        ("copy", ["import", str(file)], b""),
        ("piped", ["import", "-", "--json"], exported),
    ):
        diario.good("init", name, "--pack", "all")
        diario.good("-C", name, *words, stdin=stdin)
        checks.equal(diario.good("-C", name, "export", "--all").out, exported,
                     f"the export of {name}")
        diario.verify(name)
        again = diario.good("-C", name, *words, stdin=stdin)
        checks.true(again.code == 0, "an import may be repeated", again)
        checks.equal(len(diario.good("-C", name, "log", "--type", "meals.").lines),
                     len(checks.run("log", "--type", "meals.").lines), "nothing comes twice")
    # What people recorded comes into an empty space with its packs as new events.
    people = checks.run("export").out
    diario.good("init", "people", "--pack", "all")
    for count in (len(people.splitlines()), 0):
        taken = diario.good("-C", "people", "import", "-", "--json", stdin=people).json
        checks.equal(taken["imported"], count, "events of people")
    checks.equal([event["type"] for event in diario.good("-C", "people", "export").events],
                 [event["type"] for event in checks.run("export").events], "in their order")
    diario.verify("people")
    # Into a space that has events of its own they come as new ones, each once.
    diario.good("init", "other", "--pack", "all")
    other = Checks(diario, folder / "other")
    other.run("record", "-", "--quiet", stdin=weight(1))
    events = [event for event in checks.run("log", "--json", "--type", "meals.").events
              if event["type"] == "meals.weight.recorded"]
    for _ in range(2):
        other.run("import", str(file))
        found = other.run("log", "--json", "--type", "meals.weight.recorded").events
        checks.equal([event["payload"].get("weightG") for event in found[1:]],
                     [event["payload"].get("weightG") for event in events],
                     "events of another space")
    diario.verify("other")
    checks.bad("export", "--output", str(folder / "none" / "x"), has=["none/x"])
    checks.bad("export", "--output", str(folder), has=[str(folder)])


def check_output_files(checks, folder, exported):
    """A file is replaced as a whole: no other is touched, and nobody may read more of it."""
    place = folder / "output"
    place.mkdir()
    (place / "x.new").write_text("precious")
    (place / "secret").write_text("old")
    (place / "secret").chmod(0o600)
    (place / "real").write_text("old")
    (place / "link").symlink_to("real")
    for name in ("x", "secret", "link"):
        checks.run("export", "--all", "--output", str(place / name))
        checks.equal((place / name).read_bytes(), exported, f"export --output {name}")
    checks.equal((place / "x.new").read_text(), "precious", "a file named like a temporary one")
    checks.equal((place / "secret").stat().st_mode & 0o777, 0o600, "who may read the file")
    checks.true((place / "link").is_symlink(), "a link stays one", "link")
    checks.equal(sorted(os.listdir(place)), ["link", "real", "secret", "x", "x.new"],
                 "no other file is left")
    wal = pathlib.Path(checks.space) / ".diario" / "wal"
    log = next(wal.glob("*.dwal"))
    before = log.read_bytes()
    for target in (log, wal / "new", wal.parent):
        checks.bad("export", "--output", str(target), has=["among the files of a space"])
    checks.equal(log.read_bytes(), before, "the log")
    checks.bad("backup", str(wal / "x"), has=["among the files of a space"])


def check_many_small(checks, diario, folder):
    """Rows much smaller than what stands beside them in a frame once did not fit into one."""
    diario.good("init", "many", "--pack", "all")
    lines = "".join(
        weight(number, origin=f"7zk3m9q2c1f4a-{number + 1}", at=1_770_000_000_000 + number) + "\n"
        for number in range(60_000))
    result = diario.good("-C", "many", "import", "-", "--json", stdin=lines)
    checks.equal(result.json["imported"], 60_000, "small events")
    checks.equal(diario.verify("many")["events"], 60_000, "small events that verify")


def check_bad_imports(checks, diario, folder):
    diario.good("init", "empty", "--pack", "all")
    empty = Checks(diario, folder / "empty")
    good = checks.export().splitlines(keepends=True)
    cases = {
        "cut": (b"".join(good[:9]) + good[9][:30], ["line 10"]),
        "nonsense": (good[0] + b"nonsense\n", ["line 2"]),
        "binary": (bytes(range(256)) * 64, ["line 1"]),
        "utf8": (good[0] + good[1].replace(b'":"', b'":"\xff', 1), ["line 2"]),
        "type": (good[0] + good[1].replace(b'"type":"', b'"type":"x', 1), ["line 2"]),
    }
    for name, (content, has) in cases.items():
        path = folder / f"{name}.jsonl"
        path.write_bytes(content)
        for target in (empty, checks):
            target.bad("import", str(path), has=has)
            target.count += 1
    empty.bad("import", "missing.jsonl", has=["missing.jsonl"])
    empty.bad("import", str(folder), has=["is a folder"])
    empty.bad("import", "-", stdin=b"x" * (2 << 20), has=["line 1"])
    checks.count += empty.count


def write_pack(folder, pack, schema):
    (folder / "events").mkdir(parents=True, exist_ok=True)
    (folder / "pack.json").write_text(json.dumps(pack, indent=2))
    version = schema["x-diario-version"]
    path = folder / "events" / f"plant.watered.{version}.json"
    path.write_text(json.dumps(schema, indent=2))


def check_packs(checks, diario, folder):
    plants = folder / "plants"
    write_pack(plants, PACK, WATERED)
    checks.true("no problems" in diario.good("schema", "check", "plants").text, "a good pack")
    checks.equal(diario.good("schema", "check", "plants", "--json").json, [], "no problems, JSON")
    diario.good("schema", "check", str(SCHEMA))
    diario.good("init", "garden", "--schema", "plants")
    garden = Checks(diario, folder / "garden")
    garden.run("record", "plants.plant.watered", WATER)
    garden.bad("record", "meals.weight.recorded", "{}", has=["no known type"])
    checks.bad("record", "plants.plant.watered", WATER, has=["no known type"])
    adopted = checks.run("schema", "adopt", str(plants), "--json").json["packs"]
    checks.equal([(pack["name"], pack["isNew"]) for pack in adopted], [("plants", True)], "adopt")
    checks.true("unchanged" in checks.run("schema", "adopt", str(plants)).text, "adopt again")
    checks.run("record", "plants.plant.watered", WATER)
    listed = checks.run("schema", "list", "--json").json
    checks.true("plants" in [pack["name"] for pack in listed["packs"]], "schema list, packs")
    checks.true("plants.plant.watered" in [kind["type"] for kind in listed["types"]], "its types")
    checks.true("plants.plant.watered" in checks.run("schema", "list").text, "for people")
    check_bad_packs(checks, diario, folder)
    checks.count += garden.count


def check_bad_packs(checks, diario, folder):
    changed = json.loads(json.dumps(WATERED))
    changed["properties"]["amountMl"]["maximum"] = 5
    write_pack(folder / "changed", PACK, changed)
    checks.bad("schema", "adopt", str(folder / "changed"),
               has=["plants.plant.watered", "version 2"])
    bad = json.loads(json.dumps(WATERED))
    bad["properties"]["amountMl"]["multipleOf"] = 5
    bad["required"].append("nothing")
    write_pack(folder / "bad", PACK, bad)
    result = diario.run("schema", "check", "bad", "--json")
    checks.true(result.code == 1 and len(result.json) >= 2, "two problems", result)
    for problem in result.json:
        checks.true({"file", "rule", "message"} <= set(problem), f"a problem: {problem}")
        checks.true(isinstance(problem.get("line"), int), f"the line of a problem: {problem}")
    people = diario.run("schema", "check", "bad")
    checks.true(people.code == 1 and "events/plant.watered.1.json:" in people.text,
                "problems for people", people)
    checks.bad("schema", "adopt", str(folder / "bad"), has=["plant.watered.1.json"])
    checks.failing("init", "unmade", "--schema", "bad", has=["plant.watered.1.json"])
    checks.true(not (folder / "unmade" / ".diario").exists(), "no half space")
    (folder / "bad" / "events" / "plant.watered.1.json").write_text("{")
    checks.true(diario.run("schema", "check", "bad").code == 1, "a schema that is no JSON")
    none = diario.run("schema", "check", "space", "--json")
    checks.true(none.code == 1 and [p["rule"] for p in none.json] == ["no-pack"],
                "a folder without a pack", none)
    for words in (["schema", "check", "nowhere"],
                  ["init", "more", "--schema", "nowhere"]):
        checks.failing(*words, has=[words[-1]])
    checks.true(not (folder / "more" / ".diario").exists(), "no half space")
