package import DiarioCore
import DiarioCrypto

/// What a segment says of itself in front of its blocks: schema/format/segments.md, section 3.
///
/// Enough to tell whether the segment can hold an event, without reading any block.
package struct SegmentIndex: Equatable, Sendable {
    package var types: [SegmentType]
    /// The lowest and the highest time at which an author says something happened.
    package var at: ClosedRange<Int64>
    package var clocks: ClosedRange<UInt64>
    /// Nil if the events are pending.
    package var acceptedAt: ClosedRange<Int64>?
    /// In order of first sight.
    package var replicas: [SegmentReplica]
    package var blocks: [SegmentBlock]

    /// The index of a type of this name and version.
    package func typeIndex(_ name: [UInt8], version: Int) -> Int? {
        types.firstIndex { $0.entry.version == version && $0.entry.name == name }
    }

    /// Whether the segment holds the event, or says that it was refused; nil if neither.
    package func find(_ origin: Origin) -> SegmentRun? {
        guard let replica = replicas.first(where: { $0.replica == origin.replica }) else {
            return nil
        }
        return replica.runs.first { $0.first <= origin.sequence && origin.sequence <= $0.last }
    }

    /// Whether the segment holds one of these events.
    package func holds(_ sequences: ClosedRange<UInt64>, of replica: ReplicaID) -> Bool {
        guard let found = replicas.first(where: { $0.replica == replica }) else { return false }
        return found.runs.contains { run in
            !run.isRefused && run.first <= sequences.upperBound && sequences.lowerBound <= run.last
        }
    }

    /// The number of the block with these marks in the list.
    package func block(_ kind: SegmentBlockKind, key: Int = 0) -> Int? {
        let place = blocks.firstPlace(kind.rawValue, key)
        return blocks[place...].first.flatMap {
            $0.kind == kind.rawValue && $0.key == key ? place : nil
        }
    }

    /// The numbers of the blocks with the rows of a type, in order.
    package func fieldBlocks(ofType type: Int) -> [Int] {
        let kind = SegmentBlockKind.fields.rawValue
        return Array(blocks.firstPlace(kind, type)..<blocks.firstPlace(kind, type + 1))
    }
}

/// A type of a segment and how often it occurs.
package struct SegmentType: Equatable, Sendable {
    package var entry: TypeEntry
    package var eventCount: Int
    /// The lowest and the highest `at` of its events.
    package var at: ClosedRange<Int64>
}

/// A replica that wrote events of a segment, or whose events one of them refused.
package struct SegmentReplica: Equatable, Sendable {
    package var replica: ReplicaID
    /// In order of sequence; they do not meet.
    package var runs: [SegmentRun]

    package init(replica: ReplicaID, runs: [SegmentRun]) {
        self.replica = replica
        self.runs = runs
    }

    /// The sequence of the first event that stands in the segment.
    var firstSequence: UInt64 { runs.first { !$0.isRefused }?.first ?? 1 }
}

/// Consecutive sequences of one replica.
package struct SegmentRun: Equatable, Sendable {
    package var first: UInt64
    package var last: UInt64
    /// True if the events stand nowhere, because an event of the segment says so.
    package var isRefused: Bool

    package init(first: UInt64, last: UInt64, isRefused: Bool) {
        self.first = first
        self.last = last
        self.isRefused = isRefused
    }
}

extension SegmentIndex {
    /// The bytes of the index before compression.
    var bytes: [UInt8] {
        var output: [UInt8] = []
        output.append(varint: UInt64(types.count))
        for type in types {
            output.append(counted: type.entry.name.span.raw)
            output.append(varint: UInt64(type.entry.version))
            output.append(type.entry.fingerprint)
            output.append(varint: UInt64(type.eventCount))
            Self.write(type.at, into: &output)
        }
        Self.write(at, into: &output)
        output.append(varint: clocks.lowerBound)
        output.append(varint: clocks.upperBound - clocks.lowerBound)
        if let acceptedAt { Self.write(acceptedAt, into: &output) }
        output.append(varint: UInt64(replicas.count))
        for replica in replicas {
            output.append(littleEndian: replica.replica.rawValue)
            output.append(varint: UInt64(replica.runs.count))
            var end: UInt64 = 0
            for run in replica.runs {
                output.append(varint: run.first - end)
                output.append(varint: (run.last - run.first + 1) << 1 | (run.isRefused ? 1 : 0))
                end = run.last + 1
            }
        }
        Self.write(blocks, into: &output)
        return output
    }

    static func write(_ blocks: [SegmentBlock], into output: inout [UInt8]) {
        output.append(varint: UInt64(blocks.count))
        for block in blocks { block.write(into: &output) }
    }

    private static func write(_ range: ClosedRange<Int64>, into output: inout [UInt8]) {
        output.append(zigzag: range.lowerBound)
        output.append(varint: UInt64(bitPattern: range.upperBound &- range.lowerBound))
    }

    /// Reads the index of a segment and checks every count in it.
    static func parse(
        _ bytes: Span<UInt8>,
        _ header: SegmentHeader
    ) throws(FormatError) -> SegmentIndex {
        var reader = ByteReader(bytes.raw)
        let types = try readTypes(&reader, bytes, eventCount: header.eventCount)
        let at = try readTimes(&reader, .time)
        let lowestClock = try reader.nextVarint()
        let clockOffset = reader.offset
        let (highest, overflows) = lowestClock.addingReportingOverflow(try reader.nextVarint())
        guard !overflows, highest >> 63 == 0 else { throw .malformed(.clock, at: clockOffset) }
        let acceptedAt = header.isPositioned ? try readTimes(&reader, .acceptedTimes) : nil
        let replicas = try readReplicas(&reader, eventCount: header.eventCount)
        guard header.isPositioned || replicas.count == 1 else {
            throw .malformed(.replica, at: clockOffset)
        }
        let index = SegmentIndex(
            types: types,
            at: at,
            clocks: lowestClock...highest,
            acceptedAt: acceptedAt,
            replicas: replicas,
            blocks: try SegmentBlock.readList(
                &reader,
                offset: header.blocksOffset,
                fileSize: header.fileSize
            )
        )
        try index.checkBlocks(header, at: bytes.count)
        return index
    }

    private static func readTimes(
        _ reader: inout ByteReader,
        _ part: FormatPart
    ) throws(FormatError) -> ClosedRange<Int64> {
        let start = reader.offset
        let lowest = try reader.nextZigzag()
        let span = try reader.nextVarint()
        let highest = lowest &+ Int64(bitPattern: span)
        guard highest >= lowest, CivilTime.contains(lowest), CivilTime.contains(highest) else {
            throw .malformed(part, at: start)
        }
        return lowest...highest
    }

    private static func readTypes(
        _ reader: inout ByteReader,
        _ bytes: Span<UInt8>,
        eventCount: Int
    ) throws(FormatError) -> [SegmentType] {
        let count = try reader.nextVarint()
        guard 1...UInt64(SegmentLimits.typeCountMax) ~= count else {
            throw .malformed(.types, at: 0)
        }
        var types: [SegmentType] = []
        var known = StringTable()
        var rest = UInt64(eventCount)
        for _ in 0..<count {
            let start = reader.offset
            let name = try reader.nextText()
            let version = try reader.nextVarint()
            // As it stands in the index: a length, the name, and the version.
            guard 1...Limits.typeNameSizeMax ~= name.count, 1...TypeEntry.versionMax ~= version,
                !known.contains(adding: bytes.extracting(start..<reader.offset))
            else { throw .malformed(.types, at: start) }
            let entry = TypeEntry(
                name: Array(bytes, name),
                version: Int(clamping: version),
                fingerprint: try reader.nextHash()
            )
            let eventCount = try reader.nextVarint()
            guard 1...rest ~= eventCount else { throw .malformed(.eventCount, at: start) }
            rest -= eventCount
            types.append(
                SegmentType(
                    entry: entry,
                    eventCount: Int(eventCount),
                    at: try readTimes(&reader, .time)
                )
            )
            if rest == 0, types.count < count { throw .malformed(.types, at: reader.offset) }
        }
        guard rest == 0 else { throw .malformed(.eventCount, at: reader.offset) }
        return types
    }

    private static func readReplicas(
        _ reader: inout ByteReader,
        eventCount: Int
    ) throws(FormatError) -> [SegmentReplica] {
        let start = reader.offset
        let count = try reader.nextVarint()
        guard count >= 1, count <= UInt64(reader.remaining / 11) else {
            throw .malformed(.replica, at: start)
        }
        var replicas: [SegmentReplica] = []
        var known: Set<UInt64> = []
        var held: UInt64 = 0
        for _ in 0..<count {
            let place = reader.offset
            let value = try reader.next(UInt64.self)
            guard let replica = ReplicaID(rawValue: value), known.insert(value).inserted else {
                throw .malformed(.replica, at: place)
            }
            let runs = try readRuns(&reader)
            for run in runs where !run.isRefused { held &+= run.last - run.first + 1 }
            guard held <= UInt64(eventCount) else { throw .malformed(.runs, at: place) }
            replicas.append(SegmentReplica(replica: replica, runs: runs))
        }
        guard held == UInt64(eventCount) else { throw .malformed(.runs, at: start) }
        return replicas
    }

    private static func readRuns(
        _ reader: inout ByteReader
    ) throws(FormatError) -> [SegmentRun] {
        let start = reader.offset
        let count = try reader.nextVarint()
        guard count >= 1, count <= UInt64(reader.remaining / 2) else {
            throw .malformed(.runs, at: start)
        }
        var runs: [SegmentRun] = []
        var end: UInt64 = 0
        for _ in 0..<count {
            let place = reader.offset
            let gap = try reader.nextVarint()
            let code = try reader.nextVarint()
            let (first, overflows) = end.addingReportingOverflow(gap)
            let (next, isTooLong) = first.addingReportingOverflow(code >> 1)
            let isRefused = code & 1 == 1
            guard !overflows, !isTooLong, first >= 1, code >> 1 >= 1,
                runs.isEmpty || gap > 0 || runs[runs.count - 1].isRefused != isRefused,
                isRefused || code >> 1 <= SegmentLimits.eventCountMax
            else { throw .malformed(.runs, at: place) }
            runs.append(SegmentRun(first: first, last: next - 1, isRefused: isRefused))
            end = next
        }
        return runs
    }
}
