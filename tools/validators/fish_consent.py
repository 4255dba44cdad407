#!/usr/bin/env python3
"""Looks for the bytes of photos where they may not be.

    fish_consent.py DIARIO

A buyer with two devices, another buyer, and a researcher sync with a server. Photos without consent
are in no file of the server and of no other device, whatever the other buyer records; with consent
they come to whoever asks; after a withdrawal they are gone again, and the device that took them has
them still. Bytes are looked for in every file, and not by name.
"""

import base64
import json
import pathlib

from diario_program import Diario, main, require, wait_for
from diario_program.serving import Server, expect

PACK = ("--pack", "fish")
# Where parts of the stored bytes are cut out to be looked for, and their length.
PART_COUNT, PART_SIZE = 7, 24


class World:
    """The devices, and the pictures that were taken."""

    def __init__(self, diario, folder, server):
        self.diario, self.folder, self.server = diario, folder, server
        self.parts, self.ids = {}, {}

    def device(self, name, actor, *words):
        token = self.server.token("home", "read,append", "--actor", actor, *words, packs=PACK)
        self.diario.good("clone", self.server.url("home"), name,
                         environment={"DIARIO_TOKEN": token})
        self.diario.good("-C", name, "actor", "set", actor)
        return token

    def call(self, device, command, *words, run=None):
        run = run or self.diario.good
        return run("-C", device, "fish", command, *words, "--json")

    def take(self, device, name, number):
        """Captures a photo for a new assessment that is judged."""
        self.call(device, "assessment.start", "--species-id", "sardina", "--assessment-id", name)
        answer = self.call(device, "photo.capture", "--assessment-id", name, "--photo-id",
                           f"{name}-p", "--image", f"made/{number}.pgm").json
        payload = answer["events"][0]["payload"]
        self.call(device, "length.enter", "--assessment-id", name, "--length-mm", "120")
        self.call(device, "verdict.issue", "--assessment-id", name)
        self.ids[name] = base64.b64decode(payload["imageId"]).hex()
        stored = (self.folder / device / ".diario" / "blobs" / self.ids[name]).read_bytes()
        step = (len(stored) - PART_SIZE - 8) // (PART_COUNT - 1)
        self.parts[name] = [stored[8 + step * at:][:PART_SIZE] for at in range(PART_COUNT)]
        return payload

    def file(self, device, name, *words, run=None):
        return self.call(device, "report.file", "--report-id", f"{name}-r", "--assessment-id", name,
                         "--origin", "mediterranean", "--production", "wild_fresh", "--place-id",
                         "talamone", *words, run=run)

    def sync(self, device, *words):
        self.diario.good("-C", device, "sync", *words)

    def found(self, place):
        """The photos of which bytes are in a file of a folder."""
        names = set()
        for path in (self.folder / place).rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                names |= {name for name, parts in self.parts.items()
                          if any(part in content for part in parts)}
        return names

    def require(self, place, *names):
        require(self.found(place) == set(names), f"{place} has the bytes of {names}",
                self.found(place))


def check_release(world):
    for number, name in enumerate(("kept", "reported", "shown", "regretted")):
        world.take("anna", name, number + 1)
    world.file("anna", "reported")
    world.file("anna", "shown", "--consent-photo")
    world.file("anna", "regretted", "--consent-photo")
    world.call("anna", "assessment.start", "--species-id", "sardina", "--assessment-id", "bare")
    for step in (("length.enter", "--length-mm", "120"), ("verdict.issue",)):
        world.call("anna", step[0], "--assessment-id", "bare", *step[1:])
    refused = world.file("anna", "bare", "--consent-photo", run=world.diario.run)
    require(refused.code == 1 and json.loads(refused.message)["rule"] == "no-picture",
            "a consent without a picture", refused)
    for device in ("anna", "tablet", "bruno"):
        world.sync(device)
    world.sync("rosa", "--blobs")
    world.require("anna", *world.parts)
    world.require("served", "shown", "regretted")
    world.require("tablet", "shown", "regretted")
    world.require("rosa", "shown", "regretted")
    world.require("bruno")
    why = {row["sha256"]: (row["why"], row["of"])
           for row in world.diario.good("-C", "bruno", "blob", "list", "--json").json}
    require(why[world.ids["shown"]] == ("others", ["anna"])
            and why[world.ids["kept"]] == ("elsewhere", ["anna"]), "why they are not here", why)
    rows = world.diario.good("-C", "anna", "blob", "list", "--json").json
    why = {row["sha256"]: row["why"] for row in rows}
    require(why[world.ids["shown"]] == "recorded" and why[world.ids["reported"]] == "stays",
            "why they are here", why)
    picture = world.diario.good("-C", "bruno", "blob", "get", world.ids["shown"], "-o", "shown.png")
    require(picture.code == 0 and (world.folder / "shown.png").read_bytes()[1:4] == b"PNG",
            "one that was asked for")
    world.require("bruno", "shown")
    refused = world.diario.run("-C", "bruno", "blob", "get", world.ids["kept"], "-o", "kept.png")
    require(refused.code == 1 and "stay" in refused.message, "one that stays", refused)


def check_stranger(world, tokens):
    """Whatever another buyer records of a photo, nobody gets its bytes."""
    events = world.diario.good("-C", "bruno", "export", "--all").out.splitlines()
    photo = next(line for line in map(json.loads, events)
                 if line["type"] == "fish.photo.captured"
                 and line["payload"]["assessmentId"] == "kept")["payload"]
    world.call("bruno", "assessment.start", "--species-id", "sardina", "--assessment-id", "mine")
    world.sync("bruno")
    report = {"reportId": "forged", "speciesId": "sardina", "placeId": "talamone",
              "observedOn": "2026-06-01", "lengthUm": 120_000, "method": "ruler",
              "minSizeKind": "none", "sizeResult": "not_required", "isBorderline": False,
              "dateResult": "in_season", "applicability": "full", "origin": "mediterranean",
              "production": "wild_fresh", "source": "app", "photoId": photo["photoId"],
              "consentPhoto": True}
    lines = [
        {"type": "fish.report.filed", "version": 2, "payload": report | {"assessmentId": "kept"}},
        {"type": "fish.report.filed", "version": 2,
         "payload": report | {"reportId": "forged-2", "assessmentId": "mine", "photoId": "mine-p"}},
        {"type": "fish.photo.captured", "version": 2,
         "payload": photo | {"assessmentId": "mine", "photoId": "mine-p"}},
    ]
    for line in lines:
        answer = world.server.ask("POST", "/v1/spaces/home/events", tokens["bruno"],
                                  json.dumps(line), {"Content-Type": "application/json"})
        expect(answer, 201, "a forged event")
    for device in ("bruno", "anna", "tablet"):
        world.sync(device)
    world.sync("rosa", "--blobs")
    world.require("served", "shown", "regretted")
    world.require("rosa", "shown", "regretted")
    world.require("bruno", "shown")
    answer = world.server.ask("GET", f"/v1/spaces/home/blobs/{world.ids['kept']}", tokens["bruno"])
    expect(answer, 404, "the bytes of a photo that stays")


def check_regret(world):
    world.call("tablet", "report.withdraw", "--report-id", "regretted-r")
    world.sync("tablet")
    world.require("tablet", "shown")
    world.sync("anna")
    world.require("served", "shown")
    # Restored, and then the consent alone ends.
    world.call("anna", "report.restore", "--report-id", "regretted-r")
    world.sync("anna")
    world.require("served", "shown", "regretted")
    (world.folder / "no.json").write_text('{"reportId":"regretted-r","consentPhoto":false}')
    world.call("anna", "report.amend", "--input", "no.json")
    world.sync("anna")
    world.require("served", "shown")
    for device in ("bruno", "anna", "tablet"):
        world.sync(device)
    world.sync("rosa", "--blobs")
    world.require("rosa", "shown")
    world.require("served", "shown")
    world.require("anna", *world.parts)
    # The server sees to it also where nobody syncs.
    world.call("anna", "report.withdraw", "--report-id", "shown-r")
    world.sync("anna", "--no-blobs")
    wait_for(lambda: world.found("served") == set(), "the server removes what stays again")


def check_http(world, tokens):
    """Over HTTP the server would be the device."""
    start = {"input": {"assessmentId": "far", "speciesId": "sardina"}}
    path = "/v1/spaces/home/commands/fish."
    expect(world.server.ask("POST", path + "assessment.start", tokens["anna"], json.dumps(start)),
           201, "an assessment")
    image = {"imageId": base64.b64encode(bytes(32)).decode(), "imageSize": 9,
             "imageType": "image/png", "imageKey": base64.b64encode(bytes(32)).decode()}
    given = {"assessmentId": "far", "widthPx": 100, "heightPx": 80}
    for language, word in (("it", "Resta sul dispositivo"), ("en", "stays on the device")):
        answer = world.server.ask("POST", path + "photo.capture", tokens["anna"],
                                  json.dumps({"input": given | image}),
                                  {"Accept-Language": language})
        require(answer.status == 422 and answer.json["rule"] == "stays"
                and answer.json["field"] == "image" and word in answer.json["detail"],
                "a picture over HTTP", answer)
    expect(world.server.ask("POST", path + "photo.capture", tokens["anna"],
                            json.dumps({"input": given})), 201, "a photo without its picture")


def check(path, folder):
    folder = pathlib.Path(folder)
    diario = Diario(path, folder)
    diario.good("fish", "pictures", "made", "--count", "4", "--seed", "1")
    with Server(diario, folder / "served") as server:
        world = World(diario, folder, server)
        tokens = {
            "anna": world.device("anna", "anna"), "tablet": world.device("tablet", "anna"),
            "bruno": world.device("bruno", "bruno"),
            "rosa": world.device("rosa", "rosa", "--role", "fish.researcher"),
        }
        check_release(world)
        check_stranger(world, tokens)
        check_http(world, tokens)
        check_regret(world)
        for device in ("anna", "tablet", "bruno", "rosa"):
            diario.good("-C", device, "verify", "--blobs")
        require(server.stop() == 0, "the server stops")
    return f"{len(world.parts)} photos in the files of a server and four devices"


if __name__ == "__main__":
    main("fish_consent.py", __doc__, check)
