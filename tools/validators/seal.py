#!/usr/bin/env python3
"""Seals events with the real program, kills it while it does, and damages what it wrote.

    seal.py DIARIO

What a space exports, and its root, must be the same before, between and after all of this; each
damaged byte of a segment, a sidecar, a tile or the manifest must be found by `verify`, which names
the file, or change nothing; `inspect` must understand each file. The seed of chance is printed
when something is wrong.
"""

import pathlib
import random

from diario_program import Diario, Failed, main, require, weight

SEED = 20_261_120
EVENTS = 9_000
KILLS = 12
DAMAGES = 40


def record(diario, space, first, count):
    lines = "".join(weight(number) + "\n" for number in range(first, first + count))
    diario.good("-C", space, "record", "-", "--quiet", stdin=lines)


def state(diario, space):
    return (diario.good("-C", space, "export", "--all").out,
            diario.good("-C", space, "stats", "--json").json["root"])


def seal_and_compare(diario, space):
    before = state(diario, space)
    report = diario.good("-C", space, "seal", "--json").json
    stats = diario.good("-C", space, "stats", "--json", "--types").json
    require(stats["tailEvents"] == 0 and stats["segments"] >= 1, f"all is sealed: {stats}")
    require(report["sealedEnd"] == stats["head"], f"sealed to the head: {report}")
    require(sum(entry["events"] for entry in stats["types"]) == stats["head"],
            f"the types have all events: {stats['types']}")
    own = sum(entry["bytes"] for entry in stats["types"])
    own += sum(entry["bytes"] for entry in stats["columns"])
    require(own == stats["sealedBytes"], f"types and columns add up to the files: {stats}")
    for entry in stats["types"]:
        fields = sum(field["bytes"] for field in entry["fields"])
        require(fields + entry["otherBytes"] == entry["bytes"], f"fields add up: {entry}")
    require(state(diario, space) == before, "sealing changes neither export nor root")
    again = diario.good("-C", space, "seal", "--json").json
    require(again["segments"] == 0, f"nothing is left to seal: {again}")
    require(diario.good("-C", space, "verify", "--json").json["ok"], "a sealed space verifies")


def short_runs(diario, space):
    """Programs that record a little and end at once keep the log as small as one that stays."""
    for first in range(200_000, 206_000, 600):
        record(diario, space, first, 600)
    tail = diario.good("-C", space, "stats", "--json").json["tailEvents"]
    require(tail < 4_096 + 600, f"{tail} events are in no segment after short runs")


def read_back(diario, space):
    """Every way to read over the edge of segments and tail gives the same events."""
    events = [(entry["position"], entry["origin"]) for entry in
              diario.good("-C", space, "export", "--all").events]
    kept = [(entry["position"], entry["origin"]) for entry in
            diario.good("-C", space, "log", "--all", "--reverse", "--limit", "100",
                        "--json").events]
    require(kept == events[::-1][:100], "the log backwards, over the edge")
    for position, origin in (events[0], events[len(events) // 2], events[-1]):
        shown = diario.good("-C", space, "show", origin, "--json").json
        require(shown["position"] == position, f"show {origin}")
        proof = diario.good("-C", space, "prove", str(position), "--json").out
        diario.good("check", "-", stdin=proof)


def kill_rounds(diario, space, chance):
    for number in range(KILLS):
        record(diario, space, 100_000 + 500 * number, 500)
        before = state(diario, space)
        process = diario.start("-C", space, "seal")
        try:
            process.wait(timeout=chance.uniform(0.001, 0.12))
        except Exception:
            process.kill()
        process.communicate()
        require(state(diario, space) == before, f"a kill in round {number} changes nothing")
        result = diario.good("-C", space, "verify", "--json").json
        require(result["ok"], f"a space whose sealing was killed verifies: {result['faults']}")
    seal_and_compare(diario, space)


def sealed_files(space):
    folder = next((pathlib.Path(space) / ".diario" / "spaces").iterdir())
    return [path for part in ("segments", "tiles") for path in sorted((folder / part).iterdir())
            ] + [folder / "manifest"]


def damage(diario, space, chance):
    before = state(diario, space)
    files = sealed_files(space)
    for path in files:
        diario.good("inspect", str(path))
    live = [path for path in files if path.stat().st_size > 0]
    for number in range(DAMAGES):
        path = live[number % len(live)]
        good = path.read_bytes()
        place = chance.randrange(len(good))
        bad = bytearray(good)
        bad[place] ^= 1 << chance.randrange(8)
        path.write_bytes(bad)
        result = diario.run("-C", space, "verify", "--json")
        require(result.code in (0, 1), f"byte {place} of {path.name}", result)
        if result.code == 0:
            require(state(diario, space) == before, f"byte {place} of {path.name} changes nothing")
        else:
            require(path.name in result.text + result.message,
                    f"byte {place} of {path.name} is named", result)
        path.write_bytes(good)
    require(state(diario, space) == before, "mended, the space is what it was")


def check(program, folder):
    chance = random.Random(SEED)
    diario = Diario(program, folder)
    space = str(folder / "space")
    diario.good("init", space, "--pack", "all")
    try:
        record(diario, space, 0, EVENTS)
        read_back(diario, space)
        seal_and_compare(diario, space)
        read_back(diario, space)
        record(diario, space, EVENTS, 700)
        read_back(diario, space)
        short_runs(diario, space)
        kill_rounds(diario, space, chance)
        damage(diario, space, chance)
    except Failed as failure:
        raise Failed(f"seed {SEED}: {failure}") from failure
    count = EVENTS + 6_700 + 500 * KILLS
    return (f"{count} events sealed, {KILLS} sealings killed, {DAMAGES} bytes damaged: "
            "nothing lost, nothing missed")



if __name__ == "__main__":
    main("seal.py", __doc__, check)
