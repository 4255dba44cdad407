"""rows.md, section 5: salts, commitments, event hashes, leaves, the Merkle tree, fingerprints."""

import hashlib
import struct

from .canonical import canonical_json
from .primitives import Writer

GROUP_SIZE = 1024
SALT_DEPTH = 10
SALT_SIZE = 16
HASH_SIZE = 32
DESCRIPTIVE_MEMBERS = ("$schema", "title", "description", "x-diario-unit")


def sha256(data):
    return hashlib.sha256(data).digest()


# Salts and commitments

def salt_group(sequence):
    return (sequence - 1) // GROUP_SIZE


def salt_index(sequence):
    return (sequence - 1) % GROUP_SIZE


def salt_child(node, bit):
    return sha256(bytes([2, bit]) + node)[:SALT_SIZE]


def salt_below(node, level, index):
    """The salt of `index`, from the node at `level` above it."""
    for depth in range(level, SALT_DEPTH):
        node = salt_child(node, index >> (SALT_DEPTH - 1 - depth) & 1)
    return node


def salt_of(seed, sequence):
    return salt_below(seed, 0, salt_index(sequence))


def commitment_of(salt, personal_part):
    return sha256(salt + personal_part)


# Events and the tree

def leaf_of(event_hash, accepted_at):
    return sha256(b"\x00" + event_hash + struct.pack("<q", accepted_at))


def node_of(left, right):
    return sha256(b"\x01" + left + right)


class CompactRange:
    """The roots of the perfect subtrees over the first `size` leaves, the largest first."""

    def __init__(self, size=0, nodes=()):
        self.size = size
        self.nodes = list(nodes)

    def append(self, leaf):
        node, size = leaf, self.size
        while size % 2 == 1:
            node = node_of(self.nodes.pop(), node)
            size //= 2
        self.nodes.append(node)
        self.size += 1

    def root(self):
        if not self.nodes:
            return sha256(b"")
        node = self.nodes[-1]
        for left in reversed(self.nodes[:-1]):
            node = node_of(left, node)
        return node


def compact_range(leaves):
    result = CompactRange()
    for leaf in leaves:
        result.append(leaf)
    return result


# Fingerprints

def without_descriptions(schema):
    """The schema without what only describes; names of properties are not touched."""
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name not in DESCRIPTIVE_MEMBERS}
    if isinstance(kept.get("properties"), dict):
        kept["properties"] = {
            name: without_descriptions(value) for name, value in kept["properties"].items()
        }
    if "items" in kept:
        kept["items"] = without_descriptions(kept["items"])
    return kept


def schema_fingerprint(schema):
    return sha256(canonical_json(without_descriptions(schema)).encode("utf-8"))


def pack_fingerprint(files):
    """`files` maps paths inside the pack to contents."""
    writer = Writer()
    for path in sorted(files, key=lambda path: path.encode("utf-8")):
        if not path.startswith("examples/") and path != "README.md":
            writer.text(path)
            writer.bytes(files[path])
    return sha256(writer.done())
