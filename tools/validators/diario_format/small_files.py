"""directory.md, section 2: what the small files have in common."""

from .checksum import crc32c
from .primitives import FormatError, Reader

HEADER_SIZE = 8
VERSION = 1


def small_file(data, magic, flags=0):
    """The flags of a file, of those that it may have, and a reader of its fields."""
    if len(data) < HEADER_SIZE + 4:
        raise FormatError(f"{len(data)} bytes")
    if int.from_bytes(data[-4:], "little") != crc32c(data[:-4]):
        raise FormatError("the CRC32C does not hold")
    reader = Reader(data[:-4])
    if reader.raw(4) != magic or reader.u8() != VERSION:
        raise FormatError(f"not {magic.decode()} of version {VERSION}")
    found = reader.u8()
    if found & ~flags:
        raise FormatError(f"unknown flags {found}")
    reader.zeros(2)
    return found, reader


def make_small_file(magic, fields, flags=0):
    data = magic + bytes([VERSION, flags, 0, 0]) + fields
    return data + crc32c(data).to_bytes(4, "little")


def blocks_of(data, magic):
    """When a file of blocks was written, and the blocks."""
    _, reader = small_file(data, magic)
    written_at, blocks = reader.i64(), []
    while reader.left:
        blocks.append(reader.raw(reader.varint()))
    return written_at, blocks
