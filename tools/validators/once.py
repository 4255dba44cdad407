#!/usr/bin/env python3
"""Records events over HTTP once, though answers are lost, as schema/format/http.md says it.

    once.py DIARIO

Takes the blocks of that document that begin with ```sh tested, ```python tested or ```js tested and
runs them, some of them several times, through a proxy that cuts, repeats and refuses connections.
Each event must be in the log once then. Without `node` the JavaScript is not run.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

from diario_program import Diario, main, require
from diario_program.serving import Proxy, Server, expect

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "schema" / "format" / "http.md"
REPLICA = "7zk3m9q2c1f4b"
EVENTS = "/v1/spaces/home/events"
RUNS = 4
RETRIES_AT_ONCE = 12


class Lossy(Proxy):
    """Delivers most requests, and loses most answers."""

    HARMS = ("cut-answer", "cut-answer", "duplicate", "cut", "refuse", "none", "none")


def examples():
    text = DOCUMENT.read_text(encoding="utf-8")
    block = r"^```(sh|python|js) tested\n(.*?)^```$"
    return dict(re.findall(block, text, re.MULTILINE | re.DOTALL))


def commands(language, code):
    """What runs a program; nothing if this machine cannot."""
    if language == "js":
        node = shutil.which("node")
        return [node, "--input-type=module", "--eval", code] if node else None
    return [sys.executable, "-c", code] if language == "python" else ["sh", "-c", code]


def recorded(server, token):
    answer = expect(server.ask("GET", f"{EVENTS}?type=meals.", token), 200, "events")
    return [event["origin"] for event in answer.json if event["type"] == "meals.weight.recorded"]


def run_examples(server, token, folder):
    told = []
    for number, (language, code) in enumerate(sorted(examples().items())):
        words = commands(language, code)
        if words is None:
            told.append(f"{language} left out: there is no node")
            continue
        work = folder / language
        work.mkdir()
        proxy = Lossy(server.port, seed=number)
        environment = os.environ | {"SPACE": proxy.url(), "TOKEN": token}
        before = len(recorded(server, token))
        for _ in range(RUNS):
            done = subprocess.run(words, cwd=work, env=environment, capture_output=True,
                                  text=True, timeout=300, check=False)
            require(done.returncode == 0, f"{language}: {done.stdout}{done.stderr}")
        proxy.close()
        origins = recorded(server, token)
        # The command has one origin, which it sends again each time.
        count = 1 if language == "sh" else RUNS
        require(len(origins) - before == count, f"{language}: {len(origins) - before} events")
        require(len(set(origins)) == len(origins), f"{language}: an origin came twice")
        harm = sum(count for name, count in proxy.counts.items() if name != "none")
        told.append(f"{language} with {harm} connections harmed")
    require(len(examples()) == 3, "the document has an example for each of three languages")
    return told


def weight(sequence, grams=70_000, **keys):
    payload = {"day": "2026-03-01", "weightG": grams, "source": "manual"}
    return {"type": "meals.weight.recorded", "version": 1, "payload": payload,
            "origin": f"{REPLICA}-{sequence}"} | keys


def send(server, token, *events):
    return server.ask("POST", EVENTS, token, json.dumps(events))


def at_once(count, body):
    """Calls `body` on threads that start together; gives what they gave."""
    found = []
    gate = threading.Barrier(count)

    def call():
        gate.wait()
        found.append(body())

    threads = [threading.Thread(target=call) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def check_answers(server, token):
    made = at_once(RETRIES_AT_ONCE, lambda: send(server, token, weight(1), weight(2)))
    require(sorted(each.status for each in made) == [200] * (RETRIES_AT_ONCE - 1) + [201],
            f"of the same requests at once one records: {[each.status for each in made]}")
    require(len({each.json["positions"][0] for each in made}) == 1, "all have its position")
    forked = expect(send(server, token, weight(2, 71_000)), 409, "another event").json
    require(forked["type"].endswith(":forked") and forked["origin"] == f"{REPLICA}-2", str(forked))
    gap = expect(send(server, token, weight(2), weight(4)), 409, "a gap").json
    require(gap["type"].endswith(":gap") and gap["expected"] == 3, str(gap))
    expect(send(server, token, weight(2), weight(3)), 201, "one of two is new")
    # The server is killed and started again: what was answered is known.
    server.kill()
    server.start()
    expect(send(server, token, weight(2), weight(3)), 200, "after the server was killed")


def check_cloud_events(server, token):
    event = {"specversion": "1.0", "id": "a-1", "source": "https://example.org/scale",
             "type": "meals.weight.recorded", "data": weight(1)["payload"]}
    headers = {"Content-Type": "application/cloudevents+json"}
    made = at_once(RETRIES_AT_ONCE, lambda: server.ask(
        "POST", EVENTS, token, json.dumps(event).encode(), headers))
    require(sorted(each.status for each in made) == [200] * (RETRIES_AT_ONCE - 1) + [201],
            f"a CloudEvent is recorded once: {[str(each) for each in made]}")
    require(len({tuple(each.json["positions"]) for each in made}) == 1, "at one position")


def check_replica(diario, server, token, folder):
    """Whoever syncs gets these events as any other, salts and hashes included."""
    note = {"type": "meals.allergy.added", "version": 1, "origin": f"{REPLICA}-4",
            "payload": {"severity": "allergy", "note": "since spring"}}
    expect(send(server, token, note), 201, "an event with a personal part")
    copy = folder / "copy"
    diario.good("clone", server.url(), copy, environment={"DIARIO_TOKEN": token})
    diario.verify(copy)
    require(diario.origins(copy).get(f"{REPLICA}-4") == 1, "the replica has the event")
    expect(send(server, token, note), 200, "the same event with a personal part")


def check(path, folder):
    diario = Diario(path, folder)
    served = folder / "served"
    with Server(diario, served) as server:
        token = server.token("home")
        told = run_examples(server, token, folder)
        check_answers(server, token)
        check_cloud_events(server, token)
        check_replica(diario, server, token, folder)
        document = server.ask("GET", "/v1/openapi.yaml")
        own = (DOCUMENT.parent / "openapi.yaml").read_bytes()
        require(document.status == 200 and document.body == own, "the description is served")
        require(server.stop() == 0, "the server ends with 0")
    return "; ".join(told)


if __name__ == "__main__":
    main("once.py", __doc__, check)
