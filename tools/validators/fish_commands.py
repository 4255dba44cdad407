#!/usr/bin/env python3
"""Calls commands and views of the pack fish as people and programs do.

    fish_commands.py DIARIO

The whole flow of the thesis, from a species to a reviewed report, goes by the command line, by
HTTP, and mixed, with the server killed between each two steps; a bad input of each kind is refused
with its rule; eight clients call commands on one subject at once, of which none may be decided on
what was not recorded yet; and two devices call commands while they are apart, then sync.
"""

import json
import os
import pathlib
import re
import shutil
import threading

from diario_fish.places import check_day, check_places
from diario_fish.words import check_words
from diario_program import Diario, main, require
from diario_program.serving import Server, expect

PACK = ("--pack", "fish")


def photo(assessment):
    return {"assessmentId": assessment, "photoId": f"{assessment}-p", "widthPx": 1000,
            "heightPx": 800, "takenOn": "2026-02-10", "gravityMicroG": [0, -87156, -996195]}


def flow(name):
    """The steps of one report: command, input, and what its result has to be."""
    point = {"xMpx": 300_000, "yMpx": 300_000}
    return [
        ("assessment.start",
         {"assessmentId": name, "speciesId": "acciuga", "startedOn": "2026-02-10"},
         {"assessmentId": name}),
        ("photo.capture", photo(name), {"photoId": f"{name}-p", "gateResult": "ok"}),
        ("reference.select", {"assessmentId": name, "referenceId": "eur2"}, {}),
        ("marks.place",
         {"assessmentId": name, "method": "views", "target": "fish",
          "frame": {"xMpx": 100_000, "yMpx": 100_000, "widthMpx": 80_000, "heightMpx": 451_500}},
         {}),
        ("marks.place",
         {"assessmentId": name, "method": "views", "target": "reference",
          "ellipse": point | {"widthMpx": 103_000, "heightMpx": 103_000, "angleMdeg": 0}}, {}),
        ("marks.nudge", {"assessmentId": name, "target": "fish", "side": "down"}, {}),
        ("length.measure", {"assessmentId": name}, {"lengthUm": 113_000, "method": "views"}),
        ("verdict.issue", {"assessmentId": name},
         {"sizeResult": "ok", "dateResult": "in_season", "month": 2, "minSizeUm": 90_000,
          "applicability": "full", "alternatives": []}),
        ("detail.set", {"assessmentId": name, "field": "origin", "value": "mediterranean"}, {}),
        ("detail.set", {"assessmentId": name, "field": "place", "value": "porto_ercole"}, {}),
        ("report.file",
         {"reportId": f"{name}-r", "assessmentId": name, "production": "wild_fresh"},
         {"reportId": f"{name}-r", "sizeResult": "ok", "dateResult": "in_season"}),
        ("report.amend", {"reportId": f"{name}-r", "lengthUm": 89_999, "reason": "misread"},
         {"sizeResult": "undersize", "dateResult": "in_season"}),
    ]


class Doors:
    """A space that is reached by the command line, and over HTTP."""

    def __init__(self, diario, server, data, token):
        self.diario, self.server, self.data, self.token = diario, server, data, token

    def call(self, door, name, given):
        if door == "http":
            answer = self.server.ask("POST", f"/v1/spaces/home/commands/fish.{name}", self.token,
                                     json.dumps({"input": given}))
            require(answer.status in (200, 201), f"{name} over HTTP", answer)
            return answer.json
        words = ["-C", str(self.data), "--space", "home", "fish", name, "--input", "-",
                 "--actor", "u1", "--json"]
        return self.diario.good(*words, stdin=json.dumps(given)).json

    def run(self, name, door_of, between=lambda: None):
        for number, (command, given, wanted) in enumerate(flow(name)):
            answer = self.call(door_of(number), command, given)
            for key, value in wanted.items():
                require(answer["result"].get(key) == value, f"{command}: {key}", json.dumps(answer))
            require(len(answer["events"]) == 1, f"{command} records one event", json.dumps(answer))
            between()
        rows = self.server.ask("GET", f"/v1/spaces/home/queries/fish.report?reportId={name}-r",
                               self.token).json
        require(len(rows) == 1 and rows[0]["sizeResult"] == "undersize", "the report", rows)
        require(rows[0]["actor"] == "u1" and rows[0]["follows"] == 1, "its answers follow", rows)


def check_doors(diario, server, data):
    token = server.token("home", "read,append", "--actor", "u1", packs=PACK)
    doors = Doors(diario, server, data, token)
    doors.run("cli", lambda number: "cli")
    doors.run("http", lambda number: "http")

    def restart():
        server.kill()
        server.start()

    doors.run("mixed", lambda number: "cli" if number % 2 else "http", restart)
    again = doors.call("http", "report.file", flow("http")[10][1])
    require(again["events"][0]["origin"] and again["result"]["reportId"] == "http-r",
            "the same report again", json.dumps(again))
    view = server.ask("GET", "/v1/spaces/home/views/fish.judge?speciesId=seppia&lengthUm=149900"
                      "&on=2026-06-30", token)
    require(view.status == 200 and view.json["sizeResult"] == "below_recommended", "a view", view)
    listed = server.ask("GET", "/v1/spaces/home/commands", token).json["commands"]
    require({"fish.report.file", "fish.judge"} <= {each["name"] for each in listed}, "the list")
    document = server.ask("GET", "/v1/openapi.yaml").body.decode()
    require("/v1/spaces/{space}/commands/fish.report.file" in document, "the document has them")


BAD = [
    ("assessment.start", {}, "required", "speciesId"),
    ("assessment.start", {"speciesId": "squalo"}, "unknown-species", "speciesId"),
    ("assessment.start", {"speciesId": "sardina", "startedOn": "2999-01-01"}, "future",
     "startedOn"),
    ("assessment.start", {"speciesId": "sardina", "startedOn": "2026-02-30"}, "date", "startedOn"),
    ("assessment.start", {"speciesId": 7}, "type", "speciesId"),
    ("assessment.start", {"speciesId": "sardina", "colour": "red"}, "unknown-field", "colour"),
    ("photo.capture", photo("none"), "unknown-assessment", "assessmentId"),
    ("report.file", {"assessmentId": "fresh"}, "no-verdict", "assessmentId"),
    ("report.file", {"assessmentId": "cli"}, "reported", "assessmentId"),
    ("length.enter", {"assessmentId": "fresh", "lengthUm": 999}, "minimum", "lengthUm"),
    ("length.enter", {"assessmentId": "fresh", "lengthUm": 5_000_001}, "maximum", "lengthUm"),
    ("length.measure", {"assessmentId": "fresh"}, "no-reference", "assessmentId"),
    ("verdict.issue", {"assessmentId": "fresh"}, "no-length", "assessmentId"),
    ("reference.select", {"assessmentId": "fresh", "referenceId": "lira"}, "unknown-reference",
     "referenceId"),
    ("marks.nudge", {"assessmentId": "fresh", "target": "fish", "side": "up"}, "no-marks",
     "target"),
    ("detail.set", {"assessmentId": "fresh", "field": "place", "value": "talamone"}, "no-verdict",
     "assessmentId"),
    ("report.amend", {"reportId": "cli-r", "placeId": "orbetello"}, "municipality", "placeId"),
    ("report.amend", {"reportId": "cli-r"}, "nothing-given", "reportId"),
    ("report.withdraw", {"reportId": "none"}, "unknown-report", "reportId"),
    ("report.review", {"reportId": "cli-r", "outcome": "confirmed"}, "own-report", "reportId"),
    ("species.define", {"speciesId": "x", "nameIt": "X", "family": "finfish",
                        "measure": "total_length", "minSizeKind": "legal", "months": "none"},
     "minimum-size", "minSizeUm"),
    ("season.set", {"speciesId": "sardina", "months": "mars-avril", "validFrom": "2026-01-01"},
     "months", "months"),
    ("season.set", {"speciesId": "sardina", "months": "mar-apr", "validFrom": "2026-01-01",
                    "zoneId": "north"}, "unknown-zone", "zoneId"),
]


def check_rules(server):
    token = server.token("home", "read,append", "--actor", "u1", packs=PACK)
    started = server.ask("POST", "/v1/spaces/home/commands/fish.assessment.start", token,
                         json.dumps({"input": {"assessmentId": "fresh", "speciesId": "sardina"}}))
    head = started.json["head"]
    for name, given, rule, field in BAD:
        seen = set()
        for language in ("en", "it"):
            answer = server.ask("POST", f"/v1/spaces/home/commands/fish.{name}", token,
                                json.dumps({"input": given}),
                                {"Accept-Language": f"{language};q=0.9, fr"})
            problem = expect(answer, 422, f"{name} {given}").json
            require(problem["type"] == "urn:diario:problem:rule", "its type", answer)
            require(problem["rule"] == rule and problem["field"] == field, f"{name}: {rule}",
                    answer)
            seen.add(problem["detail"])
        require(len(seen) == 2, f"{name}: both languages", seen)
    other = server.token("home", "read,append", "--actor", "u2", packs=PACK)
    answer = server.ask("POST", "/v1/spaces/home/commands/fish.report.withdraw", other,
                        json.dumps({"input": {"reportId": "cli-r"}}))
    require(expect(answer, 422, "another's report").json["rule"] == "other-person", "its rule",
            answer)
    nobody = server.token("home", "read,append", packs=PACK)
    answer = server.ask("POST", "/v1/spaces/home/commands/fish.report.withdraw", nobody,
                        json.dumps({"input": {"reportId": "cli-r"}}))
    require(expect(answer, 422, "nobody").json["rule"] == "actor", "it belongs to a person", answer)
    answer = server.ask("POST", "/v1/spaces/home/commands/fish.report.withdraw", nobody,
                        json.dumps({"input": {"reportId": "cli-r"}, "actor": "u1"}))
    expect(answer, 403, "only with relay")
    for body in ("", "[]", '{"input":[]}', '{"input":{}', '{"what":1}', '{"dryRun":"yes"}'):
        expect(server.ask("POST", "/v1/spaces/home/commands/fish.report.file", token, body,
                          {"Content-Type": "application/json"}), 400, f"the body {body!r}")
    expect(server.ask("POST", "/v1/spaces/home/commands/fish.nothing", token, '{"input":{}}'), 404,
           "no such command")
    for at in -1, 2**63 - 1, -2**63, "1969-12-31T23:59:59Z", "2999-01-01T00:00:00Z":
        for more in {}, {"dryRun": True}:
            body = {"input": {"speciesId": "acciuga"}, "at": at} | more
            answer = server.ask("POST", "/v1/spaces/home/commands/fish.assessment.start", token,
                                json.dumps(body))
            require(expect(answer, 400, f"at {at}").json["field"] == "at", "the field", answer)
    now = server.ask("GET", "/v1/spaces/home/head", token).json["head"]
    require(now == head, f"nothing was recorded: {head} became {now}")


def check_strangers(server):
    """A token that only appends is told ids and codes, and of others' reports no word."""
    given = {"assessmentId": "http", "reportId": "http-r"}

    def file(token, **more):
        return server.ask("POST", "/v1/spaces/home/commands/fish.report.file", token,
                          json.dumps({"input": given} | more))

    for actor, rights in ("u3", "append"), ("u2", "read,append"):
        token = server.token("home", rights, "--actor", actor, packs=PACK)
        for more in {}, {"dryRun": True}:
            problem = expect(file(token, **more), 422, "another's report").json
            require(problem["rule"] == "id-taken", "its rule", problem)
            require("porto_ercole" not in json.dumps(problem), "its place", problem)
    device = server.token("home", "append", "--actor", "u1", packs=PACK)
    answer = expect(file(device), 200, "the same report again").json
    require(answer["result"] == {"reportId": "http-r"}, "the id alone", answer)
    for event in answer["events"]:
        require(set(event) == {"type", "origin", "position"}, "no payload", answer)


def check_query(diario, folder):
    """A pack whose query lacks a column that a rule reads: the error names both."""
    shutil.copytree(pathlib.Path(__file__).parents[2] / "schema" / "fish", folder / "changed")
    path = folder / "changed" / "queries" / "assessment.sql"
    text = path.read_text()
    path.write_text(text.replace("p.takenOn, ", ""))
    told = diario.run("schema", "check", "./changed", "--json")
    problem = told.json["problems"][0]
    require(told.code == 1 and problem["rule"] == "query-answers" and problem["line"] > 1
            and "takenOn" in problem["message"], "the check says which column is missing", told)
    path.write_text(text.replace("p.takenOn, ", "").replace("takenOn DATE?, ", ""))
    diario.good("schema", "check", "./changed")
    diario.good("init", "without", "--pack", "./changed")
    diario.good("-C", "without", "actor", "set", "u7")
    diario.good("-C", "without", "fish", "assessment.start", "--species-id", "acciuga",
                "--assessment-id", "a")
    refused = diario.run("-C", "without", "fish", "length.enter", "--assessment-id", "a",
                         "--length-mm", "113")
    require(refused.code == 1 and "query assessment" in refused.message
            and "column takenOn" in refused.message, "query and column", refused)


# Of the columns, each so many-th is tried; tools/nightly tries all.
COLUMNS_STEP = int(os.environ.get("COLUMNS_STEP", "8"))
# For each query that rules ask a call that does.
ASKING = {
    "assessment": ("length.enter", "--assessment-id", "a", "--length-mm", "113"),
    "species": ("judge", "--species-id", "acciuga", "--length-mm", "80", "--on", "2026-05-04"),
    "zones": ("judge", "--species-id", "acciuga", "--length-mm", "80", "--on", "2026-05-04"),
    "alternatives": ("judge", "--species-id", "acciuga", "--length-mm", "80", "--on", "2026-05-04"),
    "references": ("reference.select", "--assessment-id", "a", "--reference-id", "eur2"),
    "places": ("place.retire", "--place-id", "talamone"),
    "report": ("report.withdraw", "--report-id", "r"),
    "photos": ("photo.discard", "--assessment-id", "a"),
}


def check_columns(diario, folder):
    """A running program with a pack that lacks any column of these says which, for each."""
    pack = folder / "fewer"
    shutil.copytree(pathlib.Path(__file__).parents[2] / "schema" / "fish", pack)
    shutil.rmtree(pack / "examples")
    # Where parameters have the values of another query, that one has to have its first column.
    for path in (pack / "queries").iterdir():
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r" TEXT of \w+", " TEXT", text), encoding="utf-8")
    lines = [
        '{"type":"fish.assessment.started","actor":"u7","payload":{"assessmentId":"a",'
        '"speciesId":"acciuga","startedOn":"2026-05-04"}}',
        '{"type":"fish.photo.captured","actor":"u7","payload":{"assessmentId":"a","photoId":"p",'
        '"widthPx":400,"heightPx":300,"takenOn":"2026-05-04","gateResult":"ok"}}',
    ]
    count = 0
    for name, call in ASKING.items():
        path = pack / "queries" / f"{name}.sql"
        text = path.read_text(encoding="utf-8")
        notes = [line for line in text.splitlines() if line.startswith("-- ")]
        head, answers = "\n".join(notes).split("-- answers (")
        columns = [" ".join(part.split()) for part in
                   answers.split(")")[0].replace("\n--", " ").split(",")]
        examples = "".join(f"{line}\n" for line in notes if line.startswith("-- example"))
        statement = text[text.index("\n", text.index(notes[-1])):].strip().rstrip(";")
        for column in columns[::COLUMNS_STEP]:
            rest = [other for other in columns if other != column] or ["other TEXT"]
            names = ", ".join(other.split()[0] for other in rest)
            if rest == ["other TEXT"]:
                names = "'a' AS other"
            path.write_text(f"{head}-- answers ({', '.join(rest)})\n{examples}SELECT {names} "
                            f"FROM ({statement});\n", encoding="utf-8")
            space = f"fewer-{count}"
            diario.good("init", space, "--schema", str(pack))
            diario.good("-C", space, "actor", "set", "u7")
            diario.good("-C", space, "record", "-", stdin="\n".join(lines) + "\n")
            refused = diario.run("-C", space, "fish", *call, "--json")
            column = column.split()[0]
            require(refused.code == 1 and f"query {name}" in refused.message
                    and f"column {column}," in refused.message, f"{name} without {column}", refused)
            shutil.rmtree(folder / space)
            count += 1
        path.write_text(text, encoding="utf-8")
    return count


def check_race(server):
    """Eight clients file reports of one assessment, 125 times each: one of them is filed."""
    token = server.token("home", "read,append", "--actor", "u1", packs=PACK)
    doors = Doors(None, server, None, token)
    for command, given, _ in flow("race")[:10]:
        doors.call("http", command, given)
    filed, strange = [], []

    def client():
        for _ in range(125):
            answer = server.ask("POST", "/v1/spaces/home/commands/fish.report.file", token,
                                json.dumps({"input": {"assessmentId": "race",
                                                      "production": "unknown"}}))
            if answer.status == 201:
                filed.append(answer.json)
            elif answer.status != 422 or answer.json["rule"] != "reported":
                strange.append(str(answer))

    threads = [threading.Thread(target=client) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    require(not strange, "a strange answer", strange[:1])
    require(len(filed) == 1, f"{len(filed)} reports of one assessment were filed")


def check_actor(diario, folder):
    """The actor of a replica, and the answer where nobody is named."""
    diario.good("init", "local", *PACK)
    start = ("-C", "local", "fish", "assessment.start", "--species-id", "sardina", "--json")
    refused = diario.run(*start)
    require(refused.code == 1 and json.loads(refused.message)["rule"] == "actor", "nobody", refused)
    diario.good("-C", "local", "actor", "set", "u7")
    require(diario.good(*start, "--dry-run").json["events"], "what it would record")
    require(diario.good("-C", "local", "fish", "drafts", "--user", "u7", "--json").json == [],
            "a dry run records nothing")
    diario.good(*start)
    require(diario.good("-C", "local", "fish", "drafts", "--user", "u7", "--json").json,
            "a draft of u7")
    require(b"u7" not in diario.good("-C", "local", "export", "--all").out.splitlines()[0],
            "it is not in the log by itself")
    types = diario.good("schema", "types", "fish", "--typescript").text
    require("export interface FishReportFileInput {" in types, "types of TypeScript", types[:300])
    require('export type FishTarget = "fish" | "reference";' in types
            and "  target: FishTarget;" in types, "choices of TypeScript", types[:300])
    require("  rules: Record<FishRule, { message: string; remedy: string }>;" in types
            and '  | "unknown-species"' in types, "rules and texts of TypeScript", types[-300:])


def check_replicas(diario, server, name, order):
    """One person with two devices that are apart: both sync, in this order, and agree."""
    environment = {"DIARIO_TOKEN": server.token(name, "read,append,relay", packs=PACK)}
    first, second = devices = [f"{name}-1", f"{name}-2"]

    def call(device, command, **given):
        return diario.good("-C", device, "fish", command, "--json", "--input", "-",
                           stdin=json.dumps(given)).json

    def sync(*devices):
        for device in devices:
            diario.good("-C", device, "sync", environment=environment)

    def judged(device, assessment, length):
        call(device, "assessment.start", assessmentId=assessment, speciesId="sardina",
             startedOn="2026-02-10")
        call(device, "length.enter", assessmentId=assessment, lengthUm=length)
        call(device, "verdict.issue", assessmentId=assessment)

    def file(device, report, assessment):
        return call(device, "report.file", reportId=report, assessmentId=assessment,
                    origin="mediterranean", production="wild_fresh", placeId="porto_ercole")

    for device in devices:
        diario.good("clone", server.url(name), device, environment=environment)
        diario.good("-C", device, "actor", "set", "u1")
    for assessment in ("details", "twice", "amended"):
        judged(first, assessment, 113_000)
    call(first, "assessment.start", assessmentId="photos", speciesId="sardina")
    file(first, "r-amended", "amended")
    sync(first, second)
    # Apart from here on; the events of the second device are the later ones.
    call(first, "detail.set", assessmentId="details", field="origin", value="mediterranean")
    call(first, "detail.set", assessmentId="details", field="place", value="porto_ercole")
    call(second, "detail.set", assessmentId="details", field="origin", value="other")
    call(second, "detail.set", assessmentId="details", field="production", value="farmed")
    file(first, "r-first", "twice")
    file(second, "r-second", "twice")
    call(first, "report.withdraw", reportId="r-amended")
    call(second, "report.amend", reportId="r-amended", lengthUm=109_000, reason="misread")
    for device, picture in zip(devices, ("p-first", "p-second")):
        call(device, "photo.capture", **photo("photos") | {"photoId": picture})
        call(device, "marks.place", assessmentId="photos", method="views", target="fish",
             frame={"xMpx": 100_000, "yMpx": 100_000, "widthMpx": 80_000, "heightMpx": 400_000})
    call(first, "species.define", speciesId="sardina", nameIt="Sardina", family="finfish",
         measure="total_length", minSizeKind="legal", minSizeUm=120_000, months="may-sep")
    judged(second, "away", 113_000)
    require(file(second, "r-away", "away")["result"]["sizeResult"] == "ok", "judged by the old one")
    sync(*(devices[index] for index in order))

    def table(device, sql):
        return [list(row.values()) for row in diario.good("-C", device, "sql", "--json",
                                                          sql).json]

    for sql, rows in {
        "SELECT field, value FROM answer WHERE assessmentId = 'details' ORDER BY field":
            [["origin", "other"], ["place", "porto_ercole"], ["production", "farmed"]],
        "SELECT reportId, status, lengthUm, sizeResult FROM report ORDER BY reportId": [
            ["r-amended", "withdrawn", 109_000, "undersize"],
            ["r-away", "counted", 113_000, "ok"], ["r-first", "counted", 113_000, "ok"],
            ["r-second", "duplicate", 113_000, "ok"]],
        "SELECT photoId FROM mark_in_use": [["p-second"]],
        "SELECT minSizeUm FROM minimum WHERE speciesId = 'sardina'": [[120_000]],
    }.items():
        for device in devices:
            require(table(device, sql) == rows, f"{sql}: {rows}", table(device, sql))
    require([row[0] for row in diario.good("-C", first, "fish", "judged-otherwise").lines] != [],
            "reports that the new minimum judges otherwise are listed")
    for device in devices:
        diario.good("-C", device, "rebuild", "--check")
        diario.good("-C", device, "verify")


def check_picture(diario, folder):
    """A picture is stored before its event, and removed again if there is none."""
    def blobs():
        return diario.good("-C", "local", "blob", "list", "--json").json

    def capture(assessment, image, *words, run=diario.good):
        return run("-C", "local", "fish", "photo.capture", "--assessment-id", assessment, "--image",
                   image, "--json", *words)

    diario.good("fish", "pictures", "made", "--count", "1", "--seed", "3")
    diario.good("-C", "local", "fish", "assessment.start", "--species-id", "sardina",
                "--assessment-id", "pictured")
    payload = capture("pictured", "made/3.pgm").json["events"][0]["payload"]
    require((payload["widthPx"], payload["heightPx"], payload["imageType"]) ==
            (1200, 900, "image/png"), "the picture tells its size", payload)
    require(len(blobs()) == 1, "its bytes are here", blobs())
    diario.good("-C", "local", "blob", "get", payload["imageId"], "-o", "back.png")
    require((folder / "back.png").stat().st_size == payload["imageSize"], "the picture is back")
    require("no such assessment" in capture("nobody", "made/3.pgm", run=diario.run).message,
            "a refusal")
    require(len(blobs()) == 1, "a refusal leaves no bytes", blobs())
    check_day(diario, folder, capture)
    refused = capture("pictured", "made/truth.jsonl", run=diario.run)
    require(refused.code == 1 and "no picture of a known type" in refused.message, "text", refused)
    require(capture("pictured", "made/3.pgm", "--dry-run", run=diario.run).code == 2, "dry run")


def check(path, folder):
    diario = Diario(path, folder)
    check_actor(diario, folder)
    check_picture(diario, folder)
    check_query(diario, folder)
    missing = check_columns(diario, folder)
    data = folder / "served"
    with Server(diario, data) as server:
        check_doors(diario, server, data)
        check_rules(server)
        check_strangers(server)
        check_race(server)
        check_places(diario, server)
        check_words(diario, server)
        for name, order in ("first", (0, 1, 0)), ("second", (1, 0, 1)), ("turns", (0, 1, 1, 0)):
            check_replicas(diario, server, name, order)
        require(server.stop() == 0, "the server stops")
    return (f"three flows by every door, {len(BAD)} rules in two languages, {missing} missing "
            "columns, 1,000 commands of 8 clients, two devices in three orders")


if __name__ == "__main__":
    main("fish_commands.py", __doc__, check)
