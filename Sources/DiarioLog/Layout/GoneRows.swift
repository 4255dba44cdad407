package import DiarioCore
import DiarioFormat

// Pending events that nothing gives back: schema/format/log.md, section 8.

/// Consecutive events of one replica that are not pending any more, though nothing gave them
/// positions here.
package struct GoneRows: Hashable, Sendable {
    package let replica: ReplicaID
    package let firstSequence: UInt64
    package let count: UInt32
    package let reason: Reason
    /// When that was found.
    package let since: Timestamp

    /// Why they are not pending; the raw values are on disk.
    package enum Reason: UInt64, Sendable {
        /// They were found nowhere.
        case lost = 1
        /// They have positions, which were lost.
        case placed = 2
        /// The authority refused them; nothing else in the log says so.
        case refused = 3
    }

    private static let size = 40
    /// Bytes of a record in a frame.
    package static let recordSize = Record.headerSize + size

    package init(
        replica: ReplicaID,
        firstSequence: UInt64,
        count: UInt32,
        reason: Reason,
        since: Timestamp
    ) {
        self.replica = replica
        self.firstSequence = firstSequence
        self.count = count
        self.reason = reason
        self.since = since
    }

    package var lastSequence: UInt64 { firstSequence + UInt64(count) - 1 }
    package var sequences: ClosedRange<UInt64> { firstSequence...lastSequence }

    /// What is said of them.
    package var message: String {
        let range =
            count == 1
            ? "sequence \(firstSequence)" : "sequences \(firstSequence)-\(lastSequence)"
        return "replica \(replica.text), \(range)"
    }

    package func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: replica.rawValue)
        bytes.append(littleEndian: firstSequence)
        bytes.append(littleEndian: UInt64(count))
        bytes.append(littleEndian: reason.rawValue)
        bytes.append(littleEndian: UInt64(bitPattern: since.milliseconds))
    }

    /// Nil unless `bytes` are what `append` writes.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size,
            let replica = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: 0)),
            let count = UInt32(exactly: bytes.littleEndian(UInt64.self, at: 16)),
            let reason = Reason(rawValue: bytes.littleEndian(UInt64.self, at: 24))
        else { return nil }
        let firstSequence = bytes.littleEndian(UInt64.self, at: 8)
        guard LogNumber.isValid(firstSequence, count: UInt64(count)) else { return nil }
        let since = Int64(bitPattern: bytes.littleEndian(UInt64.self, at: 32))
        self.init(
            replica: replica,
            firstSequence: firstSequence,
            count: count,
            reason: reason,
            since: Timestamp(milliseconds: since)
        )
    }
}
