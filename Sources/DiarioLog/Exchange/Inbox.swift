package import DiarioCore
package import DiarioFormat
import DiarioStorage

// Own events that the authority refused: schema/format/sync.md, section 8.
//
// A file of blocks (`BlocksFile`) with the magic "dbox" and one block, as in a push.

/// One refused batch, as the inbox keeps it.
package struct InboxEntry: Equatable, Sendable {
    package let replica: ReplicaID
    package let sequences: ClosedRange<UInt64>
    package let writtenAt: Timestamp
    /// As in a push.
    package let block: [UInt8]

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
        BlocksFile.encoded([block], .inbox, at: writtenAt)
    }

    package init(_ bytes: Span<UInt8>) throws(FormatError) {
        let (writtenAt, blocks) = try BlocksFile.read(bytes, .inbox)
        guard blocks.count == 1, blocks[0].bytes.count <= Limits.blockSizeMax + BlockHeader.size
        else { throw .malformed(.inbox, at: BlocksFile.blocksOffset) }
        self.writtenAt = writtenAt
        block = blocks[0].bytes
        var unpacker = BlockUnpacker()
        let (rows, head) = try unpacker.unpack(block)
        guard !head.summary.isPositioned, let run = head.runs.first,
            try Self.isOneBatch(rows, head)
        else { throw .malformed(.inbox, at: BlocksFile.blocksOffset) }
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

extension SpaceLog {
    /// Own events that the authority refused.
    package var inbox: InboxFiles { InboxFiles(log: log, space: space) }
}

/// The files of the inbox of a space.
package struct InboxFiles: Sendable {
    let log: LogStore
    let space: SpaceID

    var directory: any LogDirectory { log.directory }

    /// Keeps refused events in the inbox of a space; they are on disk when this returns.
    package func keep(_ entries: [InboxEntry]) throws(LogError) {
        guard !entries.isEmpty else { return }
        // Under the lock, since two processes may sync at once, and be told of the same refusals.
        try log.withWriter { (writer) throws(LogError) in
            try storing { () throws(StorageError) in
                let folder = LogPaths.inbox(space)
                try Files.makeDirectoryDurably(folder, below: LogPaths.space(space), in: directory)
                for entry in entries {
                    try Files.replace(
                        LogPaths.inboxEntry(entry.replica, entry.sequences.lowerBound, of: space),
                        with: entry.encoded(),
                        in: directory
                    )
                }
            }
        }
    }

    /// What is in the inbox of a space, in order of replica and sequence.
    ///
    /// What is pending still was put there just before a crash, and means nothing.
    package func entries() throws(LogError) -> [InboxEntry] {
        let (entries, faults) = try read()
        if let fault = faults.first { throw .corrupt(fault) }
        return entries
    }

    /// The same, with what is wrong with the files that cannot be read.
    package func read() throws(LogError) -> (entries: [InboxEntry], faults: [Fault]) {
        let pending = log[space].standing().pending
        var (entries, faults): ([InboxEntry], [Fault]) = ([], [])
        for name in try names().filter(LogPaths.isInboxEntry) {
            let path = LogPaths.inbox(space) + "/" + name
            guard let bytes = try file(path) else { continue }
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
                faults.append(Fault(file: path, offset: error.offset, what: error.message))
            }
        }
        return (entries.sorted { $0.origin < $1.origin }, faults)
    }

    /// Removes an entry for good.
    package func drop(_ entry: InboxEntry) throws(LogError) {
        let first = entry.sequences.lowerBound
        try remove([LogPaths.inboxEntry(entry.replica, first, of: space)])
    }

    func remove(_ paths: [String]) throws(LogError) {
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
    func names() throws(LogError) -> [String] {
        try storing { () throws(StorageError) in
            let folder = LogPaths.inbox(space)
            return try directory.exists(folder) ? try directory.list(folder) : []
        }
    }

    /// The bytes of a file of an inbox; nil if somebody has removed it meanwhile.
    func file(_ path: String) throws(LogError) -> [UInt8]? {
        do throws(StorageError) {
            return try Files.contents(of: path, in: directory, sizeMax: 2 * Limits.blockSizeMax)
        } catch {
            if case .notFound = error { return nil }
            throw .storage(error)
        }
    }
}
