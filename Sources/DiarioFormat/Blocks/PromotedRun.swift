package import DiarioCore

/// Accepted events of one replica with consecutive sequences at consecutive positions.
package struct PromotedRun: Hashable, Sendable {
    package let replica: ReplicaID
    package let firstSequence: UInt64
    package let count: UInt64
    package let firstPosition: UInt64
    package let acceptedAt: Timestamp

    package init(
        replica: ReplicaID,
        firstSequence: UInt64,
        count: UInt64,
        firstPosition: UInt64,
        acceptedAt: Timestamp
    ) {
        self.replica = replica
        self.firstSequence = firstSequence
        self.count = count
        self.firstPosition = firstPosition
        self.acceptedAt = acceptedAt
    }
}
