"""The columns of a type's fields, and the payload parts they make (segments.md, section 8)."""

import math
import struct

from .columns import Context
from .payload import bytes_with_size
from .primitives import U64_MAX, Writer

PRESENT_NONE, PRESENT_ALL, PRESENT_SOME = range(3)
INTEGER_KINDS = ("integer", "date", "date-time")
NUMBER_AS_BITS = 255
DECIMAL_PLACES_MAX = 18
UUID_SIZE = 16


def read_part(reader, event_type, fields, count):
    """The public or the personal part of each row of a block, as `rows.md`, section 3, has it."""
    context = Context()
    bitmaps = [bytearray((len(fields) + 7) // 8) for _ in range(count)]
    parts = [[] for _ in range(count)]
    for place, field in enumerate(fields):
        rows = present_rows(reader, count, context)
        index = event_type.fields.index(field)
        values, ids = [], None
        if rows:
            values, ids = read_values(reader, field, len(rows), context.select(rows))
        for row, value in zip(rows, values):
            bitmaps[row][place // 8] |= 1 << place % 8
            parts[row].append(value)
        if ids is not None:
            context.columns[index] = spread(count, rows, ids)
    return [bytes(bitmap) + b"".join(part) for bitmap, part in zip(bitmaps, parts)]


def present_rows(reader, count, context):
    presence = reader.choice("presence", (PRESENT_NONE, PRESENT_ALL, PRESENT_SOME))
    if presence != PRESENT_SOME:
        return list(range(count)) if presence == PRESENT_ALL else []
    marks = reader.indices(count, 2, context, "a mark of presence")
    return [row for row, mark in enumerate(marks) if mark]


def spread(count, rows, ids):
    """The indices of values for all rows, None where there is no value."""
    column = [None] * count
    for row, value in zip(rows, ids):
        column[row] = value
    return column


def read_values(reader, field, count, context):
    """The encoded values, and for columns that can be a key their indices."""
    reader.allows_shared = field.kind == "string"
    if field.kind in ("string", "nested", "bytes"):
        texts, ids = reader.texts_and_ids(count, context)
        return [bytes_with_size(text) for text in texts], ids
    if field.kind == "uuid":
        values, ids = reader.texts_and_ids(count, context)
        if any(len(value) != UUID_SIZE for value in values):
            raise reader.error(f"{field.name}: a uuid of another size than {UUID_SIZE}")
        return values, ids
    if field.kind == "number":
        return read_numbers(reader, field, count, context)
    values = reader.ints(count, context)
    if field.kind in INTEGER_KINDS:
        return [encoded_integer(value) for value in values], None
    bound = 2 if field.kind == "boolean" else len(field.schema["enum"])
    reader.checked(values, bound, field.name)
    return [encoded_index(value) for value in values], values


def read_numbers(reader, field, count, context):
    places = reader.u8()
    values = reader.ints(count, context)
    if places == NUMBER_AS_BITS:
        numbers = [struct.unpack("<d", struct.pack("<q", value))[0] for value in values]
    elif places <= DECIMAL_PLACES_MAX:
        # Python divides integers exactly and rounds once.
        numbers = [value / 10**places for value in values]
    else:
        raise reader.error(f"{field.name}: {places} decimal places")
    for number in numbers:
        if not math.isfinite(number) or (number == 0 and math.copysign(1, number) < 0):
            raise reader.error(f"{field.name}: a number that is NaN, infinite or -0")
    return [struct.pack("<d", number) for number in numbers], None


def encoded_integer(value):
    writer = Writer()
    writer.zigzag(value)
    return writer.done()


def encoded_index(value):
    writer = Writer()
    writer.varint(value & U64_MAX)
    return writer.done()
