#!/usr/bin/env python3
"""Lets several processes use one directory at once.

    processes.py DIARIO

Two processes record into one space at the same time while a third one follows and a fourth one
verifies: every acknowledged event is there once, each process's events are in its order, and
positions have no gaps.
"""

import json
import signal
import subprocess
import threading

from diario_program import Diario, main, require, weight

WRITERS = 2
LINES = 400
PIECE = 20


def write(diario, space, name, answers):
    """Records piece by piece; the next piece follows when the one before was acknowledged."""
    process = diario.start("-C", space, "record", "-")
    origins = []
    for start in range(0, LINES, PIECE):
        lines = [weight(number, actor=name) for number in range(start, start + PIECE)]
        process.stdin.write("".join(line + "\n" for line in lines).encode())
        while len(origins) < start + PIECE:
            line = process.stdout.readline()
            if not line:
                break
            origins.append(line.decode().strip())
    process.stdin.close()
    errors = process.stderr.read().decode()
    code = process.wait()
    process.stdout.close()
    process.stderr.close()
    answers[name] = (code, origins, errors)


def check_writers(diario, space):
    head = diario.good("-C", space, "stats", "--json").json["head"]
    follower = subprocess.Popen(
        [diario.program, "-C", space, "log", "--follow", "--json", "--from", str(head + 1)],
        env=diario.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    answers = {}
    writers = [threading.Thread(target=write, args=(diario, space, f"writer-{number}", answers))
               for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        diario.verify(space)
    for writer in writers:
        writer.join()
    events = diario.good("-C", space, "log", "--json", "--from", str(head + 1)).events
    for name, (code, origins, errors) in answers.items():
        require(code == 0 and len(origins) == LINES, f"{name} ended with {code}: {errors}")
        own = [event for event in events if event.get("actor") == name]
        require([event["origin"] for event in own] == origins, f"{name}: events or their order")
        require([event["payload"]["weightG"] for event in own]
                == [json.loads(weight(number))["payload"]["weightG"] for number in range(LINES)],
                f"{name}: payloads")
    total = WRITERS * LINES
    require([event["position"] for event in events] == list(range(head + 1, head + total + 1)),
            "positions have gaps")
    # All events are there, so the follower has them or gets them within its next look.
    followed = [json.loads(follower.stdout.readline()) for _ in range(total)]
    follower.send_signal(signal.SIGINT)
    rest, errors = follower.communicate(timeout=10)
    require((follower.returncode, rest, errors) == (0, b"", b""), f"log --follow: {errors}")
    require(followed == events, "log --follow shows something else than log")
    diario.verify(space)
    return total


def check(program, folder):
    diario = Diario(program, folder)
    space = str(folder / "space")
    diario.good("init", space, "--pack", "meals")
    total = check_writers(diario, space)
    return f"{WRITERS} processes recorded {total} events into one directory"


if __name__ == "__main__":
    main("processes.py", __doc__, check)
