"""The subcommand `selftest`: the parts against known facts, and round trips."""

import random
import struct
import tempfile

from . import sample
from .block import encode_block, make_block, parse_block
from .calendar import (
    date_from_days, days_from_date, instant_from_milliseconds, milliseconds_from_instant,
)
from .canonical import canonical_json, number_text, parse_json, whole_number
from .check_log import DataDirectory
from .checksum import crc32c
from .directory import PublishingFile
from .generate import Generator, written
from .harness import event_of_request
from .hashes import (
    compact_range, node_of, salt_below, salt_child, salt_of, schema_fingerprint, sha256,
)
from .primitives import (
    I64_MAX, I64_MIN, U64_MAX, FormatError, Reader, Writer, clock_text, id_text, parse_clock,
    parse_id,
)
from .row import canonical_row, decode_row
from .schemas import EventType

# Bits of a binary64 and the text that RFC 8785, appendix B, gives for it.
NUMBERS = {
    0x0000000000000000: "0", 0x8000000000000000: "0", 0x0000000000000001: "5e-324",
    0x8000000000000001: "-5e-324", 0x7FEFFFFFFFFFFFFF: "1.7976931348623157e+308",
    0x4340000000000000: "9007199254740992", 0x4430000000000000: "295147905179352830000",
    0x44B52D02C7E14AF5: "9.999999999999997e+22", 0x44B52D02C7E14AF6: "1e+23",
    0x44B52D02C7E14AF7: "1.0000000000000001e+23", 0x444B1AE4D6E2EF4E: "999999999999999700000",
    0x444B1AE4D6E2EF4F: "999999999999999900000", 0x444B1AE4D6E2EF50: "1e+21",
    0x3EB0C6F7A0B5ED8C: "9.999999999999997e-7", 0x3EB0C6F7A0B5ED8D: "0.000001",
    0x41B3DE4355555553: "333333333.3333332", 0x41B3DE4355555557: "333333333.33333343",
    0xBECBF647612F3696: "-0.0000033333333333333333", 0x43143FF3C1CB0959: "1424953923781206.2",
}

EVERY_KIND = {
    "title": "test.all.kinds", "x-diario-version": 3, "type": "object", "required": [],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "maxLength": 64, "x-diario-id": "new"},
        "integer": {"type": "integer"}, "number": {"type": "number"},
        "string": {"type": "string"}, "boolean": {"type": "boolean"},
        "enum": {"enum": ["a", "b"]}, "date": {"type": "string", "format": "date"},
        "time": {"type": "string", "format": "date-time", "x-diario-personal": True},
        "uuid": {"type": "string", "format": "uuid", "x-diario-personal": True},
        "bytes": {"type": "string", "contentEncoding": "base64", "maxLength": 40},
        "list": {"type": "array", "items": {"type": "number"}, "x-diario-personal": True},
        "word": {"type": "string", "pattern": "^([a-c]|\\d{2,})[^x]?$", "maxLength": 9},
    },
}


class Checks:
    """Counts checks and keeps what failed."""

    def __init__(self):
        self.count = 0
        self.failed = []

    def equal(self, what, found, wanted):
        self.count += 1
        if found != wanted:
            self.failed.append(f"{what}: {found!r} instead of {wanted!r}")

    def refused(self, what, action):
        self.count += 1
        try:
            action()
        except FormatError:
            return
        self.failed.append(f"{what}: not refused")


def check_primitives(checks):
    for value, encoded in ((0, "00"), (127, "7f"), (128, "8001"), (U64_MAX, "ff" * 9 + "01")):
        writer = Writer()
        writer.varint(value)
        checks.equal(f"varint {value}", writer.done().hex(), encoded)
        checks.equal(f"varint {encoded}", Reader(writer.done()).varint(), value)
    for wrong in ("8000", "ff" * 9 + "02", "80" * 10 + "01", "ff"):
        checks.refused(f"varint {wrong}", lambda: Reader(bytes.fromhex(wrong)).varint())
    for value, as_varint in ((0, 0), (-1, 1), (1, 2), (I64_MAX, U64_MAX - 1), (I64_MIN, U64_MAX)):
        writer = Writer()
        writer.zigzag(value)
        checks.equal(f"zigzag {value}", Reader(writer.done()).varint(), as_varint)
        checks.equal(f"zigzag {value} back", Reader(writer.done()).zigzag(), value)
    for value, text in ((1, "0000000000001"), (U64_MAX, "fzzzzzzzzzzzz"), (32, "0000000000010")):
        checks.equal(f"id {value}", id_text(value), text)
        checks.equal(f"id {text}", parse_id(text), value)
    for wrong in ("0000000000000", "g000000000000", "000000000000i", "01"):
        checks.refused(f"id {wrong}", lambda: parse_id(wrong))
    for wrong in (b"\x01\x00", b"\x02\xc0\x80", b"\x03\xed\xa0\x80", b"\x02a"):
        checks.refused(f"text {wrong!r}", lambda: Reader(wrong).text())
    checks.equal("clock", clock_text(parse_clock("1767225600000-65535")), "1767225600000-65535")


def check_json(checks):
    for bits, text in NUMBERS.items():
        number = struct.unpack("<d", struct.pack("<Q", bits))[0]
        checks.equal(f"number {bits:016x}", number_text(number), text)
    source = '{"\u20ac":1,"\\r":2,"\ufb33":3,"1":4,"\U0001f600":5,"\\u0080":6,"\u00f6":7}'
    wanted = '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}'
    checks.equal("order of members", canonical_json(parse_json(source)), wanted)
    source = '[1.0, 1E3, -0.0, "\\u000f\\u2028\\/\\"", true, null, {}]'
    wanted = '[1,1000,0,"\\u000f\u2028/\\"",true,null,{}]'
    checks.equal("canonical values", canonical_json(parse_json(source)), wanted)
    for text, value in (("1.0", 1), ("1e3", 1000), ("-0", 0), ("-0.0", 0),
                        ("9223372036854775807.0", I64_MAX), ('"-12"', -12)):
        checks.equal(f"whole {text}", whole_number(parse_json(text)), value)
    for wrong in ("1.5", "1e-1", "true", "[]", "1e999999999"):
        checks.refused(f"whole {wrong}", lambda: whole_number(parse_json(wrong)))
    for wrong in ('{"a":1,"a":2}', "NaN", "01", "[1,]"):
        checks.refused(f"JSON {wrong}", lambda: parse_json(wrong))


def check_calendar(checks):
    for text, days in (("1970-01-01", 0), ("2000-02-29", 11016), ("0000-01-01", -719528),
                       ("9999-12-31", 2932896), ("1969-12-31", -1)):
        checks.equal(text, days_from_date(text), days)
        checks.equal(str(days), date_from_days(days), text)
    for days in range(-719528, 2932897, 997):
        checks.equal(f"day {days}", days_from_date(date_from_days(days)), days)
    for text, milliseconds in (("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.999Z", -1),
                               ("2026-05-04T09:30:00.5+02:00", 1777879800500)):
        checks.equal(text, milliseconds_from_instant(text), milliseconds)
    checks.equal("instant", instant_from_milliseconds(1777879800500), "2026-05-04T07:30:00.500Z")
    for wrong in ("2026-02-29", "1900-02-29", "2026-13-01", "2026-1-01"):
        checks.refused(wrong, lambda: days_from_date(wrong))


def check_hashes(checks):
    checks.equal("CRC32C", crc32c(b"123456789"), 0xE3069283)
    checks.equal("CRC32C in parts", crc32c(b"1234", b"56789"), 0xE3069283)
    checks.equal("CRC32C of 32 zeros", crc32c(bytes(32)), 0x8A9136AA)
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    checks.equal("empty tree", compact_range([]).root().hex(), empty)
    leaves = [sha256(bytes([number])) for number in range(40)]
    for count in range(1, len(leaves)):
        found = compact_range(leaves[:count])
        checks.equal(f"tree of {count}", found.root(), tree_root(leaves[:count]))
        checks.equal(f"nodes of {count}", len(found.nodes), bin(count).count("1"))
    seed = bytes(16)
    left_half = salt_child(seed, 0)
    checks.equal("salt below a node", salt_below(left_half, 1, 511), salt_of(seed, 512))
    checks.equal("groups", salt_of(seed, 1), salt_of(seed, 1025))
    plain = {"properties": {"title": {"type": "string"}}, "type": "object"}
    told = {"title": "t", "$schema": "s", "type": "object", "properties": {
        "title": {"type": "string", "description": "d", "x-diario-unit": "u"}}}
    checks.equal("schema fingerprint", schema_fingerprint(told), schema_fingerprint(plain))


def tree_root(leaves):
    """The recursive definition of RFC 6962."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_of(tree_root(leaves[:split]), tree_root(leaves[split:]))


def check_round_trips(checks):
    event_type = EventType(EVERY_KIND)
    generator = Generator([event_type], random.Random(1))
    for number in range(300):
        _, request = generator.request()
        event = event_of_request(event_type, parse_json(written(request)))
        row = canonical_row(event)
        again = decode_row(row)
        again.personal = event.personal
        checks.equal(f"row {number}", canonical_row(again), row)
        checks.equal(f"subject {number}", again.subject, request.get("subject"))
        payload = again.payload(event_type)
        again.set_payload(event_type, payload)
        checks.equal(f"payload {number}", canonical_row(again), row)


def check_blocks(checks):
    events = [sample.make_event(sequence) for sequence in range(1, 6)]
    times = [sample.TIME] * 3 + [sample.TIME + 1] * 2
    data = encode_block(make_block(events, sample.CATALOGUE, 7, times))
    block = parse_block(data)
    checks.equal("block again", encode_block(block), data)
    checks.equal("times of the block", block.accepted_times(), times)
    for offset in range(len(data)):
        broken = bytearray(data)
        broken[offset] ^= 1
        checks.refused(f"block with byte {offset} changed", lambda: parse_block(bytes(broken)))
        checks.refused(f"block cut at {offset}", lambda: parse_block(data[:offset]))
    late = [sample.make_event(2), sample.make_event(1)]
    wrong = encode_block(make_block(late, sample.CATALOGUE, 1, [0, 0]))
    checks.refused("L4", lambda: parse_block(wrong))
    wrong = encode_block(make_block(events, sample.CATALOGUE, 1, [5, 4, 4, 4, 4]))
    checks.refused("L5", lambda: parse_block(wrong))


def check_directory(checks):
    data, offsets = sample.log_bytes()
    whole = read_sample([data + bytes(512)])
    checks.equal("problems", whole.problems, [])
    space = whole.summary()["spaces"][0]
    checks.equal("head and pending", (space["head"], space["pending"]), (5, 1))
    checks.equal("lines", len(list(whole.export_lines())), 6)
    torn = read_sample([data[: offsets[3] + 60]])
    checks.equal("torn frame", (torn.problems, len(torn.notes)), ([], 1))
    checks.equal("root without its state", torn.summary()["spaces"][0]["root"], space["root"])
    for offset, what in ((20, "header"), (offsets[1] + 50, "frame"), (offsets[2] + 1, "magic")):
        broken = bytearray(data)
        broken[offset] ^= 1
        found = read_sample([bytes(broken)])
        checks.equal(f"damage in {what}", bool(found.problems or found.notes), True)
    marked = read_sample([data], sample.synced_mark(sample.GENERATION, len(data)))
    checks.equal("synced mark", marked.problems, [])
    cut = read_sample([data[:-8]], sample.synced_mark(sample.GENERATION, len(data)))
    checks.equal("cut below the synced mark", len(cut.problems), 1)
    check_two_files(checks, whole.summary())


def check_publishing(checks):
    data = sample.publishing_file(5, bytes(range(32)))
    file = PublishingFile(data)
    checks.equal("publishing", (file.state, file.size, file.accepted_at), (1, 5, 77))
    file.check(5, bytes(range(32)))
    checks.refused("another size", lambda: file.check(6, bytes(range(32))))
    checks.refused("another root", lambda: file.check(5, bytes(32)))
    PublishingFile(sample.publishing_file(5, bytes(32), state=2)).check(6, bytes(range(32)))
    for offset in range(len(data)):
        broken = bytearray(data)
        broken[offset] ^= 4
        checks.refused(f"publishing with byte {offset} changed",
                       lambda: PublishingFile(bytes(broken)))
        checks.refused(f"publishing cut at {offset}", lambda: PublishingFile(data[:offset]))
    checks.refused("state 3", lambda: PublishingFile(sample.publishing_file(5, bytes(32), state=3)))


def check_two_files(checks, summary):
    first, second = sample.two_log_files()
    both = read_sample([first, second])
    checks.equal("two files", (both.problems, both.summary()), ([], summary))
    begun = read_sample([first, second[:100]])
    checks.equal("a file not begun", (begun.problems, len(begun.notes)), ([], 1))
    lost = read_sample([first, second[:100], second])
    checks.equal("a broken file in the middle", len(lost.problems), 1)
    other = sample.file_header(2, 99, (98, len(first)), 4)
    checks.equal("a file is missing", len(read_sample([first, other]).problems), 1)
    dropped = sample.record(5, b"")
    late = second + sample.frame(5, len(second), [dropped], sample.GENERATION + 1)
    space = read_sample([first, late]).summary()["spaces"][0]
    checks.equal("dropped", (space["events"], space["head"]), (0, 0))


def read_sample(logs, mark=b""):
    with tempfile.TemporaryDirectory() as folder:
        sample.write_directory(folder, logs, mark)
        return DataDirectory(folder)


def run():
    checks = Checks()
    for check in (check_primitives, check_json, check_calendar, check_hashes,
                  check_round_trips, check_blocks, check_directory, check_publishing):
        check(checks)
    return checks.count, checks.failed
