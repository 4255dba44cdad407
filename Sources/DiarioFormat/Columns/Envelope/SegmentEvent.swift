package import DiarioCore

/// One event as it goes into a segment: where its parts lie, and what is known beside them.
package struct SegmentEvent: Equatable, Sendable {
    package var replica: ReplicaID
    package var sequence: UInt64
    /// Nil while the event is pending.
    package var acceptedAt: Timestamp?
    /// Whether an authority wrote it.
    package var isAuthority: Bool
    /// The place of the public part in the bytes that come along.
    package var publicPart: Range<Int>
    package var personal: BlockRow.Personal

    package init(
        replica: ReplicaID,
        sequence: UInt64,
        acceptedAt: Timestamp?,
        isAuthority: Bool,
        publicPart: Range<Int>,
        personal: BlockRow.Personal
    ) {
        self.replica = replica
        self.sequence = sequence
        self.acceptedAt = acceptedAt
        self.isAuthority = isAuthority
        self.publicPart = publicPart
        self.personal = personal
    }

    /// A row of a block; `acceptedAt` counts more than what the block says, for promoted events.
    package init(_ row: BlockRow, isAuthority: Bool, acceptedAt: Timestamp? = nil) {
        self.init(
            replica: row.replica,
            sequence: row.sequence,
            acceptedAt: acceptedAt ?? row.acceptedAt,
            isAuthority: isAuthority,
            publicPart: row.publicPart,
            personal: row.personal
        )
    }
}
