"""Sealed segments: `schema/format/segments.md`, from which alone this was written.

A pair of a segment and its sidecar is read whole and checked whole; the events that come back
have the bytes that `log.md`, section 4, gives their rows.
"""

from . import segment_file as layout
from .canonical import canonical_json, parse_json
from .checksum import crc32c
from .column_texts import TextReader
from .columns import COLUMN_ACTOR, COLUMN_FIELDS, COLUMN_REPLICA, COLUMN_TYPE, Context
from .hashes import (
    HASH_SIZE, SALT_DEPTH, SALT_SIZE, commitment_of, leaf_of, salt_below, salt_group, salt_index,
    without_descriptions,
)
from .payload import PERSONAL_SIZE_MIN, field_text
from .primitives import (
    SEQUENCE_MAX, U64_MAX, FormatError, Reader, clock_milliseconds, wrapped,
)
from .row import FLAG_ACTOR, FLAG_PERSONAL, FLAG_SUBJECT, FLAGS_ALL, Event, check_subject, event_hash
from .schemas import EventType
from .segment_fields import (
    NEEDS_ACTORS, NEEDS_PUBLIC, NEEDS_REPLICAS, NEEDS_TIMES, read_needs, read_part,
)

FLAG_AUTHORITY = 32
ENGINE_PREFIX = "engine."
RICE_BITS_MAX = 16


def unsigned(values):
    return [value & U64_MAX for value in values]


class Segment:
    """The events of a segment, with positions, times, salts and commitments."""

    def __init__(self, data, sidecar_data):
        self.file = layout.SegmentFile(data)
        self.sidecar = layout.SidecarFile(sidecar_data, self.file)
        self.count = self.file.event_count
        self.read_schemas()
        self.read_envelope()
        self.read_salts()
        self.read_erased()
        self.read_payloads()
        self.check_runs()
        self.check_batches()
        self.check_filters()

    @property
    def first_position(self):
        return self.file.first_position if self.file.is_positioned else None

    # Blocks

    def reader(self, file, entry):
        return TextReader(file.block_bytes(entry), entry.expanded_size, self.replicas)

    def read_block(self, kind, read, file=None):
        """What `read` makes of the one block of a kind."""
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
        self.pools = [self.guarded(self.file, entry, lambda reader, entry=entry: self.take_pool(
            reader, entry.row_count)) for entry in self.file.of_kind(layout.POOL)]

    def take_pool(self, reader, count):
        texts = reader.strings(count)
        if len(set(texts)) != len(texts):
            raise reader.error("texts of a pool that are not distinct")
        return texts

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
        columns[COLUMN_TYPE] = self.type_indexes
        for index, entry in enumerate(self.file.types):
            if self.type_indexes.count(index) != entry.count:
                raise FormatError(f"not {entry.count} events of {entry.name}")
        self.read_block(layout.ORIGINS, self.take_origins)
        columns[COLUMN_REPLICA] = self.replica_indexes
        clocks = unsigned(self.read_block(layout.CLOCKS, self.take_ints))
        if (min(clocks), max(clocks)) != self.file.clocks:
            raise FormatError("the clocks are not those of the index")
        self.milliseconds = [clock_milliseconds(clock) for clock in clocks]
        times = self.read_block(layout.TIMES, lambda reader: self.take_moded(
            reader, [self.milliseconds, None]))
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
        self.context.times = times

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
        if list(dict.fromkeys(self.replica_indexes)) != list(range(len(self.file.replicas))):
            raise reader.error("replicas that are not in order of first sight")
        expected = [entry.present()[0][0] for entry in self.file.replicas]
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
        self.flags = self.take_ints(reader)
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
        numbers, column = {}, [None] * self.count
        for row, actor in zip(rows, actors):
            self.events[row].actor = field_text(actor)
            column[row] = numbers.setdefault(actor, len(numbers))
        self.context.columns[COLUMN_ACTOR] = column

    def take_subjects(self, reader, rows):
        subjects = reader.texts(len(rows), self.context.select(rows))
        for row, subject in zip(rows, subjects):
            self.events[row].subject = field_text(subject)

    # Salts and what is erased

    def read_salts(self):
        self.nodes = []
        entry = self.sidecar.only(layout.SALTS)
        if entry is not None:
            self.guarded(self.sidecar, entry, lambda reader: self.take_salts(
                reader, entry.row_count))

    def take_salts(self, reader, count):
        replicas = reader.indices(count, len(self.file.replicas), what="a replica")
        groups = reader.indices(count, salt_group(SEQUENCE_MAX) + 1, what="a group")
        levels = reader.indices(count, SALT_DEPTH + 1, what="a level")
        indices = [reader.checked([index], 1 << level, "an index of a level")[0]
                   for level, index in zip(levels, reader.ints(count))]
        values = reader.stream(SALT_SIZE * count)
        for place, node in enumerate(zip(replicas, groups, levels, indices)):
            value = values[SALT_SIZE * place : SALT_SIZE * (place + 1)]
            self.nodes.append((self.replicas[node[0]],) + node[1:] + (value,))
        self.nodes_by_group = {}
        for replica, group, *node in self.nodes:
            self.nodes_by_group.setdefault((replica, group), []).append(node)

    def salt(self, event):
        """The salt of an event, or None."""
        if not self.nodes:
            return None
        wanted = salt_index(event.sequence)
        for level, index, value in self.nodes_by_group.get(
                (event.replica, salt_group(event.sequence)), ()):
            if wanted >> (SALT_DEPTH - level) == index:
                return salt_below(value, level, wanted)
        return None

    def read_erased(self):
        self.erased = set()
        entry = self.sidecar.only(layout.ERASED)
        if entry is None:
            return
        if entry.row_count > self.count:
            raise FormatError(f"{entry}: {entry.row_count} of {self.count} events")
        self.guarded(self.sidecar, entry, lambda reader: self.take_erased(
            reader, entry.row_count))

    def take_erased(self, reader, count):
        rows = reader.indices(count, self.count, what="an event")
        if rows != sorted(set(rows)):
            raise reader.error("erased events that are not in order")
        commitments = reader.stream(HASH_SIZE * count)
        for place, row in enumerate(rows):
            event = self.events[row]
            if not event.has_personal:
                raise reader.error(f"{event.origin} is erased, and never had a personal part")
            event.commitment = commitments[HASH_SIZE * place : HASH_SIZE * (place + 1)]
        self.erased = set(rows)

    # Payloads

    def read_payloads(self):
        rows_of_type = [[] for _ in self.types]
        for index, type_index in enumerate(self.type_indexes):
            rows_of_type[type_index].append(index)
        personal = {(entry.key, entry.first_row): entry
                    for entry in self.sidecar.of_kind(layout.PERSONAL)}
        for entry in self.file.of_kind(layout.FIELDS):
            rows = rows_of_type[entry.key]
            rows = rows[entry.first_row : entry.first_row + entry.row_count]
            self.read_rows(entry, rows, personal.pop((entry.key, entry.first_row), None))
        if personal:
            raise FormatError("personal fields without a block of public ones")
        for event, type_index in zip(self.events, self.type_indexes):
            check_subject(event, self.types[type_index])
            event.payload(self.types[type_index])

    def read_rows(self, entry, rows, personal_entry):
        event_type = self.types[entry.key]
        if len(rows) * (len(event_type.fields) + 1) > layout.FIELD_SLOTS_MAX:
            raise FormatError(f"{entry}: too many rows")
        parts, context = self.guarded(self.file, entry, lambda reader: self.take_public(
            reader, event_type, rows))
        for row, part in zip(rows, parts):
            self.events[row].public_payload = part
        kept = [place for place, row in enumerate(rows)
                if self.events[row].has_personal and row not in self.erased]
        if len(kept) != (personal_entry.row_count if personal_entry else 0):
            raise FormatError(f"{entry}: not {len(kept)} rows of personal fields")
        if kept:
            parts = self.guarded(self.sidecar, personal_entry, lambda reader: self.take_personal(
                reader, event_type, context, kept))
            self.add_personal(event_type, [rows[place] for place in kept], parts)

    def take_public(self, reader, event_type, rows):
        needs, pools = read_needs(reader)
        if needs & NEEDS_PUBLIC or max(pools, default=-1) >= len(self.pools):
            raise reader.error(f"a need of {needs} and of the pools {pools}")
        reader.pools = {number: self.pools[number] for number in pools}
        context = self.context.copied(rows, self.needed(needs), bool(needs & NEEDS_TIMES))
        parts = read_part(reader, event_type, event_type.public_fields, len(rows), context)
        # A personal part may name columns of the envelope that the public one has no need of.
        whole = self.context.copied(rows, self.context.columns, True)
        whole.columns.update(context.columns)
        return parts, whole

    def take_personal(self, reader, event_type, context, kept):
        needs, pools = read_needs(reader)
        if pools:
            raise reader.error("a personal column that uses a pool")
        numbers = self.needed(needs)
        if needs & NEEDS_PUBLIC:
            numbers |= {number for number in context.columns if number >= COLUMN_FIELDS}
        own = context.copied(kept, numbers, bool(needs & NEEDS_TIMES))
        return read_part(reader, event_type, event_type.personal_fields, len(kept), own)

    def needed(self, needs):
        """The columns of the envelope that a block names at its beginning."""
        stated = {COLUMN_TYPE}
        stated |= {COLUMN_REPLICA} if needs & NEEDS_REPLICAS else set()
        return stated | ({COLUMN_ACTOR} if needs & NEEDS_ACTORS else set())

    def add_personal(self, event_type, rows, parts):
        bitmap_size = (len(event_type.personal_fields) + 7) // 8
        for row, part in zip(rows, parts):
            event = self.events[row]
            if len(part) < PERSONAL_SIZE_MIN or not any(part[:bitmap_size]):
                raise FormatError(f"{event.origin}: a personal part without fields")
            event.personal = part
            salt = self.salt(event)
            if salt is not None:
                event.commitment = commitment_of(salt, part)

    def without_salt(self):
        """Events whose personal part is there, but no salt, so that they have no row."""
        return [event for event in self.events if event.has_personal and event.commitment is None]

    def leaf(self, index):
        return leaf_of(event_hash(self.events[index]), self.accepted_times[index])

    # What holds between the parts

    def check_runs(self):
        for number, entry in enumerate(self.file.replicas):
            found = [event.sequence for event, replica in zip(self.events, self.replica_indexes)
                     if replica == number]
            stated = [sequence for first, count in entry.present()
                      for sequence in range(first, first + count)]
            if found != stated:
                raise FormatError(f"the runs of replica {number} are not its sequences")

    def check_batches(self):
        """What L3 of `log.md` says, but for batches that go on outside."""
        before = None
        for event in self.events:
            goes_on = before is not None and before.batch_index + 1 < before.batch_count
            if goes_on:
                wanted = (before.replica, before.sequence + 1, before.batch_index + 1,
                          before.batch_count)
                found = (event.replica, event.sequence, event.batch_index, event.batch_count)
                if found != wanted:
                    raise FormatError(f"L3: {event.origin} does not go on with a batch")
            elif before is not None and event.batch_index:
                raise FormatError(f"L3: {event.origin} lacks the beginning of its batch")
            before = event

    def check_filters(self):
        subjects = [set() for _ in self.types]
        for event, type_index in zip(self.events, self.type_indexes):
            subject = subject_of(event, self.types[type_index])
            if subject is not None:
                subjects[type_index].add(subject)
        entries = {entry.key: entry for entry in self.file.of_kind(layout.FILTER)}
        for index, wanted in enumerate(subjects):
            if bool(wanted) != (index in entries):
                raise FormatError(f"type {index} has {len(wanted)} subjects for its filter")
            if wanted:
                self.guarded(self.file, entries[index],
                             lambda reader, wanted=wanted: check_filter(reader, wanted))


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


def subject_of(event, event_type):
    """The subject for the filter of the type; None where origins tell it, or it is no text."""
    field = event_type.subject_field
    if field is None:
        return event.subject
    if event.derived and field == event_type.new_id_field:
        return None
    kinds = {other.name: other.kind for other in event_type.fields}
    return event.payload(event_type).get(field) if kinds[field] == "string" else None


def check_filters(self):
        subjects = [set() for _ in self.types]
        for event, type_index in zip(self.events, self.type_indexes):
            subject = subject_of(event, self.types[type_index])
            if subject is not None:
                subjects[type_index].add(subject)
        entries = {entry.key: entry for entry in self.file.of_kind(layout.FILTER)}
        for index, wanted in enumerate(subjects):
            if bool(wanted) != (index in entries):
                raise FormatError(f"type {index} has {len(wanted)} subjects for its filter")
            if wanted:
                self.guarded(self.file, entries[index],
                             lambda reader, wanted=wanted: check_filter(reader, wanted))


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


def subject_of(event, event_type):
    """The subject for the filter of the type; None where origins tell it, or it is no text."""
    field = event_type.subject_field
    if field is None:
        return event.subject
    if event.derived and field == event_type.new_id_field:
        return None
    value = event.payload(event_type).get(field)
    return value if isinstance(value, str) else None


def check_filters(self):
        subjects = [set() for _ in self.types]
        for event, type_index in zip(self.events, self.type_indexes):
            subject = subject_of(event, self.types[type_index])
            if subject is not None:
                subjects[type_index].add(subject)
        entries = {entry.key: entry for entry in self.file.of_kind(layout.FILTER)}
        for index, wanted in enumerate(subjects):
            if bool(wanted) != (index in entries):
                raise FormatError(f"type {index} has {len(wanted)} subjects for its filter")
            if wanted:
                self.guarded(self.file, entries[index],
                             lambda reader, wanted=wanted: check_filter(reader, wanted))


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


def subject_of(event, event_type):
    """The subject for the filter of the type; None where origins tell it, or it is no text."""
    field = event_type.subject_field
    if field is None:
        return event.subject
    if event.derived and field == event_type.new_id_field:
        return None
    value = event.payload(event_type).get(field)
    return value if isinstance(value, str) else None


def has_filter(event_type):
    """Filters hold texts: types with subjects of another kind have none."""
    field = event_type.subject_field
    return field is None or any(
        other.name == field and other.kind == "string" for other in event_type.fields)


def check_filter(reader, subjects):
    stated, bits = reader.varint(), reader.u8()
    if stated != len(subjects):
        raise reader.error(f"{stated} subjects, there are {len(subjects)}")
    if bits > RICE_BITS_MAX:
        raise reader.error(f"{bits} bits of a rest")
    data = reader.stream(reader.expanded_size)
    scale = stated << bits
    if scale > 2**32:
        raise reader.error(f"a filter of {stated} subjects with {bits} bits")
    wanted = sorted((crc32c(subject.encode("utf-8")) * scale) >> 32 for subject in subjects)
    if rice_values(reader, data, stated, bits) != wanted:
        raise reader.error("the filter is not that of the subjects")


def rice_values(reader, data, count, bits):
    """The values of a filter, ascending."""
    number, size = int.from_bytes(data, "little"), 8 * len(data)
    text = format(number, f"0{size}b")[::-1]
    values, value, at = [], 0, 0
    for _ in range(count):
        end = text.find("0", at)
        if end < 0 or end + 1 + bits > size:
            raise reader.error("a filter that is cut")
        rest = text[end + 1 : end + 1 + bits]
        value += (end - at) << bits | int(rest[::-1] or "0", 2)
        at = end + 1 + bits
        values.append(value)
    if (at + 7) // 8 != len(data) or "1" in text[at:]:
        raise reader.error("bits after the filter")
    return values
