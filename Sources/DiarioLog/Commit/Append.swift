package import DiarioCore
package import DiarioFormat

/// Events that are to be appended to one space, all of them or none.
package struct Append: Sendable {
    package enum Content: Sendable {
        /// New events; each draft is a batch.
        case new([DraftBatch], Author = .replica)
        /// Events that keep their origins and times; positions are given here.
        case preserved([PreservedRows])
        /// Rows as they came from elsewhere.
        case received(ReceivedRows)
        /// Pending events, which have positions now.
        case promoted([PromotedRun])
    }

    /// Who writes new events.
    package enum Author: Sendable {
        /// This replica.
        case replica
        /// This replica, each event as a batch of its own; the drafts are containers, without
        /// references from one event to another.
        case replicaSingly
        /// The authority: types of the pack `engine`, and reference data.
        case authority
    }

    /// Commits an append, alone or with those of others.
    package typealias Commit = (Append) throws(LogError) -> AppendedBatches

    package let space: SpaceID
    let contents: Few<Content>
    /// If given, the sequence that this replica's first event must get; else nothing is appended.
    package let firstSequence: UInt64?
    /// If given, the position directly after which the events must come; else nothing is appended.
    package let lastPosition: UInt64?
    /// About how many bytes of a frame it takes; reckoned once, on the thread that appends.
    let sizeEstimate: Int

    package init(
        space: SpaceID,
        contents: [Content],
        firstSequence: UInt64? = nil,
        behind lastPosition: UInt64? = nil
    ) {
        self.space = space
        self.contents = Few(contents)
        self.firstSequence = firstSequence
        self.lastPosition = lastPosition
        sizeEstimate = contents.reduce(0) { $0 + $1.sizeEstimate }
    }

    package init(space: SpaceID, content: Content) {
        self.space = space
        contents = Few(content)
        firstSequence = nil
        lastPosition = nil
        sizeEstimate = content.sizeEstimate
    }
}

extension Append.Content {
    /// Whether the space must give positions here, or must not; nil if either will do.
    var needsAuthority: Bool? {
        switch self {
        case .new(_, .authority), .preserved: true
        case .received(let rows) where rows.isPending: false
        case .promoted: false
        case .new, .received: nil
        }
    }

    /// About how many bytes of a frame it takes.
    var sizeEstimate: Int {
        switch self {
        case .new(let batches, _): batches.reduce(0) { $0 + Self.size($1) }
        case .preserved(let rows): rows.reduce(0) { $0 + Self.size($1.batch) + $1.frillMax }
        case .received(let rows): rows.sizeMax + Self.blockFrill
        case .promoted(let runs): PromotedRun.size * runs.count + Self.blockFrill
        }
    }

    private static func size(_ batch: DraftBatch) -> Int { batch.sizeInBlockMax + blockFrill }

    /// Headers of record and block, seeds, and a state.
    private static let blockFrill = 1024
}

/// Rows with the origins and times they have elsewhere, for the positions that come next.
package struct PreservedRows: Sendable {
    /// The events in order of position; here not a batch, only a container.
    package var batch: DraftBatch
    package var envelopes: [RowEnvelope]
    /// Never decreasing; nil for the time at which they are appended here.
    package var acceptedAt: [Timestamp?]
    /// True if an authority wrote all of these.
    package var isAuthority: Bool

    package init(
        batch: DraftBatch,
        envelopes: [RowEnvelope],
        acceptedAt: [Timestamp?],
        isAuthority: Bool
    ) {
        precondition(
            batch.events.count == envelopes.count && envelopes.count == acceptedAt.count,
            "each row has an envelope and a time"
        )
        self.batch = batch
        self.envelopes = envelopes
        self.acceptedAt = acceptedAt
        self.isAuthority = isAuthority
    }
}

extension PreservedRows {
    /// Bytes that the rows may take in a block besides those of a batch: a replica, a run and a
    /// time for each.
    var frillMax: Int { envelopes.count * (8 + 16 + BlockBuilder.acceptedRunSizeMax) }
}

/// Rows of a block as it came from elsewhere, for the positions that come next.
///
/// An authority gives positions to rows without; any other space takes rows at the positions that
/// they have, or pending ones.
package struct ReceivedRows: Sendable {
    /// A whole block that is not compressed.
    package let block: [UInt8]
    package let head: BlockHead
    /// Whether the rows stay without positions: the lane of a space that this one is to replace.
    let isPending: Bool

    /// Takes a block that `Block.check` has let pass.
    package init(_ block: [UInt8], _ head: BlockHead, isPending: Bool = false) {
        self.block = block
        self.head = head
        self.isPending = isPending
    }

    var count: Int { head.summary.eventCount }

    /// The position of the first of the rows; nil if they have none.
    var firstPosition: UInt64? { head.summary.firstPosition }

    /// An upper bound of the bytes that they take in a frame.
    var sizeMax: Int {
        block.count + head.times.count * BlockBuilder.acceptedRunSizeMax
            + head.saltNodes.count * SpaceIndex.seedSize
    }
}

/// The place of a batch, or of the batches given as one container.
package struct AppendedBatch: Hashable, Sendable {
    package let firstOrigin: Origin
    package let count: Int
    /// Nil while the events are pending.
    package let firstPosition: UInt64?
    /// When they were accepted, if that was here and now.
    package let acceptedAt: Timestamp?

    package init(
        firstOrigin: Origin,
        count: Int,
        firstPosition: UInt64?,
        acceptedAt: Int64? = nil
    ) {
        self.firstOrigin = firstOrigin
        self.count = count
        self.firstPosition = firstPosition
        self.acceptedAt = acceptedAt.map { Timestamp(milliseconds: $0) }
    }

    /// The origins of its events, in order.
    package var origins: [Origin] {
        (0..<UInt64(count)).map {
            Origin(replica: firstOrigin.replica, sequence: firstOrigin.sequence + $0)
        }
    }
}

/// The places of the batches of one append, in order.
package struct AppendedBatches: Hashable, Sendable {
    private var batches = Few<AppendedBatch>()

    package init() {}

    mutating func append(_ batch: AppendedBatch) { batches.append(batch) }
}

extension AppendedBatches: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { batches.count }

    package subscript(index: Int) -> AppendedBatch { batches[index] }
}

extension AppendedBatches {
    /// The origins of all events, in order.
    package var origins: [Origin] {
        var origins: [Origin] = []
        origins.reserveCapacity(reduce(0) { $0 + $1.count })
        for batch in self {
            let first = batch.firstOrigin
            for index in 0..<UInt64(batch.count) {
                origins.append(Origin(replica: first.replica, sequence: first.sequence + index))
            }
        }
        return origins
    }
}
