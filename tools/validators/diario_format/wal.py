"""frames.md: the files, frames and records of the write-ahead log, read as recovery does."""

import os
import re

from .checksum import crc32c
from .primitives import FRAME_BODY_SIZE_MAX, LOG_FILE_SIZE_MAX, MIB, FormatError, Reader
from .small_files import small_file

FILE_NAME = re.compile(r"([0-9a-f]{16})\.dwal")
FILE_HEADER_SIZE = 4096
FIELDS_SIZE = 60
FRAME_HEADER_SIZE = 40
FRAME_MAGIC = b"dfrm"
ALIGNMENT = 8
RECORD_KINDS = (1, 2, 3, 4, 5, 6)
RESERVE_SIZE_MAX = MIB


class Corruption(Exception):
    """The log is damaged where a crash cannot have damaged it."""


class Record:
    def __init__(self, kind, space, content, where):
        self.kind = kind
        self.space = space
        self.content = content
        self.where = where


class FileHeader:
    def __init__(self, data, number):
        if len(data) < FILE_HEADER_SIZE:
            raise FormatError("a file shorter than its header")
        _, reader = small_file(data[:FIELDS_SIZE], b"dwal")
        if any(data[FIELDS_SIZE:FILE_HEADER_SIZE]):
            raise FormatError("a header with more than its fields")
        self.number = reader.u64()
        self.generation = reader.u64()
        self.generation_before = reader.u64()
        self.synced_length_before = reader.u64()
        self.first_frame = reader.u64()
        self.begun = reader.i64()
        reader.end()
        if self.number != number:
            raise FormatError(f"the header says number {self.number}")
        if self.generation == 0:
            raise FormatError("a generation that is zero")


class Frame:
    """A frame that is valid at its place, whatever its number."""

    def __init__(self, file_name, data, offset, generation):
        head = data[offset : offset + FRAME_HEADER_SIZE]
        if head[:4] != FRAME_MAGIC or len(head) < FRAME_HEADER_SIZE:
            raise FormatError("no frame")
        reader = Reader(head)
        reader.raw(4)
        stated_crc = reader.u32()
        if reader.u64() != generation:
            raise FormatError("a frame of another generation")
        self.number = reader.u64()
        self.durable_before = reader.u64()
        self.body_length = reader.u32()
        self.record_count = reader.u32()
        if self.body_length > FRAME_BODY_SIZE_MAX:
            raise FormatError(f"a frame with {self.body_length} bytes")
        body_end = offset + FRAME_HEADER_SIZE + self.body_length
        self.end = -(-body_end // ALIGNMENT) * ALIGNMENT
        if self.end > len(data):
            raise FormatError("a frame beyond the end of the file")
        if crc32c(data[offset + 8 : self.end]) != stated_crc:
            raise FormatError("the CRC32C of the frame does not hold")
        self.where = f"{file_name} offset {offset}"
        self.offset = offset
        self.body = data[offset + FRAME_HEADER_SIZE : body_end]
        self.padding = data[body_end : self.end]

    def records(self):
        reader = Reader(self.body, self.offset + FRAME_HEADER_SIZE)
        records = []
        while reader.left:
            where = f"{self.where} record {len(records)}"
            kind = reader.u8()
            reader.zeros(3)
            size = reader.u32()
            records.append(Record(kind, reader.id(), reader.raw(size), where))
            if kind not in RECORD_KINDS:
                raise reader.error(f"unknown record kind {kind}")
        if len(records) != self.record_count:
            raise reader.error(f"{len(records)} records, {self.record_count} stated")
        return records


class LogFile:
    """One file with a valid header, and its frames."""

    def __init__(self, name, header, data):
        self.name = name
        self.header = header
        self.data = data
        self.frames = []
        self.reason = name  # why the last frame that was looked for is none

    def frame_at(self, offset):
        try:
            return Frame(self.name, self.data, offset, self.header.generation)
        except FormatError as error:
            self.reason = f"{self.name} offset {offset}: {error}"
            return None

    def read_frames(self, limit):
        """Frames from the start to `limit`, or to the first that is not valid."""
        offset, number = FILE_HEADER_SIZE, self.header.first_frame
        while limit is None or offset < limit:
            frame = self.frame_at(offset)
            if frame is None:
                return offset
            if frame.number != number:
                self.reason = f"{frame.where}: frame {frame.number} instead of {number}"
                return offset
            self.frames.append(frame)
            offset, number = frame.end, number + 1
        return offset

    @property
    def next_frame(self):
        return self.header.first_frame + len(self.frames)


class Mark:
    def __init__(self, generation, length, number):
        self.generation = generation
        self.length = length
        self.number = number


def read_mark(data):
    """The mark that these bytes are; None if they do not verify."""
    try:
        _, reader = small_file(data, b"dsyn")
        mark = Mark(reader.u64(), reader.u64(), reader.u64())
        reader.end()
    except FormatError:
        return None
    return mark


class Log:
    """All files in order; `problems` collects rules that are broken without damage."""

    def __init__(self, folder, problems):
        self.folder = folder
        self.problems = problems
        self.notes = []
        self.files = []
        self.check_reserve()
        self.mark = self.synced_mark()
        for number, name in self.listed():
            self.add_file(number, name)
        for index, file in enumerate(self.files):
            after = self.files[index + 1].header if index + 1 < len(self.files) else None
            self.check_chain(index)
            if after is not None:
                self.read_closed(file, after)
            else:
                self.read_newest(file)
            self.check_frames(file)
        self.check_mark()

    def check_reserve(self):
        path = os.path.join(self.folder, "reserve")
        if os.path.isfile(path):
            with open(path, "rb") as file:
                data = file.read(RESERVE_SIZE_MAX + 1)
            if len(data) > RESERVE_SIZE_MAX or any(data):
                self.problems.append("wal/reserve: not up to 1 MiB of zeros")

    def listed(self):
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        matches = (FILE_NAME.fullmatch(name) for name in names)
        return sorted((int(match.group(1), 16), match.group()) for match in matches if match)

    def add_file(self, number, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            data = file.read()
        try:
            header = FileHeader(data, number)
        except FormatError as error:
            if number != self.listed()[-1][0]:
                raise Corruption(f"{name}: {error}") from None
            self.notes.append(f"{name}: not begun ({error})")
            return
        if len(data) > LOG_FILE_SIZE_MAX:
            self.problems.append(f"{name}: {len(data)} bytes")
        self.files.append(LogFile(name, header, data))

    def check_chain(self, index):
        """Step 1 and F3: each header continues the file before it."""
        header = self.files[index].header
        if index == 0:
            return
        before = self.files[index - 1]
        if header.generation_before != before.header.generation:
            raise Corruption(f"{self.files[index].name}: the file before it is missing")
        if header.first_frame != before.next_frame:
            raise Corruption(
                f"{self.files[index].name}: begins with frame {header.first_frame} "
                f"instead of {before.next_frame}"
            )

    def read_closed(self, file, after):
        """Step 3: frames end where the next header says."""
        end = file.read_frames(after.synced_length_before)
        if end != after.synced_length_before:
            raise Corruption(f"{file.reason} (synced length {after.synced_length_before})")

    def read_newest(self, file):
        """Steps 4 and 5: the first frame that is not valid ends the log, or is corruption."""
        end = file.read_frames(None)
        number = file.next_frame
        mark = self.mark
        if mark is not None and mark.generation == file.header.generation and end < mark.length:
            raise Corruption(f"{file.reason} (synced mark {mark.length})")
        for offset in range(end, len(file.data) - FRAME_HEADER_SIZE + 1, ALIGNMENT):
            if file.data[offset : offset + 4] != FRAME_MAGIC:
                continue
            frame = file.frame_at(offset)
            if frame is not None and (frame.durable_before > end or frame.number >= number):
                raise Corruption(f"{file.name} offset {end}: a valid frame follows at {offset}")
        self.note_torn(file, end, number)

    def note_torn(self, file, end, number):
        reader = Reader(file.data[end : end + FRAME_HEADER_SIZE])
        if reader.left < FRAME_HEADER_SIZE or reader.raw(4) != FRAME_MAGIC:
            return
        reader.u32()
        if (reader.u64(), reader.u64()) == (file.header.generation, number):
            self.notes.append(f"{file.name} offset {end}: a torn frame, to be cut")

    def synced_mark(self):
        """The mark in `wal/synced`; None if it does not verify."""
        path = os.path.join(self.folder, "synced")
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return read_mark(file.read())

    def check_mark(self):
        """Step 1: the file that the mark speaks of is there, or a later one is begun."""
        if self.mark is None:
            return
        begun = [file.header.number for file in self.files if file.frames]
        if not begun and self.mark.length > FILE_HEADER_SIZE:
            raise Corruption(f"no file holds a frame (synced mark {self.mark.length})")
        number = self.mark.number
        if number is not None and self.mark.length > FILE_HEADER_SIZE and begun[-1] < number:
            raise Corruption(f"file {number:016x} is missing, or holds no frame (synced mark)")

    def check_frames(self, file):
        known = FILE_HEADER_SIZE
        for frame in file.frames:
            if any(frame.padding):
                self.problems.append(f"{frame.where}: padding that is not zero")
            if not known <= frame.durable_before <= frame.offset:
                self.problems.append(
                    f"{frame.where}: durableBefore {frame.durable_before} after {known}"
                )
            known = max(known, frame.durable_before)

    def records(self):
        for file in self.files:
            for frame in file.frames:
                try:
                    yield from frame.records()
                except FormatError as error:
                    raise Corruption(f"{frame.where}: {error}") from None
