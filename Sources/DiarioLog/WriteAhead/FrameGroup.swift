import DiarioCore
import DiarioFormat

/// Frames of a piece that are taken up at once: many with plain rows that follow each other, or one
/// of any other kind.
struct FrameGroup: Sendable {
    /// Of the first frame; the others count on from it.
    let firstNumber: UInt64
    /// Where the first frame starts in the bytes of its piece.
    let offset: Int
    /// How long the records of the first frame are.
    private let bodySize: Int
    /// Where the last frame starts, and where it ends.
    private(set) var lastOffset: Int
    private(set) var end: Int
    private(set) var nextNumber: UInt64
    /// Nil if there is more in the frame than a plain block of rows.
    private(set) var rows: PlainStretch?

    init(_ header: FrameHeader, at offset: Int, rows: PlainStretch?) {
        firstNumber = header.number
        nextNumber = header.number &+ 1
        self.offset = offset
        lastOffset = offset
        bodySize = header.bodySize
        end = offset + header.frameSize
        self.rows = rows
    }

    /// Where the records of the first frame lie in the bytes of its piece.
    var body: Range<Int> {
        let first = offset + FrameHeader.size
        return first..<first + bodySize
    }

    /// Takes one more frame in; false if it does not follow, or holds something else.
    @inline(__always)
    mutating func extend(by header: FrameHeader, at offset: Int, _ own: OwnRows) -> Bool {
        guard header.number == nextNumber, rows?.extend(by: own) == true else { return false }
        nextNumber &+= 1
        lastOffset = offset
        end = offset + header.frameSize
        return true
    }
}

/// Rows of one replica in records one after the other, whose positions have no gaps and whose times
/// do not decrease.
struct PlainStretch: Sendable {
    let space: SpaceID
    let replica: ReplicaID
    private(set) var lastSequence: UInt64
    /// The highest.
    private(set) var clock: HybridTime
    /// Of the last row.
    private(set) var acceptedAt: Int64
    /// Bytes of the blocks.
    private(set) var size: Int
    /// Which runs of the piece they are.
    private(set) var runs: Range<Int>
    private var nextPosition: UInt64

    /// Begins with the rows of run `index`; nil if they have no positions.
    init?(_ own: OwnRows, at index: Int) {
        guard let position = own.rows.position, let acceptedAt = own.rows.acceptedAt else {
            return nil
        }
        space = own.space
        replica = own.rows.run.replica
        lastSequence = own.rows.run.lastSequence
        clock = own.rows.clock
        self.acceptedAt = acceptedAt
        size = own.size
        runs = index..<index + 1
        nextPosition = position + own.rows.run.count
    }

    /// Bytes that they keep alive in the log.
    var liveBytes: Int { size + runs.count * Record.headerSize }

    /// Takes the rows of the next run in; false if they do not follow.
    @inline(__always)
    fileprivate mutating func extend(by own: OwnRows) -> Bool {
        let rows = own.rows
        guard rows.position == nextPosition, let acceptedAt = rows.acceptedAt,
            acceptedAt >= self.acceptedAt, rows.run.replica == replica, own.space == space
        else { return false }
        lastSequence = max(lastSequence, rows.run.lastSequence)
        clock = max(clock, rows.clock)
        self.acceptedAt = acceptedAt
        size += own.size
        runs = runs.lowerBound..<runs.upperBound + 1
        nextPosition += rows.run.count
        return true
    }
}

/// What is in the frames of a piece.
struct FrameGroups: Sendable {
    private(set) var list: [FrameGroup] = []
    private(set) var runs: [Run] = []

    mutating func removeAll() {
        list.removeAll(keepingCapacity: true)
        runs.removeAll(keepingCapacity: true)
    }

    /// Takes in the frame at `offset` of bytes that start at `origin` of file `number`.
    ///
    /// Inlined as all that it calls, since there may be a million frames.
    @inline(__always)
    mutating func add(
        _ header: FrameHeader,
        _ bytes: Span<UInt8>,
        at offset: Int,
        origin: Int,
        of number: UInt64
    ) {
        guard let own = OwnRows(header, bytes, at: offset), let position = own.rows.position else {
            list.append(FrameGroup(header, at: offset, rows: nil))
            return
        }
        let last = list.count - 1
        if last < 0 || !list[last].extend(by: header, at: offset, own) {
            let rows = PlainStretch(own, at: runs.count)
            list.append(FrameGroup(header, at: offset, rows: rows))
        }
        runs.append(
            Run(
                first: position,
                count: UInt32(own.rows.run.count),
                skip: 0,
                file: UInt32(number),
                offset: UInt32(origin + offset + own.offset),
                blockSize: UInt32(own.size),
                liveBytes: UInt32(own.size + Record.headerSize),
                promotedAt: nil
            )
        )
    }
}

extension OwnRows {
    /// The rows of a frame that verifies; nil if there is more in it than a plain block of rows.
    @inline(__always)
    fileprivate init?(_ header: FrameHeader, _ bytes: Span<UInt8>, at offset: Int) {
        let body = offset + FrameHeader.size
        guard header.recordCount == 1,
            let record = Record.read(bytes, at: body, end: body + header.bodySize),
            record.kind == .rows, record.content.upperBound == body + header.bodySize,
            let rows = PlainRows(bytes.extracting(record.content)), LogNumber.areValid(rows)
        else { return nil }
        self.init(
            space: record.space,
            offset: record.content.lowerBound - offset,
            size: record.content.count,
            rows: rows
        )
    }
}
