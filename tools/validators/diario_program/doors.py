"""CloudEvents and tables: what the program writes, and what it takes of other programs.

The rules of CloudEvents are written down here from the specification, version 1.0 (spec.md, the
JSON event format and its batch format), as a JSON Schema; the program shares nothing with it.
"""

import csv
import hashlib
import io
import json
import struct

import jsonschema

from .checks import Checks
from .transfer import SCHEMA

# Attributes: lower-case letters and digits; values: Boolean, a 32-bit Integer, or String. Absent
# attributes may be null, but a producer has no reason to write that. No control characters.
TEXT = {"type": "string", "minLength": 1,
        "pattern": "^[^\u0000-\u001f\u007f-\u009f\ufdd0-\ufdef\ufffe\uffff]*$"}
TIMESTAMP = {
    "type": "string",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$",
    "format": "date-time",
}
CLOUD_EVENT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["specversion", "id", "source", "type"],
    "propertyNames": {"pattern": "^([a-z0-9]{1,20}|data_base64)$"},
    "properties": {
        "specversion": {"const": "1.0"},
        "id": TEXT,
        # A URI-reference, for which an absolute URI is recommended.
        "source": TEXT | {"pattern": "^[a-z][a-z0-9+.-]*:[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+$"},
        "type": TEXT,
        # RFC 2046.
        "datacontenttype": TEXT | {"pattern": "^[a-z0-9.+-]+/[a-z0-9.+-]+(;.*)?$"},
        # A URI, which is absolute.
        "dataschema": TEXT | {"pattern": "^[a-z][a-z0-9+.-]*:[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+$"},
        "subject": TEXT,
        "time": TIMESTAMP,
        "data": True,
        "data_base64": {"type": "string", "contentEncoding": "base64"},
        # What Diario says of its own attributes; schema/format/cloudevents.md, section 3.
        "diarioacceptedat": TIMESTAMP,
        "diarioposition": {"type": "string", "pattern": "^[1-9][0-9]*$"},
        "diariobase": {"type": "string", "pattern": "^(0|[1-9][0-9]*)$"},
        "diarioversion": {"type": "integer", "minimum": 1},
        "diarioifunchanged": {"const": True},
    },
    "not": {"required": ["data", "data_base64"]},
    "additionalProperties": {
        "anyOf": [
            TEXT, {"type": "boolean"},
            {"type": "integer", "minimum": -(2 ** 31), "maximum": 2 ** 31 - 1},
        ]
    },
}
BATCH = {"type": "array", "items": CLOUD_EVENT}
ENVELOPE = ["_position", "_origin", "_type", "_version", "_at", "_clock", "_accepted", "_actor",
            "_subject", "_base", "_batch", "_ifUnchanged"]
FOREIGN = {
    "specversion": "1.0", "id": "reading-1", "source": "https://example.org/scales/7",
    "type": "meals.weight.recorded", "time": "2026-03-02T06:30:00.123456+01:00",
    "datacontenttype": "application/json; charset=utf-8", "dataschema": "https://example.org/w",
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "partitionkey": None,
    "data": {"day": "2026-03-02", "weightG": 78400, "source": "device"},
}


def check(diario, folder):
    space = folder / "space"
    diario.good("init", str(space), "--pack", "all")
    checks = Checks(diario, space)
    for examples in sorted(SCHEMA.glob("*/examples/*.jsonl")):
        checks.run("record", "-", "--quiet", stdin=examples.read_bytes())
    checks.run("record", "meals.weight.recorded", "--actor", "a\nb%\u0085", "--if-unchanged",
               json.dumps(FOREIGN["data"]))
    check_rules(checks)
    check_written(checks)
    check_round_trips(checks, diario, folder)
    check_foreign(checks, diario, folder)
    check_refused(checks, diario)
    check_tables(checks, diario, folder)
    return checks.count


def check_rules(checks):
    """The rules must refuse what the specification refuses, or they would prove nothing."""
    validator = jsonschema.Draft202012Validator(
        CLOUD_EVENT, format_checker=jsonschema.FormatChecker())
    good = FOREIGN | {"partitionkey": "x"}
    validator.validate(good)
    for change in ({"specversion": "0.3"}, {"id": ""}, {"time": "yesterday"}, {"Subject": "x"},
                   {"source": ""}, {"dataschema": "relative"}, {"data_base64": "e30="},
                   {"number": 2 ** 31}, {"text": "a\nb"}, {"list": []}, {"part_key": "x"},
                   {"time": "2026-02-30T00:00:00Z"}, {"averyveryverylongname": "x"}):
        checks.true(not validator.is_valid(good | change), f"the rules must refuse {change}")


def check_written(checks):
    text = checks.run("export", "--all", "--cloudevents").out
    events = json.loads(text)
    lines = checks.run("export", "--all").events
    validator = jsonschema.Draft202012Validator(
        BATCH, format_checker=jsonschema.FormatChecker())
    errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(events)]
    checks.equal(errors, [], "what the rules of CloudEvents say")
    checks.equal(len({(event["source"], event["id"]) for event in events}), len(events),
                 "source and id are unique together")
    checks.equal(text.count(b"\n"), len(events) + 2, "one line for each event")
    checks.equal(len(events), len(lines), "as many CloudEvents as lines")
    escaped = 0
    for event, line in zip(events, lines):
        replica, _ = line["origin"].split("-")
        checks.equal(
            (event["id"], event["source"], event["type"], event["diarioversion"], event["time"],
             event["data"], event["diarioclock"], event["diariobatch"], event["diariobase"]),
            (line["origin"], f"diario:replica/{replica}", line["type"], line["version"],
             line["at"], line["payload"], line["clock"], line["batch"], str(line["base"])),
            f"the attributes of {line['origin']}")
        checks.equal((event.get("diarioposition"), event.get("diarioacceptedat")),
                     (str(line["position"]), line["acceptedAt"]), "where and when it stands")
        checks.true(event["dataschema"].startswith(
            f"diario:schema/{line['type']}/{line['version']}/"), "the schema of the data")
        if "diarioactorpct" in event:
            escaped += 1
            checks.equal((event["diarioactorpct"], line["actor"]),
                         ("a%0Ab%25%C2%85", "a\nb%\u0085"), "an actor with controls")
        else:
            checks.equal(event.get("diarioactor"), line.get("actor"), "the actor")
    checks.equal(escaped, 1, "one actor is escaped")
    checks.true(any("subject" in event and "subject" not in line and
                    event["subject"] in event["data"].values()
                    for event, line in zip(events, lines)), "subjects of payloads are told")
    some = json.loads(checks.run("export", "--cloudevents", "--type", "fish.report.filed").out)
    checks.true(some and all(event["type"] == "fish.report.filed" for event in some),
                "a choice of events")
    checks.equal(checks.run("export", "--cloudevents", "--type", "music.", "--actor", "nobody").out,
                 b"[]\n", "none")


def check_round_trips(checks, diario, folder):
    text = checks.run("export", "--all", "--cloudevents").out
    lines = checks.export()
    file = folder / "all.json"
    checks.run("export", "--all", "--cloudevents", "--output", str(file))
    checks.equal(file.read_bytes(), text, "export --cloudevents --output")
    # However the array is laid out, and read from a file or a pipe.
    spaced = (b"\r\n\t [" + b" ,\n".join(
        json.dumps(event, indent=1).encode() for event in json.loads(text)) + b"] \n")
    for name, words, stdin in (
        ("from-file", ["import", str(file)], b""),
        ("from-pipe", ["import", "-", "--cloudevents", "--json"], text),
        ("from-other-layout", ["import", "-"], spaced),
    ):
        diario.good("init", name, "--pack", "all")
        diario.good("-C", name, *words, stdin=stdin)
        checks.equal(diario.good("-C", name, "export", "--all", "--cloudevents").out, text,
                     f"CloudEvents of {name}")
        checks.equal(diario.good("-C", name, "export", "--all").out, lines, f"lines of {name}")
        diario.verify(name)
    # A space that has these events already takes none of them again, in whatever form they come.
    diario.good("init", "used", "--pack", "all")
    used = Checks(diario, folder / "used")
    used.run("record", "meals.weight.recorded", json.dumps(FOREIGN["data"]))
    first = used.run("import", str(file), "--json").json
    checks.true(first["imported"] > 50 and first["known"] == 0, f"imported: {first}")
    for content in (text, lines):
        again = used.run("import", "-", "--json", stdin=content).json
        checks.equal((again["imported"], again["known"]), (0, first["imported"]), "again")
    checks.count += used.count


def derived_origin(source, identifier):
    """schema/format/cloudevents.md, section 4."""
    parts = b"".join(struct.pack("<Q", len(text.encode())) + text.encode()
                     for text in (source, identifier))
    replica, sequence = struct.unpack("<QQ", hashlib.sha256(parts).digest()[:16])
    digits = "0123456789abcdefghjkmnpqrstvwxyz"
    text = "".join(digits[(replica or 1) >> 5 * place & 31] for place in range(12, -1, -1))
    return text, 1 + sequence % 2 ** 61


def check_foreign(checks, diario, folder):
    checks.equal(derived_origin("https://example.org/scale", "a-1"),
                 ("7xnbrqn84h589", 729071754300589756), "the origin in the document")
    diario.good("init", "foreign", "--pack", "all")
    foreign = Checks(diario, folder / "foreign")
    more = FOREIGN | {"id": "reading-2", "diarioactor": "user-1", "diarioversion": 1,
                      "diarioifunchanged": True}
    del more["time"], more["datacontenttype"], more["dataschema"]
    result = foreign.run("import", "-", stdin=json.dumps([FOREIGN, more]))
    checks.true("imported 2 events" in result.text and "traceparent" in result.message
                and "partitionkey" not in result.message, "what is not recorded is told", result)
    events = foreign.run("log", "--json", "--type", "meals.weight.recorded").events
    checks.equal([event["payload"]["weightG"] for event in events], [78400, 78400], "payloads")
    checks.equal(events[0]["at"], "2026-03-02T05:30:00.123Z", "the time of the other program")
    checks.equal((events[1]["actor"], events[1]["ifUnchanged"]), ("user-1", True), "its actor")
    runs = [run for event in foreign.run("export", "--all").events
            if event["type"] == "engine.events.imported" for run in event["payload"]["runs"]]
    checks.equal([(run["replica"], run["first"]) for run in runs],
                 [derived_origin(FOREIGN["source"], event["id"]) for event in (FOREIGN, more)],
                 "derived origins")
    again = foreign.run("import", "-", "--json", stdin=json.dumps([more, FOREIGN])).json
    checks.equal((again["imported"], again["known"], again["ignored"]), (0, 2, ["traceparent"]),
                 "each is recorded once")
    other = foreign.run("import", "-", "--json", stdin=json.dumps(
        [FOREIGN | {"source": "https://example.org/scales/8"}])).json
    checks.equal(other["imported"], 1, "the same id of another source is another event")
    diario.verify("foreign")
    checks.count += foreign.count


def check_refused(checks, diario):
    diario.good("init", "empty", "--pack", "all")
    empty = Checks(diario, checks.space.replace("space", "empty"))
    good = json.dumps(FOREIGN)
    own = checks.run("export", "--all", "--cloudevents").out
    cases = [(json.dumps([FOREIGN, FOREIGN | change]), [
        f"element 2 (line 1, byte {len(good) + 4})", *has])
        for change, has in (
            ({"specversion": "1.1"}, ["specversion"]),
            ({"id": None}, ["attribute id", "missing"]),
            ({"source": ""}, ["attribute source"]),
            ({"source": "diario:replica/7zk3m9q2c1f4a"}, ["source of your own"]),
            ({"type": "com.example.thing"}, ["com.example.thing"]),
            ({"type": "engine.pack.adopted"}, ["engine"]),
            ({"time": "noon"}, ["attribute time", "RFC 3339"]),
            ({"data": [1]}, ["data", "an array", "objects"]),
            ({"data": "text"}, ["data", "a string"]),
            ({"data": None}, ["day"]),
            ({"data": {"day": "2026-03-02"}}, ["source"]),
            ({"datacontenttype": "text/xml"}, ["text/xml", "application/json"]),
            ({"data_base64": "e30="}, ["data_base64"]),
            ({"subject": "another"}, ["subject", "measureId"]),
            ({"diarioposition": "7"}, ["diarioposition"]),
            ({"diariocolour": "red"}, ["diariocolour", "diarioversion"]),
            ({"diarioversion": 40}, ["diarioversion", "40"]),
            ({"camelCase": "x"}, ["camelCase", "lower-case"]),
        )]
    cases += [
        (f"[{good},\n {good}", ["file ends here"]),
        (f"[{good},\n{{\"id\"", ["element 2 (line 2, byte", "ends inside"]),
        (f"[{good}, 7]", ["element 2", "no JSON object"]),
        (f"[{good}] {good}", ["something follows"]),
        (f"[{good},{good[:-1]}]", ["element 2"]),
        (b"[" + own[2:-3] + b",\n\xff]", ["no JSON object"]),
    ]
    for index, (content, has) in enumerate(cases):
        # In turn into an empty and a used space: each has ways of its own through the program.
        (empty, checks)[index % 2].bad("import", "-", stdin=content, has=has)
    empty.bad("import", "-", "--cloudevents", stdin=checks.export(), has=["element 1"])
    empty.bad("import", "-", "--cloudevents", stdin=b"7", has=["one JSON array"])
    mixed = own[:-3] + b"," + good.encode() + b"]"
    empty.bad("import", "-", stdin=mixed, has=["another program", "file of its own"])
    changed = own.replace(b"meals.weight.recorded/1/", b"meals.weight.recorded/1/0", 1)
    empty.bad("import", "-", stdin=changed, has=["dataschema", "differs"])
    empty.bad("import", "-", stdin=b"[" + b" " * 100 + b'{"a":"' + b"x" * (2 << 20),
              has=["element 1 (line 1, byte 102)", "1048576"])
    checks.count += empty.count


def check_tables(checks, diario, folder):
    lines = checks.run("export", "--all").events
    for words, has in (
        (["--csv", "meals.weight.recorded", "--cloudevents"], ["--cloudevents and --csv"]),
        (["--csv", "a.b", "--type", "a.b"], ["--type"]), (["--version", "1"], ["--csv"]),
        (["--spreadsheet"], ["--csv or --csv-dir"]),
        (["--csv-dir", "x", "--output", "y"], ["--output"]),
    ):
        checks.bad("export", *words, code=2, has=has, is_unchanged=False)
    checks.bad("export", "--csv", "meals.weight.recordde", has=["did you mean", "recorded?"])
    checks.bad("export", "--csv", "meals.weight.recorded", "--version", "7", has=["version 7"])
    checks.run("export", "--all", "--csv-dir", str(folder / "tables"))
    types = {line["type"] for line in lines}
    checks.equal({path.name for path in (folder / "tables").iterdir()},
                 {f"{name}.csv" for name in types}, "a file for each type that has events")
    for name in sorted(types):
        text = checks.run("export", "--csv", name).out
        checks.equal((folder / "tables" / f"{name}.csv").read_bytes(), text, f"both ways: {name}")
        check_table(checks, name, text, [line for line in lines if line["type"] == name])
    one = folder / "one.csv"
    checks.run("export", "--csv", "meals.weight.recorded", "--actor", "user-31", "--output", one)
    rows = list(csv.DictReader(io.StringIO(one.read_text("utf-8"), newline="")))
    checks.true(rows and all(row["_actor"] == "user-31" for row in rows), "a choice of events")
    checks.run("export", "--csv-dir", str(folder / "few"), "--type", "fish.")
    checks.true(all(path.name.startswith("fish.") for path in (folder / "few").iterdir()),
                "tables of one pack")
    checks.bad("export", "--csv-dir", str(one), has=[str(one)])
    checks.run("record", "meals.weight.recorded", "--actor", "=1+1",
               json.dumps(FOREIGN["data"] | {"note": "=cmd|' /C calc'!A0,\"x\"\r\n"}))
    for words, start in (([], ""), (["--spreadsheet"], "'")):
        text = checks.run("export", "--csv", "meals.weight.recorded", *words).out.decode("utf-8")
        row = list(csv.DictReader(io.StringIO(text, newline="")))[-1]
        checks.equal((row["_actor"], row["note"], row["weightG"]),
                     (start + "=1+1", start + "=cmd|' /C calc'!A0,\"x\"\r\n", "78400"), "formulas")


def check_table(checks, name, text, lines):
    """Reads the table with Python's reader and compares it with the lines of an export."""
    checks.true(text.endswith(b"\r\n"), "the last row ends as all do")
    rows = list(csv.reader(io.StringIO(text.decode("utf-8"), newline=""), strict=True))
    header, rows = rows[0], rows[1:]
    checks.equal(header[:len(ENVELOPE)], ENVELOPE, "the columns of the envelope")
    pack, _, kind = name.partition(".")
    versions = sorted((int(path.name.split(".")[-2]), path) for path in
                      (SCHEMA / pack / "events").glob(f"{kind}.*.json"))
    fields = []
    for _, path in reversed(versions):
        fields += [field for field in json.loads(path.read_text("utf-8"))["properties"]
                   if field not in fields]
    checks.equal(header[len(ENVELOPE):], fields, "the fields in the order of the schema")
    checks.equal(len(rows), len(lines), f"the rows of {name}")
    for row, line in zip(rows, lines):
        cells = dict(zip(header, row))
        wanted = {"_position": line["position"], "_origin": line["origin"], "_type": name,
                  "_version": line["version"], "_at": line["at"], "_clock": line["clock"],
                  "_accepted": line["acceptedAt"], "_actor": line.get("actor", ""),
                  "_base": line["base"], "_batch": line["batch"],
                  "_ifUnchanged": line.get("ifUnchanged", False)}
        wanted |= {field: line["payload"].get(field, "") for field in fields}
        for column, value in wanted.items():
            checks.equal(cells[column], cell(value), f"{column} of {line['origin']}")


def cell(value):
    """A value of JSON as a cell."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return json.dumps(value)
