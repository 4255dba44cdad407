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

    var folder: WholeFiles {
        WholeFiles(
            log: log,
            space: space,
            path: LogPaths.inbox(space),
            sizeMax: 2 * Limits.blockSizeMax
        )
    }

    /// Keeps refused events in the inbox of a space; they are on disk when this returns.
    package func keep(_ entries: [InboxEntry]) throws(LogError) {
        guard !entries.isEmpty else { return }
        // Under the lock, since two processes may sync at once, and be told of the same refusals.
        try log.withWriter { (_) throws(LogError) in
            try folder.write(entries.map { (path(of: $0), $0.encoded()) })
        }
    }

    private func path(of entry: InboxEntry) -> String {
        LogPaths.inboxEntry(entry.replica, entry.sequences.lowerBound, of: space)
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
        for name in try folder.names().filter(LogPaths.isInboxEntry) {
            let path = LogPaths.inbox(space) + "/" + name
            guard let bytes = try folder.contents(path) else { continue }
            do throws(FormatError) {
                let entry = try InboxEntry(bytes.span)
                guard path == self.path(of: entry) else { throw .malformed(.inbox, at: 0) }
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
    package func drop(_ entry: InboxEntry) throws(LogError) { try folder.remove([path(of: entry)]) }
}
