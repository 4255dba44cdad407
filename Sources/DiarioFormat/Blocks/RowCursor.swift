package import DiarioCore

/// The place of a row in a block, and the facts that the block has about it.
package struct BlockRow: Equatable, Sendable {
    /// The number of the row in its block, from 0.
    package let index: Int
    /// The index of its type in the block's list.
    package let typeIndex: Int
    package let replica: ReplicaID
    package let sequence: UInt64
    /// Nil while the event is pending.
    package let position: UInt64?
    /// Nil while the event is pending.
    package let acceptedAt: Timestamp?
    /// The place of the public part, from the start of the block.
    package let publicPart: Range<Int>
    package let personal: Personal

    /// The personal part of an event in a block; offsets count from the start of the block.
    package enum Personal: Equatable, Sendable {
        case absent
        /// The commitment of 32 bytes in place of an erased part.
        case erased(commitment: Range<Int>)
        case present(Range<Int>)

        /// Bytes that count towards the size of the event; how long an erased part was is not known
        /// any more.
        var size: Int {
            switch self {
            case .absent: 0
            case .erased: 1
            case .present(let range): range.count
            }
        }
    }

    package var origin: Origin { Origin(replica: replica, sequence: sequence) }

    /// The event's content, to compare events: not its time, base or batch.
    ///
    /// `bytes` are those of its block.
    package func content(of bytes: Span<UInt8>) throws(FormatError) -> [UInt8] {
        let part = try PublicPart.parse(bytes, self)
        var content: [UInt8] = []
        // From the flags on: bytes before them are about its recording.
        let size = part.size - personal.size
        for index in publicPart.upperBound - size..<publicPart.upperBound {
            content.append(bytes[index])
        }
        if case .present(let range) = personal {
            for index in range { content.append(bytes[index]) }
        }
        return content
    }

    /// The fewest bytes that a row takes in a block: three numbers and the least public part.
    static let sizeMin = 3 + PublicPart.sizeMin
}

extension BlockRow {
    /// A row that came out of a segment; places count in the bytes that came with it.
    package init(_ row: SegmentRow) {
        self.init(
            index: row.index,
            typeIndex: row.typeIndex,
            replica: row.event.replica,
            sequence: row.event.sequence,
            position: row.position,
            acceptedAt: row.event.acceptedAt,
            publicPart: row.event.publicPart,
            personal: row.event.personal
        )
    }
}

/// Walks the rows of a checked block in order, without allocating.
package struct RowCursor: ~Escapable {
    private let bytes: RawSpan
    private let summary: BlockSummary
    private var rows: ByteReader
    private var runs: ByteReader
    private var times: ByteReader
    private var index = 0
    private var replica: ReplicaID?
    private var sequence: UInt64 = 0
    private var position: UInt64
    private var acceptedAt: Int64 = 0
    /// Rows left of the current run, and of those accepted at the current time.
    private var runRest: UInt64 = 0
    private var timeRest: UInt64 = 0

    /// `block` must be the bytes that `summary` was parsed from.
    @_lifetime(copy block)
    package init(_ block: Span<UInt8>, _ summary: BlockSummary) {
        bytes = block.raw
        self.summary = summary
        rows = ByteReader(block.raw, range: summary.rowsOffset..<block.count)
        runs = ByteReader(block.raw, range: Int(summary.runs.offset)..<block.count)
        times = ByteReader(block.raw, range: Int(summary.times.offset)..<block.count)
        position = summary.firstPosition ?? 0
    }

    /// The next row; nil after the last one, which must end where the block ends.
    @_lifetime(self: copy self)
    package mutating func next() throws(FormatError) -> BlockRow? {
        guard index < summary.eventCount else {
            guard rows.isAtEnd else { throw .trailingBytes(at: rows.offset) }
            return nil
        }
        let start = rows.offset
        if runRest == 0 { try nextRun() }
        if summary.isPositioned, timeRest == 0 { try nextTime() }
        let publicSize = try rows.nextVarint()
        let personalCode = try rows.nextVarint()
        let typeIndex = try rows.nextVarint()
        guard typeIndex < summary.types.count else { throw .malformed(.types, at: start) }
        guard PublicPart.sizeMin...PublicPart.sizeMax ~= Int(clamping: publicSize) else {
            throw .malformed(.publicPart, at: start)
        }
        guard personalCode <= Limits.eventSizeMax else {
            throw .malformed(.personalPart, at: start)
        }
        let publicPart = try rows.nextRange(count: Int(publicSize))
        let personal: BlockRow.Personal =
            switch personalCode {
            case 0: .absent
            case 1: .erased(commitment: try rows.nextRange(count: 32))
            default: .present(try rows.nextRange(count: Int(personalCode)))
            }
        guard let replica else { throw .malformed(.runs, at: start) }
        let row = BlockRow(
            index: index,
            typeIndex: Int(typeIndex),
            replica: replica,
            sequence: sequence,
            position: summary.isPositioned ? position : nil,
            acceptedAt: summary.isPositioned ? Timestamp(milliseconds: acceptedAt) : nil,
            publicPart: publicPart,
            personal: personal
        )
        advance()
        return row
    }

    @_lifetime(self: copy self)
    private mutating func advance() {
        index += 1
        sequence &+= 1
        position &+= 1
        runRest &-= 1
        timeRest &-= 1
    }

    @_lifetime(self: copy self)
    private mutating func nextRun() throws(FormatError) {
        let start = runs.offset
        let run = try BlockRun.read(&runs, bytes, summary)
        guard run.count >= 1 else { throw .malformed(.runs, at: start) }
        replica = run.replica
        sequence = run.firstSequence
        runRest = run.count
    }

    @_lifetime(self: copy self)
    private mutating func nextTime() throws(FormatError) {
        let start = times.offset
        timeRest = try times.nextVarint()
        guard timeRest >= 1 else { throw .malformed(.acceptedTimes, at: start) }
        acceptedAt &+= try times.nextZigzag()
    }
}
