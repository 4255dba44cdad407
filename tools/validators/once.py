#!/usr/bin/env python3
"""Records events over HTTP once, though answers are lost, as schema/format/http.md says it.

    once.py DIARIO

Takes the blocks of that document that begin with ```sh tested, ```python tested or ```js tested and
runs them, some of them several times, through a proxy that cuts, repeats and refuses connections.
Each event must be in the log once then. Without `node` the JavaScript is not run.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from diario_program import Diario, main, require
from diario_program.serving import Proxy, Server, expect

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "schema" / "format" / "http.md"
EVENTS = "/v1/spaces/home/events"
RUNS = 4


class Lossy(Proxy):
    """Delivers most requests, and loses most answers."""

    HARMS = ("cut-answer", "cut-answer", "duplicate", "cut", "refuse", "none", "none")


def examples():
    text = DOCUMENT.read_text(encoding="utf-8")
    block = r"^```(sh|python|js) tested\n(.*?)^```$"
    return dict(re.findall(block, text, re.MULTILINE | re.DOTALL))


def commands(language, code):
    """The command that runs a program; none if this machine lacks it."""
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


def check(path, folder):
    diario = Diario(path, folder)
    with Server(diario, folder / "served") as server:
        told = run_examples(server, server.token("home"), folder)
        diario.verify(server.data)
    return "; ".join(told)


if __name__ == "__main__":
    main("once.py", __doc__, check)
