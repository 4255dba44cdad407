#!/usr/bin/env python3
"""Damages every kind of file of a space, repairs it with the real program, and looks for events.

    repair.py DIARIO

Each file of a sealed space with a tail is flipped, cut, zeroed and deleted in turn. `diario repair`
alone must change nothing and say what would be lost; with `--yes` it must keep every event that is
not said to be lost, with its origin, position and times, and what was damaged must be kept aside.
Afterwards `verify` is content, events can be recorded and sealed, and there is nothing to repair.
"""

import hashlib
import json
import pathlib
import shutil

from diario_format.check_log import DataDirectory
from diario_program import Diario, main, require, weight

EVENTS = 4_600
TAIL = 40
# What these hold is needed by nobody: a number between processes, zeros, and a lower bound.
SPARE = ("lock", "reserve", "synced", "sealing", "staging")


def record(diario, space, first, count):
    lines = "".join(weight(number) + "\n" for number in range(first, first + count))
    diario.good("-C", space, "record", "-", "--quiet", stdin=lines)


def flip(path):
    content = bytearray(path.read_bytes())
    # In what is used, not in the zeros behind it.
    place = len(bytes(content).rstrip(b"\0")) * 2 // 3
    if content:
        content[place] ^= 0x20
        path.write_bytes(content)


def truncate(path):
    content = path.read_bytes()
    path.write_bytes(content[:len(content.rstrip(b"\0")) // 2])


def zero(path):
    path.write_bytes(bytes(path.stat().st_size))


DAMAGES = (flip, truncate, zero, pathlib.Path.unlink)


def digest(folder):
    """The bytes of all files."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def events(diario, space):
    """All events by position, as the export has them."""
    lines = diario.good("-C", space, "export").out.splitlines()
    return {json.loads(line)["position"]: line for line in lines}


def lost_positions(report):
    found = set()
    for loss in report["lost"]:
        if "replica" not in loss:
            found |= set(range(loss["first"], loss["last"] + 1))
    return found


def check_one(diario, template, space, path, damage):
    """One damage: what is kept, what is lost; gives how many events were lost."""
    told = f"{path}, {damage.__name__}"
    if space.exists():
        shutil.rmtree(space)
    shutil.copytree(template, space)
    before = events(diario, template)
    damage(space / ".diario" / path)
    damaged = digest(space)
    looked = diario.run("-C", space, "repair", "--json")
    require(digest(space) == damaged, f"looking changed something: {told}", looked)
    require(looked.code in (0, 1) and looked.json["mendable"], f"not mendable: {told}", looked)
    require(looked.code == (0 if looked.json["ok"] else 1), f"the exit code: {told}", looked)
    people = diario.run("-C", space, "repair")
    require(people.code == looked.code, f"for people: {told}", people)
    done = diario.good("-C", space, "repair", "--yes", "--json")
    report = done.json
    require(report["lostEvents"] == looked.json["lostEvents"], f"said one, did another: {told}",
            done)
    verified = diario.verify(space)
    lost = lost_positions(report)
    recorded = set()
    for entry in verified["lost"]:
        recorded |= set(range(entry["first"], entry["last"] + 1))
    require(lost <= recorded, f"verify lists what was lost: {told}", done)
    after = events(diario, space)
    has_end = any(text.startswith("the end of") for text in report["alsoLost"])
    for position, line in before.items():
        if position in lost or has_end and position > max(after, default=0):
            continue
        require(after.get(position) == line, f"position {position} is gone: {told}", done)
    if report["findings"]:
        require(report["setAside"] or damage is pathlib.Path.unlink, f"nothing kept: {told}", done)
    if report["setAside"]:
        note = space / ".diario" / report["setAside"] / "why.txt"
        require("was" in note.read_text(), f"the note says where it came from: {told}")
    record(diario, space, 100_000, 30)
    diario.good("-C", space, "seal")
    diario.verify(space)
    require(len(events(diario, space)) >= len(after) + 30, f"it goes on: {told}")
    again = diario.good("-C", space, "repair", "--json").json
    require(again["ok"] and not again["findings"], f"nothing is left to repair: {told}")
    if report["lost"]:
        compare(diario, space)
    return len(before) - len(set(before) & set(after))


def check_last_copy(diario, template, space, path):
    """A segment is damaged and the log is gone: its events are lost, and the others are not."""
    shutil.rmtree(space)
    shutil.copytree(template, space)
    before = events(diario, template)
    data = space / ".diario"
    zero(data / path)
    for file in (data / "wal").glob("*.dwal"):
        file.unlink()
    report = diario.good("-C", space, "repair", "--yes", "--json").json
    lost = lost_positions(report)
    first = int(path.rsplit("/")[-1].split("-")[0], 16)
    require(first in lost and report["alsoLost"], f"{path}: {report}")
    after = events(diario, space)
    sealed = {position for position in before if position <= EVENTS}
    require(all(after.get(position) == before[position] for position in sealed - lost),
            f"{path}: an event that was in another segment is gone")
    require(not lost & set(after), f"{path}: a lost position is there")
    shown = diario.run("-C", space, "verify")
    require(shown.code == 0 and "lost: positions" in shown.text, "verify names them", shown)
    record(diario, space, 100_000, 30)
    diario.good("-C", space, "seal")
    diario.verify(space)
    compare(diario, space)
    return len(lost)


def compare(diario, space):
    """A second implementation finds nothing wrong, and the same root."""
    data = DataDirectory(str(space))
    require(not data.problems, f"the second reader says: {data.problems[:3]}")
    root = diario.verify(space)["root"]
    require(list(data.roots.values()) == [root], f"the root is {root}, not {data.roots}")


def check(program, folder):
    diario = Diario(program, folder)
    template = folder / "template"
    diario.good("init", str(template))
    record(diario, template, 0, EVENTS)
    diario.good("-C", template, "seal")
    record(diario, template, EVENTS, TAIL)
    clean = diario.good("-C", template, "repair")
    require("nothing is wrong" in clean.text, "a whole space needs no repair", clean)
    wrong = diario.run("-C", template, "repair", "--yes", "--dry-run")
    require(wrong.code == 2, "two words that contradict each other", wrong)
    space = folder / "space"
    paths = [str(path.relative_to(template / ".diario"))
             for path in sorted((template / ".diario").rglob("*")) if path.is_file()]
    runs = lost = 0
    for path in paths:
        if "packs/" in path and not path.endswith("pack.json"):
            continue
        for damage in DAMAGES:
            if path.rsplit("/")[-1] in SPARE and damage is not zero:
                continue
            runs += 1
            lost += check_one(diario, template, space, path, damage)
    for path in paths:
        if path.endswith(".dseg"):
            runs += 1
            lost += check_last_copy(diario, template, space, path)
    return f"{runs} damages repaired, {lost} events lost by them, and said so"


if __name__ == "__main__":
    main("repair.py", __doc__, check)
