#!/usr/bin/env python3
"""Kills the program while it records, and looks for every event that it acknowledged.

    kill.py DIARIO

Forty rounds in one space: `diario record -` is given lines through a pipe and killed with SIGKILL
after a random time; each origin that it printed as a whole line must be in the log afterwards,
once, and the space must verify. The seed of chance is printed when something is wrong.
"""

import random
import threading

from diario_program import Diario, Failed, main, require, weight

ROUNDS = 40
SEED = 20_260_302
LINES_MAX = 200_000


def feed(pipe, first, chance):
    """Writes lines in pieces of random size until the reader is gone."""
    pending = b""
    try:
        for number in range(first, first + LINES_MAX):
            keys = {"batch": f"b{number // 7}"} if number % 50 < 14 else {}
            pending += weight(number, **keys).encode() + b"\n"
            if len(pending) > chance.choice([1, 200, 5_000, 60_000]):
                pipe.write(pending)
                pending = b""
    except (BrokenPipeError, ValueError):
        pass


def one_round(diario, space, number, chance):
    """Records, kills, and gives the origins that were acknowledged."""
    process = diario.start("-C", space, "record", "-")
    feeder = threading.Thread(
        target=feed, args=(process.stdin, number * LINES_MAX, random.Random(number)))
    feeder.start()
    printed = []
    # Half of the rounds end at a moment, the others once so many bytes were printed.
    if number % 2 == 0:
        timer = threading.Timer(chance.uniform(0.005, 0.25), process.kill)
        timer.start()
        printed.append(process.stdout.read())
        timer.join()
    else:
        wanted = int(chance.choice([1, 100, 5_000, 50_000]) * chance.uniform(0.5, 1.5)) + 1
        size = 0
        while size < wanted:
            piece = process.stdout.read(4096)
            if not piece:
                break
            printed.append(piece)
            size += len(piece)
        process.kill()
        printed.append(process.stdout.read())
    code = process.wait()
    message = process.stderr.read()
    feeder.join()
    for pipe in (process.stdin, process.stdout, process.stderr):
        try:
            pipe.close()
        except BrokenPipeError:
            pass
    if code != -9:
        raise Failed(f"round {number}: it ended by itself with {code}: {message!r}")
    whole, _, _ = b"".join(printed).rpartition(b"\n")
    return whole.decode().split("\n") if whole else []


def check(program, folder):
    chance = random.Random(SEED)
    diario = Diario(program, folder)
    space = str(folder / "space")
    diario.good("init", space, "--pack", "meals")
    acknowledged = []
    seen = 0
    for number in range(ROUNDS):
        acknowledged += one_round(diario, space, number, chance)
        # The view of a reader without the lock, before a writer has cut anything.
        found = diario.origins(space)
        missing = [origin for origin in acknowledged if found.get(origin) != 1]
        require(not missing, f"seed {SEED}, round {number}: acknowledged and not there once: "
                             f"{missing[:5]} of {len(acknowledged)}")
        require(len(found) >= seen, f"seed {SEED}, round {number}: events were lost")
        seen = len(found)
        if number % 8 == 7:
            diario.verify(space)
    cuts = len(diario.verify(space)["cut"])
    require(len(acknowledged) > 1000, "hardly anything was recorded, so nothing was checked")
    return (f"{ROUNDS} kills, {len(acknowledged)} acknowledged events all there, "
            f"{seen} in all, {cuts} torn frames set aside")


if __name__ == "__main__":
    main("kill.py", __doc__, check)
