"""Golden segments: `segments-<number>.json`."""

from .primitives import id_text
from .row import encode_public_part
from .segments import Segment


def compare_segments(compare, vectors):
    for number, case in enumerate(vectors["segments"]):
        where = f"segment {number} ({case['shows']})"
        compare.guarded(where, compare_segment, compare, where, case)


def compare_segment(compare, where, case):
    segment = Segment(bytes.fromhex(case["segment"]), bytes.fromhex(case["sidecar"]))
    position = segment.first_position
    compare.equal(f"{where} position", None if position is None else str(position),
                  case.get("firstPosition"))
    types = [f"{entry.name} {entry.version}" for entry in segment.file.types]
    compare.equal(f"{where} types", types, case["types"])
    nodes = [f"{id_text(replica)} {group} {level} {index} {value.hex()}"
             for replica, group, level, index, value in segment.nodes]
    compare.equal(f"{where} salt nodes", nodes, case["saltNodes"])
    compare.equal(f"{where} number of rows", len(segment.events), len(case["rows"]))
    for index, row in enumerate(case["rows"]):
        compare.equal(f"{where} row {index}", described_row(segment, index), row)
    if len(segment.events) == 1:
        compare_damaged(compare, where, bytes.fromhex(case["segment"]),
                        bytes.fromhex(case["sidecar"]))


def compare_damaged(compare, where, data, sidecar):
    """No byte of the pair can change without notice, nor can an end be missing."""
    for offset in range(len(data)):
        compare.refused(f"{where} segment changed at {offset}",
                        lambda offset=offset: Segment(changed(data, offset), sidecar))
        compare.refused(f"{where} segment cut at {offset}",
                        lambda offset=offset: Segment(data[:offset], sidecar))
    for offset in range(len(sidecar)):
        compare.refused(f"{where} sidecar changed at {offset}",
                        lambda offset=offset: Segment(data, changed(sidecar, offset)))
        compare.refused(f"{where} sidecar cut at {offset}",
                        lambda offset=offset: Segment(data, sidecar[:offset]))


def changed(data, offset):
    return data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :]


def described_row(segment, index):
    """A row in the words of the vectors."""
    event, accepted_at = segment.events[index], segment.accepted_times[index]
    row = {
        "type": segment.type_indexes[index],
        "replica": id_text(event.replica),
        "sequence": str(event.sequence),
        "isAuthority": segment.is_authority(index),
        "publicPart": encode_public_part(event).hex(),
    }
    if accepted_at is not None:
        row["acceptedAt"] = str(accepted_at)
    if index in segment.erased:
        row["commitment"] = event.commitment.hex()
    elif event.has_personal:
        row["personalPart"] = event.personal.hex()
    return row
