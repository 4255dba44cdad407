#!/usr/bin/env python3
"""Takes many events through the real program, from lines to segments and back.

    million.py DIARIO [EVENTS]

A million events, unless another number is given, with given and with derived ids: imported,
sealed, verified and exported. The export says what the lines said, in their order; imported
again it is exported again as the same bytes; and no command has more memory resident than the
bound, however many events there are.
"""

import hashlib
import json
import os
import random
import shutil
import subprocess
import time

from diario_program import Diario, Failed, main, require

EVENTS = 1_000_000
MEMORY_MAX = 256_000_000
# Keys that an export adds to the lines of a workload.
ADDED = {"position", "version", "subject", "base", "clock", "acceptedAt", "batch"}


class Runner:
    """Runs commands with their output in files, and looks at the memory that they took."""

    def __init__(self, program, folder):
        self.diario = Diario(program, folder)
        self.folder = folder
        self.memory = {}

    def run(self, name, *words):
        """Gives the path of what a command wrote, which must succeed."""
        path = self.folder / "output"
        with open(path, "wb") as output, open(self.folder / "errors", "wb") as errors:
            process = subprocess.Popen(
                [self.diario.program, *map(str, words)], stdin=subprocess.DEVNULL,
                stdout=output, stderr=errors, env=self.diario.environment)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        message = (self.folder / "errors").read_bytes()[:600]
        require(process.returncode == 0, f"{name} ends with {process.returncode}: {message!r}")
        # In kilobytes, but on Apple systems in bytes.
        size = usage.ru_maxrss * (1 if os.uname().sysname == "Darwin" else 1024)
        self.memory[name] = max(size, self.memory.get(name, 0))
        return path

    def json(self, name, *words):
        return json.loads(self.run(name, *words, "--json").read_bytes())


def payloads(chance, ids, origin, made):
    """The type and payload of an event; `made` are the things of its replica."""
    day = f"2025-{1 + chance.randrange(12):02}-{1 + chance.randrange(28):02}"
    new = {"id": f"01{chance.getrandbits(96):024X}"} if ids == "given" else {}
    kind = chance.randrange(4) if made else 0
    if kind == 0:
        made.append(new.get("id", origin))
        return "meals.food.logged", {
            **{"entryId": id for id in new.values()}, "day": day, "meal": "lunch",
            "foodId": f"off:{chance.randrange(2000)}", "name": f"pasta {chance.randrange(500)}",
            "amountMg": 1000 * chance.randrange(1, 500), "energyMkcal": chance.randrange(900_000),
            "method": "search"}
    if kind == 1:
        return "meals.quantity.changed", {
            "entryId": chance.choice(made[-9:]), "amountMg": 1000 * chance.randrange(1, 500)}
    if kind == 2:
        return "meals.health.day.recorded", {
            "day": day, "timeZone": "Europe/Rome", "sourceName": "orologio",
            "steps": chance.randrange(20_000), "activeMkcal": chance.randrange(900_000),
            "basalMkcal": chance.randrange(900_000), "revision": 1}
    return "zones.point.annotated", {
        **{"noteId": id for id in new.values()}, "zoneId": f"sar:roma_{chance.randrange(80)}",
        "pointKey": f"{chance.randrange(4000):032x}", "coherence": chance.randrange(1000) / 1000,
        "text": chance.choice(["nessuna crepa", "da rivedere", "stabile", "coda"])}


def write_lines(path, ids, count):
    """Events of fifty replicas, each of which hands over a few of its own at a time."""
    chance = random.Random(f"million {ids}")
    replicas = ["1" + "".join(chance.choices("0123456789abcdefghjkmnpqrstvwxyz", k=12))
                for _ in range(50)]
    made, sequences = [[] for _ in replicas], [0] * len(replicas)
    with open(path, "w", encoding="utf-8") as file:
        index = 0
        for number in range(count):
            if chance.randrange(8) == 0:
                index = min(chance.randrange(50), chance.randrange(50))
            sequences[index] += 1
            origin = f"{replicas[index]}-{sequences[index]}"
            kind, payload = payloads(chance, ids, origin, made[index])
            at = 1_735_689_600 + 31_000_000 * number // count
            when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
            file.write(json.dumps({
                "type": kind, "payload": payload, "actor": f"user-{index}",
                "at": f"{when}.{chance.randrange(1000):03}Z", "origin": origin},
                separators=(",", ":")) + "\n")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_same(line, event):
    """True if an event is that of a line; an id that was left out is the origin."""
    wanted, payload = line.pop("payload", {}), event.pop("payload")
    if any(event.get(name) != line[name] for name in line) or event.keys() - line.keys() - ADDED:
        return False
    left = {name: value for name, value in payload.items() if name not in wanted}
    return (all(payload.get(name) == wanted[name] for name in wanted)
            and all(value == event["origin"] for value in left.values()))


def compare(lines, exported):
    """Every line is in the export, in order; gives how many there are."""
    count = 0
    with open(lines, encoding="utf-8") as given, open(exported, encoding="utf-8") as found:
        authority = None
        for text in found:
            event = json.loads(text)
            replica = event["origin"].rpartition("-")[0]
            authority = authority or replica
            # The authority's own events came before: packs that were adopted, reference data.
            if replica == authority:
                continue
            wanted = json.loads(next(given, "{}"))
            count += 1
            if not is_same(wanted, event):
                raise Failed(f"line {count} is exported as {text[:600]}")
        require(next(given, None) is None, f"the lines behind the {count}th are not exported")
    return count


def import_lines(runner, lines, space):
    """Makes a space of the lines; gives its numbers, all sealed and verified."""
    runner.run("init", "init", space, "--pack", "all")
    runner.run("import", "-C", space, "import", lines)
    runner.run("seal", "-C", space, "seal")
    stats = runner.json("stats", "-C", space, "stats")
    require(stats["tailEvents"] == 0 and stats["pending"] == 0, f"all is sealed: {stats}")
    result = runner.json("verify", "-C", space, "verify")
    require(result["ok"] and result["root"] == stats["root"], f"it verifies: {result}")
    return stats


def one_way(runner, ids, count):
    """Through a space, and through another one; gives the bytes for each event."""
    folder = runner.folder
    lines, copy = folder / "lines", folder / "copy"
    write_lines(lines, ids, count)
    space = folder / "space"
    stats = import_lines(runner, lines, space)
    require(stats["events"] == count, f"{count} events were imported: {stats}")
    runner.run("export", "-C", space, "export", "--all").rename(copy)
    require(compare(lines, copy) == count, f"{count} events were exported")
    runner.run("scan", "-C", space, "log")
    lines.unlink()
    shutil.rmtree(space)
    again = import_lines(runner, copy, space)
    require(again["head"] == stats["head"], f"the same positions: {again}")
    require(digest(runner.run("export", "-C", space, "export", "--all")) == digest(copy),
            "an export that is imported is exported as the same bytes")
    copy.unlink()
    shutil.rmtree(space)
    return stats["bytesPerEvent"]


def check(program, folder, count=EVENTS):
    runner = Runner(program, folder)
    sizes = [f"{ids} ids {one_way(runner, ids, count):.1f} bytes an event"
             for ids in ("given", "derived")]
    for name, size in runner.memory.items():
        require(size <= MEMORY_MAX, f"{name} had {size / 1e6:.0f} MB resident")
    name = max(runner.memory, key=runner.memory.get)
    return (f"{count} events, {', '.join(sizes)}; at most {runner.memory[name] / 1e6:.0f} MB "
            f"resident, by {name}")


if __name__ == "__main__":
    main("million.py", __doc__, check, takes_count=True)
