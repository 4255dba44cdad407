"""Proofs and tiles: `schema/format/proofs.md`, from which alone this was written."""

import os
import re

from .canonical import parse_json, whole_number
from .hashes import CompactRange, leaf_of, node_of, sha256
from .primitives import FormatError, Reader, Writer, parse_id
from .row import decode_row
from .small_files import make_small_file, small_file

SIZE_MAX = 2**62 - 1
TILE_WIDTH = 256
TEXT_SIZE_MAX = 1024 * 1024
TILE_NAME = re.compile(r"tile/(0|[1-9][0-9]*)/((?:x[0-9]{3}/)*[0-9]{3})(?:\.p/([1-9][0-9]*))?")
HASH = re.compile(r"[0-9a-f]{64}")
ROW = re.compile(r"(?:[0-9a-f]{2})*")
LINEAGE = re.compile(r"[0-9a-f]{32}")


class Refused(Exception):
    """Why a proof does not hold."""


# Section 2

def half(count):
    """The greatest power of 2 below `count`."""
    return 1 << ((count - 1).bit_length() - 1)


class Tree:
    """A tree over all of its leaves; remembers the roots of its parts."""

    def __init__(self, leaves):
        self.leaves = leaves
        self.roots = {}

    def root(self, start, end):
        """T[start:end]."""
        if end - start == 0:
            return sha256(b"")
        if end - start == 1:
            return self.leaves[start]
        if (start, end) not in self.roots:
            middle = start + half(end - start)
            self.roots[start, end] = node_of(self.root(start, middle), self.root(middle, end))
        return self.roots[start, end]


# Sections 3 and 4

def inclusion_path(tree, index, size):
    start, end, path = 0, size, []
    while end - start > 1:
        middle = start + half(end - start)
        if index < middle:
            path.append(tree.root(middle, end))
            end = middle
        else:
            path.append(tree.root(start, middle))
            start = middle
    return path[::-1]


def consistency_path(tree, from_size, size):
    if from_size in (0, size):
        return []
    start, end, is_whole, path = 0, size, True, []
    while end != from_size:
        middle = start + half(end - start)
        if from_size <= middle:
            path.append(tree.root(middle, end))
            end = middle
        else:
            path.append(tree.root(start, middle))
            start, is_whole = middle, False
    if not is_whole:
        path.append(tree.root(start, end))
    return path[::-1]


def check_inclusion(index, size, leaf, root, path):
    if not index < size <= SIZE_MAX:
        raise Refused("the index is not below the size, or the size is too large")
    first, second, result = index, size - 1, leaf
    for step in path:
        if second == 0:
            raise Refused("the path is too long")
        if first % 2 == 1 or first == second:
            result = node_of(step, result)
            while first % 2 == 0 and first != 0:
                first, second = first // 2, second // 2
        else:
            result = node_of(result, step)
        first, second = first // 2, second // 2
    if second != 0:
        raise Refused("the path is too short")
    if result != root:
        raise Refused("another root")


def check_consistency(from_size, size, from_root, root, path):
    if not from_size <= size <= SIZE_MAX:
        raise Refused("the sizes do not fit, or are too large")
    if from_size in (0, size):
        if path:
            raise Refused("the path is not empty")
        if from_root != (sha256(b"") if from_size == 0 else root):
            raise Refused("another root at the smaller size")
        if size == 0 and root != sha256(b""):
            raise Refused("another root")
        return
    if not path:
        raise Refused("the path is empty")
    if from_size & (from_size - 1) == 0:
        path = [from_root] + path
    first, second = from_size - 1, size - 1
    while first % 2 == 1:
        first, second = first // 2, second // 2
    small = large = path[0]
    for step in path[1:]:
        if second == 0:
            raise Refused("the path is too long")
        if first % 2 == 1 or first == second:
            small, large = node_of(step, small), node_of(step, large)
            while first % 2 == 0 and first != 0:
                first, second = first // 2, second // 2
        else:
            large = node_of(large, step)
        first, second = first // 2, second // 2
    if second != 0:
        raise Refused("the path is too short")
    if small != from_root:
        raise Refused("another root at the smaller size")
    if large != root:
        raise Refused("another root")


# Section 5

class Proof:
    """The text of a proof, once it was read; `check` says whether it holds."""

    def __init__(self, text):
        if len(text.encode("utf-8")) > TEXT_SIZE_MAX:
            raise FormatError("the text is too long")
        self.members = parse_json(text)
        if not isinstance(self.members, dict):
            raise FormatError("not an object")
        self.kind = self.take("proof")
        if self.kind not in ("inclusion", "consistency"):
            raise FormatError(f"a proof of {self.kind!r}")
        if self.number("version", 1, 1) != 1:
            raise FormatError("another version")
        parse_id(self.string("space"))
        if not LINEAGE.fullmatch(self.string("lineage", keep=True)):
            raise FormatError("the lineage")
        self.lineage = self.string("lineage")
        self.size = self.number("size", 0, SIZE_MAX)
        self.root = self.hash(self.take("root"))
        path = self.take("path")
        if not isinstance(path, list):
            raise FormatError("the path is not an array")
        self.path = [self.hash(item) for item in path]
        self.event = None
        if self.kind == "inclusion":
            self.position = self.number("position", 1, SIZE_MAX)
            if self.size == 0:
                raise FormatError("no position is in a log of no events")
            self.leaf = self.hash(self.take("leaf"))
            if "event" in self.members:
                self.read_event(self.take("event"))
        else:
            self.from_size = self.number("fromSize", 0, SIZE_MAX)
            self.from_root = self.hash(self.take("fromRoot"))
        if self.members:
            raise FormatError(f"unknown members {sorted(self.members)}")

    def take(self, name):
        if name not in self.members:
            raise FormatError(f"no member {name}")
        return self.members.pop(name)

    def string(self, name, keep=False):
        value = self.members.get(name) if keep else self.take(name)
        if not isinstance(value, str):
            raise FormatError(f"{name} is not a string")
        return value

    def number(self, name, least, most):
        return self.whole(self.take(name), name, least, most)

    @staticmethod
    def whole(value, name, least, most):
        if isinstance(value, str):
            raise FormatError(f"{name} is not a number")
        number = whole_number(value)
        if not least <= number <= most:
            raise FormatError(f"{name} is {number}")
        return number

    @staticmethod
    def hash(value):
        if not isinstance(value, str) or not HASH.fullmatch(value):
            raise FormatError("not a hash")
        return bytes.fromhex(value)

    def read_event(self, value):
        if not isinstance(value, dict) or set(value) != {"row", "acceptedAt"}:
            raise FormatError("the members of the event")
        if not isinstance(value["row"], str) or not ROW.fullmatch(value["row"]):
            raise FormatError("the row is not hexadecimal")
        self.row = bytes.fromhex(value["row"])
        self.event = decode_row(self.row)
        self.accepted_at = self.whole(value["acceptedAt"], "acceptedAt", -2**63, 2**63 - 1)

    def check(self):
        """Raises `Refused` unless the proof holds."""
        if self.kind == "consistency":
            check_consistency(self.from_size, self.size, self.from_root, self.root, self.path)
            return
        if self.event and leaf_of(sha256(self.row), self.accepted_at) != self.leaf:
            raise Refused("the event makes another leaf")
        check_inclusion(self.position - 1, self.size, self.leaf, self.root, self.path)

    def holds(self):
        try:
            self.check()
        except Refused:
            return False
        return True


# Section 6

def tile_name(level, index, width):
    groups, rest = [f"{index % 1000:03}"], index // 1000
    while rest:
        groups.insert(0, f"x{rest % 1000:03}")
        rest //= 1000
    name = f"tile/{level}/" + "/".join(groups)
    return name if width == TILE_WIDTH else f"{name}.p/{width}"


def parse_tile_name(name):
    match = TILE_NAME.fullmatch(name)
    if not match:
        raise FormatError(f"{name} is not the name of a tile")
    level, width = int(match.group(1)), int(match.group(3) or TILE_WIDTH)
    index = int(re.sub("[x/]", "", match.group(2)))
    if match.group(3) and width >= TILE_WIDTH or tile_name(level, index, width) != name:
        raise FormatError(f"{name} is not how that tile is called")
    if (index * TILE_WIDTH + width) * TILE_WIDTH**level > SIZE_MAX:
        raise FormatError(f"{name} lies in no tree")
    return level, index, width


# Section 7

def tile_levels(leaves):
    """The bytes of the files of level 1, of level 2 and so on."""
    hashes, levels = leaves, []
    while len(hashes) >= TILE_WIDTH:
        full = range(0, len(hashes) - TILE_WIDTH + 1, TILE_WIDTH)
        hashes = [perfect_root(hashes[start:start + TILE_WIDTH]) for start in full]
        levels.append(b"".join(hashes))
    return levels


def perfect_root(hashes):
    while len(hashes) > 1:
        hashes = [node_of(*hashes[start:start + 2]) for start in range(0, len(hashes), 2)]
    return hashes[0]


def encode_mark(compact_range):
    writer = Writer()
    writer.u64(compact_range.size)
    for node in compact_range.nodes:
        writer.raw(node)
    return make_small_file(b"dtil", writer.done())


def parse_mark(data):
    _, reader = small_file(data, b"dtil")
    size = reader.u64()
    if size > SIZE_MAX:
        raise FormatError(f"a mark of {size} leaves")
    nodes = [reader.raw(32) for _ in range(size.bit_count())]
    reader.end()
    return CompactRange(size, nodes)


def read_mark(folder):
    """The compact range of the mark in a folder of tiles; the empty one if it does not verify."""
    try:
        with open(os.path.join(folder, "size"), "rb") as file:
            mark = parse_mark(file.read())
    except (FileNotFoundError, FormatError):
        return CompactRange()
    for level, count in level_counts(mark.size):
        path = os.path.join(folder, str(level))
        if not os.path.isfile(path) or os.path.getsize(path) < 32 * count:
            return CompactRange()
    return mark


def level_counts(size):
    """Each level that is kept, with the number of its hashes."""
    level, count = 1, size // TILE_WIDTH
    while count:
        yield level, count
        level, count = level + 1, count // TILE_WIDTH


def check_tiles(folder, leaves):
    """The problems of the tiles in a folder, as texts; `leaves` are those of the whole log."""
    mark = read_mark(folder)
    if mark.size > len(leaves):
        return [f"tiles of {mark.size} positions, of which the log has {len(leaves)}"]
    if None in leaves[:mark.size]:
        return []  # the rows are elsewhere
    problems = []
    for (level, count), wanted in zip(level_counts(mark.size), tile_levels(leaves[:mark.size])):
        with open(os.path.join(folder, str(level)), "rb") as file:
            if file.read(32 * count) != wanted:
                problems.append(f"tiles of level {level} are not those of the log")
    wanted = CompactRange()
    for leaf in leaves[:mark.size]:
        wanted.append(leaf)
    if mark.nodes != wanted.nodes:
        problems.append("the mark of the tiles is not that of the log")
    return problems
