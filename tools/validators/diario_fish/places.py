"""Where the reports of a user are, and of which day a photo is."""

import datetime
import json
import struct
import zlib

from diario_program import require


def check_places(diario, server):
    """Each row of a user says where it is; what was refused is listed with its reason."""
    def on(device, *words, given=None):
        return diario.good("-C", device, *words, "--json",
                           stdin=None if given is None else json.dumps(given)).json

    def mine(device, user):
        rows = on(device, "query", "my-reports", "--param", f"user={user}")
        return [(row["reportId"], row["state"], row["status"], row["refusedRule"]) for row in rows]

    tokens = {}
    for user in ("u1", "u2"):
        device = f"places-{user}"
        tokens[device] = {"DIARIO_TOKEN": server.token("places", "read,append", "--actor", user,
                                                       packs=("--pack", "fish"))}
        diario.good("clone", server.url("places"), device, environment=tokens[device])
        diario.good("-C", device, "actor", "set", user)
        for command, given in (
                ("assessment.start", {"assessmentId": user, "speciesId": "sardina",
                                      "startedOn": "2026-02-10"}),
                ("length.enter", {"assessmentId": user, "lengthUm": 113_000}),
                ("verdict.issue", {"assessmentId": user}),
                ("report.file", {"assessmentId": user, "reportId": "same", "placeId": "talamone",
                                 "origin": "other", "production": "farmed"})):
            on(device, "fish", command, "--input", "-", given=given)
        require(mine(device, user) == [("same", "pending", "counted", None)], "pending",
                mine(device, user))
    first, second = tokens
    diario.good("-C", first, "sync", environment=tokens[first])
    require(mine(first, "u1") == [("same", "accepted", "counted", None)], "accepted",
            mine(first, "u1"))
    on(first, "fish", "report.amend", "--input", "-", given={"reportId": "same",
                                                             "placeId": "albinia"})
    require(mine(first, "u1")[0][1] == "pending", "an amendment is pending", mine(first, "u1"))
    diario.run("-C", second, "sync", environment=tokens[second])
    require(mine(second, "u2") == [("same", "refused", None, "who")], "refused",
            mine(second, "u2"))
    inbox = on(second, "sql", "SELECT *, event_state(origin) AS state FROM diario_inbox")
    require([(row["type"], row["subject"], row["actor"], row["rule"], row["state"])
             for row in inbox] == [("fish.report.filed", "same", "u2", "who", "refused")],
            "the inbox", inbox)
    require(json.loads(inbox[0]["payload"])["lengthUm"] == 113_000, "its payload", inbox)
    states = on(second, "sql", "SELECT event_state(lastOrigin) AS s, event_state('x') AS x, "
                "event_state(NULL) AS n FROM report")
    require(states == [{"s": "accepted", "x": None, "n": None}], "states", states)


def dated(png, day):
    """A PNG with the time at which it was taken, as cameras write it."""
    text = f"{day.replace('-', ':')} 18:05:59".encode() + b"\0"
    tiff = (b"II*\0" + struct.pack("<IH", 8, 1) + struct.pack("<HHII", 0x8769, 4, 1, 26)
            + struct.pack("<I", 0) + struct.pack("<H", 1) + struct.pack("<HHII", 0x9003, 2, 20, 44)
            + struct.pack("<I", 0) + text)
    body = b"eXIf" + tiff
    return png[:33] + struct.pack(">I", len(tiff)) + body + struct.pack(">I", zlib.crc32(body)) \
        + png[33:]


def check_day(diario, folder, capture):
    """The day of a photo is that of its metadata, before they are taken out."""
    png = (folder / "back.png").read_bytes()
    today = datetime.date.today()
    for name, day in (("april", "2026-04-30"),
                      ("tomorrow", (today + datetime.timedelta(days=2)).isoformat())):
        (folder / f"{name}.png").write_bytes(dated(png, day))
    answer = capture("pictured", "april.png")
    require((answer.json["result"]["takenOn"], answer.json["events"][0]["payload"]["takenOn"])
            == ("2026-04-30", "2026-04-30"), "the day of the metadata", answer)
    given = capture("pictured", "april.png", "--taken-on", "2026-05-02").json
    require(given["result"]["takenOn"] == "2026-05-02", "the day that is given", given)
    late = capture("pictured", "tomorrow.png", run=diario.run)
    require(late.code != 0 and "future" in late.message, "a photo from the future", late)
    none = capture("pictured", "back.png")
    require("does not say its day" in none.message, "a photo without a day", none)
    kept = none.json["events"][0]["payload"]
    diario.good("-C", "local", "blob", "get", kept["imageId"], "-o", "clean.png")
    require(b"eXIf" not in (folder / "clean.png").read_bytes(), "no metadata are kept")
