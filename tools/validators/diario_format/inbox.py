"""Events that an authority refused: frames.md says where the log has them, sync.md the inbox."""

import re

from .block import parse_block
from .primitives import FormatError, id_text, origin_text, parse_id
from .small_files import blocks_of, small_file

REFUSAL_TYPE = "engine.event.rejected"
BATCH_COUNT_MAX = 1000
NAME = re.compile(r"([0-9a-z]{13})-([0-9a-f]{16})\.(dbox|dnew)")


class Refusal:
    """An `engine.event.rejected` at a position: so many events are not pending."""

    def __init__(self, payload):
        self.replica = parse_id(payload["replica"])
        self.first, self.count = payload["first"], payload["count"]

    @property
    def last(self):
        return self.first + self.count - 1

    def holds(self, key):
        return key[0] == self.replica and self.first <= key[1] <= self.last


class InboxEntry:
    """A file of the inbox: own events of one batch."""

    def __init__(self, data):
        self.written_at, blocks = blocks_of(data, b"dbox")
        if len(blocks) != 1:
            raise FormatError(f"{len(blocks)} blocks")
        block = parse_block(blocks[0])
        if block.is_positioned or block.is_authority:
            raise FormatError("events with positions, or of an authority")
        self.events = block.events
        self.replica, self.first = self.events[0].replica, self.events[0].sequence
        for event in self.events:
            if (event.batch_first, event.batch_count) != (self.first, len(self.events)):
                raise FormatError("more than one batch")


class InboxNote:
    """The note of a batch of the inbox that is recorded again."""

    def __init__(self, data):
        _, reader = small_file(data, b"dnew")
        self.replica, self.first, self.count = reader.id(), reader.u64(), reader.u64()
        self.new_replica, self.new_first = reader.id(), reader.u64()
        reader.end()
        if 0 in (self.first, self.new_first) or not 1 <= self.count <= BATCH_COUNT_MAX:
            raise FormatError(f"a note of {self.count} events from {self.first} on")


def check_inbox(directory, space, ledger, problems):
    """The batches in the inbox of a space that are not pending any more, in order."""
    folder = ("spaces", id_text(space), "inbox")
    pending, found = set(ledger.pending()), []
    for name in directory.names(*folder):
        match = NAME.fullmatch(name)
        if match is None:
            continue
        try:
            data = directory.read(*folder, name)
            entry = InboxEntry(data) if match[3] == "dbox" else InboxNote(data)
            if match[1] != id_text(entry.replica) or int(match[2], 16) != entry.first:
                raise FormatError(f"it holds {origin_text(entry.replica, entry.first)}")
        except FormatError as error:
            problems.append(f"inbox/{name}: {error}")
            continue
        if match[3] == "dbox" and (entry.replica, entry.first) not in pending:
            found.append(entry)
    return found
