import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioFrames
import DiarioStorage

/// Computes leaves from the rows of canonical events, in order; holds one block at a time.
struct LeafReader: ~Copyable {
    private let store: LogStore
    private let space: SpaceID
    /// The last leaf that will be asked for, not included.
    private let end: UInt64
    private var seeds: Seeds
    private var cursor: LogCursor?
    /// The leaf after the last one that the cursor gives.
    private var cursorEnd: UInt64 = 0
    private var events: StoredEvents?
    /// The row of `events` that comes next, and its leaf's index.
    private var row = 0
    private var next: UInt64 = 0

    init(_ store: LogStore, _ space: SpaceID, end: UInt64) {
        self.store = store
        self.space = space
        self.end = end
        seeds = Seeds(store: store.shared, space: space)
    }

    /// Gives the leaves of `range` to `visit`.
    ///
    /// Ranges that follow one another closely are read from the same blocks.
    mutating func read(
        _ range: Range<UInt64>,
        _ hasher: inout EventHasher,
        _ visit: (Hash32, inout EventHasher) -> Void
    ) throws(LogError) {
        precondition(range.upperBound <= end, "leaves are read up to the stated end")
        try seek(range)
        while next < range.upperBound {
            try fill()
            guard let events, row < events.rows.count, events.rows[row].position == next + 1 else {
                throw missing(next)
            }
            while row < events.rows.count, next < range.upperBound {
                visit(try leaf(events.rows[row], events, &hasher), &hasher)
                row += 1
                next += 1
            }
        }
    }

    /// Skips rows of the current block, or searches the first leaf again.
    private mutating func seek(_ range: Range<UInt64>) throws(LogError) {
        let index = range.lowerBound
        let rest = UInt64((events?.rows.count ?? 0) - row)
        let isNear = cursor != nil && index >= next && index - next <= rest
        if isNear, range.upperBound <= cursorEnd {
            while let events, row < events.rows.count,
                events.rows[row].position ?? 0 <= index
            {
                row += 1
            }
        } else if index < end {
            // No further than to the end of the tile, since a segment is not read as a whole for
            // a few rows; but what is read bit by bit is read at once.
            let tileEnd = (index / UInt64(Tile.widthMax) + 1) * UInt64(Tile.widthMax)
            cursorEnd = isNear ? end : min(end, max(range.upperBound, tileEnd))
            cursor = try store.cursor(space, positions: index + 1...cursorEnd, .canonical)
            events = nil
            row = 0
        }
        next = index
    }

    /// Sees to it that there is a row at hand, if there is one at all.
    private mutating func fill() throws(LogError) {
        if let events, row < events.rows.count { return }
        events = try cursor?.next()
        row = 0
    }

    private mutating func leaf(
        _ stored: StoredRow,
        _ events: StoredEvents,
        _ hasher: inout EventHasher
    ) throws(LogError) -> Hash32 {
        guard let acceptedAt = stored.acceptedAt else { throw missing(next) }
        do throws(FormatError) {
            let hash = try hasher.eventHash(of: stored.row, in: events, &seeds)
            return hasher.leaf(hash, acceptedAt: acceptedAt.milliseconds)
        } catch {
            throw .format(error)
        }
    }

    private func missing(_ index: UInt64) -> LogError {
        .corrupt(
            Fault(
                file: FramePaths.folder,
                offset: 0,
                what: "position \(index + 1) of space \(space.text) is missing"
            )
        )
    }
}
