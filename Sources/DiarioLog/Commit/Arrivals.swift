import DiarioCore
import DiarioFormat

/// What a space is after events that arrive, so that the next ones can be checked before anything
/// is written.
struct Arrivals {
    private(set) var head: UInt64
    private(set) var acceptedAt: Int64
    private var lanes: [Lane]

    init(_ space: SpaceIndex) {
        head = space.head
        acceptedAt = space.acceptedAt
        lanes = space.lanes
    }

    /// Pending events get positions: each run is the first part of its lane (F6).
    mutating func take(_ runs: [PromotedRun]) throws(LogError) {
        for run in runs {
            guard run.isValid else {
                throw .outOfOrder(what: "a run of \(run.count) events is none")
            }
            guard run.firstPosition == head + 1 else {
                throw .outOfOrder(what: "position \(head + 1) comes next, not \(run.firstPosition)")
            }
            try Self.check(run.acceptedAt.milliseconds, at: run.firstPosition)
            guard run.acceptedAt.milliseconds >= acceptedAt else {
                throw .outOfOrder(what: "acceptedAt goes back at position \(run.firstPosition)")
            }
            let last = run.firstSequence + run.count - 1
            var found: UInt64 = 0
            var isFirst = false
            if let lane = lanes.firstIndex(where: { $0.replica == run.replica }) {
                isFirst = lanes[lane].runs.runs.first?.first == run.firstSequence
                lanes[lane].runs.remove(from: run.firstSequence, through: last) {
                    found += UInt64($0.count)
                }
            }
            guard isFirst, found == run.count else {
                throw .outOfOrder(
                    what: "\(run.replica.text)-\(run.firstSequence) and the \(run.count - 1) "
                        + "events after it are not what is pending first"
                )
            }
            head += run.count
            acceptedAt = run.acceptedAt.milliseconds
        }
    }

    /// The authority refused pending events.
    mutating func take(_ refusals: [RefusedRun]) {
        for refusal in refusals {
            guard let lane = lanes.firstIndex(where: { $0.replica == refusal.replica }) else {
                continue
            }
            lanes[lane].runs.remove(
                from: refusal.sequences.lowerBound,
                through: refusal.sequences.upperBound
            ) { _ in }
        }
    }

    /// Events get the next positions.
    mutating func take(count: UInt64, acceptedAt: ClosedRange<Int64>) throws(LogError) {
        try Self.check(acceptedAt.lowerBound, at: head + 1)
        try Self.check(acceptedAt.upperBound, at: head + 1)
        guard acceptedAt.lowerBound >= self.acceptedAt else {
            throw .outOfOrder(what: "acceptedAt goes back at position \(head + 1)")
        }
        guard LogNumber.isValid(head + 1, count: count) else {
            throw .outOfOrder(what: "there are no positions left behind \(head)")
        }
        head += count
        self.acceptedAt = acceptedAt.upperBound
    }

    /// No other time could be written out.
    static func check(_ acceptedAt: Int64, at position: UInt64) throws(LogError) {
        guard CivilTime.contains(acceptedAt) else {
            throw .outOfOrder(
                what: "acceptedAt at position \(position) is not in the years 1 to 9999"
            )
        }
    }

    /// True if the event is one of those that are pending.
    func isPending(_ run: BlockRun) -> Bool {
        lanes.contains { lane in
            lane.replica == run.replica
                && lane.runs.runs.contains {
                    $0.first <= run.lastSequence && run.firstSequence <= $0.last
                }
        }
    }
}
