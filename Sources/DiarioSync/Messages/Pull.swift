package import DiarioCore
import DiarioFormat

/// Asks for the events after the head of a replica.
package struct Pull: Equatable, Sendable {
    /// Events of a replica that the asking side has, as pending.
    package struct Own: Hashable, Sendable {
        package var replica: ReplicaID
        package var firstSequence: UInt64
        package var count: UInt64

        package init(replica: ReplicaID, firstSequence: UInt64, count: UInt64) {
            self.replica = replica
            self.firstSequence = firstSequence
            self.count = count
        }
    }

    package var standing: Standing
    package var own: [Own]
    package var countMax: UInt64
    /// True if the asking side has the context of its last events.
    package var hasContext: Bool

    package init(
        standing: Standing,
        own: [Own],
        countMax: UInt64 = UInt64(Limits.exchangeCountMax),
        hasContext: Bool = false
    ) {
        self.standing = standing
        self.own = own
        self.countMax = countMax
        self.hasContext = hasContext
    }
}

extension Pull {
    init(_ reader: inout ByteReader) throws(FormatError) {
        standing = try Standing(&reader)
        let start = reader.offset
        let count = try reader.nextCount(entrySizeMin: 10, .message)
        guard count <= Limits.ownRunCountMax else { throw .malformed(.message, at: start) }
        own = []
        for _ in 0..<count {
            own.append(
                Own(
                    replica: try reader.nextReplica(),
                    firstSequence: try reader.nextNumber(.sequence),
                    count: try reader.nextNumber(.eventCount)
                )
            )
        }
        countMax = try reader.nextNumber(.eventCount)
        let last = reader.offset
        let context = try reader.next(UInt8.self)
        guard context <= 1 else { throw .malformed(.message, at: last) }
        hasContext = context == 1
    }

    func write(into output: inout [UInt8]) {
        standing.write(into: &output)
        output.append(varint: UInt64(own.count))
        for entry in own {
            output.append(littleEndian: entry.replica.rawValue)
            output.append(varint: entry.firstSequence)
            output.append(varint: entry.count)
        }
        output.append(varint: countMax)
        output.append(hasContext ? 1 : 0)
    }
}
