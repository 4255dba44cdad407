"""The envelope of a segment's events: segments.md, sections 6 and 7."""

from . import segment_file as layout
from .canonical import canonical_json, parse_json
from .columns import KEY_REPLICAS, KEY_TYPES, BlockReader, Context
from .hashes import without_descriptions
from .payload import field_text
from .primitives import (
    SEQUENCE_MAX, U64_MAX, FormatError, Reader, clock_milliseconds, wrapped,
)
from .row import FLAG_ACTOR, FLAG_PERSONAL, FLAG_SUBJECT, FLAGS_ALL, Event
from .schemas import EventType

FLAG_AUTHORITY = 32
ENGINE_PREFIX = "engine."


def unsigned(values):
    return [value & U64_MAX for value in values]


class Envelope:
    """All that a segment says of its events but for their payloads."""

    def __init__(self, data):
        self.file = layout.SegmentFile(data)
        self.count = self.file.event_count
        self.read_schemas()
        self.read_envelope()
        self.check_runs()
        self.check_batches()

    @property
    def first_position(self):
        return self.file.first_position if self.file.is_positioned else None

    # Blocks

    def reader(self, file, entry):
        return BlockReader(file.block_bytes(entry), entry.expanded_size, self.replicas)

    def read_block(self, kind, read, file=None):
        """The one block of a kind, read by `read`."""
        file = file or self.file
        entry = file.only(kind)
        if entry is None:
            raise FormatError(f"no block of kind {kind}")
        return self.guarded(file, entry, read)

    def guarded(self, file, entry, read):
        reader = self.reader(file, entry)
        try:
            found = read(reader)
            reader.end()
        except FormatError as error:
            raise FormatError(f"{file.MAGIC.decode()} {entry}: {error}") from None
        return found

    def read_schemas(self):
        self.replicas = [entry.replica for entry in self.file.replicas]
        self.types = []
        self.read_block(layout.SCHEMAS, self.take_schemas)

    def take_schemas(self, reader):
        stream = Reader(reader.stream(reader.expanded_size))
        for entry in self.file.types:
            self.types.append(type_of(entry, stream.bytes()))
        foreign = [stream.id() for _ in range(layout.count_of(stream, stream.left, 8))]
        stream.end()
        self.replicas = self.replicas + foreign
        if len(set(self.replicas)) != len(self.replicas):
            raise reader.error("a foreign replica that comes twice")

    # Envelope

    def read_envelope(self):
        columns = {}
        self.context = Context(columns)
        self.type_indexes = self.read_block(layout.TYPES, lambda reader: reader.indices(
            self.count, len(self.types), self.context, "a type"))
        columns[KEY_TYPES] = self.type_indexes
        for index, entry in enumerate(self.file.types):
            if self.type_indexes.count(index) != entry.count:
                raise FormatError(f"not {entry.count} events of {entry.name}")
        self.read_block(layout.ORIGINS, self.take_origins)
        clocks = unsigned(self.read_block(layout.CLOCKS, self.take_ints))
        if (min(clocks), max(clocks)) != self.file.clocks:
            raise FormatError("the clocks are not those of the index")
        self.milliseconds = [clock_milliseconds(clock) for clock in clocks]
        times = self.read_block(layout.TIMES, lambda reader: self.take_moded(
            reader, [None, self.milliseconds]))
        if (min(times), max(times)) != self.file.times:
            raise FormatError("the times are not those of the index")
        for index, entry in enumerate(self.file.types):
            own = [time for time, other in zip(times, self.type_indexes) if other == index]
            if (min(own), max(own)) != entry.times:
                raise FormatError(f"the times of {entry.name} are not those of the index")
        self.accepted_times = [None] * self.count
        if self.file.is_positioned:
            self.accepted_times = self.read_block(layout.ACCEPTED, lambda reader: self.take_moded(
                reader, [None, self.milliseconds]))
            self.check_accepted()
        self.events = []
        for index, type_index in enumerate(self.type_indexes):
            entry = self.file.types[type_index]
            event = Event(entry.name, entry.version,
                          self.replicas[self.replica_indexes[index]], self.sequences[index])
            event.clock, event.at = clocks[index], times[index]
            self.events.append(event)
        self.read_block(layout.BATCHES, self.take_batches)
        self.read_block(layout.BASES, self.take_bases)
        self.read_block(layout.FLAGS, self.take_flags)
        self.take_texts(layout.ACTORS, FLAG_ACTOR, self.take_actors)
        self.take_texts(layout.SUBJECTS, FLAG_SUBJECT, self.take_subjects)

    def take_ints(self, reader):
        return reader.ints(self.count, self.context)

    def take_moded(self, reader, bases):
        """Numbers by one of two modes: as they are, or minus another column."""
        base = bases[reader.choice("a mode", (0, 1))]
        values = self.take_ints(reader)
        if base is None:
            return values
        return [wrapped(value + other) for value, other in zip(values, base)]

    def take_origins(self, reader):
        self.replica_indexes = reader.indices(
            self.count, len(self.file.replicas), self.context, "a replica")
        writers = [entry for entry in self.file.replicas if entry.present()]
        if list(dict.fromkeys(self.replica_indexes)) != list(range(len(writers))):
            raise reader.error("replicas that are not in order of first sight")
        self.context.columns[KEY_REPLICAS] = self.replica_indexes
        expected = [entry.present()[0][0] for entry in writers]
        last = [0] * len(expected)
        self.sequences = []
        for replica, difference in zip(self.replica_indexes, self.take_ints(reader)):
            sequence = (expected[replica] + difference) & U64_MAX
            if not last[replica] < sequence <= SEQUENCE_MAX:
                raise reader.error(f"S3: sequence {sequence} after {last[replica]}")
            self.sequences.append(sequence)
            last[replica], expected[replica] = sequence, sequence + 1

    def check_accepted(self):
        times = self.accepted_times
        if times != sorted(times):
            raise FormatError("S3: acceptedAt decreases")
        if (times[0], times[-1]) != self.file.accepted:
            raise FormatError("the times of acceptance are not those of the index")

    def take_batches(self, reader):
        places, counts = self.take_ints(reader), self.take_ints(reader)
        before = None
        for event, place, count in zip(self.events, places, counts):
            goes_on = (before is not None and before.replica == event.replica
                       and before.batch_index + 1 < before.batch_count)
            expected = (before.batch_index + 1, before.batch_count) if goes_on else (0, 1)
            event.batch_index = (expected[0] + place) & U64_MAX
            event.batch_count = (expected[1] + count) & U64_MAX
            before = event

    def take_bases(self, reader):
        mode = reader.choice("a mode", (0, 1) if self.file.is_positioned else (0,))
        for index, value in enumerate(self.take_ints(reader)):
            if mode == 1:
                value = self.file.first_position + index - 1 - value
            self.events[index].base = value & U64_MAX

    def take_flags(self, reader):
        flags_of_rows = self.take_ints(reader)
        personal = self.take_ints(reader)
        if any(flag not in (0, FLAG_PERSONAL) for flag in personal):
            raise reader.error("other flags than the flag personal")
        self.flags = [flags | mark for flags, mark in zip(flags_of_rows, personal)]
        if any(flags & FLAG_PERSONAL for flags in flags_of_rows):
            raise reader.error("the flag personal among the others")
        for event, flags in zip(self.events, self.flags):
            if flags & ~(FLAGS_ALL | FLAG_AUTHORITY):
                raise reader.error(f"flags {flags}")
            event.derived = bool(flags & 1)
            event.if_unchanged = bool(flags & 2)
            event.has_personal = bool(flags & FLAG_PERSONAL)
            if event.type_name.startswith(ENGINE_PREFIX) and not flags & FLAG_AUTHORITY:
                raise reader.error(f"{event.origin}: not written by an authority")
        authority = {event.replica for event, flags in zip(self.events, self.flags)
                     if flags & FLAG_AUTHORITY}
        ordinary = {event.replica for event, flags in zip(self.events, self.flags)
                    if not flags & FLAG_AUTHORITY}
        if authority & ordinary:
            raise reader.error("a replica that is an authority's, and is not")

    def is_authority(self, index):
        return bool(self.flags[index] & FLAG_AUTHORITY)

    def with_flag(self, flag):
        return [index for index, flags in enumerate(self.flags) if flags & flag]

    def take_texts(self, kind, flag, take):
        rows = self.with_flag(flag)
        if bool(rows) != (self.file.only(kind) is not None):
            raise FormatError(f"the block of kind {kind} and the flags disagree")
        if rows:
            self.read_block(kind, lambda reader: take(reader, rows))

    def take_actors(self, reader, rows):
        actors = reader.texts(len(rows), self.context.select(rows))
        for row, actor in zip(rows, actors):
            self.events[row].actor = field_text(actor)

    def take_subjects(self, reader, rows):
        subjects = reader.texts(len(rows), self.context.select(rows))
        for row, subject in zip(rows, subjects):
            self.events[row].subject = field_text(subject)

    # Rules between the columns

    def check_runs(self):
        for number, entry in enumerate(self.file.replicas):
            found = [event.sequence for event, replica in zip(self.events, self.replica_indexes)
                     if replica == number]
            stated = [sequence for first, count in entry.present()
                      for sequence in range(first, first + count)]
            if found != stated:
                raise FormatError(f"the runs of replica {number} are not its sequences")

    def check_batches(self):
        """B1 of `blocks.md`, except for batches that continue outside."""
        before = None
        for event in self.events:
            goes_on = before is not None and before.batch_index + 1 < before.batch_count
            if goes_on:
                wanted = (before.replica, before.sequence + 1, before.batch_index + 1,
                          before.batch_count)
                found = (event.replica, event.sequence, event.batch_index, event.batch_count)
                if found != wanted:
                    raise FormatError(f"B1: {event.origin} does not go on with a batch")
            elif before is not None and event.batch_index:
                raise FormatError(f"B1: {event.origin} lacks the beginning of its batch")
            before = event


def type_of(entry, text):
    """The type of an index entry with its schema, which must be the one of the fingerprint."""
    schema = parse_json(text.decode("utf-8", "replace"))
    if not isinstance(schema, dict):
        raise FormatError(f"{entry.name}: a schema that is no object")
    canonical = canonical_json(without_descriptions(schema)).encode("utf-8")
    if canonical != text:
        raise FormatError(f"{entry.name}: a schema that is not in its canonical form")
    try:
        found = EventType(schema, entry.name)
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"{entry.name}: not a schema of events ({error})") from None
    if (found.version, found.fingerprint) != (entry.version, entry.fingerprint):
        raise FormatError(f"{entry.name}: the schema is another")
    return found
