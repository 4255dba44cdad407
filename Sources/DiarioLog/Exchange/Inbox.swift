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

    package func encoded() -> [UInt8] {
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
        var unpacker = BlockUnpacker()
        let (rows, head) = try unpacker.unpack(block)
        guard !head.summary.isPositioned, let run = head.runs.first,
            try Self.isOneBatch(rows, head)
        else { throw .malformed(.inbox, at: Self.headerSize) }
        replica = run.replica
        sequences = run.firstSequence...run.lastSequence
    }

    /// Whether it can be read back: its events are one batch, and all of it.
    package var isOneBatch: Bool {
        do throws(FormatError) {
            let bytes = encoded()
            let entry = try InboxEntry(bytes.span)
            return entry.sequences == sequences && entry.replica == replica
        } catch {
            return false
        }
    }

    private static func isOneBatch(
        _ block: [UInt8],
        _ head: BlockHead
    ) throws(FormatError) -> Bool {
        var cursor = RowCursor(block.span, head.summary)
        while let row = try cursor.next() {
            let envelope = try PublicPart.parse(block.span, row).envelope
            guard envelope.batchCount == head.summary.eventCount,
                envelope.batchFirst == head.runs[0].firstSequence
            else { return false }
        }
        return true
    }

    /// The events as they were before they were put here.
    package func unpacked() throws(FormatError) -> (bytes: [UInt8], head: BlockHead) {
        var unpacker = BlockUnpacker()
        return try unpacker.unpack(block)
    }

    /// The origin of the first of the events.
    package var origin: Origin { Origin(replica: replica, sequence: sequences.lowerBound) }
}

extension LogStore {
    /// Keeps refused events in the inbox of a space; they are on disk when this returns.
    package func keepInInbox(_ entries: [InboxEntry], of space: SpaceID) throws(LogError) {
        guard !entries.isEmpty else { return }
        let directory = directory
        // Under the lock, since two processes may sync at once, and be told of the same refusals.
        try withWriter { (writer) throws(LogError) in
            try writer.begin()
            defer { writer.end() }
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
    }

    /// What is in the inbox of a space, in order of replica and sequence.
    ///
    /// What is pending still was put there just before a crash, and means nothing.
    package func inbox(of space: SpaceID) throws(LogError) -> [InboxEntry] {
        let (entries, faults) = try readInbox(of: space)
        if let fault = faults.first { throw .corrupt(fault) }
        return entries
    }

    /// The same, with what is wrong with the files that cannot be read.
    package func readInbox(
        of space: SpaceID
    ) throws(LogError) -> (entries: [InboxEntry], faults: [Fault]) {
        let pending = standing(of: space).pending
        var (entries, faults): ([InboxEntry], [Fault]) = ([], [])
        for name in try inboxNames(of: space).filter(LogPaths.isInboxEntry) {
            let path = LogPaths.inbox(space) + "/" + name
            guard let bytes = try inboxFile(path) else { continue }
            do throws(FormatError) {
                let entry = try InboxEntry(bytes.span)
                let first = entry.sequences.lowerBound
                guard path == LogPaths.inboxEntry(entry.replica, first, of: space) else {
                    throw .malformed(.inbox, at: 0)
                }
                let isPending = pending.contains {
                    $0.replica == entry.replica && $0.sequences.overlaps(entry.sequences)
                }
                if !isPending { entries.append(entry) }
            } catch {
                faults.append(Fault(file: path, offset: error.inboxOffset, what: error.message))
            }
        }
        return (entries.sorted { $0.origin < $1.origin }, faults)
    }

    /// Removes an entry for good.
    package func dropFromInbox(_ entry: InboxEntry, of space: SpaceID) throws(LogError) {
        let first = entry.sequences.lowerBound
        try removeFromInbox([LogPaths.inboxEntry(entry.replica, first, of: space)], of: space)
    }

    func removeFromInbox(_ paths: [String], of space: SpaceID) throws(LogError) {
        try storing { () throws(StorageError) in
            var isThere = false
            for path in paths where try directory.exists(path) {
                try directory.remove(path)
                isThere = true
            }
            if isThere { try directory.syncDirectory(LogPaths.inbox(space)) }
        }
    }

    /// The names of the files of an inbox.
    func inboxNames(of space: SpaceID) throws(LogError) -> [String] {
        try storing { () throws(StorageError) in
            let folder = LogPaths.inbox(space)
            return try directory.exists(folder) ? try directory.list(folder) : []
        }
    }

    /// The bytes of a file of an inbox; nil if somebody has removed it meanwhile.
    func inboxFile(_ path: String) throws(LogError) -> [UInt8]? {
        do throws(StorageError) {
            return try directory.contents(of: path, sizeMax: 2 * Limits.blockSizeMax)
        } catch {
            if case .notFound = error { return nil }
            throw .storage(error)
        }
    }
}

extension FormatError {
    /// Where in a file of an inbox it is; of what is wrong in the block where the block begins.
    var inboxOffset: Int {
        switch self {
        case .malformed(.inbox, let offset), .malformed(.magic, let offset),
            .unknownVersion(_, let offset):
            offset
        case .checksumMismatch: 20
        case .truncated(let offset): min(offset, 24)
        default: 24
        }
    }
}
