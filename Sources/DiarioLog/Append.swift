package import DiarioCore
package import DiarioFormat

/// What holds when an append returns.
package enum Durability: Hashable, Sendable {
    /// The events are on the medium: they survive a power cut. The default.
    case synced
    /// The events are with the operating system and on their way to the medium: they survive the
    /// end of this process. A power cut may lose them, and nothing that was appended before them.
    case written
}

/// Events that are to be appended to one space, all of them or none.
package struct Append: Sendable {
    package enum Content: Sendable {
        /// New events of this replica.
        case batches([DraftBatch])
        /// New events of this replica, each of which is a batch of its own; the drafts are
        /// containers, without references from one event to another.
        case singles([DraftBatch])
        /// New events of the authority: types of the pack `engine`, and reference data.
        case authority([DraftBatch])
        /// Events that keep their origins and times.
        case preserved([PreservedRows])
        /// The same, from the authority of a space whose authority is elsewhere.
        case accepted([PreservedRows])

        /// The rows of events that keep their origins and times; nil if it makes new events.
        var preservedRows: [PreservedRows]? {
            switch self {
            case .preserved(let rows), .accepted(let rows): rows
            case .batches, .singles, .authority: nil
            }
        }
    }

    package let space: SpaceID
    package let contents: [Content]
    package let durability: Durability
    /// If given, the sequence that this replica's first event must get; else nothing is appended.
    package let firstSequence: UInt64?
    /// About how many bytes of a frame it takes; reckoned once, on the thread that appends.
    let sizeEstimate: Int

    package init(
        space: SpaceID,
        contents: [Content],
        durability: Durability,
        firstSequence: UInt64? = nil
    ) {
        self.space = space
        self.contents = contents
        self.durability = durability
        self.firstSequence = firstSequence
        sizeEstimate = Self.sizeEstimate(of: contents)
    }

    package init(space: SpaceID, content: Content, durability: Durability) {
        self.init(space: space, contents: [content], durability: durability)
    }

    private static func sizeEstimate(of contents: [Content]) -> Int {
        func size(_ batches: [DraftBatch]) -> Int {
            var sum = 0
            for index in batches.indices { sum += batches[index].sizeInBlockMax + blockFrill }
            return sum
        }
        return contents.reduce(0) { sum, content in
            switch content {
            case .batches(let batches), .singles(let batches), .authority(let batches):
                sum + size(batches)
            case .preserved(let rows), .accepted(let rows):
                rows.reduce(sum) { $0 + size([$1.batch]) + $1.frillMax }
            }
        }
    }

    /// Headers of record and block, seeds, and a state.
    private static let blockFrill = 1024
}

/// Rows with the origins and times they have elsewhere, for the positions that come next.
package struct PreservedRows: Sendable {
    /// The events in order of position; here not a batch, only a container.
    package var batch: DraftBatch
    package var envelopes: [RowEnvelope]
    /// Never decreasing; nil for the time at which they are taken up here.
    package var acceptedAt: [Timestamp?]
    /// Whether an authority wrote all of these.
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

/// Where a batch stands, or what was given as one container.
package struct AppendedBatch: Hashable, Sendable {
    package let firstOrigin: Origin
    package let count: Int
    /// Nil while the events are pending.
    package let firstPosition: UInt64?

    package init(firstOrigin: Origin, count: Int, firstPosition: UInt64?) {
        self.firstOrigin = firstOrigin
        self.count = count
        self.firstPosition = firstPosition
    }

    /// The origins of its events, in order.
    package var origins: [Origin] {
        (0..<UInt64(count)).map {
            Origin(replica: firstOrigin.replica, sequence: firstOrigin.sequence + $0)
        }
    }
}

/// Where the batches of one append stand, in order.
///
/// One alone, as mostly, takes no memory of its own.
package struct AppendedBatches: Hashable, Sendable {
    private var first: AppendedBatch?
    private var others: [AppendedBatch] = []

    package init() {}

    mutating func append(_ batch: AppendedBatch) {
        if first == nil { first = batch } else { others.append(batch) }
    }
}

extension AppendedBatches: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { first == nil ? 0 : 1 + others.count }

    package subscript(index: Int) -> AppendedBatch {
        guard index == 0, let first else { return others[index - 1] }
        return first
    }
}

/// What one who enqueued an append is told.
package struct Answer: Sendable {
    package let outcome: Result<AppendedBatches, LogError>
    private let others: (@Sendable () -> Void)?

    init(
        outcome: Result<AppendedBatches, LogError>,
        others: (@Sendable () -> Void)? = nil
    ) {
        self.outcome = outcome
        self.others = others
    }

    /// Tells the others whose appends were committed along with this one.
    ///
    /// A task that was resumed with the answer calls this, whatever the outcome.
    package func finish() { others?() }
}
