"""Headers, indices and blocks of a segment and its sidecar (segments.md, sections 3 and 4)."""

from . import zstd
from .checksum import crc32c
from .hashes import HASH_SIZE, sha256
from .primitives import (
    BLOCK_COUNT_MAX, CLOCK_MAX, MIB, POSITION_MAX, SEQUENCE_MAX, FormatError, Reader, moment,
    wrapped,
)
from .row import check_type

VERSION = 1
HEADER_SIZE = 64
INDEX_SIZE_MAX = 4 * MIB
BLOCK_SIZE_MAX = 32 * MIB
TYPE_COUNT_MAX = 1024
REPLICA_COUNT_MAX = 65_536
SEGMENT_BLOCK_COUNT_MAX = 65_536
POOL_COUNT_MAX = 65_536
FIELD_SLOTS_MAX = 4_194_304
FLAG_POSITIONED = 1
IDENTITY_SIZE = 16

SCHEMAS, TYPES, ORIGINS, CLOCKS, TIMES, ACCEPTED, BATCHES, BASES, FLAGS = range(1, 10)
ACTORS, SUBJECTS, POOL, FIELDS, FILTER = range(10, 15)
SALTS, ERASED, PERSONAL = range(1, 4)


def times_of(reader, what):
    """The lowest and the highest of some times."""
    lowest = moment(reader.zigzag(), what)
    return lowest, moment(wrapped(lowest + reader.varint()), what)


class BlockEntry:
    """The entry of a block in an index, with the place of the block."""

    def __init__(self, reader):
        self.kind = reader.u8()
        self.key = reader.varint()
        self.first_row = reader.varint()
        self.row_count = reader.varint()
        self.expanded_size = reader.varint()
        self.stored_size = reader.varint()
        self.crc = reader.u32()
        self.offset = None
        if max(self.expanded_size, self.stored_size) > BLOCK_SIZE_MAX:
            raise reader.error(f"{self}: {self.expanded_size} and {self.stored_size} bytes")

    @property
    def order(self):
        return self.kind, self.key, self.first_row

    def __str__(self):
        return f"block of kind {self.kind}, key {self.key}, first row {self.first_row}"


class TypeEntry:
    def __init__(self, reader):
        self.name = reader.text()
        self.version = reader.varint()
        self.fingerprint = reader.raw(HASH_SIZE)
        self.count = reader.varint()
        self.times = times_of(reader, "an event")
        check_type(self.name, self.version)
        if self.count == 0:
            raise reader.error(f"no events of {self.name}")


class ReplicaEntry:
    """A replica with its runs: (first sequence, number, whether they were refused)."""

    def __init__(self, reader):
        self.replica = reader.id()
        self.runs = []
        end = 0
        for _ in range(count_of(reader, reader.left, 2)):
            first, word = end + reader.varint(), reader.varint()
            count, is_refused = word >> 1, bool(word & 1)
            end = first + count
            if count == 0 or first == 0 or end - 1 > SEQUENCE_MAX:
                raise reader.error(f"a run of {count} sequences from {first}")
            if self.runs and self.runs[-1][2] == is_refused and sum(self.runs[-1][:2]) == first:
                raise reader.error("two runs that could be one")
            self.runs.append((first, count, is_refused))
        if not self.runs:
            raise reader.error("a replica without runs")

    def present(self):
        return [(first, count) for first, count, is_refused in self.runs if not is_refused]


def count_of(reader, maximum, size_min, minimum=0):
    """A count of things that take at least `size_min` bytes each."""
    count = reader.varint()
    if not minimum <= count <= maximum or count * size_min > reader.left:
        raise reader.error(f"a count of {count}")
    return count


class ColumnFile:
    """The common part of a segment and a sidecar; `data` is the whole file."""

    MAGIC = b""

    def __init__(self, data):
        self.data = data
        index = self.read_header()
        self.read_index(Reader(index))

    def read_header(self):
        if len(self.data) < HEADER_SIZE:
            raise FormatError(f"{len(self.data)} bytes are no header")
        reader = Reader(self.data[:HEADER_SIZE])
        if reader.raw(4) != self.MAGIC or reader.u8() != VERSION:
            raise FormatError(f"offset 0: not {self.MAGIC.decode()} of version {VERSION}")
        compression, self.flags, self.event_count = reader.u8(), reader.u16(), reader.u32()
        index_size, self.first_position, length = reader.u32(), reader.u64(), reader.u64()
        self.index_stored_size, word = reader.u32(), reader.u64()
        self.identity, crc = reader.raw(IDENTITY_SIZE), reader.u32()
        self.check_header(compression, index_size, length)
        self.take_word(word)
        stored = self.data[HEADER_SIZE : HEADER_SIZE + self.index_stored_size]
        if crc32c(self.data[:60], stored) != crc:
            raise FormatError("offset 60: the CRC32C of header and index does not hold")
        return zstd.decompress(stored, index_size) if compression else stored

    def check_header(self, compression, index_size, length):
        if compression > 1:
            raise FormatError(f"offset 5: compression {compression}")
        if self.flags & ~FLAG_POSITIONED:
            raise FormatError(f"offset 6: flags {self.flags}")
        if not 1 <= self.event_count <= BLOCK_COUNT_MAX:
            raise FormatError(f"offset 8: {self.event_count} events")
        if index_size > INDEX_SIZE_MAX:
            raise FormatError(f"offset 12: an index of {index_size} bytes")
        if self.is_positioned != (self.first_position != 0):
            raise FormatError(f"offset 16: position {self.first_position}")
        if self.first_position + self.event_count - 1 > POSITION_MAX:
            raise FormatError(f"offset 16: position {self.first_position}")
        if length != len(self.data):
            raise FormatError(f"offset 24: {length} bytes stated, the file has {len(self.data)}")
        fits = self.index_stored_size <= length - HEADER_SIZE
        shrank = self.index_stored_size < index_size
        if not fits or (not shrank if compression else self.index_stored_size != index_size):
            raise FormatError(f"offset 32: a stored index of {self.index_stored_size} bytes")

    @property
    def is_positioned(self):
        return bool(self.flags & FLAG_POSITIONED)

    def read_blocks(self, reader, minimum):
        count = count_of(reader, SEGMENT_BLOCK_COUNT_MAX, 10, minimum)
        self.blocks = [BlockEntry(reader) for _ in range(count)]
        reader.end()
        offset = HEADER_SIZE + self.index_stored_size
        for entry in self.blocks:
            entry.offset = offset
            offset += entry.stored_size
        if offset != len(self.data):
            raise FormatError(f"the blocks end at {offset}, the file at {len(self.data)}")
        orders = [entry.order for entry in self.blocks]
        if orders != sorted(set(orders)):
            raise FormatError("blocks that are not in order")

    def block_bytes(self, entry):
        stored = self.data[entry.offset : entry.offset + entry.stored_size]
        if crc32c(stored) != entry.crc:
            raise FormatError(f"offset {entry.offset}: the CRC32C of the {entry} does not hold")
        return stored

    def of_kind(self, kind):
        return [entry for entry in self.blocks if entry.kind == kind]

    def only(self, kind):
        """The block of a kind that comes once, or None."""
        found = self.of_kind(kind)
        return found[0] if found else None


class SegmentFile(ColumnFile):
    MAGIC = b"dseg"

    def take_word(self, word):
        if word:
            raise FormatError(f"offset 36: {word} instead of 0")
        if sha256(self.data[HEADER_SIZE:])[:IDENTITY_SIZE] != self.identity:
            raise FormatError("offset 44: the identity is another")

    def read_index(self, reader):
        self.types = [TypeEntry(reader)
                      for _ in range(count_of(reader, TYPE_COUNT_MAX, 38, 1))]
        if len({(entry.name, entry.version) for entry in self.types}) != len(self.types):
            raise reader.error("a type that comes twice")
        if sum(entry.count for entry in self.types) != self.event_count:
            raise reader.error("the types' events do not add up")
        self.times = times_of(reader, "an event")
        lowest = reader.varint()
        self.clocks = (lowest, lowest + reader.varint())
        if self.clocks[1] > CLOCK_MAX:
            raise reader.error("a clock of more than 63 bits")
        self.accepted = None
        if self.is_positioned:
            self.accepted = times_of(reader, "acceptance")
        self.replicas = [ReplicaEntry(reader)
                         for _ in range(count_of(reader, REPLICA_COUNT_MAX, 11, 1))]
        self.check_replicas(reader)
        self.read_blocks(reader, 1)
        self.check_blocks()

    def check_replicas(self, reader):
        ids = [entry.replica for entry in self.replicas]
        if len(set(ids)) != len(ids):
            raise reader.error("a replica that comes twice")
        present = sum(count for entry in self.replicas for _, count in entry.present())
        if present != self.event_count:
            raise reader.error("the replicas' runs do not add up to the events")
        if not self.is_positioned and len(ids) != 1:
            raise reader.error("pending events of more than one replica")
        has_events = [bool(entry.present()) for entry in self.replicas]
        if has_events != sorted(has_events, reverse=True):
            raise reader.error("replicas without events do not come last")

    def check_blocks(self):
        single = [kind for kind in range(SCHEMAS, FLAGS + 1)
                  if kind != ACCEPTED or self.is_positioned]
        if [entry.kind for entry in self.blocks if entry.kind <= FLAGS] != single:
            raise FormatError("the blocks that stand there once are others")
        for entry in self.blocks:
            self.check_block(entry)
        keys = [entry.key for entry in self.of_kind(POOL)]
        if keys != list(range(len(keys))):
            raise FormatError("pools that are not numbered from 0")
        next_row = dict.fromkeys(range(len(self.types)), 0)
        for entry in self.of_kind(FIELDS):
            if entry.first_row != next_row[entry.key]:
                raise FormatError(f"{entry}: rows from {next_row[entry.key]} on are missing")
            next_row[entry.key] += entry.row_count
        if list(next_row.values()) != [entry.count for entry in self.types]:
            raise FormatError("blocks of fields that do not cover the rows")

    def check_block(self, entry):
        if not SCHEMAS <= entry.kind <= FILTER:
            raise FormatError(f"{entry}: an unknown kind")
        if entry.kind != FIELDS and entry.first_row:
            raise FormatError(f"{entry}: a first row")
        if entry.kind in (FIELDS, FILTER):
            if entry.key >= len(self.types):
                raise FormatError(f"{entry}: there are {len(self.types)} types")
        elif entry.kind != POOL and entry.key:
            raise FormatError(f"{entry}: a key")
        rows = 0 if entry.kind in (SCHEMAS, FILTER) else self.event_count
        if entry.kind == POOL:
            if not 1 <= entry.row_count <= POOL_COUNT_MAX:
                raise FormatError(f"{entry}: {entry.row_count} texts")
        elif entry.kind == FIELDS:
            if entry.row_count == 0:
                raise FormatError(f"{entry}: no rows")
        elif entry.row_count != rows:
            raise FormatError(f"{entry}: {entry.row_count} rows instead of {rows}")


class SidecarFile(ColumnFile):
    MAGIC = b"dper"

    def __init__(self, data, segment):
        super().__init__(data)
        wanted = (segment.flags, segment.event_count, segment.first_position, segment.identity)
        if (self.flags, self.event_count, self.first_position, self.identity) != wanted:
            raise FormatError("a sidecar of another segment")
        for entry in self.blocks:
            self.check_block(entry)

    def take_word(self, word):
        self.revision = word

    def read_index(self, reader):
        if reader.left == 0:
            self.blocks = []
            reader.end()
        else:
            self.read_blocks(reader, 0)
        if HEADER_SIZE + self.index_stored_size + sum(
                entry.stored_size for entry in self.blocks) != len(self.data):
            raise FormatError("bytes after the blocks")

    def check_block(self, entry):
        if entry.kind not in (SALTS, ERASED, PERSONAL):
            raise FormatError(f"{entry}: an unknown kind")
        if entry.kind != PERSONAL and (entry.key or entry.first_row):
            raise FormatError(f"{entry}: a key or a first row")
        if entry.row_count == 0:
            raise FormatError(f"{entry}: no rows")
