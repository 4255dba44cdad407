package import DiarioCore
package import DiarioFormat

// A segment in a manifest: schema/format/directory.md, section 4.

/// The name of a segment and its sidecar: where they begin, and a number that was drawn for them,
/// so that no file ever takes the name of another.
package struct SegmentName: Hashable, Sendable {
    /// The position of the first event; of a private segment its sequence.
    package var first: UInt64
    package var number: UInt64

    package init(first: UInt64, number: UInt64) {
        self.first = first
        self.number = number
    }
}

/// A sealed segment of a space and its sidecar.
///
/// In a private segment `first` and `last` are sequences of the replica, without gaps.
package struct SegmentEntry: Hashable, Sendable {
    static let size = 72

    package var name: SegmentName
    package var count: Int
    /// Bytes of the segment.
    package var segmentSize: Int
    /// Bytes of the sidecar.
    package var sidecarSize: Int
    /// Bytes of all rows before they were made columns.
    package var rowSize: Int
    package var identity: SegmentIdentity
    /// The checksum in the sidecar's header.
    package var sidecarChecksum: UInt32
    /// Whose events these are, if the segment is a private one.
    package var replica: ReplicaID?

    package init(
        name: SegmentName,
        count: Int,
        segmentSize: Int,
        sidecarSize: Int,
        rowSize: Int,
        identity: SegmentIdentity,
        sidecarChecksum: UInt32,
        replica: ReplicaID? = nil
    ) {
        self.name = name
        self.count = count
        self.segmentSize = segmentSize
        self.sidecarSize = sidecarSize
        self.rowSize = rowSize
        self.identity = identity
        self.sidecarChecksum = sidecarChecksum
        self.replica = replica
    }

    package var first: UInt64 { name.first }
    package var last: UInt64 { first + UInt64(count) - 1 }
    package var fileSize: Int { segmentSize + sidecarSize }

    func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: name.first)
        bytes.append(littleEndian: name.number)
        bytes.append(littleEndian: UInt32(count))
        bytes.append(littleEndian: sidecarChecksum)
        bytes.append(littleEndian: UInt64(segmentSize))
        bytes.append(littleEndian: UInt64(sidecarSize))
        bytes.append(littleEndian: UInt64(rowSize))
        bytes.append(littleEndian: identity.first)
        bytes.append(littleEndian: identity.second)
        bytes.append(littleEndian: replica?.rawValue ?? 0)
    }

    init?(_ bytes: Span<UInt8>, at offset: Int) {
        func word(_ index: Int) -> UInt64 {
            bytes.littleEndian(UInt64.self, at: offset + 8 * index)
        }
        let first = word(0)
        let count = Int(bytes.littleEndian(UInt32.self, at: offset + 16))
        guard LogNumber.isValid(first, count: UInt64(count)),
            count <= SegmentLimits.eventCountMax,
            let segmentSize = Int(exactly: word(3)), let sidecarSize = Int(exactly: word(4)),
            let rowSize = Int(exactly: word(5)), segmentSize <= Int.max - sidecarSize
        else { return nil }
        self.init(
            name: SegmentName(first: first, number: word(1)),
            count: count,
            segmentSize: segmentSize,
            sidecarSize: sidecarSize,
            rowSize: rowSize,
            identity: SegmentIdentity(first: word(6), second: word(7)),
            sidecarChecksum: bytes.littleEndian(UInt32.self, at: offset + 20),
            replica: ReplicaID(rawValue: word(8))
        )
    }
}

/// A segment in whose place others are, and since when.
package struct RetiredSegment: Hashable, Sendable {
    static let size = 24

    package var name: SegmentName
    package var since: Timestamp

    package init(name: SegmentName, since: Timestamp) {
        self.name = name
        self.since = since
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: name.first)
        bytes.append(littleEndian: name.number)
        bytes.append(littleEndian: UInt64(bitPattern: since.milliseconds))
    }

    init?(_ bytes: Span<UInt8>, at offset: Int) {
        let first = bytes.littleEndian(UInt64.self, at: offset)
        guard first > 0 else { return nil }
        let since = bytes.littleEndian(UInt64.self, at: offset + 16)
        self.init(
            name: SegmentName(
                first: first,
                number: bytes.littleEndian(UInt64.self, at: offset + 8)
            ),
            since: Timestamp(milliseconds: Int64(bitPattern: since))
        )
    }
}
