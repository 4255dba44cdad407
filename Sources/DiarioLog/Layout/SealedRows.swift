package import DiarioCore
import DiarioFormat

// Stands for rows as a block does, while the rows are in private segments: schema/format/frames.md.

/// Consecutive events of one replica that lie in private segments.
package struct SealedRows: Hashable, Sendable {
    package let replica: ReplicaID
    package let firstSequence: UInt64
    package let count: UInt32
    /// Nil while they are pending.
    package let placed: Placed?
    /// A clock of the replica in its lane, which puts lanes in order; 0 with positions.
    package let clock: HybridTime

    /// The positions of promoted events.
    package struct Placed: Hashable, Sendable {
        package let firstPosition: UInt64
        package let acceptedAt: Int64

        package init(firstPosition: UInt64, acceptedAt: Int64) {
            self.firstPosition = firstPosition
            self.acceptedAt = acceptedAt
        }
    }

    private static let size = 48
    /// Bytes of a record in a frame.
    package static let recordSize = Record.headerSize + size

    package init(
        replica: ReplicaID,
        firstSequence: UInt64,
        count: UInt32,
        placed: Placed?,
        clock: HybridTime
    ) {
        self.replica = replica
        self.firstSequence = firstSequence
        self.count = count
        self.placed = placed
        self.clock = clock
    }

    package var lastSequence: UInt64 { firstSequence + UInt64(count) - 1 }

    package func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: replica.rawValue)
        bytes.append(littleEndian: firstSequence)
        bytes.append(littleEndian: UInt64(count))
        bytes.append(littleEndian: placed?.firstPosition ?? 0)
        bytes.append(littleEndian: UInt64(bitPattern: placed?.acceptedAt ?? 0))
        bytes.append(littleEndian: clock.rawValue)
    }

    /// Nil unless `bytes` are what `append` writes.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size,
            let replica = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: 0)),
            let count = UInt32(exactly: bytes.littleEndian(UInt64.self, at: 16))
        else { return nil }
        let firstSequence = bytes.littleEndian(UInt64.self, at: 8)
        let position = bytes.littleEndian(UInt64.self, at: 24)
        let acceptedAt = Int64(bitPattern: bytes.littleEndian(UInt64.self, at: 32))
        let clock = bytes.littleEndian(UInt64.self, at: 40)
        guard LogNumber.isValid(firstSequence, count: UInt64(count)), clock >> 63 == 0,
            position > 0
                ? LogNumber.isValid(position, count: UInt64(count)) && clock == 0 : acceptedAt == 0,
            CivilTime.contains(acceptedAt)
        else { return nil }
        self.init(
            replica: replica,
            firstSequence: firstSequence,
            count: count,
            placed: position > 0 ? Placed(firstPosition: position, acceptedAt: acceptedAt) : nil,
            clock: HybridTime(rawValue: clock)
        )
    }
}
