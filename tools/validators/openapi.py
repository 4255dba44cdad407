#!/usr/bin/env python3
"""Holds the server to schema/format/openapi.yaml, and the document to the standard.

    openapi.py DIARIO

Thousands of requests are made from the document by schemathesis: what fits it must be taken, what
does not must be refused with a problem document, and every answer must be as the document says.
"""

import json
import pathlib
import subprocess
import sys

import yaml
from openapi_spec_validator import validate

from diario_program import Diario, Failed, main, require, weight
from diario_program.serving import Server, expect

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "schema" / "format" / "openapi.yaml"
SEED = 20_261_122
EXAMPLES = 40
# Messages of replicas are made by replicas alone. A token that is revoked would end the run.
LEFT_OUT = ("exchange", "revokeToken")
# Waiting for news is checked elsewhere: here none would come.
WAITING = {"/v1/spaces/{space}/events": ("live",), "/v1/spaces/{space}/head": ("after", "wait")}
# Whether an event or a parameter is right is said by packs, and whether a part is the next one of a
# blob by what came before, which the document cannot know.
BY_PACKS = ("makeToken", "recordEvents", "answerQuery", "callCommand", "askView", "postView",
            "sendBlob")

# What is beyond a limit that the document names is 413.
TOO_LARGE = ("sendBlob", "wantBlobs")


def write_document(document, path):
    for name, parameters in WAITING.items():
        operation = document["paths"][name]["get"]
        operation["parameters"] = [
            parameter for parameter in operation["parameters"]
            if parameter["name"] not in parameters]
    path.write_text(json.dumps(document))


def write_settings(path, values):
    lines = ["[parameters]"] + [f'{name} = "{value}"' for name, value in values.items()]
    for operation in dict.fromkeys(BY_PACKS + TOO_LARGE):
        lines += ["[[operations]]", f'include-operation-id = "{operation}"']
        if operation in BY_PACKS:
            lines.append("checks.positive_data_acceptance.enabled = false")
        if operation in TOO_LARGE:
            lines.append("checks.negative_data_rejection.expected-statuses = [400, 401, 403, 404, "
                         '405, 406, 409, 413, 415, 422, 428, 429, "5xx"]')
    path.write_text("\n".join(lines) + "\n")


def check(path, folder):
    document = yaml.safe_load(DOCUMENT.read_text())
    validate(document)
    diario = Diario(path, folder)
    with Server(diario, folder / "served") as server:
        # What is served has the commands and views of the program's packs beside it.
        validate(yaml.safe_load(server.ask("GET", "/v1/openapi.yaml").body))
        token = server.token("home", "admin")
        lines = "\n".join(weight(number) for number in range(100))
        expect(server.ask("POST", "/v1/spaces/home/events", token, lines.encode(),
                          {"Content-Type": "application/x-ndjson"}), 201, "events")
        packs = server.ask("GET", "/v1/spaces/home/packs", token).json["packs"]
        write_document(document, folder / "openapi.json")
        write_settings(folder / "schemathesis.toml", {
            "space": "home", "fingerprint": packs[0]["fingerprint"], "query": "meals.weights"})
        words = [sys.executable, "-m", "schemathesis.cli",
                 "--config-file", "schemathesis.toml", "run", "openapi.json",
                 "--url", f"http://127.0.0.1:{server.port}",
                 "-H", f"Authorization: Bearer {token}",
                 "--phases", "examples,coverage,fuzzing", "-n", str(EXAMPLES),
                 "--seed", str(SEED), "--continue-on-failure"]
        for operation in LEFT_OUT:
            words += ["--exclude-operation-id", operation]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False,
                              timeout=600)
        if done.returncode != 0:
            raise Failed(f"schemathesis: {done.stdout[-6000:]}{done.stderr[-1000:]}")
        told = [line.strip() for line in done.stdout.splitlines() if " generated, " in line]
        require(server.stop() == 0, "the server ends with 0")
    return ", ".join(told) or "nothing was generated"


if __name__ == "__main__":
    main("openapi.py", __doc__, check)
