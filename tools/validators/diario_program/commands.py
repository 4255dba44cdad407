"""The way of a new user through all commands, their help, and wrong words."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

from . import require, weight
from .checks import Checks
from .serving import Server, expect
from .spaces import check_spaces

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAYLOAD = '{"day":"2026-03-02","weightG":78400,"source":"manual"}'


def check(diario, folder):
    space = folder / "notebook"
    checks = Checks(diario, space)
    check_help(checks, diario)
    result = diario.good("init", "notebook", "--pack", "all")
    checks.true("notebook" in result.text, "init names the folder", result)
    check_first_events(checks)
    check_places(checks, diario, folder)
    check_log(checks)
    check_wrong_words(checks, diario)
    check_pipes(checks)
    check_follow(checks)
    check_inspect(checks, space)
    check_questions(checks, space)
    check_harness(checks, diario)
    check_served(checks, diario, folder)
    check_several(checks, diario, folder)
    return checks.count + check_quarantine(diario, folder)


def listed(diario):
    """The commands that the help lists, in its order."""
    lines = diario.good("help").text.partition("\nOptions")[0]
    return re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", lines, re.MULTILINE)


def check_help(checks, diario):
    checks.true(re.fullmatch(r"diario \d+\.\d+\.\d+ .*\n", diario.good("--version").text),
                "--version gives a version")
    overview = diario.good("--help").text
    checks.equal(diario.good("help").text, overview, "help and --help")
    commands = listed(diario)
    checks.true(len(commands) > 40, f"the commands: {commands}")
    for command in commands:
        text = diario.good(*command.split(), "--help").text
        checks.equal(diario.good("help", *command.split()).text, text, f"help of {command}")
        checks.true(re.match(rf"use: diario( \[-C DIR\])? {command}", text), f"usage of {command}")
        checks.true("Options:" in text and "Example" in text, f"parts of the help of {command}")
        ends = [line.split()[0] for line in text.partition("Ends with:\n")[2].splitlines()
                if re.match("  \\d ", line)]
        checks.equal(ends, ["0", "1", "2"], f"the exit codes in the help of {command}")
    checks.failing(code=2, has=["say what to do"])


def check_first_events(checks):
    origin = checks.run("record", "meals.weight.recorded", PAYLOAD).lines
    checks.true(len(origin) == 1 and re.fullmatch(r"[0-9a-z]{13}-1", origin[0]),
                f"record prints the origin: {origin}")
    second = checks.run("record", "meals.weight.recorded", "--actor", "user-1", "--at",
                        "2026-03-02T08:00:00+01:00", "-", stdin=PAYLOAD)
    shown = checks.run("show", second.lines[0], "--json").json
    checks.equal(shown["actor"], "user-1", "the actor")
    checks.equal(shown["at"], "2026-03-02T07:00:00.000Z", "the time of the author")
    checks.equal(shown["payload"]["weightG"], 78400, "the payload")
    text = checks.run("show", str(shown["position"])).text
    checks.true("weightG: 78400 g" in text and second.lines[0] in text, f"show for people: {text}")
    lines = "".join(weight(number) + "\n" for number in range(100))
    checks.equal(len(checks.run("record", "-", stdin=lines).lines), 100, "origins of record -")
    summary = checks.run("record", "-", "--quiet", stdin=lines).lines
    checks.true(len(summary) == 1 and "100 events" in summary[0], f"the summary: {summary}")
    stats = checks.run("stats", "--json").json
    checks.equal(stats["events"], 202, "events of stats")
    for key in ("events", "bytes", "walBytes", "bytesPerEvent", "segments", "tailEvents",
                "pending", "head", "root"):
        checks.true(key in stats, f"stats has {key}")
    verified = checks.run("verify", "--json").json
    checks.equal((verified["ok"], verified["events"], verified["root"], verified["faults"]),
                 (True, 202, stats["root"], []), "verify")
    checks.true("ok, 202 events" in checks.run("verify").text, "verify for people")
    checks.true("head" in checks.run("stats").text, "stats for people")


def check_places(checks, diario, folder):
    wanted = checks.export()
    inside = folder / "notebook" / "a" / "b"
    inside.mkdir(parents=True)
    found = diario.good("export", "--all", folder=inside).out
    checks.equal(found, wanted, "the space above is found")
    named = {"DIARIO_DIR": str(folder / "notebook")}
    checks.equal(diario.good("export", "--all", environment=named).out, wanted, "DIARIO_DIR")
    checks.failing("log", has=["no space", "diario init"])
    checks.failing("-C", "nowhere", "log", has=["nowhere", "is no folder", "diario init"])
    checks.failing("-C", str(inside), "log", has=["holds no space"])
    checks.failing("log", environment={"DIARIO_DIR": "gone"}, has=["gone", "DIARIO_DIR"])
    checks.failing("init", "notebook", has=["notebook", "already"])
    (folder / "file").write_text("x")
    checks.failing("init", "file/space", has=["file"])
    checks.failing("init", "", code=2)


def check_log(checks):
    everything = checks.run("log", "--all", "--json")
    checks.equal(everything.out, checks.export(), "log --all --json and export --all")
    authority = everything.events[0]["origin"].split("-")[0]
    people = [event for event in everything.events if not event["origin"].startswith(authority)]
    for command in (["log", "--json"], ["export"]):
        checks.equal(checks.run(*command).events, people, f"{command[0]} of what people recorded")
    checks.equal((checks.run("stats", "--json").json["events"],
                  checks.run("stats", "--all", "--json").json["events"]),
                 (len(people), len(everything.events)), "events of stats")
    checks.equal(checks.run("show", "1", "--json").json["type"], "engine.pack.adopted", "show 1")
    checks.equal(checks.run("log", "--json", "--limit", "2").events, people[-2:], "the last two")
    events = everything.events
    positions = [event["position"] for event in events]
    checks.equal(positions, list(range(1, len(events) + 1)), "positions without gaps")
    backwards = checks.run("log", "--all", "--json", "--reverse").events
    checks.equal([event["position"] for event in backwards], positions[::-1], "log --reverse")

    def found(*words):
        return [event["position"] for event in
                checks.run("log", "--all", "--json", *words).events]

    def having(condition):
        return [event["position"] for event in events if condition(event)]

    checks.equal(found("--limit", "3"), positions[-3:], "the last three")
    checks.equal(found("--limit", "0"), [], "none")
    whole = checks.run("export", "--all").events
    for words, expected in (
        (["--limit", "3"], whole[:3]), (["--limit", "0"], []), (["--limit", "9999"], whole),
        (["--from", "5", "--limit", "2"], [e for e in whole if e.get("position", 0) >= 5][:2]),
    ):
        checks.equal(checks.run("export", "--all", *words).events, expected, f"export {words}")
    checks.equal(len(checks.run("export", "--csv", "meals.weight.recorded", "--limit", "2").out
                     .splitlines()), 3, "a table of two events")
    checks.equal(len(json.loads(checks.run("export", "--cloudevents", "--limit", "2").out)), 2,
                 "two CloudEvents")
    checks.failing("export", "--csv-dir", "tables", "--limit", "2", code=2, has=["--limit"])
    checks.equal(found("--limit", "3", "--reverse"), positions[:-4:-1], "the newest three")
    checks.equal(found("--from", "5", "--limit", "2"), [5, 6], "two from a position on")
    checks.equal(found("--from", "5", "--to", "9"), [5, 6, 7, 8, 9], "a range of positions")
    checks.equal(found("--from", "999999"), [], "positions behind the head")
    checks.equal(found("--type", "meals.weight.recorded"),
                 having(lambda event: event["type"] == "meals.weight.recorded"), "one type")
    checks.equal(found("--type", "fish.", "--type", "engine."),
                 having(lambda event: event["type"].startswith(("fish.", "engine."))), "two packs")
    for command in ("log", "export"):
        checks.bad(command, "--type", "meals.weight.recordd",
                   has=["no type", "did you mean meals.weight.recorded?", "schema list"])
        checks.bad(command, "--type", "fish", has=["did you mean fish.?"])
        checks.bad(command, "--type", "fishes.", has=["no type fishes."])
    checks.equal(found("--actor", "user-1"),
                 having(lambda event: event.get("actor") == "user-1"), "one actor")
    origin = events[-1]["origin"]
    replica = origin.split("-")[0]
    checks.equal(found("--replica", replica),
                 having(lambda event: event["origin"].startswith(replica)), "one replica")
    checks.equal(found("--subject", origin), [positions[-1]], "one subject")
    middle = events[len(events) // 2]["acceptedAt"]
    checks.equal(found("--since", middle), having(lambda event: event["acceptedAt"] >= middle),
                 "since a time")
    checks.equal(found("--until", middle), having(lambda event: event["acceptedAt"] < middle),
                 "until a time")
    checks.equal(found("--since", "2001-01-01", "--until", "2001-01-02"), [], "a day long ago")
    checks.equal(found("--pending"), [], "nothing is pending")
    rows = [line.split("\t") for line in checks.run("log", "--all").lines]
    checks.equal([(row[0], row[1], row[4]) for row in rows],
                 [(str(event["position"]), event["origin"], event["type"]) for event in events],
                 "lines with tabs")
    checks.true(all(len(row) == 9 for row in rows), "nine columns")
    checks.equal([json.loads(row[8]) for row in rows], [event["payload"] for event in events],
                 "payloads of lines with tabs")
    checks.true(b"\x1b" not in checks.run("log").out, "no colour in a pipe")


def check_wrong_words(checks, diario):
    for words, has in (
        (["lgo"], ["no command lgo", "did you mean log?"]),
        (["schema", "lits"], ["did you mean schema list?"]),
        (["schema"], ["schema check"]),
        (["log", "--limti", "3"], ["no option --limti", "did you mean --limit?"]),
        (["log", "--limit"], ["--limit N needs its value"]),
        (["log", "--limit", "many"], ["--limit many", "whole number"]),
        (["log", "--limit", "-1"], ["--limit -1"]),
        (["log", "--from", "9", "--to", "3"], ["--from", "--to"]),
        (["log", "--from", "0"], ["--from 0"]),
        (["log", "--since", "soon"], ["--since soon", "2026-05-04T07:30:00Z"]),
        (["log", "--replica", "me"], ["--replica me"]),
        (["log", "--reverse", "--follow"], ["--follow"]),
        (["log", "--pending", "--from", "1"], ["--pending"]),
        (["log", "all"], ["all is too much"]),
        (["show"], ["show needs ORIGIN|POSITION"]),
        (["show", "here"], ["here", "neither an origin"]),
        (["show", "0"], ["position from 1"]),
        (["record"], ["record needs TYPE"]),
        (["record", "a.b", "{}", "c"], ["c is too much"]),
        (["record", "-", "--actor", "a"], ["--actor", "each line"]),
        (["record", "-", "x"], ["record -"]),
        (["record", "a.b", "{}", "--version", "0"], ["--version 0"]),
        (["record", "a.b", "{}", "--at", "noon"], ["--at noon"]),
        (["stats", "--jsno"], ["did you mean --json?"]),
        (["import"], ["import needs FILE|-"]),
        (["init", "x"], ["without -C"]),
        (["help", "lgo"], ["did you mean log?"]),
    ):
        checks.bad(*words, code=2, has=has, is_unchanged=False)
    checks.failing("--colour", "log", code=2, has=["--colour"])
    checks.failing("-C", code=2, has=["-C"])
    checks.failing("log", "-C", "notebook", code=2, has=["before the command"])
    checks.failing(b"record", b"\xff\xfe", code=2, has=["UTF-8"])
    before = checks.export()
    checks.bad("show", "999999", has=["no event", "999999"])
    checks.bad("show", "7zk3m9q2c1f4a-17", has=["no event", "7zk3m9q2c1f4a-17"])
    checks.equal(checks.export(), before, "wrong words change nothing")


def check_pipes(checks):
    program = checks.diario.program

    def shell(script):
        return subprocess.run(["bash", "-c", script, program, checks.space], timeout=30,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    closed = shell('"$0" -C "$1" export | head -1; echo "${PIPESTATUS[0]}"')
    checks.equal(closed.stderr, b"", "a reader that has gone is no error")
    checks.equal(closed.stdout.splitlines()[-1:], [b"0"], "the exit code then")
    none = shell('"$0" -C "$1" log >&-; echo "$?"')
    checks.true(none.stdout == b"1\n" and b"the output is closed" in none.stderr,
                f"a closed stdout: {none}")
    none = shell('"$0" -C "$1" record - <&-; echo "$?"')
    checks.true(none.stdout == b"1\n" and b"cannot read the input" in none.stderr,
                f"a closed stdin: {none}")
    before = len(checks.diario.origins(checks.space))
    shell('"$0" -C "$1" record meals.weight.recorded \'%s\' >&- 2>&- <&-' % PAYLOAD)
    checks.equal(len(checks.diario.origins(checks.space)), before + 1,
                 "an event is recorded without stdin, stdout and stderr")
    checks.diario.verify(checks.space)
    full = shell('"$0" -C "$1" export > /dev/full')
    checks.true(full.returncode == 1 and full.stderr.startswith(b"diario: cannot write"),
                f"a full disk for the output: {full}")


def check_follow(checks):
    process = checks.diario.start("-C", checks.space, "log", "--follow", "--json", "--limit", "1")
    first = json.loads(process.stdout.readline())
    for number in range(3):
        origin = checks.run("record", "meals.weight.recorded", PAYLOAD).lines[0]
        event = json.loads(process.stdout.readline())
        checks.equal(event["origin"], origin, "the event that another process recorded")
        checks.equal(event["position"], first["position"] + number + 1, "its position")
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=10)
    checks.equal((process.returncode, rest, errors), (0, b"", b""), "the end of log --follow")
    # A reader that goes away ends it, even if nothing is recorded any more.
    process = checks.diario.start("-C", checks.space, "log", "--follow", "--limit", "1")
    process.stdout.readline()
    process.stdout.close()
    checks.equal(process.wait(timeout=10), 0, "the end without a reader")
    process.stderr.close()
    process.stdin.close()
    # It ends by itself where nothing more can be wanted.
    checks.run("log", "--follow", "--to", "3")
    checks.run("log", "--follow", "--until", "2026-01-02")


def check_questions(checks, space):
    question = "\ufeffSELECT count(*) AS n\nFROM weight;\n"
    asked = checks.run("sql", "-", "--json", stdin=question)
    checks.true(asked.json[0]["n"] > 0, "a query from the input", asked)
    checks.bad("sql", "-", stdin=b"SELECT '\xff'", has=["UTF-8"])
    checks.bad("sql", "-", stdin="SELECT " + "1, " * 30_000 + "1", has=["65536 bytes"])
    checks.bad("sql", "SELECT", has=["the query ends too early"])
    rows = "SELECT weightG FROM weight ORDER BY weightG"
    whole = checks.run("sql", rows, "--json")
    checks.true(len(whole.json) > 3 and whole.err == b"", "all rows, and no note", whole)
    part = checks.run("sql", rows, "--json", "--limit", "3")
    checks.equal(part.json, whole.json[:3], "the first rows")
    checks.true("more rows" in part.message, "a note that there are more", part)
    exact = checks.run("sql", rows, "--limit", str(len(whole.json)))
    checks.true(exact.err == b"" and len(exact.lines) == len(whole.json), "no more rows", exact)
    checks.bad("sql", rows, "--limit", "0", code=2, has=["--limit"])
    checks.bad("query", "wieghts", has=["did you mean weights?", "diario query"])
    models = next((space / ".diario").glob("spaces/*/models/meals.*.sqlite"))
    checks.bad("inspect", str(models), has=["an SQLite database", "rebuild --check"],
               is_unchanged=False)


def check_quarantine(diario, folder):
    """A question about a pack whose read models lack events says so, and no other one."""
    pack = folder / "plants"
    shutil.copytree(ROOT / "Tests/ExampleApp/Sources/Garden/Packs/plants", pack)
    model = pack / "readmodel" / "plants.sql"
    model.write_text(model.read_text().replace(
        "waterMl INT NOT NULL", "waterMl INT NOT NULL CHECK (waterMl < 250)"))
    diario.good("init", "garden", "--schema", str(pack))
    checks = Checks(diario, folder / "garden")
    checks.run("record", "plants.plant.bought",
               '{"plantId":"basil","name":"Basil","light":"sun"}')
    for amount in (200, 100, 300):
        checks.run("record", "plants.plant.watered",
                   '{"plantId":"basil","amountMl":%d}' % amount)
    for words in (["sql", "SELECT count(*) AS n FROM plant"],
                  ["query", "thirsty", "--param", "below=500"]):
        result = checks.run(*words)
        checks.true("could not take (2 events): diario quarantine list" in result.message
                    and "plants" in result.message, "a note on stderr", result)
    result = checks.run("sql", "SELECT 1 AS n")
    checks.equal((result.text, result.err), ("1\n", b""), "no note where nothing is read")
    return checks.count


def check_inspect(checks, space):
    for root, _, names in os.walk(space / ".diario"):
        for name in names:
            path = os.path.join(root, name)
            if "/packs/" in path:
                checks.bad("inspect", path, has=["none of the files"], is_unchanged=False)
                continue
            fields = [json.loads(line) for line in
                      checks.run("inspect", path, "--rows", "--json").lines]
            size = os.path.getsize(path)
            checks.true(all(field.get("ok", True) for field in fields), f"{path} verifies")
            checks.true(all(field["offset"] + field["size"] <= size for field in fields),
                        f"the fields of {path} lie in it")
            checks.true(path in checks.run("inspect", path).text, "inspect for people")
    checks.bad("inspect", str(space), has=["is a folder"], is_unchanged=False)
    checks.bad("inspect", "nothing.dwal", has=["nothing.dwal"], is_unchanged=False)
    log = next((space / ".diario/wal").glob("*.dwal"))
    damaged = space / "damaged.dwal"
    data = bytearray(log.read_bytes())
    data[4096 + 60] ^= 1
    damaged.write_bytes(data)
    result = checks.bad("inspect", str(damaged), "--json", is_unchanged=False)
    frames = [event for event in result.events if event["name"] == "frame"]
    checks.true(len(frames) > 2, "the frames behind the damage are shown", None)
    checks.true(any(event.get("ok") is False for event in result.events), "the damage is marked")
    damaged.unlink()


def check_harness(checks, diario):
    requests = [
        '{"judge":{"type":"meals.weight.recorded","version":1,"payload":%s}}' % PAYLOAD,
        '{"judge":{"type":"meals.weight.recorded","payload":{"day":"x"}}}',
        "nonsense",
    ]
    process = diario.start("harness")
    answers = []
    for request in requests:
        # Each answer comes before the next request.
        process.stdin.write(request.encode() + b"\n")
        answers.append(json.loads(process.stdout.readline()))
    process.stdin.close()
    checks.equal(process.wait(timeout=10), 0, "the end of harness")
    checks.equal([answer["ok"] for answer in answers], [True, False, False], "answers of harness")
    for answer in answers[1:]:
        require({"ok", "message", "field", "rule"} <= set(answer), f"a refusal: {answer}")
    process.stdout.close()
    process.stderr.close()


def check_several(checks, diario, folder):
    """A server's folder with three spaces, of which one is damaged in the end."""
    data = str(folder / "several")
    names = ("one", "two", "three")
    with Server(diario, data) as server:
        for count, name in enumerate(names, 1):
            token = server.token(name)
            for number in range(count):
                expect(server.ask("POST", f"/v1/spaces/{name}/events", token, weight(number)),
                       201, "record")
        server.stop()
    ids = {space["space"]: space["id"]
           for space in diario.good("space", "list", "--data", data, "--json").json}
    for count, name in enumerate(names, 1):
        for text in (name, ids[name]):
            checks.equal(diario.good("-C", data, "--space", text, "stats", "--json").json["events"],
                         count, f"the events of {name}")
    everything = diario.verify(data)
    checks.equal((everything["events"], sorted(space["space"] for space in everything["spaces"])),
                 (6, sorted(names)), "all spaces are verified")
    alone = diario.good("-C", data, "--space=two", "verify", "--json").json
    checks.equal((alone["ok"], alone["events"], "spaces" in alone), (True, 2, False), "one of them")
    for command in ("log", "stats", "export", "seal", "rebuild", "record -", "import -", "status",
                    "sync", "query", "sql SELECT", "schema list", "inbox list", "show 1"):
        checks.failing("-C", data, *command.split(), code=2,
                       has=["3 spaces", f"diario -C {data} --space ", "diario space list"])
    checks.failing("-C", data, "--space", "four", "log", has=["four", "diario space list"])
    checks.failing("-C", data, "log", "--space", "one", code=2, has=["before the command"])
    checks.failing("-C", data, "--space", "one", "repair", code=2, has=["not about one space"])
    checks.failing("--space", "one", "token", "list", "--data", data, code=2, has=["after"])
    for name in names:
        diario.good("-C", data, "--space", name, "seal")
        segments = folder / "several" / ".diario" / "spaces" / ids[name] / "segments"
        path = next(segments.glob("*.dseg"))
        good = path.read_bytes()
        path.write_bytes(good[:120] + bytes([good[120] ^ 0x20]) + good[121:])
        found = diario.run("-C", data, "verify", "--json")
        checks.equal((found.code, found.json["ok"], len(found.json["faults"])), (1, False, 1),
                     "one fault")
        checks.equal([space["space"] for space in found.json["spaces"] if not space["ok"]], [name],
                     "which one has it")
        shown = diario.run("-C", data, "verify")
        checks.true(shown.code == 1 and "NOT OK: 1 of 3 spaces" in shown.text, "for people", shown)
        path.write_bytes(good)
    check_several_damaged(checks, diario, folder / "several", ids)


def check_several_damaged(checks, diario, folder, ids):
    """What is damaged is told of its space alone, or of the log that all of them have."""
    data = str(folder)
    spaces = folder / ".diario" / "spaces"
    manifest = spaces / ids["one"] / "manifest"
    good = manifest.read_bytes()
    manifest.write_bytes(good[:20] + bytes([good[20] ^ 1]) + good[21:])
    found = diario.run("-C", data, "verify", "--json")
    checks.equal((found.code, [space["space"] for space in found.json["spaces"] if space["ok"]]),
                 (1, [name for name in sorted(ids, key=ids.get) if name != "one"]), "the others")
    diario.good("-C", data, "--space", "two", "stats")
    checks.failing("-C", data, "--space", "one", "stats", has=["manifest"])
    manifest.write_bytes(good)
    for id in ids.values():
        shutil.rmtree(spaces / id)
    log = next((folder / ".diario" / "wal").glob("*.dwal"))
    bytes_of_log = bytearray(log.read_bytes())
    bytes_of_log[:8] = b"damaged!"
    log.write_bytes(bytes_of_log)
    found = diario.run("-C", data, "verify", "--json")
    checks.equal((found.code, found.json["ok"]), (1, False), "a damaged log without spaces")
    shown = diario.run("-C", data, "verify")
    checks.true(shown.code == 1 and "NOT OK" in shown.text, "for people", shown)


def check_served(checks, diario, folder):
    (folder / "nothing").mkdir()
    lost = diario.run("serve", folder=str(folder / "nothing"))
    checks.true(lost.code == 1 and "--data DIR" in lost.message, f"serve without a folder: {lost}")
    data = ("--data", str(folder / "served"))
    checks.failing("token", "create", *data, "--space", "home", has=["served", "space create"])
    check_spaces(checks, diario, folder, data)
    made = diario.good("token", "create", *data, "--space", "home", "--rights", "read,append,relay",
                       "--actor", "user-1", "--json").json
    checks.true(re.fullmatch(r"diario_[0-9a-z]{13}_[0-9a-z]{52}", made["token"]), "the token")
    checks.equal(made["rights"], ["read", "append", "relay"], "the rights")
    plain = diario.good("token", "create", *data, "--space", "home", "--replaces", made["id"],
                        "--actor", "user-1").lines
    checks.true(len(plain) == 1 and plain[0].startswith("diario_"), "a token for scripts")
    listed = diario.good("token", "list", *data, "--json").json
    checks.equal([token["revoked"] is None for token in listed], [False, True], "a replaced token")
    text = json.dumps(listed)
    checks.true(made["token"] not in text and plain[0] not in text, "no token is listed")
    revoked = diario.good("token", "revoke", listed[1]["id"], *data, "--json").json
    checks.equal(revoked["changed"], True, "revoking")
    quota = diario.good("space", "quota", "home", *data, "--events", "7", "--json").json
    checks.equal(quota["eventsMax"], 7, "a quota")
    spaces = diario.good("space", "list", *data, "--json").json
    checks.equal([space["space"] for space in spaces], ["home"], "the spaces that are served")
    notebook = ("-C", str(folder / "notebook"), "space")
    unnamed = diario.good(*notebook, "list", "--json").json
    checks.equal(unnamed[0]["space"], None, "a space without a name")
    diario.good(*notebook, "name", unnamed[0]["id"], "notes")
    checks.equal(diario.good(*notebook, "list", "--json").json[0]["space"], "notes", "its name")
    authority = ("-C", str(folder / "notebook"), "authority")
    status = diario.good(*authority, "status", "--json").json
    checks.equal([(space["space"], space["waiting"]) for space in status], [("notes", False)],
                 "who gives positions")
    checks.equal(diario.good(*authority, "resume", "--json").json, [], "nobody waits")
    checks.equal(diario.run(*authority, "resume", "--space", "other").code, 1,
                 "a space that is not there")
    held = diario.good(*authority, "hold", "--json").json
    checks.equal([(space["space"], space["waiting"]) for space in held], [("notes", True)], "held")
    checks.equal(diario.good(*authority, "hold", "--json").json, [], "and not twice")
    refused = diario.run("-C", str(folder / "notebook"), "record", "meals.weight.recorded", PAYLOAD)
    checks.true(refused.code == 1 and "authority resume" in refused.message,
                f"nothing is recorded: {refused}")
    resumed = diario.good(*authority, "resume", "--json").json
    checks.equal([space["waiting"] for space in resumed], [False], "resumed")
    alone = diario.run("-C", str(folder / "notebook"), "remote", "restore")
    checks.true(alone.code == 1 and "diario publish" in alone.message, f"no replica: {alone}")
