"""The subcommand `vectors`: every value of the golden vectors, computed again.

What a file holds follows from its name, `<subject>-<number>.json`; its member `comment` says
what its other members mean.
"""

import os

from .blobs import compare_blobs
from .block import HEADER_SIZE, encode_block, parse_block
from .canonical import canonical_json, parse_json
from .checksum import crc32c
from .hashes import (
    GROUP_SIZE, SALT_DEPTH, commitment_of, compact_range, leaf_of, pack_fingerprint, salt_child,
    salt_group, salt_index, salt_of, schema_fingerprint, sha256, without_descriptions,
)
from .layout_vectors import compare_layout
from .message_vectors import compare_messages
from .payload import with_new_id
from .proof_vectors import compare_proofs
from .primitives import FormatError, id_text, parse_id
from .refused_vectors import compare_refused
from .row import Event, canonical_row, check_subject, decode_row, encode_public_part
from .schemas import Catalogue, EventType
from .segment_vectors import compare_segments

ROW_RESULTS = (
    "publicPart", "personalPart", "salt", "commitment", "row", "eventHash", "leaf",
)


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
        """A value that cannot be computed is a difference too."""
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


def compare_rows(compare, vectors):
    catalogue = Catalogue()
    catalogue.add([EventType(parse_json(text)) for text in vectors["schemas"]])
    for number, case in enumerate(vectors["cases"]):
        where = f"case {number} ({case['shows']})"
        compare.guarded(where, compare_row, compare, where, case, catalogue)


def compare_row(compare, where, case, catalogue):
    line = parse_json(case["line"])
    version = line.get("version", catalogue.newest(line["type"]))
    event_type = catalogue.find(line["type"], version)
    event = event_of_case(case, line, event_type)
    found = {"publicPart": encode_public_part(event)}
    if event.has_personal:
        found["personalPart"] = event.personal
        found["salt"] = salt_of(bytes.fromhex(case["seed"]), event.sequence)
        event.commitment = commitment_of(found["salt"], event.personal)
        found["commitment"] = event.commitment
    found["row"] = canonical_row(event)
    found["eventHash"] = sha256(found["row"])
    found["leaf"] = leaf_of(found["eventHash"], int(case["acceptedAt"]))
    for name in ROW_RESULTS:
        here = found[name].hex() if name in found else None
        compare.equal(f"{where} {name}", here, case.get(name))
    compare_decoded(compare, where, case, event_type)


def event_of_case(case, line, event_type):
    event = Event(line["type"], event_type.version, parse_id(case["replica"]),
                  int(case["sequence"]))
    event.batch_index = event.sequence - int(case["batchFirst"])
    event.batch_count = case["batchCount"]
    event.clock = int(case["clock"])
    event.at = int(case["at"])
    event.base = int(case["base"])
    event.actor = line.get("actor")
    event.subject = line.get("subject")
    event.if_unchanged = line.get("ifUnchanged", False)
    event.set_payload(event_type, with_new_id(event_type, line["payload"], event.origin))
    check_subject(event, event_type)
    return event


def compare_decoded(compare, where, case, event_type):
    """The other way: the row of the vector is read, its payload decoded and encoded again."""
    event = decode_row(bytes.fromhex(case["row"]))
    if event.has_personal:
        event.personal = bytes.fromhex(case["personalPart"])
    event.set_payload(event_type, event.payload(event_type))
    compare.equal(f"{where} row read and written", canonical_row(event).hex(), case["row"])


def compare_blocks(compare, vectors):
    for number, case in enumerate(vectors.get("blocks", [])):
        where = f"block {number} ({case['shows']})"
        compare.guarded(where, compare_block, compare, where, case)
    for number, case in enumerate(vectors.get("compressed", [])):
        where = f"compressed {number} ({case['shows']})"
        compare.guarded(where, compare_compressed, compare, where, case)
    for number, case in enumerate(vectors["corrupt"]):
        where = f"corrupt {number} ({case['shows']})"
        data = bytes.fromhex(case["block"])
        compare.refused(where, lambda data=data: parse_block(data))


def compare_block(compare, where, case):
    data = bytes.fromhex(case["block"])
    block = parse_block(data)
    compare.equal(f"{where} written again", encode_block(block).hex(), case["block"])
    for name, here in described(block).items():
        compare.equal(f"{where} {name}", here, case.get(name))
    compare.equal(f"{where} number of rows", len(block.events), len(case["rows"]))
    for index, row in enumerate(case["rows"]):
        here = described_row(block, index)
        compare.equal(f"{where} row {index}", here, row)


def described(block):
    """A block in the words of the vectors."""
    replicas = [id_text(replica) for replica in block.replicas]
    return {
        "highestClock": str(block.highest_clock),
        "isAuthority": block.is_authority,
        "replicas": replicas,
        "firstPosition": str(block.first_position) if block.is_positioned else None,
        "times": [{"count": count, "acceptedAt": str(time)} for count, time in block.times],
        "runs": [{"replica": replicas[replica], "firstSequence": str(first), "count": count}
                 for replica, first, count in block.runs],
        "types": [{"name": name, "version": version, "fingerprint": fingerprint.hex()}
                  for name, version, fingerprint in block.types],
        "saltNodes": [{"replica": replicas[replica], "group": str(group), "level": level,
                       "index": index, "value": node.hex()}
                      for replica, group, level, index, node in block.nodes],
    }


def described_row(block, index):
    event = block.events[index]
    row = {
        "replica": id_text(event.replica),
        "sequence": str(event.sequence),
        "type": block.type_indexes[index],
        "publicPart": encode_public_part(event).hex(),
    }
    if event.personal is not None:
        row["personalPart"] = event.personal.hex()
    if event.commitment is not None:
        row["commitment"] = event.commitment.hex()
    if block.is_positioned:
        row["position"] = str(block.first_position + index)
        row["acceptedAt"] = str(block.accepted_times()[index])
    return row


def compare_compressed(compare, where, case):
    data = bytes.fromhex(case["block"])
    block = parse_block(data)
    compare.equal(f"{where} decompressed", encode_block(block).hex(), case["decompressed"])
    again = encode_block(block, stored=data[HEADER_SIZE:])
    compare.equal(f"{where} with its own body", again.hex(), case["block"])


def compare_fingerprints(compare, vectors):
    for case in vectors["schemas"]:
        schema = parse_json(case["schema"])
        canonical = canonical_json(without_descriptions(schema))
        compare.equal(f"canonical form of {case['shows']}", canonical, case["canonical"])
        fingerprint = schema_fingerprint(schema).hex()
        compare.equal(f"fingerprint of {case['shows']}", fingerprint, case["fingerprint"])
    for case in vectors["packs"]:
        files = {file["path"]: bytes.fromhex(file["content"]) for file in case["files"]}
        fingerprint = pack_fingerprint(files).hex()
        compare.equal(f"pack: {case['shows']}", fingerprint, case["fingerprint"])


COMPARISONS = {
    "blobs": compare_blobs,
    "blocks": compare_blocks,
    "fingerprints": compare_fingerprints,
    "refused": compare_refused,
    "rows": compare_rows,
    "crc32c": compare_crc32c,
    "layout": compare_layout,
    "merkle": compare_merkle,
    "messages": compare_messages,
    "proofs": compare_proofs,
    "salts": compare_salts,
    "segments": compare_segments,
}
# `reader.py` reads the directories that the one describes, and `text_key.py` the other.
COMPARED_ELSEWHERE = {"directory", "text-key"}


def run(folder):
    """The number of values compared, and a text for each that differs."""
    count, differences = 0, []
    names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    for name in names:
        subject = name.rpartition("-")[0]
        if subject in COMPARED_ELSEWHERE:
            continue
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
