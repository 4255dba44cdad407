"""rows.md, section 3: a payload as its public and its personal part, and back."""

import base64
import binascii
import math
import struct
import uuid

from .calendar import (
    date_from_days, days_from_date, instant_from_milliseconds, milliseconds_from_instant,
)
from .canonical import canonical_json, parse_json, whole_number
from .primitives import FormatError, Reader, Writer

PERSONAL_SIZE_MIN = 2


# Values

def write_number(writer, value, _):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FormatError(f"not a number: {value!r}")
    number = float(value)
    if not math.isfinite(number):
        raise FormatError("a number that is not finite")
    writer.raw(struct.pack("<d", 0.0 if number == 0 else number))


def read_number(reader, _):
    bits = reader.raw(8)
    number = struct.unpack("<d", bits)[0]
    if not math.isfinite(number) or bits == struct.pack("<d", -0.0):
        raise reader.error("a number that is NaN, infinite or -0")
    return number


def write_boolean(writer, value, _):
    if not isinstance(value, bool):
        raise FormatError(f"not a boolean: {value!r}")
    writer.u8(1 if value else 0)


def read_boolean(reader, _):
    value = reader.u8()
    if value > 1:
        raise reader.error("a boolean that is neither 0 nor 1")
    return value == 1


def write_enum(writer, value, field):
    if value not in field.schema["enum"]:
        raise FormatError(f"{value!r} is not in the list of {field.name}")
    writer.varint(field.schema["enum"].index(value))


def read_enum(reader, field):
    index = reader.varint()
    if index >= len(field.schema["enum"]):
        raise reader.error(f"{field.name} has no value {index}")
    return field.schema["enum"][index]


def write_uuid(writer, value, _):
    try:
        writer.raw(uuid.UUID(value).bytes)
    except ValueError:
        raise FormatError(f"not a uuid: {value!r}") from None


def write_bytes(writer, value, _):
    try:
        writer.bytes(base64.b64decode(value, validate=True))
    except binascii.Error:
        raise FormatError(f"not base64: {value!r}") from None


WRITE = {
    "integer": lambda writer, value, _: writer.zigzag(whole_number(value)),
    "number": write_number,
    "string": lambda writer, value, _: writer.text(value),
    "nested": lambda writer, value, _: writer.text(canonical_json(value)),
    "boolean": write_boolean,
    "enum": write_enum,
    "date": lambda writer, value, _: writer.zigzag(days_from_date(value)),
    "date-time": lambda writer, value, _: writer.zigzag(milliseconds_from_instant(value)),
    "uuid": write_uuid,
    "bytes": write_bytes,
}

READ = {
    "integer": lambda reader, _: reader.zigzag(),
    "number": read_number,
    "string": lambda reader, _: reader.text(),
    "nested": lambda reader, _: parse_json(reader.text()),
    "boolean": read_boolean,
    "enum": read_enum,
    "date": lambda reader, _: date_from_days(reader.zigzag()),
    "date-time": lambda reader, _: instant_from_milliseconds(reader.zigzag()),
    "uuid": lambda reader, _: str(uuid.UUID(bytes=reader.raw(16))),
    "bytes": lambda reader, _: base64.b64encode(reader.bytes()).decode("ascii"),
}


def field_text(data):
    """Bytes of a column as the text they have to be."""
    return Reader(bytes_with_size(data)).text()


def bytes_with_size(data):
    writer = Writer()
    writer.bytes(data)
    return writer.done()


# Parts

def encode_part(fields, payload):
    """The bitmap and values of those of `fields` that `payload` has."""
    bitmap = bytearray((len(fields) + 7) // 8)
    values = Writer()
    for index, field in enumerate(fields):
        if field.name in payload:
            bitmap[index // 8] |= 1 << index % 8
            WRITE[field.kind](values, payload[field.name], field)
    return bytes(bitmap) + values.done()


def decode_part(fields, data):
    reader = Reader(data)
    bitmap = reader.raw((len(fields) + 7) // 8)
    if len(fields) % 8 and bitmap[-1] >> len(fields) % 8:
        raise reader.error("a bit of the bitmap that no field has")
    payload = {}
    for index, field in enumerate(fields):
        if bitmap[index // 8] >> index % 8 & 1:
            payload[field.name] = READ[field.kind](reader, field)
    reader.end()
    return payload


def with_new_id(event_type, payload, origin):
    """The payload as the writer completes it: a new id that is left out is the origin."""
    if event_type.new_id_field is None or event_type.new_id_field in payload:
        return payload
    return {**payload, event_type.new_id_field: origin}


def encode_payload(event_type, payload, origin):
    """The public part, the personal part or None, and whether the new id is derived."""
    known = {field.name for field in event_type.public_fields + event_type.personal_fields}
    unknown = set(payload) - known
    if unknown:
        raise FormatError(f"{event_type.name} has no field {sorted(unknown)[0]}")
    rest = dict(payload)
    derived = event_type.new_id_field is not None and rest.get(event_type.new_id_field) == origin
    if derived:
        del rest[event_type.new_id_field]
    public = encode_part(event_type.public_fields, rest)
    if not any(field.name in rest for field in event_type.personal_fields):
        return public, None, derived
    return public, encode_part(event_type.personal_fields, rest), derived


def decode_payload(event_type, public, personal, derived, origin):
    """The payload; its one encoding (R1) is checked by encoding it again."""
    payload = decode_part(event_type.public_fields, public)
    if personal is not None:
        payload.update(decode_part(event_type.personal_fields, personal))
    if derived:
        if event_type.new_id_field is None or event_type.new_id_field in payload:
            raise FormatError(f"{event_type.name}: derived, but there is no field to derive")
        payload[event_type.new_id_field] = origin
    if encode_payload(event_type, payload, origin) != (public, personal, derived):
        raise FormatError(f"{event_type.name}: a payload that is not in its one encoding")
    return payload
