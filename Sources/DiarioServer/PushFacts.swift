package import DiarioCore
package import DiarioLog

/// The facts about a push before its batches are judged.
package struct PushFacts: Sendable {
    package let replica: ReplicaID
    /// True if the space has seen events of the replica, accepted or refused.
    package let isSeen: Bool
    /// True if another replica sends them.
    package let isRelayed: Bool
    package let eventCount: Int
    /// Of these, events that the space has not seen.
    package let newCount: Int
    /// Bytes of the blocks before compression.
    package let size: Int
    /// The space before the push, with the segments at the time of the request.
    package let space: SpaceOutline
}

extension PushedEvents {
    /// The facts for the gate, if `space` has seen the sequences of the replica up to `last`.
    func facts(
        seenThrough last: UInt64,
        of space: SpaceOutline,
        isRelayed: Bool
    ) -> PushFacts {
        let count = batches.reduce(0) { $0 + $1.count }
        let seen = batches.reduce(0) { sum, batch in
            guard batch.firstSequence <= last else { return sum }
            return sum + Int(min(last, batch.lastSequence) - batch.firstSequence) + 1
        }
        return PushFacts(
            replica: replica,
            isSeen: last > 0,
            isRelayed: isRelayed,
            eventCount: count,
            newCount: count - seen,
            size: blocks.reduce(0) { $0 + $1.bytes.count },
            space: space
        )
    }
}
