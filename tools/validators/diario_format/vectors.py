"""The subcommand `vectors`: every value of the golden vectors, computed again.

What a file holds follows from its name, `<subject>-<number>.json`; its member `comment` says
what its other members mean.
"""

import os

from .canonical import parse_json
from .checksum import crc32c
from .hashes import (
    GROUP_SIZE, SALT_DEPTH, commitment_of, compact_range, salt_child, salt_group, salt_index,
)
from .primitives import FormatError


class Comparison:
    """Counts the values compared, and keeps what differs."""

    def __init__(self, file_name):
        self.file_name = file_name
        self.count = 0
        self.differences = []

    def equal(self, where, here, there):
        self.count += 1
        if here != there:
            self.differences.append(
                f"{self.file_name} {where}\n  here  {here!r}\n  there {there!r}"
            )

    def refused(self, where, action):
        self.count += 1
        try:
            action()
        except FormatError:
            return
        self.differences.append(f"{self.file_name} {where}: not refused")

    def guarded(self, where, action, *arguments):
        """What cannot be computed at all is a difference too."""
        try:
            action(*arguments)
        except FormatError as error:
            self.count += 1
            self.differences.append(f"{self.file_name} {where}: {error}")


def compare_crc32c(compare, vectors):
    for number, case in enumerate(vectors["cases"]):
        found = crc32c(bytes.fromhex(case["bytes"]))
        compare.equal(f"case {number}", f"{found:08x}", case["crc32c"])


def compare_merkle(compare, vectors):
    leaves = [bytes.fromhex(leaf) for leaf in vectors["leaves"]]
    for tree in vectors["trees"]:
        found = compact_range(leaves[: tree["size"]])
        compare.equal(f"root of {tree['size']}", found.root().hex(), tree["root"])
        nodes = [node.hex() for node in found.nodes]
        compare.equal(f"compact range of {tree['size']}", nodes, tree["compactRange"])


def compare_salts(compare, vectors):
    for number, case in enumerate(vectors["cases"]):
        sequence = int(case["sequence"])
        compare.equal(f"group {number}", str(salt_group(sequence)), case["group"])
        compare.equal(f"index {number}", salt_index(sequence), case["index"])
        node, path = bytes.fromhex(case["seed"]), []
        for bit in f"{(sequence - 1) % GROUP_SIZE:0{SALT_DEPTH}b}":
            node = salt_child(node, int(bit))
            path.append(node.hex())
        compare.equal(f"path {number}", path, case["path"])
        commitment = commitment_of(node, bytes.fromhex(case["personalPart"]))
        compare.equal(f"commitment {number}", commitment.hex(), case["commitment"])


COMPARISONS = {
    "crc32c": compare_crc32c,
    "merkle": compare_merkle,
    "salts": compare_salts,
}


def run(folder):
    """The number of values compared, and a text for each that differs."""
    count, differences = 0, []
    names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    for name in names:
        subject = name.rpartition("-")[0]
        compare = Comparison(name)
        if subject not in COMPARISONS:
            compare.differences.append(f"{name}: no such vectors are known here")
        else:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                vectors = parse_json(file.read())
            compare.guarded("", COMPARISONS[subject], compare, vectors)
        count += compare.count
        differences += compare.differences
    if not names:
        differences.append(f"{folder}: no vectors")
    return count, differences
