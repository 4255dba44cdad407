"""rows.md, section 4: the canonical row."""

from .hashes import sha256
from .payload import decode_payload, encode_payload
from .primitives import (
    ACTOR_SIZE_MAX, BATCH_COUNT_MAX, CLOCK_MAX, EVENT_SIZE_MAX, SEQUENCE_MAX,
    SUBJECT_SIZE_MAX, TYPE_NAME_SIZE_MAX, TYPE_VERSION_MAX, FormatError, Reader, Writer,
    clock_milliseconds, moment, origin_text, text_bytes, wrapped,
)

ROW_VERSION = 1
FLAG_DERIVED = 1
FLAG_IF_UNCHANGED = 2
FLAG_ACTOR = 4
FLAG_SUBJECT = 8
FLAG_PERSONAL = 16
FLAGS_ALL = 31


class Event:
    """An event as its row holds it: the payload is still in its encoded parts."""

    def __init__(self, type_name, version, replica, sequence):
        self.type_name = type_name
        self.version = version
        self.replica = replica
        self.sequence = sequence
        self.batch_index = 0
        self.batch_count = 1
        self.clock = 0
        self.at = 0
        self.base = 0
        self.derived = False
        self.if_unchanged = False
        self.actor = None
        self.subject = None
        self.public_payload = b""
        self.has_personal = False
        self.personal = None
        self.commitment = None

    @property
    def origin(self):
        return origin_text(self.replica, self.sequence)

    @property
    def batch_first(self):
        return self.sequence - self.batch_index

    @property
    def flags(self):
        return (
            FLAG_DERIVED * self.derived
            | FLAG_IF_UNCHANGED * self.if_unchanged
            | FLAG_ACTOR * (self.actor is not None)
            | FLAG_SUBJECT * (self.subject is not None)
            | FLAG_PERSONAL * self.has_personal
        )

    def set_payload(self, event_type, payload):
        public, personal, derived = encode_payload(event_type, payload, self.origin)
        self.public_payload = public
        self.personal = personal
        self.has_personal = personal is not None
        self.derived = derived

    def payload(self, event_type):
        return decode_payload(
            event_type, self.public_payload, self.personal, self.derived, self.origin
        )


def text_within(value, size_max, what):
    if not 1 <= len(text_bytes(value)) <= size_max:
        raise FormatError(f"{what} of {len(text_bytes(value))} bytes")
    return value


def encode_numbers(event, writer):
    """The part of a row before its flags."""
    writer.varint(event.batch_index)
    writer.varint(event.batch_count)
    writer.u64(event.clock)
    writer.zigzag(wrapped(event.at - clock_milliseconds(event.clock)))
    writer.varint(event.base)


def encode_public_part(event):
    check_envelope(event)
    writer = Writer()
    encode_numbers(event, writer)
    writer.u8(event.flags)
    if event.actor is not None:
        writer.text(event.actor)
    if event.subject is not None:
        writer.text(event.subject)
    writer.raw(event.public_payload)
    return writer.done()


def decode_public_part(event, data):
    """Fills `event`, whose type and origin are known, from the public part that a block has."""
    reader = Reader(data)
    event.batch_index = reader.varint()
    event.batch_count = reader.varint()
    event.clock = reader.u64()
    event.at = wrapped(reader.zigzag() + clock_milliseconds(event.clock))
    event.base = reader.varint()
    flags = reader.u8()
    if flags & ~FLAGS_ALL:
        raise reader.error(f"unknown flags {flags}")
    event.derived = bool(flags & FLAG_DERIVED)
    event.if_unchanged = bool(flags & FLAG_IF_UNCHANGED)
    event.has_personal = bool(flags & FLAG_PERSONAL)
    event.actor = reader.text() if flags & FLAG_ACTOR else None
    event.subject = reader.text() if flags & FLAG_SUBJECT else None
    event.public_payload = reader.raw(reader.left)
    check_envelope(event)


def check_envelope(event):
    if not 1 <= event.batch_count <= BATCH_COUNT_MAX:
        raise FormatError(f"{event.origin}: a batch of {event.batch_count} events")
    if event.batch_index >= event.batch_count or event.batch_first < 1:
        raise FormatError(f"{event.origin}: place {event.batch_index} in its batch")
    if event.clock > CLOCK_MAX:
        raise FormatError(f"{event.origin}: a clock of more than 63 bits")
    moment(event.at, event.origin)
    if event.actor is not None:
        text_within(event.actor, ACTOR_SIZE_MAX, "an actor")
    if event.subject is not None:
        text_within(event.subject, SUBJECT_SIZE_MAX, "a subject")


def check_type(name, version):
    text_within(name, TYPE_NAME_SIZE_MAX, "the name of a type")
    if not 1 <= version <= TYPE_VERSION_MAX:
        raise FormatError(f"version {version} of a type")


def check_size(event):
    """directory.md, section 11: the public part from its flags on, and the personal part."""
    head = Writer()
    encode_numbers(event, head)
    size = len(encode_public_part(event)) - len(head.done()) + len(event.personal or b"")
    if size > EVENT_SIZE_MAX:
        raise FormatError(f"{event.origin}: an event of {size} bytes")
    return size


def check_subject(event, event_type):
    """Only a type without `x-diario-subject` leaves its subject to the row."""
    if event.subject is not None and event_type.subject_field is not None:
        raise FormatError(f"{event.origin}: a subject beside that of the type")


def canonical_row(event):
    check_type(event.type_name, event.version)
    if not 1 <= event.sequence <= SEQUENCE_MAX:
        raise FormatError(f"{event.origin}: a sequence that cannot be")
    if event.has_personal != (event.commitment is not None):
        raise FormatError(f"{event.origin}: the flag `personal` and the commitment disagree")
    writer = Writer()
    writer.u8(ROW_VERSION)
    writer.text(event.type_name)
    writer.varint(event.version)
    writer.u64(event.replica)
    writer.varint(event.sequence)
    writer.raw(encode_public_part(event))
    if event.commitment is not None:
        writer.raw(event.commitment)
    return writer.done()


def decode_row(data):
    """A row back as an event; the commitment, if any, is the last 32 bytes."""
    reader = Reader(data)
    if reader.u8() != ROW_VERSION:
        raise reader.error("a row of another version")
    event = Event(reader.text(), reader.varint(), reader.id(), reader.varint())
    rest = reader.raw(reader.left)
    decode_public_part(event, rest)
    if event.has_personal:
        event.commitment = rest[-32:]
        decode_public_part(event, rest[:-32])
    if canonical_row(event) != data:
        raise FormatError(f"{event.origin}: a row that is not in its one encoding")
    return event


def event_hash(event):
    return sha256(canonical_row(event))
