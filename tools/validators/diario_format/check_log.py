"""The subcommand `log`: a whole data directory, checked as directory.md and frames.md say."""

import json
import os

from .directory import Directory, segment_name
from .export import export_line
from .imports import check_imports
from .inbox import check_inbox
from .ledger import KIND_DROPPED, Ledger
from .primitives import FormatError, id_text
from .proofs import check_tiles
from .schemas import Catalogue
from .segments import Segment
from .wal import Corruption, Log


WINDOW_COUNT = 65_536


class DataDirectory:
    """All that a data directory holds; `problems` says what is wrong, `notes` what else is."""

    def __init__(self, folder, packs=()):
        self.problems = []
        self.notes = []
        self.directory = Directory(folder, self.problems)
        self.catalogue = Catalogue(packs)
        for pack in self.directory.packs.values():
            self.catalogue.add(pack.types)
        self.ledgers = {}
        self.inboxes = {}       # space: batches in the inbox
        self.read_log()
        for space in self.directory.spaces:
            self.read_segments(space)
        self.roots = {space: self.root_of(space) for space in sorted(self.ledgers)}

    def read_log(self):
        try:
            log = Log(self.directory.path("wal"), self.problems)
            self.notes += log.notes
            for record in log.records():
                self.apply(record)
        except Corruption as error:
            self.problems.append(f"corruption: {error}")

    def apply(self, record):
        if record.kind == KIND_DROPPED:
            if record.content:
                self.problems.append(f"{record.where}: a record `dropped` with content")
            self.ledgers.pop(record.space, None)
            return
        if record.space not in self.ledgers:
            self.ledgers[record.space] = self.ledger(record.space)
        self.ledgers[record.space].apply(record)

    def ledger(self, space):
        return Ledger(self.catalogue, self.problems, space)

    def read_segments(self, space):
        """Opens the segments that the manifest lists, and notes files that nobody refers to."""
        manifest = self.directory.spaces[space].manifest
        folder = ("spaces", id_text(space), "segments")
        for listed in manifest.segments + manifest.private:
            where = f"space {id_text(space)}: segment {listed.name}"
            try:
                segment = open_segment(listed, self.directory.read(*folder, f"{listed.name}.dseg"),
                                       self.directory.read(*folder, f"{listed.name}.dper"))
            except FormatError as error:
                self.problems.append(f"{where}: {error}")
                continue
            if space not in self.ledgers:
                self.ledgers[space] = self.ledger(space)
            ledger = self.ledgers[space]
            (ledger.private if listed.replica else ledger.sealed).append((where, segment))
        known = {listed.name for listed in manifest.segments + manifest.private}
        known |= {segment_name(first, number) for first, number, _ in manifest.retired}
        for name in self.directory.names(*folder):
            if os.path.splitext(name)[0] not in known:
                self.notes.append(f"space {id_text(space)}: nobody refers to segments/{name}")

    def root_of(self, space):
        ledger = self.ledgers[space]
        before = len(self.problems)
        name = id_text(space)
        current = ledger.check()
        if current is None:
            self.problems.append("the root cannot be computed: leaves are missing")
        if space not in self.directory.spaces:
            self.problems.append("records, but no manifest")
        for state in ledger.states:
            self.check_packs(state)
        self.check_tiles(name, ledger)
        self.inboxes[space] = check_inbox(self.directory, space, ledger, self.problems)
        check_imports(self.directory, space, self.problems)
        if current is not None:
            self.check_publishing(space, ledger.head, current.root())
        self.problems[before:] = [f"space {name}: {text}" for text in self.problems[before:]]
        return None if current is None else current.root().hex()

    def check_publishing(self, space, head, root):
        known = self.directory.spaces.get(space)
        if known is not None and known.publishing is not None:
            try:
                known.publishing.check(head, root)
            except FormatError as error:
                self.problems.append(f"publishing: {error}")

    def check_packs(self, state):
        for _, fingerprint in state.adoptions:
            if fingerprint not in self.directory.packs:
                self.problems.append(f"{state.where}: no pack {fingerprint.hex()}")

    def check_tiles(self, name, ledger):
        folder = self.directory.path("spaces", name, "tiles")
        if os.path.isdir(folder):
            leaves = [ledger.leaf(position) for position in range(1, ledger.head + 1)]
            self.problems += check_tiles(folder, leaves)

    def shown(self):
        """The spaces to report, with their ledgers."""
        empty = Ledger(self.catalogue, self.problems)
        return [(space, self.ledgers.get(space, empty))
                for space in self.directory.shown_spaces()]

    def summary(self):
        spaces = []
        for space, ledger in self.shown():
            pending = len(ledger.pending())
            root = self.roots.get(space)
            if space not in self.roots:
                current = ledger.check()
                root = current.root().hex()
            spaces.append({
                "id": id_text(space),
                "events": ledger.head + pending,
                "head": ledger.head,
                "pending": pending,
                "inbox": sum(len(entry.events) for entry in self.inboxes.get(space, ())),
                "root": root,
            })
        return {"spaces": spaces}

    def export_lines(self, only_space=None):
        for space, ledger in self.shown():
            if only_space is None or id_text(space) == only_space:
                yield from self.export_space(ledger)

    def export_space(self, ledger):
        for key in ledger.ordered():
            if key not in ledger.payloads:
                continue  # already reported: no schema, or a payload that does not decode
            event = ledger.events[key]
            position, accepted_at = ledger.place.get(key, (None, None))
            try:
                yield export_line(event, ledger.payloads[key], position, accepted_at)
            except FormatError as error:
                self.problems.append(f"{event.origin}: {error}")


def open_segment(listed, data, sidecar_data):
    """The segment, if it is the one that the manifest lists."""
    if (len(data), len(sidecar_data)) != (listed.length, listed.sidecar_length):
        raise FormatError(f"{len(data)} and {len(sidecar_data)} bytes")
    if int.from_bytes(sidecar_data[60:64], "little") != listed.sidecar_crc:
        raise FormatError("the sidecar is another")
    segment = Segment(data, sidecar_data)
    if segment.file.identity != listed.identity:
        raise FormatError("the identity is another")
    if listed.replica:
        check_private(listed, segment)
    elif (segment.first_position, segment.count) != (listed.first, listed.count):
        raise FormatError(f"{segment.count} events from position {segment.first_position}")
    elif (listed.first - 1) // WINDOW_COUNT != (listed.end - 2) // WINDOW_COUNT:
        raise FormatError("more than one window")
    if segment.row_bytes() != listed.row_bytes:
        raise FormatError(f"{segment.row_bytes()} bytes of rows, {listed.row_bytes} listed")
    return segment


def check_private(listed, segment):
    """Pending events of the one replica, whose sequences follow without gaps."""
    wanted = [(listed.replica, sequence) for sequence in range(listed.first, listed.end)]
    if segment.first_position is not None:
        raise FormatError("positions in a private segment")
    if [(event.replica, event.sequence) for event in segment.events] != wanted:
        raise FormatError(f"other events than {listed.count} from {listed.first} on")


def run(folder, packs, export, only_space):
    """The standard output, the notes, and the problems.

    `packs` are known beside those that the directory holds.
    """
    data = DataDirectory(folder, packs)
    lines = list(data.export_lines(only_space)) if export else [json.dumps(data.summary())]
    return lines, data.notes, data.problems
