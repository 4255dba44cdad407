package import DiarioCore

/// The part of a block before its rows, checked in place: no memory is allocated.
///
/// Every count, size and number is checked here. `BlockHead` also checks names and compares
/// entries, `RowCursor` checks the rows.
package struct BlockSummary: Equatable, Sendable {
    package private(set) var eventCount: Int
    package private(set) var flags: BlockFlags
    package private(set) var highestClock: HybridTime
    /// The position of the first event; zero if the events are pending.
    private var position: UInt64 = 0
    /// The time of the last event's acceptance; zero if the events are pending.
    private var acceptedAt: Int64 = 0
    /// The offset of each list in the block, and its number of entries.
    private(set) var times = Section()
    private(set) var replicas = Section()
    private(set) var runs = Section()
    private(set) var types = Section()
    private(set) var saltNodes = Section()
    /// The offset of the first row in the block.
    package private(set) var rowsOffset = 0

    struct Section: Equatable, Sendable {
        var offset: Int32 = 0
        var count: Int32 = 0
    }

    package var isPositioned: Bool { flags.contains(.positioned) }
    package var isSalted: Bool { flags.contains(.salted) }
    package var isAuthority: Bool { flags.contains(.authority) }
    /// Nil if the events are pending.
    package var firstPosition: UInt64? { isPositioned ? position : nil }
    package var lastPosition: UInt64? { isPositioned ? position + UInt64(eventCount) - 1 : nil }
    package var lastAcceptedAt: Timestamp? {
        isPositioned ? Timestamp(milliseconds: acceptedAt) : nil
    }
    package var replicaCount: Int { Int(replicas.count) }
    package var runCount: Int { Int(runs.count) }
    package var typeCount: Int { Int(types.count) }

    /// Checks a whole block that is not compressed.
    ///
    /// The checksum needs no second look where another one was verified around the block.
    package static func parse(
        _ bytes: Span<UInt8>,
        verifyChecksum: Bool
    ) throws(FormatError) -> BlockSummary {
        let header = try BlockHeader.parse(bytes)
        try header.check(bytes, verifyChecksum: verifyChecksum)
        guard header.compression == .none else {
            throw .malformed(.compression, at: 5)
        }
        var reader = ByteReader(bytes.raw, range: BlockHeader.size..<bytes.count)
        var summary = BlockSummary(
            eventCount: header.eventCount,
            flags: header.flags,
            highestClock: HybridTime(rawValue: try reader.next(UInt64.self))
        )
        guard summary.highestClock.rawValue >> 63 == 0 else {
            throw .malformed(.highestClock, at: BlockHeader.size)
        }
        if summary.isPositioned { try summary.readTimes(&reader) }
        try summary.readReplicas(&reader)
        try summary.readRuns(&reader, in: bytes)
        try summary.readTypes(&reader)
        if summary.isSalted { try summary.readSaltNodes(&reader) }
        summary.rowsOffset = reader.offset
        let rowsSize = BlockHeader.size + header.bodySize - reader.offset
        guard rowsSize / BlockRow.sizeMin >= summary.eventCount else {
            throw .truncated(at: bytes.count)
        }
        return summary
    }

    private init(eventCount: Int, flags: BlockFlags, highestClock: HybridTime) {
        self.eventCount = eventCount
        self.flags = flags
        self.highestClock = highestClock
    }

    private mutating func readTimes(_ reader: inout ByteReader) throws(FormatError) {
        let start = reader.offset
        position = try reader.nextVarint()
        guard position >= 1, position <= UInt64.max - UInt64(eventCount) else {
            throw .malformed(.position, at: start)
        }
        times = try section(&reader, entrySizeMin: 2, part: .acceptedTimes)
        var rest = UInt64(eventCount)
        for index in 0..<times.count {
            let offset = reader.offset
            let count = try reader.nextVarint()
            let (next, _) = acceptedAt.addingReportingOverflow(try reader.nextZigzag())
            // B3: acceptedAt never decreases with position.
            guard count >= 1, count <= rest, index == 0 || next >= acceptedAt,
                CivilTime.contains(next)
            else { throw .malformed(.acceptedTimes, at: offset) }
            rest -= count
            acceptedAt = next
        }
        guard rest == 0 else { throw .malformed(.acceptedTimes, at: Int(times.offset)) }
    }

    private mutating func readReplicas(_ reader: inout ByteReader) throws(FormatError) {
        replicas = try section(&reader, entrySizeMin: 8, part: .replica)
        for _ in 0..<replicas.count {
            let offset = reader.offset
            guard try reader.next(UInt64.self) != 0 else { throw .malformed(.replica, at: offset) }
        }
    }

    private mutating func readRuns(
        _ reader: inout ByteReader,
        in bytes: Span<UInt8>
    ) throws(FormatError) {
        runs = try section(&reader, entrySizeMin: 3, part: .runs)
        var rest = UInt64(eventCount)
        for _ in 0..<runs.count {
            let offset = reader.offset
            let replica = try reader.nextVarint()
            let first = try reader.nextVarint()
            let count = try reader.nextVarint()
            guard replica < replicas.count, count >= 1, count <= rest,
                first >= 1, first <= UInt64.max - count
            else { throw .malformed(.runs, at: offset) }
            rest -= count
        }
        let isWhole = isPositioned || runs.count == 1 && replicas.count == 1
        guard rest == 0, isWhole else { throw .malformed(.runs, at: Int(runs.offset)) }
    }

    private mutating func readTypes(_ reader: inout ByteReader) throws(FormatError) {
        types = try section(&reader, entrySizeMin: 35, part: .types)
        for _ in 0..<types.count {
            let offset = reader.offset
            let name = try reader.nextBytes()
            guard 1...Limits.typeNameSizeMax ~= name.count else {
                throw .malformed(.typeName, at: offset)
            }
            let version = try reader.nextVarint()
            guard 1...TypeEntry.versionMax ~= version else {
                throw .malformed(.typeVersion, at: name.upperBound)
            }
            _ = try reader.nextRange(count: 32)
        }
    }

    private mutating func readSaltNodes(_ reader: inout ByteReader) throws(FormatError) {
        saltNodes = try section(&reader, entrySizeMin: 20, part: .saltNode)
        for _ in 0..<saltNodes.count {
            let offset = reader.offset
            let replica = try reader.nextVarint()
            let group = try reader.nextVarint()
            let level = try reader.next(UInt8.self)
            let index = try reader.nextVarint()
            _ = try reader.nextRange(count: 16)
            guard replica < replicas.count, group <= SaltNode.groupMax, level <= SaltNode.levelMax,
                index < UInt64(1) << UInt64(level)
            else { throw .malformed(.saltNode, at: offset) }
        }
    }

    /// Reads a list's count, which is not zero and no more than the remaining bytes could hold.
    private func section(
        _ reader: inout ByteReader,
        entrySizeMin: Int,
        part: FormatPart
    ) throws(FormatError) -> Section {
        let start = reader.offset
        let count = try reader.nextVarint()
        guard count >= 1 || part == .saltNode else { throw .malformed(part, at: start) }
        guard count <= UInt64(reader.remaining / entrySizeMin) else { throw .truncated(at: start) }
        return Section(offset: Int32(reader.offset), count: Int32(count))
    }
}
