#!/usr/bin/env python3
"""Moves rows of a space's log to a row file, as `schema/format/log.md` says, and compares readers.

    rowfiles.py DIARIO

The program moves rows only when its log holds 256 MiB. So this condenses blocks of a small log by
itself, writes a row file and a frame with the moved records, and has the program read, verify,
inspect, repair and seal that. The program and the second reader must agree on all events and on the
root, damage in the row file must be found, and sealing must make the file go.
"""

import json
import pathlib
import random
import shutil
import subprocess
import sys

from diario_format.block import Block, parse_block, parse_head
from diario_format.check_log import DataDirectory
from diario_format.checksum import crc32c
from diario_format.primitives import Reader
from diario_format.schemas import read_packs
from diario_format.wal import Log
from diario_program import Diario, Failed, main, require, weight

ROOT = pathlib.Path(__file__).resolve().parents[2]
READER = pathlib.Path(__file__).resolve().parent / "rows.py"
SEED = 20_261_122
NUMBER = 0x0BAD_CAFE
DAMAGES = 12
BLOCK_HEADER_SIZE = 24


def word(value, size=8):
    return value.to_bytes(size, "little")


def record(diario, space, first, count):
    lines = "".join(weight(number) + "\n" for number in range(first, first + count))
    diario.good("-C", space, "record", "-", "--quiet", stdin=lines)


def condensed(data):
    """A plain block with its events as one zstd frame."""
    count = int.from_bytes(data[8:12], "little")
    head, block = Reader(data[BLOCK_HEADER_SIZE:]), Block()
    block.compression, block.flags = data[5], int.from_bytes(data[6:8], "little")
    parse_head(block, count, head)
    start = BLOCK_HEADER_SIZE + head.at
    size = len(data) - start
    frame = subprocess.run(["zstd", "-1", "-qc", "--no-check", f"--stream-size={size}"],
                           input=data[start:], capture_output=True, check=True).stdout
    stored = data[BLOCK_HEADER_SIZE:start] + frame
    header = data[:5] + b"\2" + data[6:16] + word(len(stored), 4)
    return header + word(crc32c(header, stored), 4) + stored


def moved_blocks(data, packs):
    """Blocks of the log's files that may be moved: (space, first position, count, condensed)."""
    known = DataDirectory(str(data.parent), packs)
    require(not known.problems, f"a good directory: {known.problems}")
    blocks = []
    for entry in Log(str(data / "wal"), []).records():
        if entry.kind != 1:
            continue
        block, ledger = parse_block(entry.content), known.ledgers[entry.space]
        last = block.first_position + len(block.events) - 1 if block.is_positioned else 0
        size = max(state.size for state in ledger.states)
        # A state tells who wrote them.
        if block.flags == 1 and ledger.released < block.first_position and last <= size:
            blocks.append((entry.space, block.first_position, len(block.events),
                           condensed(entry.content)))
    return blocks


def move(data, blocks):
    """Writes the row file, and behind the last frame what is in it."""
    body, places = b"", []
    for space, first, count, block in blocks:
        body += word(1, 4) + word(len(block), 4) + word(space)
        places.append((space, 32 + len(body), len(block), first, count))
        body += block
    header = b"DROW" + word(1, 4) + word(NUMBER) + word(32 + len(body)) + word(0, 4)
    (data / "rows").mkdir(exist_ok=True)
    path = data / "rows" / f"{NUMBER:016x}.drow"
    path.write_bytes(header + word(crc32c(header), 4) + body)
    (data / "format").write_text("diario format 7 readable by 7\n")
    frame = b""
    for space, offset, size, first, count in places:
        frame += word(9, 4) + word(32, 4) + word(space)
        frame += word(NUMBER) + word(offset, 4) + word(size, 4)
        frame += word(first) + word(count, 4) + word(0, 4)
    newest = Log(str(data / "wal"), []).files[-1]
    end = newest.frames[-1].end
    rest = word(newest.header.generation) + word(newest.next_frame) + word(end)
    rest += word(len(frame), 4) + word(len(places), 4) + frame
    rest += bytes(-(len(rest) + 8) % 8)
    with open(data / "wal" / newest.name, "r+b") as file:
        file.seek(end)
        file.write(b"DFRM" + word(crc32c(rest), 4) + rest)
    return path


def compare(diario, space):
    """The export, on which both readers agree."""
    verified = diario.good("-C", space, "verify", "--json").json
    require(verified["ok"], f"a space with a row file verifies: {verified}")
    export = diario.good("-C", space, "export", "--all").out
    command = [sys.executable, str(READER), "log", space, "--schema", str(ROOT / "schema")]
    summary = subprocess.run(command, capture_output=True, text=True)
    require(summary.returncode == 0, f"the second reader: {summary.stderr}{summary.stdout}")
    roots = [entry["root"] for entry in json.loads(summary.stdout)["spaces"]]
    require(roots == [verified["root"]], f"roots {roots} and {verified['root']}")
    theirs = subprocess.run(command + ["--export"], capture_output=True)
    require(theirs.stdout == export, "both readers export the same events")
    return export


def damage(diario, space, path, chance):
    good = path.read_bytes()
    before = diario.good("-C", space, "export", "--all").out
    for _ in range(DAMAGES):
        place = chance.randrange(len(good))
        bad = bytearray(good)
        bad[place] ^= 1 << chance.randrange(8)
        path.write_bytes(bad)
        result = diario.run("-C", space, "verify", "--json")
        if result.code == 0:
            require(diario.good("-C", space, "export", "--all").out == before,
                    f"byte {place} is not needed")
        else:
            require(path.name in result.text + result.message, f"byte {place} is named", result)
    path.unlink()
    result = diario.run("-C", space, "verify", "--json")
    require(result.code == 1 and path.name in result.text, "a missing file is named", result)
    path.write_bytes(good)
    require(compare(diario, space) == before, "mended, the space is what it was")


def repair(diario, space, copy, path, before):
    """Without the file, rows come from old blocks of the log."""
    shutil.copytree(space, copy)
    (pathlib.Path(copy) / ".diario" / "rows" / path.name).unlink()
    report = diario.good("-C", copy, "repair", "--yes", "--json").json
    require(report["lostEvents"] == 0, f"the log's old blocks have them: {report}")
    require(compare(diario, copy) == before, "nothing was lost")


def check(program, folder):
    chance = random.Random(SEED)
    diario = Diario(program, folder)
    space = str(folder / "space")
    data = folder / "space" / ".diario"
    diario.good("init", space, "--pack", "meals")
    packs = read_packs(ROOT / "schema")
    try:
        record(diario, space, 0, 6_000)
        before = compare(diario, space)
        blocks = moved_blocks(data, packs)
        require(len(blocks) > 0, "there are blocks to move")
        path = move(data, blocks)
        require(compare(diario, space) == before, "moving changes nothing that is exported")
        diario.good("inspect", str(path), "--rows")
        damage(diario, space, path, chance)
        repair(diario, space, str(folder / "copy"), path, before)
        record(diario, space, 6_000, 500)
        before = compare(diario, space)
        diario.good("-C", space, "seal")
        require(compare(diario, space) == before, "sealing changes nothing that is exported")
        require(not path.exists(), "what is sealed is needed no more")
    except Failed as failure:
        raise Failed(f"seed {SEED}: {failure}") from failure
    count = sum(count for _, _, count, _ in blocks)
    return f"{count} events in a row file: two readers agree, {DAMAGES} bytes damaged"


if __name__ == "__main__":
    main("rowfiles.py", __doc__, check)
