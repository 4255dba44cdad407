import DiarioCore
import DiarioFormat
import DiarioFrames

/// Plain rows in a frame, which need not be parsed as a whole to be replayed.
struct OwnRows: Sendable {
    let space: SpaceID
    /// The offset of the block in the frame.
    let offset: Int
    let size: Int
    let rows: PlainRows
}

extension OwnRows {
    /// The rows of a frame of a piece; nil if there is more in it than a plain block of rows.
    @inline(__always)
    init?(_ frame: Frame, _ bytes: Span<UInt8>) {
        guard frame.recordCount == 1,
            let record = Record.read(bytes, at: frame.body.lowerBound, end: frame.body.upperBound),
            record.kind == .rows, record.content.upperBound == frame.body.upperBound,
            let rows = PlainRows(bytes.extracting(record.content)), LogNumber.areValid(rows)
        else { return nil }
        self.init(
            space: record.space,
            offset: record.content.lowerBound - frame.offset,
            size: record.content.count,
            rows: rows
        )
    }
}

/// Rows of one replica in frames one after the other, whose positions have no gaps and whose times
/// do not decrease: of a million frames, most are replayed in few steps.
struct PlainStretch {
    let space: SpaceID
    let replica: ReplicaID
    private(set) var lastSequence: UInt64
    /// The highest.
    private(set) var clock: HybridTime
    /// Of the last row.
    private(set) var acceptedAt: Int64
    /// Bytes of the blocks.
    private(set) var size: Int
    private(set) var runs: [Run]

    /// Nil if the rows have no positions; the first of them lie at `place`.
    init?(_ own: OwnRows, at place: FramePlace) {
        guard let position = own.rows.position, let acceptedAt = own.rows.acceptedAt else {
            return nil
        }
        space = own.space
        replica = own.rows.run.replica
        lastSequence = own.rows.run.lastSequence
        clock = own.rows.clock
        self.acceptedAt = acceptedAt
        size = own.size
        runs = [Run(own, position, of: place)]
    }

    /// Bytes that they keep alive in the log.
    var liveBytes: Int { size + runs.count * Record.headerSize }

    /// Takes the next rows in; false if they do not follow.
    @inline(__always)
    mutating func extend(by own: OwnRows, at place: FramePlace) -> Bool {
        let rows = own.rows
        guard let position = rows.position, position == runs[runs.count - 1].last + 1,
            let acceptedAt = rows.acceptedAt, acceptedAt >= self.acceptedAt,
            rows.run.replica == replica, own.space == space
        else { return false }
        lastSequence = max(lastSequence, rows.run.lastSequence)
        clock = max(clock, rows.clock)
        self.acceptedAt = acceptedAt
        size += own.size
        runs.append(Run(own, position, of: place))
        return true
    }
}

extension Run {
    fileprivate init(_ own: OwnRows, _ position: UInt64, of place: FramePlace) {
        self.init(
            first: position,
            count: UInt32(own.rows.run.count),
            skip: 0,
            file: UInt32(place.file),
            offset: UInt32(place.offset + own.offset),
            blockSize: UInt32(own.size),
            liveBytes: UInt32(own.size + Record.headerSize),
            promotedAt: nil
        )
    }
}
