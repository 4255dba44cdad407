"""What `record` takes and what it refuses."""

import json
import signal

from . import require, weight
from .checks import Checks

TYPE = "meals.weight.recorded"
GOOD = {"day": "2026-03-02", "weightG": 78400, "source": "manual"}


def check(diario, folder):
    space = folder / "space"
    diario.good("init", str(space), "--pack", "all")
    checks = Checks(diario, space)
    checks.run("record", TYPE, json.dumps(GOOD))
    checks.run("record", TYPE, "-", stdin=b"\xef\xbb\xbf" + json.dumps(GOOD).encode())
    check_single(checks)
    check_stream(checks)
    check_batches(checks)
    check_sizes(checks)
    check_interrupt(checks)
    diario.verify(str(space))
    return checks.count


def changed(**members):
    """The good payload with other members; None leaves one out."""
    merged = GOOD | members
    return json.dumps({key: value for key, value in merged.items() if value is not None})


# Wrong payloads, each with what the message must name.
WRONG_PAYLOADS = (
    ('{"day":"2026-03-02",', ["no JSON"]),
    ('{"day":"2026-03-02"} x', ["no JSON"]),
    ("", ["no JSON"]),
    ("[1]", ["object"]),
    (changed(weightG="78"), ["weightG", "integer"]),
    (changed(weightG=78.5), ["weightG", "integer"]),
    (changed(weightG=-1), ["weightG", "minimum"]),
    (changed(weightG=10**9), ["weightG", "maximum"]),
    (changed(weightG=10**30), ["weightG"]),
    (changed(day="2026-02-30"), ["day", "date"]),
    (changed(day=5), ["day"]),
    (changed(weightGramm=5), ["weightGramm", "unknown"]),
    (changed(source="guess"), ["source", "manual"]),
    (changed(source=None), ["source", "required"]),
    (json.dumps(GOOD | {"source": None}), ["source", "null"]),
    ('{"day":"2026-03-02","day":"2026-03-02","weightG":1,"source":"manual"}', ["day", "twice"]),
    ('{"a":' + "[" * 40 + "]" * 40 + "}", ["deep"]),
)


def check_single(checks):
    for payload, has in WRONG_PAYLOADS:
        checks.bad("record", TYPE, payload, has=has)
        checks.bad("record", TYPE, "-", stdin=payload, has=has)
    checks.bad("record", TYPE, stdin=b'{"day":"\xff\xfe"}', has=["UTF-8"])
    checks.bad("record", TYPE, "-", stdin=b" " * (2 << 20), has=["more than 1048576 bytes"])
    payload = json.dumps(GOOD)
    checks.bad("record", "meals.weight.recordde", payload,
               has=["meals.weight.recordde", "did you mean meals.weight.recorded?"])
    checks.bad("record", "nothing.at.all", payload, has=["nothing.at.all", "no known type"])
    checks.bad("record", TYPE, payload, "--version", "7", has=["version 7"])
    checks.bad("record", TYPE, payload, "--subject", "x", has=["subject"])
    checks.bad("record", TYPE, payload, "--actor", "x" * 200, has=["actor", "128"])
    checks.bad("record", "engine.pack.adopted",
               json.dumps({"pack": "x", "version": 1, "fingerprint": "0" * 64}), has=["engine"])
    # A value that tries to be more than a value.
    checks.bad("record", TYPE, payload + ',"actor":"x"', has=["no JSON"])


def check_stream(checks):
    good = weight(1)
    for line, has in (
        ("{", []),
        ("nonsense", []),
        ('{"type":"meals.weight.recorded"}', ["payload"]),
        ('{"payload":{}}', ["type"]),
        ('{"type":"meals.none","payload":{}}', ["meals.none"]),
        (weight(2, colour="red"), ["colour"]),
        (weight(2, at="noon"), ["at"]),
        (weight(2, position=3), ["position"]),
        (weight(2, ifUnchanged="yes"), ["ifUnchanged"]),
        ('{"type":"meals.weight.recorded","payload":%s}' % changed(weightG=-1), ["weightG"]),
    ):
        before = len(checks.diario.origins(checks.space))
        lines = f"{good}\n\n{good}\n{line}\n{good}\n"
        result = checks.bad("record", "-", stdin=lines, has=["line 4", *has], is_unchanged=False)
        checks.equal(len(result.lines), 2, "origins in front of the bad line")
        checks.equal(len(checks.diario.origins(checks.space)), before + 2,
                     "events in front of the bad line")
    result = checks.bad("record", "-", "--quiet", stdin=f"{good}\n{good}\n{{\n", has=["line 3"],
                        is_unchanged=False)
    checks.true(len(result.lines) == 1 and "2 events" in result.lines[0],
                "the summary of what came before a bad line", result)
    checks.bad("record", "-", stdin=b'{"type":"\xff"}\n', has=["line 1", "UTF-8"])
    checks.bad("record", "-", stdin=b"{" * (2 << 20), has=["line 1", "more than 1048576 bytes"])
    checks.bad("record", "-", stdin=b"\0\0\0\n", has=["line 1"])
    checks.equal(checks.run("record", "-", stdin="").lines, [], "nothing to record")
    checks.equal(len(checks.run("record", "-", stdin=good).lines), 1,
                 "a last line without a line feed")
    checks.equal(len(checks.run("record", "-", stdin=good + "\r\n").lines), 1, "lines of Windows")


def check_batches(checks):
    one = [weight(number, batch="one") for number in range(3)]
    two = [weight(number, batch="two") for number in range(2)]
    lines = "\n".join(one + two + [weight(9)]) + "\n"
    origins = checks.run("record", "-", stdin=lines).lines
    events = {event["origin"]: event for event in checks.run("log", "--json").events}
    batches = [events[origin].get("batch") for origin in origins]
    checks.equal(batches[:5], [origins[0]] * 3 + [origins[3]] * 2, "batches of the log")
    # A bad line takes its batch with it, and nothing else.
    before = len(checks.diario.origins(checks.space))
    bad = one + two + [weight(5, batch="two", at="noon"), weight(6)]
    result = checks.bad("record", "-", stdin="\n".join(bad), has=["line 6"], is_unchanged=False)
    checks.equal(len(result.lines), 3, "the batch in front")
    checks.equal(len(checks.diario.origins(checks.space)), before + 3, "no half batch")
    # Ids made within the batch.
    made = {"type": "maps.map.created", "batch": "b",
            "payload": {"name": "Fiera", "widthMpx": 4_000_000, "heightMpx": 3_000_000}}
    lines = [made, place("#9")]
    checks.bad("record", "-", stdin="\n".join(map(json.dumps, lines)), has=["line 2", "#9"])
    lines = [made, place("#1")]
    origins = checks.run("record", "-", stdin="\n".join(map(json.dumps, lines))).lines
    shown = checks.run("show", origins[1], "--json").json
    checks.equal(shown["payload"]["mapId"], origins[0], "the id that the batch made")


def place(map_id):
    """A line with an event that refers to one of its batch."""
    return {"type": "maps.place.added", "batch": "b",
            "payload": {"mapId": map_id, "kind": "pavilion", "title": "x", "xMpx": 1, "yMpx": 1}}


def check_sizes(checks):
    many = "\n".join(weight(number, batch="many") for number in range(1001))
    checks.bad("record", "-", stdin=many, has=["line 1001", "1000"])
    exactly = "\n".join(weight(number, batch="many") for number in range(1000))
    checks.equal(len(checks.run("record", "-", stdin=exactly).lines), 1000, "a full batch")
    outline = [{"xMpx": 1_000_000 + number, "yMpx": 2_000_000} for number in range(1500)]
    big = {"type": "maps.place.added",
           "payload": {"mapId": "m", "kind": "pavilion", "title": "x", "xMpx": 1, "yMpx": 1,
                       "outline": outline * 3}}
    result = checks.diario.run("-C", checks.space, "record", "-", stdin=json.dumps(big))
    checks.true(result.code == 1 and "line 1" in result.message, "an event that is too large",
                result)


def check_interrupt(checks):
    process = checks.diario.start("-C", checks.space, "record", "-")
    acknowledged = []
    for number in range(5):
        process.stdin.write(weight(number).encode() + b"\n")
        acknowledged.append(process.stdout.readline().decode().strip())
    process.stdin.write(weight(6, batch="open").encode() + b"\n")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    require(process.returncode == 1 and b"interrupted" in err and not out,
            f"Ctrl-C: {process.returncode} {out!r} {err!r}")
    found = checks.diario.origins(checks.space)
    checks.true(all(found.get(origin) == 1 for origin in acknowledged),
                "what was acknowledged before Ctrl-C is there")
