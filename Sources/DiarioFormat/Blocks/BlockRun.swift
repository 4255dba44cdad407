package import DiarioCore

/// Consecutive events of one replica in a block.
package struct BlockRun: Equatable, Sendable {
    package var replica: ReplicaID
    package var firstSequence: UInt64
    package var count: UInt64

    package init(replica: ReplicaID, firstSequence: UInt64, count: UInt64) {
        self.replica = replica
        self.firstSequence = firstSequence
        self.count = count
    }

    /// The sequence of the last event.
    package var lastSequence: UInt64 { firstSequence &+ count &- 1 }

    /// Reads one entry of a block's runs, whose replica the block lists.
    static func read(
        _ reader: inout ByteReader,
        _ block: RawSpan,
        _ summary: BlockSummary
    ) throws(FormatError) -> BlockRun {
        let start = reader.offset
        let index = try reader.nextVarint()
        guard index < summary.replicas.count else { throw .malformed(.runs, at: start) }
        let place = Int(summary.replicas.offset) + 8 * Int(index)
        var replicas = ByteReader(block, range: place..<place + 8)
        guard let replica = ReplicaID(rawValue: try replicas.next(UInt64.self)) else {
            throw .malformed(.replica, at: place)
        }
        return BlockRun(
            replica: replica,
            firstSequence: try reader.nextVarint(),
            count: try reader.nextVarint()
        )
    }
}

/// Consecutive events of a block that were accepted at one time.
package struct AcceptedRun: Equatable, Sendable {
    package var count: Int
    package var acceptedAt: Timestamp

    package init(count: Int, acceptedAt: Timestamp) {
        self.count = count
        self.acceptedAt = acceptedAt
    }
}

/// Walks the runs of a checked block in order of position, without allocating.
package struct RunCursor: ~Escapable {
    private let bytes: RawSpan
    private let summary: BlockSummary
    private var reader: ByteReader
    private var rest: Int

    /// `block` must be the bytes that `summary` was parsed from.
    @_lifetime(copy block)
    package init(_ block: Span<UInt8>, _ summary: BlockSummary) {
        bytes = block.raw
        self.summary = summary
        reader = ByteReader(block.raw, range: Int(summary.runs.offset)..<block.count)
        rest = summary.runCount
    }

    /// The next run; nil after the last one.
    @_lifetime(self: copy self)
    package mutating func next() throws(FormatError) -> BlockRun? {
        guard rest > 0 else { return nil }
        rest -= 1
        return try BlockRun.read(&reader, bytes, summary)
    }
}
