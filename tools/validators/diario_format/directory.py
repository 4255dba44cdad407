"""directory.md: the data directory, apart from its log."""

import os

from .primitives import BLOCK_COUNT_MAX, MIB, FormatError, id_text, moment, parse_id
from .schemas import read_pack
from .small_files import small_file

FORMAT_LINE = "diario directory 1\n"
MANIFEST_SIZE_MAX = 8 * MIB
SEGMENT_SIZE = 72
RETIRED_SIZE = 24
MANIFEST_FLAGS_ALL = 15
MANIFEST_AUTHORITY = 1
MANIFEST_STAGING = 2
HASH_SIZE = 32
PUBLISHING_TAKEN_BACK = 1
FORMER_COUNT_MAX = 64
LOCK_SIZE = 16


class Manifest:
    def __init__(self, data):
        if len(data) > MANIFEST_SIZE_MAX:
            raise FormatError(f"a manifest of {len(data)} bytes")
        flags, reader = small_file(data, b"dman", MANIFEST_FLAGS_ALL)
        self.is_authority = bool(flags & MANIFEST_AUTHORITY)
        self.is_staging = bool(flags & MANIFEST_STAGING)
        self.space = reader.id()
        self.lineage = reader.raw(16)
        self.epoch = reader.u64()
        self.authority_replica = reader.u64()
        self.replaces = reader.u64()
        self.read_segments(reader)
        reader.end()
        if self.is_authority != (self.authority_replica != 0):
            raise FormatError("the flag `authority` and the authority's replica disagree")

    def read_segments(self, reader):
        count, private_count, retired_count = reader.u32(), reader.u32(), reader.u32()
        reader.zeros(4)
        if reader.left != SEGMENT_SIZE * (count + private_count) + RETIRED_SIZE * retired_count:
            raise FormatError("the counts of segments and the size of the manifest disagree")
        self.segments = [ListedSegment(reader) for _ in range(count)]
        self.private = [ListedSegment(reader, is_private=True) for _ in range(private_count)]
        self.retired = [(reader.u64(), reader.u64(), reader.i64()) for _ in range(retired_count)]
        for before, after in zip(self.private, self.private[1:]):
            if (before.replica, before.end) > (after.replica, after.first):
                raise FormatError("private segments that overlap, or are not in order")
        for before, after in zip(self.segments, self.segments[1:]):
            if before.end != after.first:
                raise FormatError(f"a segment begins at {after.first}, the one before "
                                  f"ends at {before.end}")


class ListedSegment:
    """A segment in a manifest; `first` of a private one is a sequence."""

    def __init__(self, reader, is_private=False):
        self.first = reader.u64()
        self.number = reader.u64()
        self.count = reader.u32()
        self.sidecar_crc = reader.u32()
        self.length = reader.u64()
        self.sidecar_length = reader.u64()
        self.row_bytes = reader.u64()
        self.identity = reader.raw(16)
        self.replica = reader.id() if is_private else reader.zeros(8)
        if self.first == 0 or not 1 <= self.count <= BLOCK_COUNT_MAX:
            raise FormatError(f"a segment of {self.count} events at {self.first}")

    @property
    def end(self):
        return self.first + self.count

    @property
    def name(self):
        return segment_name(self.first, self.number)


def segment_name(first_position, number):
    return f"{first_position:016x}-{number:016x}"


class ReplicaFile:
    def __init__(self, data):
        _, reader = small_file(data, b"drep")
        self.replica = reader.id()
        self.inode = reader.u64()
        self.created = reader.u64()
        self.machine = reader.raw(32)
        count = reader.u64()
        if count > FORMER_COUNT_MAX:
            raise FormatError(f"{count} former ids")
        # The ids that this replica had before, oldest first, and where each of them ends.
        self.former = [(reader.id(), reader.u64()) for _ in range(count)]
        reader.end()


class PublishingFile:
    """An attempt to give a space its authority elsewhere."""

    def __init__(self, data):
        flags, reader = small_file(data, b"dpub", PUBLISHING_TAKEN_BACK)
        self.is_taken_back = bool(flags & PUBLISHING_TAKEN_BACK)
        self.attempt = reader.raw(16)
        self.size = reader.u64()
        self.root = reader.raw(HASH_SIZE)
        self.accepted_at = moment(reader.i64(), "acceptance")
        reader.end()

    def check(self, head, root):
        """Until it is taken back, the canonical events are those that it speaks of."""
        if not self.is_taken_back and (self.size, self.root) != (head, root):
            raise FormatError(f"it speaks of {self.size} events, or of another root than that of "
                              f"the {head}")


class Space:
    def __init__(self, manifest, replica_file, publishing=None):
        self.manifest = manifest
        self.replica_file = replica_file
        self.publishing = publishing


class Directory:
    """The contents of `.diario` beside the log; `problems` collects faults."""

    def __init__(self, folder, problems):
        self.folder = os.path.join(folder, ".diario")
        self.problems = problems
        self.spaces = {}
        self.packs = {}
        self.check_format()
        self.check_lock()
        for name in self.names("packs"):
            self.guarded(f"packs/{name}", self.read_pack, name)
        for name in self.names("spaces"):
            self.guarded(f"spaces/{name}", self.read_space, name)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def names(self, *parts):
        folder = self.path(*parts)
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def read(self, *parts):
        try:
            with open(self.path(*parts), "rb") as file:
                return file.read()
        except OSError as error:
            raise FormatError(error.strerror) from None

    def guarded(self, what, action, *arguments):
        try:
            action(*arguments)
        except FormatError as error:
            self.problems.append(f"{what}: {error}")

    def check_format(self):
        try:
            line = self.read("format").decode("ascii", "replace")
        except FormatError as error:
            self.problems.append(f"format: {error}")
            return
        if line != FORMAT_LINE:
            self.problems.append(f"format: {line!r}")

    def check_lock(self):
        if "lock" in self.names() and len(self.read("lock")) not in (0, LOCK_SIZE):
            self.problems.append(f"lock: {len(self.read('lock'))} bytes")

    def read_pack(self, name):
        pack = read_pack(self.path("packs", name))
        if pack.fingerprint.hex() != name:
            raise FormatError(f"the fingerprint is {pack.fingerprint.hex()}")
        if any(path.startswith("examples/") or path == "README.md" for path in pack.files):
            raise FormatError("examples and README.md are not kept")
        self.packs[pack.fingerprint] = pack

    def read_space(self, name):
        files = self.names("spaces", name)
        if "removed" in files and "manifest" not in files:
            return
        manifest = Manifest(self.read("spaces", name, "manifest"))
        if parse_id(name) != manifest.space:
            raise FormatError(f"the manifest is that of {id_text(manifest.space)}")
        replica_file = ReplicaFile(self.read("spaces", name, "replica"))
        self.spaces[manifest.space] = Space(manifest, replica_file)
        if "publishing" in files:
            self.guarded(f"spaces/{name}/publishing", self.read_publishing, name, manifest.space)

    def read_publishing(self, name, space):
        file = PublishingFile(self.read("spaces", name, "publishing"))
        if not self.spaces[space].manifest.is_authority:
            self.spaces[space].publishing = file  # beside an authority a crash left it

    def shown_spaces(self):
        """Those that are neither staging nor replaced by one that is active."""
        active = [space.manifest for space in self.spaces.values()
                  if not space.manifest.is_staging]
        replaced = {manifest.replaces for manifest in active}
        return sorted(manifest.space for manifest in active if manifest.space not in replaced)
