"""The notes of a replica about its imports (`sync.md`, section 12)."""

from .primitives import BLOCK_COUNT_MAX, SEQUENCE_MAX, FormatError, id_text, origin_text
from .small_files import small_file


class ImportedRun:
    """Events of another space that were recorded here, in a row there and here."""

    def __init__(self, reader):
        self.replica, self.first, self.count = reader.id(), reader.u64(), reader.u64()
        self.new_replica, self.new_first = reader.id(), reader.u64()
        for first in (self.first, self.new_first):
            if first == 0 or self.count == 0 or first + self.count - 1 > SEQUENCE_MAX:
                raise FormatError(f"a run of {self.count} events from {first} on")


class ImportNote:
    """A group of events that is recorded, or all that was recorded before."""

    def __init__(self, data):
        _, reader = small_file(data, b"dimp")
        self.replica, self.first = reader.u64(), reader.u64()
        self.count, run_count = reader.u32(), reader.u32()
        self.digest = reader.raw(32)
        self.runs = [ImportedRun(reader) for _ in range(run_count)]
        reader.end()
        self.check_group()
        for one, next_one in zip(self.runs, self.runs[1:]):
            if (one.replica, one.first + one.count - 1) >= (next_one.replica, next_one.first):
                raise FormatError("the runs overlap, or are in no order")

    def check_group(self):
        if self.replica == 0:
            if self.first or self.count or any(self.digest):
                raise FormatError("events of no replica")
            return
        last = self.first + self.count - 1
        if self.first == 0 or not 1 <= self.count <= BLOCK_COUNT_MAX or last > SEQUENCE_MAX:
            raise FormatError(f"a note of {self.count} events from {self.first} on")
        for run in self.runs:
            end = run.new_first + run.count - 1
            if run.new_replica != self.replica or run.new_first < self.first or end > last:
                raise FormatError(f"{origin_text(run.replica, run.first)} is outside of the note")

    @property
    def name(self):
        if self.replica == 0:
            return "known.dimp"
        return f"{id_text(self.replica)}-{self.first:016x}.dimp"


def check_imports(directory, space, problems):
    """The notes of a space: each can be read, and is called as it says."""
    folder = ("spaces", id_text(space), "imports")
    for name in directory.names(*folder):
        if not name.endswith(".dimp"):
            continue
        try:
            note = ImportNote(directory.read(*folder, name))
            if note.name != name:
                raise FormatError(f"it says what {note.name} should")
        except FormatError as error:
            problems.append(f"imports/{name}: {error}")
