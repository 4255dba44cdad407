"""rows.md, section 2: integers, text, identifiers and clocks; limits."""

import struct

KIB = 1024
MIB = 1024 * 1024

EVENT_SIZE_MAX = 64 * KIB
BATCH_COUNT_MAX = 1000
BATCH_SIZE_MAX = MIB
BLOCK_COUNT_MAX = 65536
BLOCK_BODY_SIZE_MAX = 2 * MIB
FRAME_BODY_SIZE_MAX = 4 * MIB
LOG_FILE_SIZE_MAX = 16 * MIB
ACTOR_SIZE_MAX = 128
SUBJECT_SIZE_MAX = 256
TYPE_NAME_SIZE_MAX = 128
TYPE_VERSION_MAX = 2**16 - 1
SEQUENCE_MAX = 2**64 - 2
POSITION_MAX = 2**64 - 2

U64_MAX = 2**64 - 1
I64_MIN = -(2**63)
I64_MAX = 2**63 - 1
TIME_MIN = -62_135_596_800_000    # 0001-01-01T00:00:00.000Z
TIME_MAX = 253_402_300_799_999    # 9999-12-31T23:59:59.999Z
CLOCK_COUNTER_BITS = 16
CLOCK_MAX = 2**63 - 1

BASE32_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
ID_TEXT_SIZE = 13


class FormatError(Exception):
    """Bytes or values that the document does not allow."""


def moment(milliseconds, what):
    """The same, if it lies in the years 1 to 9999."""
    if not TIME_MIN <= milliseconds <= TIME_MAX:
        raise FormatError(f"{what} at {milliseconds} milliseconds, outside the years 1 to 9999")
    return milliseconds


class Writer:
    """Collects encoded values."""

    def __init__(self):
        self.parts = bytearray()

    def raw(self, data):
        self.parts += data

    def u8(self, value):
        self.parts += struct.pack("<B", value)

    def u16(self, value):
        self.parts += struct.pack("<H", value)

    def u32(self, value):
        self.parts += struct.pack("<I", value)

    def u64(self, value):
        self.parts += struct.pack("<Q", value)

    def i64(self, value):
        self.parts += struct.pack("<q", value)

    def varint(self, value):
        if not 0 <= value <= U64_MAX:
            raise FormatError(f"{value} does not fit a varint")
        while value > 0x7F:
            self.parts.append(value & 0x7F | 0x80)
            value >>= 7
        self.parts.append(value)

    def zigzag(self, value):
        if not I64_MIN <= value <= I64_MAX:
            raise FormatError(f"{value} does not fit 64 bits")
        self.varint(2 * value if value >= 0 else -2 * value - 1)

    def bytes(self, data):
        self.varint(len(data))
        self.raw(data)

    def text(self, value):
        self.bytes(text_bytes(value))

    def done(self):
        return bytes(self.parts)


class Reader:
    """Takes encoded values from `data`; `base` is where `data` begins, for messages."""

    def __init__(self, data, base=0):
        self.data = data
        self.at = 0
        self.base = base

    def error(self, reason):
        return FormatError(f"offset {self.base + self.at}: {reason}")

    @property
    def left(self):
        return len(self.data) - self.at

    def raw(self, size):
        if size > self.left:
            raise self.error(f"{size} bytes wanted, {self.left} left")
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def fixed(self, layout, size):
        return struct.unpack(layout, self.raw(size))[0]

    def u8(self):
        return self.fixed("<B", 1)

    def u16(self):
        return self.fixed("<H", 2)

    def u32(self):
        return self.fixed("<I", 4)

    def u64(self):
        return self.fixed("<Q", 8)

    def i64(self):
        return self.fixed("<q", 8)

    def varint(self):
        value = 0
        for index in range(10):
            byte = self.u8()
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                if index > 0 and byte == 0:
                    raise self.error("a varint in a longer form than needed")
                if value > U64_MAX:
                    raise self.error("a varint of more than 64 bits")
                return value
        raise self.error("a varint of more than 64 bits")

    def zigzag(self):
        value = self.varint()
        return value // 2 if value % 2 == 0 else -(value // 2) - 1

    def bytes(self):
        return self.raw(self.varint())

    def text(self):
        data = self.bytes()
        try:
            value = data.decode("utf-8")
        except UnicodeDecodeError:
            raise self.error("text that is not UTF-8") from None
        if "\0" in value:
            raise self.error("text with U+0000")
        return value

    def zeros(self, size):
        if any(self.raw(size)):
            raise self.error("bytes that have to be zero are not")

    def id(self):
        value = self.u64()
        if value == 0:
            raise self.error("an id that is zero")
        return value

    def end(self):
        if self.left:
            raise self.error(f"{self.left} bytes too many")


def wrapped(value):
    """The i64 that is equal to `value` modulo 2 to the 64: differences of times wrap around."""
    return (value + 2**63) % 2**64 - 2**63


def text_bytes(value):
    """The UTF-8 of a text, which has neither U+0000 nor lone surrogates."""
    if "\0" in value:
        raise FormatError("text with U+0000")
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError("text with half of a surrogate pair") from None


def id_text(value):
    """An id as 13 characters of base32; the first carries 4 bits, the others 5 each."""
    return "".join(BASE32_ALPHABET[value >> (5 * (12 - place)) & 31] for place in range(13))


def parse_id(text):
    if len(text) != ID_TEXT_SIZE or any(letter not in BASE32_ALPHABET for letter in text):
        raise FormatError(f"not an id: {text!r}")
    value = 0
    for letter in text:
        value = value * 32 + BASE32_ALPHABET.index(letter)
    if not 0 < value <= U64_MAX:
        raise FormatError(f"not an id: {text!r}")
    return value


def origin_text(replica, sequence):
    return f"{id_text(replica)}-{sequence}"


def clock_milliseconds(clock):
    return clock >> CLOCK_COUNTER_BITS


def clock_text(clock):
    return f"{clock_milliseconds(clock)}-{clock & (2**CLOCK_COUNTER_BITS - 1)}"


def parse_clock(text):
    milliseconds, hyphen, counter = text.partition("-")
    if not hyphen:
        raise FormatError(f"not a clock: {text!r}")
    clock = int(milliseconds) << CLOCK_COUNTER_BITS | int(counter)
    if int(counter) >= 2**CLOCK_COUNTER_BITS or clock > CLOCK_MAX:
        raise FormatError(f"not a clock: {text!r}")
    return clock
