"""Sealed segments: `schema/format/segments.md`, from which alone this was written.

A pair of a segment and its sidecar is read whole and checked whole; the events that come back
have the bytes that `rows.md`, section 4, gives their rows.
"""

from . import segment_file as layout
from .columns import KEY_REPLICAS, Context
from .hashes import (
    HASH_SIZE, SALT_DEPTH, SALT_SIZE, commitment_of, leaf_of, salt_below, salt_group, salt_index,
)
from .payload import PERSONAL_SIZE_MIN
from .primitives import SEQUENCE_MAX, FormatError
from .row import check_subject, encode_public_part, event_hash
from .segment_envelope import Envelope
from .segment_fields import read_part
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
        self.pools, self.shared = [], []
        for entry in self.file.of_kind(layout.POOL):
            self.guarded(self.file, entry, lambda reader, entry=entry: self.take_pool(
                reader, entry.row_count))
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

    def take_pool(self, reader, count):
        """Texts, and for types that share a column of them the index of each of their events."""
        types = [reader.varint() for _ in range(layout.count_of(reader, reader.left, 1))]
        if types != sorted(set(types)) or (types and types[-1] >= len(self.types)):
            raise reader.error(f"a column of the types {types}")
        words = reader.strings(count)
        rows = [row for row, index in enumerate(self.type_indexes) if index in types]
        indices = []
        if types:
            replicas = {KEY_REPLICAS: [self.replica_indexes[row] for row in rows]}
            indices = reader.indices(len(rows), count, Context(replicas), "an index of a pool")
            reader.check_dictionary(words, indices)
        elif len(set(words)) != len(words):
            raise reader.error("texts of a pool that are not distinct")
        self.pools.append(words)
        self.shared.append(dict(zip(rows, indices)))

    def read_rows(self, entry, rows, personal_entry):
        event_type = self.types[entry.key]
        if len(rows) * (len(event_type.fields) + 1) > layout.FIELD_SLOTS_MAX:
            raise FormatError(f"{entry}: too many rows")
        parts = self.guarded(
            self.file, entry, lambda reader: self.take_public(reader, event_type, rows))
        for row, part in zip(rows, parts):
            self.events[row].public_payload = part
            subject = subject_of(self.events[row], event_type)
            if subject is not None:
                self.filter_subjects[entry.key].add(subject)
        kept = [place for place, row in enumerate(rows)
                if self.events[row].has_personal and row not in self.erased]
        if len(kept) != (personal_entry.row_count if personal_entry else 0):
            raise FormatError(f"{entry}: not {len(kept)} rows of personal fields")
        if kept:
            parts = self.guarded(self.sidecar, personal_entry, lambda reader: read_part(
                reader, event_type, event_type.personal_fields, len(kept)))
            self.add_personal(event_type, [rows[place] for place in kept], parts)

    def take_public(self, reader, event_type, rows):
        reader.pools = self.pools
        for number, indices in enumerate(self.shared):
            if rows[0] in indices:
                reader.shared[number] = [indices[row] for row in rows]
        return read_part(reader, event_type, event_type.public_fields, len(rows))

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

    # Rules between the parts

    # Filters

    def check_filters(self):
        entries = {entry.key: entry for entry in self.file.of_kind(layout.FILTER)}
        for index, wanted in enumerate(self.filter_subjects):
            if bool(wanted) != (index in entries):
                raise FormatError(f"type {index} has {len(wanted)} subjects for its filter")
            if wanted:
                self.guarded(self.file, entries[index],
                             lambda reader, wanted=wanted: check_filter(reader, wanted))
