"""Sealed segments: `schema/format/segments.md`, from which alone this was written.

A pair of a segment and its sidecar is read whole and checked whole; the events that come back
have the bytes that `rows.md`, section 4, gives their rows.
"""

from . import segment_file as layout
from .column_texts import TEXTS_DICTIONARY, Heads
from .columns import COLUMN_ACTOR, COLUMN_FIELDS, COLUMN_REPLICA, COLUMN_TYPE
from .hashes import (
    HASH_SIZE, SALT_DEPTH, SALT_SIZE, commitment_of, leaf_of, salt_below, salt_group, salt_index,
)
from .payload import PERSONAL_SIZE_MIN
from .primitives import SEQUENCE_MAX, FormatError
from .row import check_subject, encode_public_part, event_hash
from .segment_envelope import Envelope
from .segment_fields import (
    NEEDS_ACTORS, NEEDS_HEADS, NEEDS_PUBLIC, NEEDS_REPLICAS, NEEDS_TIMES,
    read_needs, read_numbers_in_order, read_part,
)
from .segment_filter import check_filter, subject_of


class Segment(Envelope):
    """The events of a segment, with positions, times, salts and commitments."""

    def __init__(self, data, sidecar_data):
        super().__init__(data)
        self.sidecar = layout.SidecarFile(sidecar_data, self.file)
        self.read_salts()
        self.read_erased()
        self.read_payloads()
        self.check_filters()

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
        self.filter_subjects = [set() for _ in self.types]
        self.shared = [self.guarded(self.file, entry, lambda reader, entry=entry: self.take_shared(
            reader, entry.row_count)) for entry in self.file.of_kind(layout.SHARED)]
        self.heads = {(entry.key, entry.first_row): entry
                      for entry in self.file.of_kind(layout.HEADS)}
        rows_of_type = [[] for _ in self.types]
        for index, type_index in enumerate(self.type_indexes):
            rows_of_type[type_index].append(index)
        personal = {(entry.key, entry.first_row): entry
                    for entry in self.sidecar.of_kind(layout.PERSONAL)}
        for entry in self.file.of_kind(layout.FIELDS):
            rows = rows_of_type[entry.key]
            rows = rows[entry.first_row : entry.first_row + entry.row_count]
            self.read_rows(entry, rows, personal.pop((entry.key, entry.first_row), None))
        if self.heads:
            raise FormatError("heads that nothing refers to")
        if personal:
            raise FormatError("personal fields without a block of public ones")
        for event, type_index in zip(self.events, self.type_indexes):
            check_subject(event, self.types[type_index])
            event.payload(self.types[type_index])

    def take_shared(self, reader, count):
        """The dictionary of a shared block, and for each event of its types the index."""
        types = read_numbers_in_order(reader, "types")
        if not types or types[-1] >= len(self.types):
            raise reader.error(f"a column of the types {types}")
        rows = [row for row, index in enumerate(self.type_indexes) if index in types]
        if len(rows) != count:
            raise reader.error(f"{count} values of {len(rows)} events")
        context = self.context.copied(rows, {COLUMN_REPLICA}, False)
        reader.choice("a method of shared texts", (TEXTS_DICTIONARY,))
        words = reader.strings(reader.count_within(count))
        indices = reader.indices(count, len(words), context, "an index of a dictionary")
        reader.check_dictionary(words, indices)
        return words, dict(zip(rows, indices))

    def read_rows(self, entry, rows, personal_entry):
        event_type = self.types[entry.key]
        if len(rows) * (len(event_type.fields) + 1) > layout.FIELD_SLOTS_MAX:
            raise FormatError(f"{entry}: too many rows")
        parts, context, headed = self.guarded(
            self.file, entry, lambda reader: self.take_public(reader, entry, rows))
        for row, part in zip(rows, parts):
            self.events[row].public_payload = part
            subject = subject_of(self.events[row], event_type)
            if subject is not None and subject.encode("utf-8") not in headed:
                self.filter_subjects[entry.key].add(subject)
        kept = [place for place, row in enumerate(rows)
                if self.events[row].has_personal and row not in self.erased]
        if len(kept) != (personal_entry.row_count if personal_entry else 0):
            raise FormatError(f"{entry}: not {len(kept)} rows of personal fields")
        if kept:
            parts = self.guarded(self.sidecar, personal_entry, lambda reader: self.take_personal(
                reader, event_type, context, kept))
            self.add_personal(event_type, [rows[place] for place in kept], parts)

    def take_public(self, reader, entry, rows):
        event_type = self.types[entry.key]
        needs, pools, shared = read_needs(reader)
        if (needs & NEEDS_PUBLIC or max(pools, default=-1) >= len(self.pools)
                or max(shared, default=-1) >= len(self.shared)):
            raise reader.error(f"a need of {needs}, of the pools {pools}, of shared {shared}")
        reader.pools = {number: self.pools[number] for number in pools}
        for number in shared:
            words, indices = self.shared[number]
            if rows[0] not in indices:
                raise reader.error(f"shared block {number}, which the type has no part in")
            reader.shared[number] = words, [indices[row] for row in rows]
        context = self.context.copied(rows, self.needed(needs), bool(needs & NEEDS_TIMES))
        heads = self.read_heads(entry) if needs & NEEDS_HEADS else None
        parts = read_part(
            reader, event_type, event_type.public_fields, len(rows), context, heads)
        if heads is not None and reader.headed_texts is None:
            raise reader.error("heads that no column has")
        # A personal part may name columns of the envelope that the public one has no need of.
        whole = self.context.copied(rows, self.context.columns, True)
        whole.columns.update(context.columns)
        return parts, whole, set(reader.headed_texts or ())

    def read_heads(self, entry):
        heads = self.heads.pop((entry.key, entry.first_row), None)
        if heads is None:
            raise FormatError(f"{entry}: there is no block of heads")
        return self.guarded(self.file, heads, lambda reader: Heads(reader, heads.row_count))

    def take_personal(self, reader, event_type, context, kept):
        needs, pools, shared = read_needs(reader)
        if pools or shared or needs & NEEDS_HEADS:
            raise reader.error("a personal column that uses a pool, a shared block or heads")
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

    def row_bytes(self):
        """The size of public parts, and personal parts or commitments."""
        return sum(len(encode_public_part(event)) + self.second_size(event)
                   for event in self.events)

    def second_size(self, event):
        if not event.has_personal:
            return 0
        return HASH_SIZE if event.personal is None else len(event.personal)

    def leaf(self, index):
        return leaf_of(event_hash(self.events[index]), self.accepted_times[index])

    # What holds between the parts

    # Filters

    def check_filters(self):
        entries = {entry.key: entry for entry in self.file.of_kind(layout.FILTER)}
        for index, wanted in enumerate(self.filter_subjects):
            if bool(wanted) != (index in entries):
                raise FormatError(f"type {index} has {len(wanted)} subjects for its filter")
            if wanted:
                self.guarded(self.file, entries[index],
                             lambda reader, wanted=wanted: check_filter(reader, wanted))
