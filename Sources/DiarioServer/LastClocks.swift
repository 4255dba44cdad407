package import DiarioCore
package import DiarioLog

/// The clocks of the last events that replicas have in the log, as far as somebody asked lately.
package struct LastClocks: Sendable {
    private struct Known {
        let sequence: UInt64
        let clock: HybridTime?
    }

    private var known: [ReplicaID: Known] = [:]

    /// More replicas than push to most spaces; those of others are read from the log again.
    private static let countMax = 1000

    /// The clock of the last event of a replica up to a sequence; nil if it has none.
    package mutating func clock(
        of replica: ReplicaID,
        through sequence: UInt64,
        in store: LogStore,
        _ space: SpaceID
    ) throws -> HybridTime? {
        if let known = known[replica], known.sequence == sequence { return known.clock }
        guard sequence > 0 else { return nil }
        return try store[space].lastClock(of: replica, through: sequence)
    }

    package mutating func note(
        _ clock: HybridTime?,
        of replica: ReplicaID,
        through sequence: UInt64
    ) {
        if known.count >= Self.countMax, known[replica] == nil { known = [:] }
        known[replica] = Known(sequence: sequence, clock: clock)
    }
}
