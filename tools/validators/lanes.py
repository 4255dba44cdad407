#!/usr/bin/env python3
"""Makes a lane with the real program, seals it, promotes parts of it, and compares two readers.

    lanes.py DIARIO

No command makes a lane yet, nor promotes one: a new space is an authority's. So this writes the
space's manifest anew, without the authority, before anything is recorded, and later appends frames
with one promotion each, as `schema/format/log.md`, section 8, has them. All else is done by the
program: recording, sealing, verifying, exporting, inspecting. After each step the program and the
second reader must agree on all events and on the root; what is exported must not change by sealing.
"""

import json
import pathlib
import random
import subprocess
import sys

from diario_format.checksum import crc32c
from diario_format.directory import Manifest, ReplicaFile
from diario_format.primitives import id_text
from diario_format.wal import FILE_HEADER_SIZE, FRAME_HEADER_SIZE, Log
from diario_program import Diario, Failed, main, require, weight

ROOT = pathlib.Path(__file__).resolve().parents[2]
READER = pathlib.Path(__file__).resolve().parent / "rows.py"
SEED = 20_261_120
ROUNDS = 2
COUNT = 5_000


def word(value, size=8):
    return value.to_bytes(size, "little", signed=value < 0)


class Lane:
    """A space of the program without an authority."""

    def __init__(self, diario, path):
        self.diario = diario
        self.path = path
        self.data = pathlib.Path(path) / ".diario"
        self.folder = next((self.data / "spaces").iterdir())
        self.replica = ReplicaFile((self.folder / "replica").read_bytes()).replica
        self.promoted = 0
        self.end_authority()

    def end_authority(self):
        path = self.folder / "manifest"
        data = bytearray(path.read_bytes())
        data[5] = 0
        data[40:48] = bytes(8)
        data[-4:] = word(crc32c(bytes(data[:-4])), 4)
        path.write_bytes(data)

    @property
    def manifest(self):
        return Manifest((self.folder / "manifest").read_bytes())

    def record(self, first, count):
        lines = "".join(weight(number) + "\n" for number in range(first, first + count))
        self.diario.good("-C", self.path, "record", "-", "--quiet", stdin=lines)

    def head(self):
        return self.diario.good("-C", self.path, "stats", "--json").json["head"]

    def promote(self, count, accepted_at):
        """Appends a frame with one promotion behind the last one, as a writer does."""
        content = word(1, 4) + word(self.replica) + word(self.promoted + 1) + word(count)
        content += word(self.head() + 1) + word(accepted_at)
        body = word(3, 4) + word(len(content), 4) + word(self.manifest.space) + content
        log = Log(str(self.data / "wal"), [])
        newest = log.files[-1]
        end = newest.frames[-1].end if newest.frames else FILE_HEADER_SIZE
        number = newest.header.first_frame + len(newest.frames)
        rest = word(newest.header.generation) + word(number) + word(end)
        rest += word(len(body), 4) + word(1, 4) + body
        rest += bytes(-(len(rest) + 8) % 8)
        require(len(rest) + 8 >= FRAME_HEADER_SIZE, "a frame has its header")
        with open(self.data / "wal" / newest.name, "r+b") as file:
            file.seek(end)
            file.write(b"DFRM" + word(crc32c(rest), 4) + rest)
        self.promoted += count

    def compare(self):
        """The export, on which both readers agree."""
        verified = self.diario.good("-C", self.path, "verify", "--json").json
        require(verified["ok"], f"a lane verifies: {verified}")
        export = self.diario.good("-C", self.path, "export", "--all").out
        command = [sys.executable, str(READER), "log", self.path, "--schema", str(ROOT / "schema")]
        summary = subprocess.run(command, capture_output=True, text=True)
        require(summary.returncode == 0, f"the second reader: {summary.stderr}{summary.stdout}")
        roots = [entry["root"] for entry in json.loads(summary.stdout)["spaces"]]
        require(roots == [verified["root"]], f"roots {roots} and {verified['root']}")
        theirs = subprocess.run(command + ["--export"], capture_output=True)
        require(theirs.stdout == export, "both readers export the same events")
        return export

    def check_limits(self):
        """`log --limit` shows the last events, however many of them are pending."""
        everything = self.diario.good("-C", self.path, "export", "--all").events
        origins = [event["origin"] for event in everything]
        pending = sum("position" not in event for event in everything)
        require(0 < pending < len(origins), f"{pending} of {len(origins)} are pending")
        for limit in (1, pending - 1, pending, pending + 1):
            shown = self.diario.good("-C", self.path, "log", "--all", "--limit", str(limit),
                                     "--json").events
            require([event["origin"] for event in shown] == origins[-limit:],
                    f"log --limit {limit} with {pending} pending events")

    def seal(self, *options):
        before = self.compare()
        report = self.diario.good("-C", self.path, "seal", "--json", *options).json
        require(self.compare() == before, "sealing changes nothing that is exported")
        return report


def check(program, folder):
    chance = random.Random(SEED)
    diario = Diario(program, folder)
    path = str(folder / "space")
    diario.good("init", path, "--pack", "meals")
    lane = Lane(diario, path)
    accepted_at = 4_000_000_000_000
    try:
        for number in range(ROUNDS):
            lane.record(COUNT * number, COUNT)
            report = lane.seal(*(["--complete"] if number % 2 == 0 else []))
            pending = COUNT * (number + 1) - lane.promoted
            require(pending - report["sealedPending"] < (4_096 if number % 2 == 0 else 1),
                    f"{pending} events are pending: {report}")
            require(lane.manifest.private, "the manifest lists private segments")
            for _ in range(2):
                accepted_at += 1000
                lane.promote(chance.randrange(1, 1_500), accepted_at)
                lane.compare()
            lane.check_limits()
        for file in sorted((lane.folder / "segments").iterdir()) + [lane.folder / "manifest"]:
            diario.good("inspect", str(file))
        for file in sorted((lane.data / "wal").glob("*.dwal")):
            diario.good("inspect", str(file))
        lane.promote(COUNT * ROUNDS - lane.promoted, accepted_at)
        head = lane.head()
        report = lane.seal()
        require(report["sealedEnd"] == head and not lane.manifest.private,
                f"all of {id_text(lane.replica)} is canonical: {report}")
    except Failed as failure:
        raise Failed(f"seed {SEED}: {failure}") from failure
    return (f"{COUNT * ROUNDS} pending events sealed and promoted in {2 * ROUNDS + 1} parts: "
            "two readers agree after each step")


if __name__ == "__main__":
    main("lanes.py", __doc__, check)
