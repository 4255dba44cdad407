package import DiarioCore
package import DiarioFormat
import DiarioStorage

// Own events that the authority refused: schema/format/sync.md, section 8.
//
//   offset  size  field
//        0     4  magic, "DBOX"
//        4     1  version, 1
//        5     3  zero
//        8     8  when it was written, in milliseconds
//       16     4  size of the block
//       20     4  CRC32C of bytes 0 to 20 and of the block
//       24        a block as in a push

/// One refused batch, as the inbox keeps it.
package struct InboxEntry: Equatable, Sendable {
    package let replica: ReplicaID
    package let sequences: ClosedRange<UInt64>
    package let writtenAt: Timestamp
    /// As in a push.
    package let block: [UInt8]

    private static let magic: UInt32 = 0x584f_4244
    private static let headerSize = 24

    package init(
        replica: ReplicaID,
        sequences: ClosedRange<UInt64>,
        writtenAt: Timestamp,
        block: [UInt8]
    ) {
        self.replica = replica
        self.sequences = sequences
        self.writtenAt = writtenAt
        self.block = block
    }

    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: UInt32(1))
        bytes.append(littleEndian: UInt64(bitPattern: writtenAt.milliseconds))
        bytes.append(littleEndian: UInt32(block.count))
        let sum = Checksum.crc32c(
            block.span.raw,
            continuing: Checksum.crc32c(bytes.span.raw)
        )
        bytes.append(littleEndian: sum)
        bytes.append(contentsOf: block.span.raw)
        return bytes
    }

    package init(_ bytes: Span<UInt8>) throws(FormatError) {
        var reader = ByteReader(bytes.raw)
        guard try reader.next(UInt32.self) == Self.magic else { throw .malformed(.magic, at: 0) }
        let version = try reader.next(UInt32.self)
        guard version == 1 else { throw .unknownVersion(UInt8(version & 0xff), at: 4) }
        writtenAt = Timestamp(milliseconds: Int64(bitPattern: try reader.next(UInt64.self)))
        let size = try reader.next(UInt32.self)
        let stored = try reader.next(UInt32.self)
        guard size <= Limits.blockSizeMax + BlockHeader.size, size == reader.remaining else {
            throw .malformed(.inbox, at: 16)
        }
        let computed = Checksum.crc32c(
            bytes.raw.extracting(Self.headerSize..<bytes.count),
            continuing: Checksum.crc32c(bytes.raw.extracting(0..<20))
        )
        guard stored == computed else {
            throw .checksumMismatch(stored: stored, computed: computed)
        }
        block = reader.copy(try reader.nextRange(count: Int(size)))
        var unpacker = try BlockUnpacker()
        let (_, head) = try unpacker.unpack(block)
        guard !head.summary.isPositioned, let run = head.runs.first else {
            throw .malformed(.inbox, at: Self.headerSize)
        }
        replica = run.replica
        sequences = run.firstSequence...run.lastSequence
    }
}

extension LogStore {
    /// Keeps refused events in the inbox of a space; they are on disk when this returns.
    package func keepInInbox(_ entries: [InboxEntry], of space: SpaceID) throws(LogError) {
        guard !entries.isEmpty else { return }
        try storing { () throws(StorageError) in
            let folder = LogPaths.inbox(space)
            try directory.makeDirectoryDurably(folder, below: LogPaths.space(space))
            for entry in entries {
                try directory.replace(
                    LogPaths.inboxEntry(entry.replica, entry.sequences.lowerBound, of: space),
                    with: entry.encoded()
                )
            }
        }
    }

    /// What is in the inbox of a space, in order of replica and sequence.
    ///
    /// What is pending still was put there just before a crash, and means nothing.
    package func inbox(of space: SpaceID) throws(LogError) -> [InboxEntry] {
        let folder = LogPaths.inbox(space)
        let names = try storing { () throws(StorageError) -> [String] in
            guard try directory.exists(folder) else { return [] }
            return try directory.list(folder).filter(LogPaths.isInboxEntry)
        }
        let pending = standing(of: space).pending
        var entries: [InboxEntry] = []
        for name in names {
            let path = folder + "/" + name
            let bytes = try storing { () throws(StorageError) in
                try directory.contents(of: path, sizeMax: 2 * Limits.blockSizeMax)
            }
            let entry: InboxEntry
            do throws(FormatError) { entry = try InboxEntry(bytes.span) } catch {
                throw .corrupt(Fault(file: path, offset: 0, what: error.message))
            }
            let isPending = pending.contains {
                $0.replica == entry.replica && $0.sequences.overlaps(entry.sequences)
            }
            if !isPending { entries.append(entry) }
        }
        return entries.sorted {
            ($0.replica, $0.sequences.lowerBound) < ($1.replica, $1.sequences.lowerBound)
        }
    }

    /// Removes an entry for good.
    package func dropFromInbox(_ entry: InboxEntry, of space: SpaceID) throws(LogError) {
        try storing { () throws(StorageError) in
            let folder = LogPaths.inbox(space)
            let path = LogPaths.inboxEntry(entry.replica, entry.sequences.lowerBound, of: space)
            guard try directory.exists(path) else { return }
            try directory.remove(path)
            try directory.syncDirectory(folder)
        }
    }
}
