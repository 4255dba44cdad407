"""Section 8: row files, and the records that say which rows lie there."""

from .block import COMPRESSION_ROWS, parse_block
from .checksum import crc32c
from .primitives import FormatError, Reader

HEADER_SIZE = 32
NUMBER_MAX = (1 << 32) - 1
KIND_ROWS = 1


class MovedRows:
    """A record `moved`: events that lie in a condensed block of a row file."""

    def __init__(self, content):
        reader = Reader(content)
        self.file, self.offset, self.size = reader.u64(), reader.u32(), reader.u32()
        self.first_position, self.count, self.skip = reader.u64(), reader.u32(), reader.u32()
        reader.end()
        if not 1 <= self.file <= NUMBER_MAX or self.offset < HEADER_SIZE:
            raise FormatError(f"moved rows at {self.offset} of file {self.file}")
        if self.first_position == 0 or self.count == 0:
            raise FormatError(f"{self.count} moved events from {self.first_position} on")

    @property
    def last_position(self):
        return self.first_position + self.count - 1


class RowFile:
    """A row file: (space, offset, block) of each block."""

    def __init__(self, data, number):
        reader = Reader(data)
        if reader.raw(4) != b"DROW" or reader.u8() != 1:
            raise FormatError("not a row file of version 1")
        reader.zeros(3)
        if reader.u64() != number or reader.u64() != len(data):
            raise FormatError("another number, or another length")
        reader.zeros(4)
        if reader.u32() != crc32c(data[:28]):
            raise FormatError("the CRC32C of the header does not hold")
        self.data = data
        self.blocks = []
        while reader.left:
            kind = reader.u8()
            reader.zeros(3)
            size, space = reader.u32(), reader.id()
            if kind != KIND_ROWS:
                raise FormatError(f"a record of kind {kind} in a row file")
            block = parse_block(reader.raw(size))
            if block.compression != COMPRESSION_ROWS:
                raise FormatError("a block in a row file that is not condensed")
            self.blocks.append((space, len(data) - reader.left - size, size, block))

    def block(self, rows):
        """The block of moved rows."""
        for space, offset, size, block in self.blocks:
            if (offset, size) == (rows.offset, rows.size):
                if block.first_position + rows.skip != rows.first_position:
                    raise FormatError(f"a block from position {block.first_position} on, "
                                      f"not from {rows.first_position}")
                if rows.skip + rows.count > len(block.events):
                    raise FormatError(f"a block of {len(block.events)} events")
                return space, block
        raise FormatError(f"no block of {rows.size} bytes at {rows.offset}")


class RowFiles:
    """The folder `rows` of a data directory."""

    def __init__(self, directory):
        self.directory = directory
        self.files = {}

    def find(self, space, rows):
        """The block that a record of a space speaks of."""
        name = f"{rows.file:016x}.drow"
        try:
            if rows.file not in self.files:
                self.files[rows.file] = RowFile(self.directory.read("rows", name), rows.file)
            found, block = self.files[rows.file].block(rows)
        except FormatError as error:
            raise FormatError(f"rows/{name}: {error}") from None
        if found != space:
            raise FormatError(f"rows/{name}: a block of another space")
        return block
