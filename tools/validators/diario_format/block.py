"""blocks.md: blocks, their parts, and the order in which a reader checks them."""

from . import zstd
from .checksum import crc32c
from .hashes import HASH_SIZE, SALT_DEPTH, SALT_SIZE, salt_below, salt_group, salt_index
from .payload import PERSONAL_SIZE_MIN
from .primitives import (
    BATCH_SIZE_MAX, BLOCK_BODY_SIZE_MAX, BLOCK_COUNT_MAX, POSITION_MAX, SEQUENCE_MAX, FormatError,
    Reader, Writer, moment, wrapped,
)
from .row import Event, check_size, check_type, decode_public_part, encode_public_part

MAGIC = b"dblk"
VERSION = 1
HEADER_SIZE = 24
COMPRESSION_NONE = 0
COMPRESSION_ZSTD = 1
FLAG_POSITIONED = 1
FLAG_SALTED = 2
FLAG_AUTHORITY = 4
FLAGS_ALL = 7


class Block:
    """The tables of a block, and its events in order."""

    def __init__(self):
        self.compression = COMPRESSION_NONE
        self.flags = 0
        self.highest_clock = 0
        self.first_position = None
        self.times = []     # (count, acceptedAt)
        self.replicas = []
        self.runs = []      # (index of the replica, first sequence, count)
        self.types = []     # (name, version, fingerprint)
        self.nodes = []     # (index of the replica, group, level, index, node)
        self.events = []
        self.type_indexes = []

    @property
    def is_positioned(self):
        return bool(self.flags & FLAG_POSITIONED)

    @property
    def is_salted(self):
        return bool(self.flags & FLAG_SALTED)

    @property
    def is_authority(self):
        return bool(self.flags & FLAG_AUTHORITY)

    def accepted_times(self):
        return [time for count, time in self.times for _ in range(count)]

    def salt(self, event):
        """The salt of an event from the nodes of a salted block, or None."""
        wanted = salt_index(event.sequence)
        for replica, group, level, index, node in self.nodes:
            if self.replicas[replica] != event.replica or group != salt_group(event.sequence):
                continue
            if wanted >> (SALT_DEPTH - level) == index:
                return salt_below(node, level, wanted)
        return None


# Reading

def parse_block(data, may_continue=False):
    """Reads a block that fills `data`; every fault is a FormatError.

    One of the log `may_continue` a batch whose first events are sealed.
    """
    reader = Reader(data)
    if reader.raw(4) != MAGIC or reader.u8() != VERSION:
        raise FormatError("offset 0: not a block of version 1")
    block = Block()
    block.compression = reader.u8()
    block.flags = reader.u16()
    count, body_size, stored_size = reader.u32(), reader.u32(), reader.u32()
    stated_crc = reader.u32()
    check_header(block, count, body_size, stored_size, reader.left)
    stored = reader.raw(stored_size)
    if crc32c(data[:20], stored) != stated_crc:
        raise FormatError("offset 20: the CRC32C of the block does not hold")
    if block.compression == COMPRESSION_ZSTD:
        stored = zstd.decompress(stored, body_size)
    head = Reader(stored, 0 if block.compression == COMPRESSION_ZSTD else HEADER_SIZE)
    parse_head(block, count, head)
    parse_events(block, head)
    check_block(block, may_continue)
    return block


def check_header(block, count, body_size, stored_size, left):
    if block.compression > COMPRESSION_ZSTD:
        raise FormatError(f"offset 5: unknown compression {block.compression}")
    if block.flags & ~FLAGS_ALL:
        raise FormatError(f"offset 6: unknown flags {block.flags}")
    if not 1 <= count <= BLOCK_COUNT_MAX:
        raise FormatError(f"offset 8: {count} events")
    if body_size > BLOCK_BODY_SIZE_MAX:
        raise FormatError(f"offset 12: a body of {body_size} bytes")
    if stored_size != left:
        raise FormatError(f"offset 16: {stored_size} bytes stated, {left} follow")
    if block.compression == COMPRESSION_NONE and stored_size != body_size:
        raise FormatError("offset 16: two sizes for a body that is not compressed")


def parse_head(block, count, reader):
    block.highest_clock = reader.u64()
    if block.is_positioned:
        parse_positions(block, count, reader)
    block.replicas = [reader.id() for _ in range(bounded(reader, 8))]
    parse_runs(block, count, reader)
    for _ in range(bounded(reader, 34)):
        block.types.append((reader.text(), reader.varint(), reader.raw(HASH_SIZE)))
    if block.is_salted:
        for _ in range(bounded(reader, 19)):
            block.nodes.append((reader.varint(), reader.varint(), reader.u8(),
                                reader.varint(), reader.raw(SALT_SIZE)))
    check_tables(block, reader)


def parse_events(block, reader):
    for replica, first, run_count in block.runs:
        for sequence in range(first, first + run_count):
            parse_event(block, block.replicas[replica], sequence, reader)
    reader.end()


def bounded(reader, size_min):
    """A count of things that take at least `size_min` bytes each."""
    count = reader.varint()
    if count * size_min > reader.left:
        raise reader.error(f"a count of {count}, for which there are not enough bytes")
    return count


def at_least_one(reader):
    count = reader.varint()
    if count == 0:
        raise reader.error("a time or a run of no events")
    return count


def parse_positions(block, count, reader):
    block.first_position = reader.varint()
    if block.first_position < 1 or block.first_position + count - 1 > POSITION_MAX:
        raise reader.error(f"a first position of {block.first_position}")
    time = 0
    for _ in range(bounded(reader, 2)):
        time_count = at_least_one(reader)
        time = moment(wrapped(time + reader.zigzag()), "acceptance")
        block.times.append((time_count, time))
    if sum(part for part, _ in block.times) != count:
        raise reader.error("the counts of the times do not add up to the events")


def parse_runs(block, count, reader):
    for _ in range(bounded(reader, 3)):
        block.runs.append((reader.varint(), reader.varint(), at_least_one(reader)))
    if sum(part for _, _, part in block.runs) != count:
        raise reader.error("the counts of the runs do not add up to the events")
    for replica, first, part in block.runs:
        if replica >= len(block.replicas):
            raise reader.error(f"a run of replica {replica} of {len(block.replicas)}")
        if first < 1 or first + part - 1 > SEQUENCE_MAX:
            raise reader.error(f"a run that begins at sequence {first}")


def check_tables(block, reader):
    if len(set(block.replicas)) != len(block.replicas):
        raise reader.error("a replica that comes twice")
    names = [(name, version) for name, version, _ in block.types]
    if len(set(names)) != len(names):
        raise reader.error("a type that comes twice")
    for name, version in names:
        check_type(name, version)
    for replica, group, level, index, _ in block.nodes:
        if replica >= len(block.replicas) or level > SALT_DEPTH or index >> level:
            raise reader.error("a node of salts outside its tree")
        if group > salt_group(SEQUENCE_MAX):
            raise reader.error("a node of salts of a group that no sequence has")


def parse_event(block, replica, sequence, reader):
    public_size = reader.varint()
    personal_size = reader.varint()
    type_index = reader.varint()
    if type_index >= len(block.types):
        raise reader.error(f"type {type_index} of {len(block.types)}")
    name, version, _ = block.types[type_index]
    event = Event(name, version, replica, sequence)
    decode_public_part(event, reader.raw(public_size))
    if event.has_personal != (personal_size > 0):
        raise reader.error("the flag `personal` and the personal part disagree")
    if personal_size == 1:
        event.commitment = reader.raw(HASH_SIZE)
    elif personal_size >= PERSONAL_SIZE_MIN:
        event.personal = reader.raw(personal_size)
    block.events.append(event)
    block.type_indexes.append(type_index)


# Rules of a block beyond its layout

def check_block(block, may_continue):
    if block.highest_clock != max(event.clock for event in block.events):
        raise FormatError("the highest clock is not that of the events")
    has_engine_type = any(name.startswith("engine.") for name, _, _ in block.types)
    if has_engine_type and not block.is_authority:
        raise FormatError("a type of the pack `engine` without the flag `authority`")
    if not block.is_positioned and (len(block.replicas) != 1 or len(block.runs) != 1):
        raise FormatError("pending events of more than one replica or run")
    check_batches(block.events, may_continue)
    check_sequences(block)
    times = block.accepted_times()
    if times != sorted(times):
        raise FormatError("B3: acceptedAt decreases")


def check_batches(events, may_continue):
    """B1: a batch is in one block, its events next to each other and in order.

    A block that `may_continue` may begin with the rest of a batch.
    """
    index = 0
    if may_continue and events[0].batch_index > 0:
        first = events[0]
        index = first.batch_count - first.batch_index
        for place, event in enumerate(events[:index]):
            same = (event.replica, event.sequence - place) == (first.replica, first.sequence)
            if not same or (event.batch_index, event.batch_count) != (
                    first.batch_index + place, first.batch_count):
                raise FormatError(f"B1: {event.origin} is not in the batch of {first.origin}")
        if len(events) < index:
            raise FormatError(f"B1: the batch of {first.origin} is cut")
    while index < len(events):
        first = events[index]
        batch = events[index : index + first.batch_count]
        if len(batch) < first.batch_count:
            raise FormatError(f"B1: the batch of {first.origin} is cut")
        for place, event in enumerate(batch):
            same = (event.replica, event.sequence - place) == (first.replica, first.sequence)
            if not same or event.batch_index != place or event.batch_count != len(batch):
                raise FormatError(f"B1: {event.origin} is not in the batch of {first.origin}")
        if sum(check_size(event) for event in batch) > BATCH_SIZE_MAX:
            raise FormatError(f"the batch of {first.origin} is too large")
        index += len(batch)


def check_sequences(block):
    """B2: for one replica, sequences increase with position."""
    last = {}
    for event in block.events:
        if event.sequence <= last.get(event.replica, 0):
            raise FormatError(f"B2: {event.origin} comes after {last[event.replica]}")
        last[event.replica] = event.sequence


# Writing

def encode_body(block):
    writer = Writer()
    writer.u64(block.highest_clock)
    if block.is_positioned:
        writer.varint(block.first_position)
        writer.varint(len(block.times))
        before = 0
        for count, time in block.times:
            writer.varint(count)
            writer.zigzag(wrapped(time - before))
            before = time
    writer.varint(len(block.replicas))
    for replica in block.replicas:
        writer.u64(replica)
    writer.varint(len(block.runs))
    for run in block.runs:
        for value in run:
            writer.varint(value)
    encode_types_and_nodes(block, writer)
    for event, type_index in zip(block.events, block.type_indexes):
        encode_event(event, type_index, writer)
    return writer.done()


def encode_types_and_nodes(block, writer):
    writer.varint(len(block.types))
    for name, version, fingerprint in block.types:
        writer.text(name)
        writer.varint(version)
        writer.raw(fingerprint)
    if block.is_salted:
        writer.varint(len(block.nodes))
        for replica, group, level, index, node in block.nodes:
            writer.varint(replica)
            writer.varint(group)
            writer.u8(level)
            writer.varint(index)
            writer.raw(node)


def encode_event(event, type_index, writer):
    public_part = encode_public_part(event)
    writer.varint(len(public_part))
    if not event.has_personal:
        writer.varint(0)
    else:
        writer.varint(1 if event.personal is None else len(event.personal))
    writer.varint(type_index)
    writer.raw(public_part)
    if event.has_personal:
        writer.raw(event.commitment if event.personal is None else event.personal)


def encode_block(block, stored=None):
    """The block not compressed, or with `stored` as its compressed body."""
    body = encode_body(block)
    header = Writer()
    header.raw(MAGIC)
    header.u8(VERSION)
    header.u8(COMPRESSION_NONE if stored is None else COMPRESSION_ZSTD)
    header.u16(block.flags)
    header.u32(len(block.events))
    header.u32(len(body))
    header.u32(len(body if stored is None else stored))
    start = header.done()
    stored = body if stored is None else stored
    header.u32(crc32c(start, stored))
    return header.done() + stored
