"""Filters of subjects (segments.md, section 9)."""

from .checksum import crc32c

RICE_BITS_MAX = 16


def subject_of(event, event_type):
    """The subject for the filter of the type; None where origins tell it, or it is no text."""
    field = event_type.subject_field
    if field is None:
        return event.subject
    if event.derived and field == event_type.new_id_field:
        return None
    kinds = {other.name: other.kind for other in event_type.fields}
    return event.payload(event_type).get(field) if kinds[field] == "string" else None


def check_filter(reader, subjects):
    stated, bits = reader.varint(), reader.u8()
    checksums = {crc32c(subject.encode("utf-8")) for subject in subjects}
    if stated != len(checksums):
        raise reader.error(f"{stated} subjects, there are {len(checksums)}")
    if bits > RICE_BITS_MAX:
        raise reader.error(f"{bits} bits of a rest")
    data = reader.stream(reader.expanded_size)
    scale = stated << bits
    if scale > 2**32:
        raise reader.error(f"a filter of {stated} subjects with {bits} bits")
    wanted = sorted(checksum * scale >> 32 for checksum in checksums)
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
