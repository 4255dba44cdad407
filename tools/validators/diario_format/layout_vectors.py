"""Golden manifests, replica files, records, and synced marks: `layout-<number>.json`."""

from .directory import Manifest, ReplicaFile
from .lane_records import SealedRows
from .primitives import id_text
from .wal import read_mark


def compare_layout(compare, vectors):
    for case in vectors.get("manifests", []):
        data, where = bytes.fromhex(case["bytes"]), case["shows"]
        compare.equal(where, described_manifest(Manifest(data)), case["holds"])
        for offset in range(len(data)):
            compare.refused(f"{where} changed at {offset}",
                            lambda data=data, offset=offset: Manifest(changed(data, offset)))
    for case in vectors.get("replicas", []):
        data, where = bytes.fromhex(case["bytes"]), case["shows"]
        compare.equal(where, described_replica(ReplicaFile(data)), case["holds"])
        for offset in range(len(data)):
            compare.refused(f"{where} changed at {offset}",
                            lambda data=data, offset=offset: ReplicaFile(changed(data, offset)))
    for case in vectors.get("records", []):
        content = bytes.fromhex(case["content"])
        compare.equal(case["shows"], described_sealed(content), case["holds"])
        for count in range(len(content)):
            compare.refused(f"{case['shows']} cut at {count}",
                            lambda content=content, count=count: described_sealed(content[:count]))
    for case in vectors.get("marks", []):
        data = bytes.fromhex(case["bytes"])
        compare.equal(case["shows"], described_mark(data), case["holds"])
        for offset in range(len(data)):
            compare.equal(f"{case['shows']} changed at {offset}",
                          read_mark(changed(data, offset)), None)


def changed(data, offset):
    return data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :]


def described_manifest(manifest):
    lines = [f"space {id_text(manifest.space)}",
             f"lineage {manifest.lineage.hex()}", f"epoch {manifest.epoch}",
             f"authority {optional_id(manifest.authority_replica)}",
             f"staging {int(manifest.is_staging)}",
             f"replaces {optional_id(manifest.replaces)}"]
    for listed in manifest.segments + manifest.private:
        kind = f"private {id_text(listed.replica)}" if listed.replica else "segment"
        lines.append(f"{kind} {listed.first} {listed.number:016x} {listed.count} "
                     f"{listed.sidecar_crc:08x} {listed.length} {listed.sidecar_length} "
                     f"{listed.row_bytes} {listed.identity.hex()}")
    lines += [f"retired {first} {number:016x} {since}"
              for first, number, since in manifest.retired]
    return lines


def described_replica(file):
    return [id_text(file.replica), str(file.inode), str(file.created), file.machine.hex()] + [
        f"former {id_text(replica)} {end}" for replica, end in file.former]


def optional_id(value):
    return id_text(value) if value else "none"


def described_sealed(content):
    rows = SealedRows(content)
    return [id_text(rows.replica), str(rows.first), str(rows.count), str(rows.position),
            str(rows.accepted_at), str(rows.clock)]


def described_mark(data):
    mark = read_mark(data)
    return [f"{mark.generation:016x}", str(mark.length), str(mark.number)]
