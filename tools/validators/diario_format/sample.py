"""A small data directory, written by the rules of sections 6 to 8, for the self-test."""

import json
import os

from .block import encode_block, make_block
from .checksum import crc32c
from .hashes import CompactRange, commitment_of, leaf_of, pack_fingerprint, salt_of
from .primitives import Writer, id_text
from .row import Event, event_hash
from .schemas import Catalogue, EventType

SPACE = 0x1122334455667788
REPLICA = 0x8877665544332211
SEED = bytes(range(16))
GENERATION = 77
TIME = 1_767_225_600_000
SCHEMA = {
    "title": "test.thing.noted", "x-diario-version": 1, "type": "object", "required": ["day"],
    "additionalProperties": False, "x-diario-subject": "thingId",
    "properties": {
        "thingId": {"type": "string", "maxLength": 64, "x-diario-id": "new"},
        "day": {"type": "string", "format": "date"},
        "note": {"type": "string", "maxLength": 50, "x-diario-personal": True},
    },
}
EVENT_TYPE = EventType(SCHEMA)
CATALOGUE = Catalogue()
CATALOGUE.add([EVENT_TYPE])
PACK = {
    "pack.json": b'{"name":"test","version":1}',
    "events/thing.noted.1.json": json.dumps(SCHEMA).encode("utf-8"),
}


def make_event(sequence):
    event = Event(EVENT_TYPE.name, EVENT_TYPE.version, REPLICA, sequence)
    event.clock = (TIME + sequence) << 16
    event.at = TIME
    payload = {"thingId": event.origin, "day": "2026-01-01"}
    if sequence % 2 == 0:
        payload["note"] = f"note {sequence}"
    event.set_payload(EVENT_TYPE, payload)
    return event


def completed(event):
    if event.personal is not None:
        event.commitment = commitment_of(salt_of(SEED, event.sequence), event.personal)
    return event


def with_crc(data):
    return data + crc32c(data).to_bytes(4, "little")


def record(kind, content):
    writer = Writer()
    writer.u32(kind)
    writer.u32(len(content))
    writer.u64(SPACE)
    return writer.done() + content


def frame(number, offset, records, generation=GENERATION):
    body = b"".join(records)
    writer = Writer()
    for value in (generation, number, offset):
        writer.u64(value)
    writer.u32(len(body))
    writer.u32(len(records))
    writer.raw(body + bytes(-len(body) % 8))
    return b"DFRM" + crc32c(writer.done()).to_bytes(4, "little") + writer.done()


def file_header(number=1, generation=GENERATION, before=(0, 0), first_frame=1):
    """`before` is the generation and the synced length of the file before."""
    writer = Writer()
    writer.raw(b"DWAL\x01\0\0\0")
    for value in (number, generation, *before, first_frame, TIME):
        writer.u64(value)
    writer.u32(0)
    return with_crc(writer.done()).ljust(4096, b"\0")


def state(events):
    """A state that covers `events`, which all have positions."""
    leaves = CompactRange()
    for event in events:
        leaves.append(leaf_of(event_hash(completed(event)), TIME))
    writer = Writer()
    for value in (0, len(events), TIME, max(event.clock for event in events)):
        writer.u64(value)
    for value in (1, 0, len(leaves.nodes), 0):
        writer.u32(value)
    for value in (REPLICA, len(events), 0):
        writer.u64(value)
    writer.raw(b"".join(leaves.nodes))
    return writer.done()


def log_frames():
    """Bodies: a seed and three positioned events; three pending ones; two promoted; a state."""
    events = [make_event(sequence) for sequence in range(1, 7)]
    seed, promotion = Writer(), Writer()
    seed.u64(REPLICA)
    seed.u64(0)
    seed.raw(SEED)
    promotion.u32(1)
    for value in (REPLICA, 4, 2, 4, TIME):
        promotion.u64(value)
    first = make_block(events[:3], CATALOGUE, position=1, accepted_times=[TIME] * 3)
    return [
        [record(2, seed.done()), record(1, encode_block(first))],
        [record(1, encode_block(make_block(events[3:], CATALOGUE)))],
        [record(3, promotion.done())],
        [record(4, state(events[:5]))],
    ]


def log_bytes():
    """The log file, and the offset of each frame."""
    data, offsets = file_header(), []
    for number, records in enumerate(log_frames(), 1):
        offsets.append(len(data))
        data += frame(number, len(data), records)
    return data, offsets


def two_log_files():
    """The same log in two files: the third frame is begun in the first and goes to the second.

    So it is after a sync that failed: the first file holds a valid frame that does not count.
    """
    first, offsets = log_bytes()
    second = file_header(2, GENERATION + 1, (GENERATION, offsets[2]), 3)
    for number, records in enumerate(log_frames()[2:], 3):
        second += frame(number, len(second), records, GENERATION + 1)
    return [first[: offsets[3]], second]


def synced_mark(generation, length):
    writer = Writer()
    writer.raw(b"DSYN")
    writer.u32(1)
    writer.u64(generation)
    writer.u64(length)
    return with_crc(writer.done()) + bytes(4)


def manifest():
    writer = Writer()
    writer.raw(b"DMAN\x01\x01\0\0")
    writer.u64(SPACE)
    writer.raw(bytes(16))
    for value in (0, REPLICA, 0):
        writer.u64(value)
    writer.u32(0)
    return with_crc(writer.done())


def publishing_file(size, root, state=1):
    writer = Writer()
    writer.raw(b"DPUB\x01" + bytes([state, 0, 0]))
    writer.raw(bytes(16))
    writer.u64(size)
    writer.raw(root)
    writer.i64(77)
    writer.u32(0)
    return with_crc(writer.done())


def replica_file():
    writer = Writer()
    writer.raw(b"DREP\x01\0\0\0")
    for value in (REPLICA, 5, 0):
        writer.u64(value)
    writer.raw(bytes(32))
    writer.u32(0)
    return with_crc(writer.done())


def write_directory(folder, logs, mark=b""):
    files = {
        "format": b"diario format 1 readable by 1\n",
        "wal/synced": mark,
        f"spaces/{id_text(SPACE)}/manifest": manifest(),
        f"spaces/{id_text(SPACE)}/replica": replica_file(),
    }
    files.update((f"wal/{number:016x}.dwal", log) for number, log in enumerate(logs, 1))
    pack = f"packs/{pack_fingerprint(PACK).hex()}/"
    files.update((pack + name, content) for name, content in PACK.items())
    for name, content in files.items():
        path = os.path.join(folder, ".diario", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
