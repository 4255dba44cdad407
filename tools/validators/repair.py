#!/usr/bin/env python3
"""Damages every kind of file of a space, repairs it with the real program, and looks for events.

    repair.py DIARIO

Each file of a sealed space with a tail is flipped, cut, zeroed and deleted in turn. `diario repair`
alone must change nothing and say what would be lost; with `--yes` it must keep every event that is
not said to be lost, with its origin, position and times, and what was damaged must be kept aside.
Afterwards `verify` is content, events can be recorded and sealed, and there is nothing to repair.
The same for a space whose events are pending, in private segments and in the log.
"""

import hashlib
import json
import pathlib
import shutil

from diario_format.check_log import DataDirectory
from diario_format.primitives import id_text
from diario_format.schemas import read_packs
from diario_program import Diario, main, require, weight
from lanes import ROOT, Lane

# What no directory holds a copy of.
ENGINE = [pack for pack in read_packs(ROOT / "schema") if pack.name == "engine"]
EVENTS = 4_600
TAIL = 40
# Of a lane: sealed with positions, and with positions in a private segment.
SEALED = 200
PROMOTED = 100
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
    """All events by origin, as the export has them, with their positions."""
    lines = diario.good("-C", space, "export", "--all").out.splitlines()
    found = {json.loads(line)["origin"]: (json.loads(line).get("position"), line)
             for line in lines}
    require(len(found) == len(lines), "an event is shown twice")
    return found


def lost_of(report):
    """The positions that were lost, and the origins of pending events."""
    positions, origins = set(), set()
    for loss in report["lost"]:
        numbers = range(loss["first"], loss["last"] + 1)
        if "replica" in loss:
            origins |= {f"{loss['replica']}-{number}" for number in numbers}
        else:
            positions |= set(numbers)
    return positions, origins


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
    positions, origins = lost_of(report)
    recorded = lost_of(verified)
    require(positions <= recorded[0] and origins <= recorded[1],
            f"verify lists what was lost: {told}", done)
    after = events(diario, space)
    has_end = any(text.startswith("the end of") for text in report["alsoLost"])
    for origin, (position, line) in before.items():
        if position in positions or origin in origins or has_end and origin not in after:
            continue
        # Where the end of the log is gone, what had a position there may be pending again.
        same = after.get(origin, (None, None))
        require(same[1] == line or has_end and same == (None, same[1]) and same[1],
                f"{origin} is gone: {told}", done)
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


def scramble(path, place):
    """Changes some bytes, so that no checksum tells what they were."""
    content = bytearray(path.read_bytes())
    start = len(content) * place // 16
    for index in range(start, min(len(content), start + 24)):
        content[index] ^= 0x5a + index % 7
    path.write_bytes(content)


def check_parts(diario, template, space, path):
    """Parts of the only copy of a segment are damaged: what is in other blocks is kept, and what
    is left can be exported, and taken up by another space."""
    before = events(diario, template)
    data = space / ".diario"
    runs, lost_counts = 0, []
    for place in range(2, 17):
        shutil.rmtree(space)
        shutil.copytree(template, space)
        if place < 16:
            scramble(data / path, place)
        else:
            (data / path).with_suffix(".dper").unlink()
        for file in (data / "wal").glob("*.dwal"):
            file.unlink()
        report = diario.good("-C", space, "repair", "--yes", "--json").json
        lost, _ = lost_of(report)
        lost_counts.append(len(lost))
        runs += 1
        after = events(diario, space)
        require(all(after.get(origin) == (position, line)
                    for origin, (position, line) in before.items()
                    if position <= EVENTS and position not in lost),
                f"{path} {place}: an event that was in another block is gone")
        require(not lost & {position for position, _ in after.values()},
                f"{path} {place}: a lost position is there")
        diario.verify(space)
        compare(diario, space)
    require(min(lost_counts) < max(lost_counts), f"{path}: all or nothing: {lost_counts}")
    check_import(diario, space, space.parent / "import")
    return runs, sum(lost_counts)


def check_import(diario, space, target):
    """What is left of a space is taken up by another one, if that is meant."""
    exported = target.with_suffix(".jsonl")
    said = diario.good("-C", space, "export", "--all", "--output", exported)
    require(b"--gaps" in said.err, "the export says what is missing", said)
    diario.good("init", target, "--pack", "meals")
    refused = diario.run("-C", target, "import", exported)
    require(refused.code == 1 and b"import --gaps" in refused.err, "a gap is refused", refused)
    taken = diario.good("-C", target, "import", "--gaps", "--json", exported).json
    lines = exported.read_text().splitlines()
    require(taken["imported"] == len(lines) and taken["missing"] > 0, f"{taken}")
    require(list(events(diario, target))[:len(lines)] == [json.loads(line)["origin"]
                                                         for line in lines], "the same events")
    diario.verify(target)
    compare(diario, target)


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
    lost, _ = lost_of(report)
    first = int(path.rsplit("/")[-1].split("-")[0], 16)
    require(first in lost and report["alsoLost"], f"{path}: {report}")
    after = events(diario, space)
    require(all(after.get(origin) == (position, line)
                for origin, (position, line) in before.items()
                if position <= EVENTS and position not in lost),
            f"{path}: an event that was in another segment is gone")
    require(not lost & {position for position, _ in after.values()},
            f"{path}: a lost position is there")
    shown = diario.run("-C", space, "verify")
    require(shown.code == 0 and "lost: positions" in shown.text, "verify names them", shown)
    record(diario, space, 100_000, 30)
    diario.good("-C", space, "seal")
    diario.verify(space)
    compare(diario, space)
    return len(lost)


def compare(diario, space):
    """A second implementation finds nothing wrong, and the same root."""
    data = DataDirectory(str(space), ENGINE)
    require(not data.problems, f"the second reader says: {data.problems[:3]}")
    verified = diario.verify(space)
    root = verified["root"]
    require(list(data.roots.values()) == [root], f"the root is {root}, not {data.roots}")
    ours = [(entry["replica"], entry["first"], entry["last"])
            for entry in verified["lost"] if "replica" in entry]
    theirs = [(id_text(replica), first, last) for ledger in data.ledgers.values()
              for replica, first, last in ledger.lost_pending()]
    require(sorted(ours) == sorted(theirs), f"lost and pending: {ours}, not {theirs}")


def check(program, folder):
    diario = Diario(program, folder)
    template = folder / "template"
    diario.good("init", str(template), "--pack", "meals")
    record(diario, template, 0, EVENTS)
    diario.good("-C", template, "seal")
    record(diario, template, EVENTS, TAIL)
    clean = diario.good("-C", template, "repair")
    require("nothing is wrong" in clean.text, "a whole space needs no repair", clean)
    wrong = diario.run("-C", template, "repair", "--yes", "--dry-run")
    require(wrong.code == 2, "two words that contradict each other", wrong)
    space = folder / "space"
    paths = files(template)
    runs = lost = 0
    for path in paths:
        if "packs/" in path and not path.endswith(("pack.json", "weight.recorded.1.json")):
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
    path = next(path for path in paths if path.endswith(".dseg"))
    part_runs, part_lost = check_parts(diario, template, space, path)
    runs, lost = runs + part_runs, lost + part_lost
    lane_runs, lane_lost = check_lane(diario, folder / "lane", space)
    return (f"{runs + lane_runs} damages repaired, {lost + lane_lost} events lost by them, "
            "and said so")


def files(template):
    data = template / ".diario"
    return [str(path.relative_to(data)) for path in sorted(data.rglob("*")) if path.is_file()]


def check_lane(diario, template, space):
    """The same for a space whose events are pending."""
    diario.good("init", str(template), "--pack", "meals")
    lane = Lane(diario, str(template))
    lane.record(0, EVENTS)
    diario.good("-C", template, "seal")
    lane.promote(SEALED, 4_000_000_000_000)
    diario.good("-C", template, "seal")
    lane.promote(PROMOTED, 4_000_000_001_000)
    lane.record(EVENTS, TAIL)
    names = [listed.name for listed in lane.manifest.private]
    require(len(names) == 2, f"{len(names)} private segments")
    runs = lost = 0
    for path in files(template):
        if not ("/segments/" in path or path.endswith(("/manifest", ".dwal"))):
            continue
        for damage in DAMAGES:
            runs += 1
            lost += check_one(diario, template, space, path, damage)
            compare(diario, space)
    for name in names:
        runs += 1
        lost += check_last_copy_of_lane(diario, template, space, lane, name)
    return runs, lost


def check_last_copy_of_lane(diario, template, space, lane, name):
    """A private segment is damaged, and the log and the manifest are gone."""
    shutil.rmtree(space)
    shutil.copytree(template, space)
    before = events(diario, template)
    data = space / ".diario"
    folder = data / "spaces" / lane.folder.name
    zero(folder / "segments" / f"{name}.dseg")
    (folder / "manifest").unlink()
    for file in (data / "wal").glob("*.dwal"):
        file.unlink()
    looked = diario.run("-C", space, "repair", "--json")
    report = diario.good("-C", space, "repair", "--yes", "--json").json
    require(looked.json["lost"] == report["lost"], f"{name}: said one, did another: {report}")
    _, origins = lost_of(report)
    after = events(diario, space)
    listed = next(entry for entry in lane.manifest.private if entry.name == name)
    for origin, (position, line) in before.items():
        replica, _, number = origin.rpartition("-")
        if replica != id_text(lane.replica) or int(number) > EVENTS:
            continue
        if int(number) <= SEALED:
            require(after.get(origin) == (position, line), f"{name}: {origin} had a position")
        elif listed.first <= int(number) < listed.end:
            # Nothing tells of events at the end.
            require(origin not in after, f"{name}: {origin} is there")
            require(origin in origins or listed.end > EVENTS, f"{name}: {origin} is not told")
        else:
            require(origin in after, f"{name}: {origin} is gone")
    shown = diario.run("-C", space, "verify")
    require(shown.code == 0, "verify is content", shown)
    require(not origins or "pending lost: replica" in shown.text, "verify names them", shown)
    record(diario, space, 100_000, 30)
    diario.good("-C", space, "seal")
    compare(diario, space)
    return len(set(before) - set(after))


if __name__ == "__main__":
    main("repair.py", __doc__, check)
