import DiarioCore
import DiarioFormat
import DiarioSchema
import DiarioStorage

/// An event that verifies, and what it was read with.
struct SalvagedRow {
    let events: StoredEvents
    let stored: StoredRow
    /// Its personal part cannot be read.
    let isWithheld: Bool

    var row: BlockRow { stored.row }
    var type: TypeEntry { events.types[stored.row.typeIndex] }
}

/// Finds the events of a damaged space by position or by sequence, in the order of trust: whole
/// segments, damaged ones, frames of the log.
struct SalvageSources: ~Copyable {
    let log: LogPieces.Space
    private let frames: LogPieces
    private let pieces: [SegmentPiece]
    /// Private segments, by replica.
    private let lanes: [ReplicaID: [SegmentPiece]]
    /// Positions of events in private segments; a run's lane is the number of its piece, from 1.
    private var promoted = RunList()
    private let promotedPieces: [SegmentPiece]
    private var reader: SegmentPieceReader
    private var frameFaults: [Fault] = []

    /// Events that are looked for at once.
    private static let windowCount: UInt64 = 1024

    init(
        _ space: SpaceID,
        _ frames: LogPieces,
        _ directory: any LogDirectory,
        _ known: [TypeEntry: EventType]
    ) throws(LogError) {
        self.frames = frames
        log = frames.spaces[space] ?? LogPieces.Space()
        reader = SegmentPieceReader(directory, space, known)
        let all = try reader.pieces()
        pieces = all.filter { $0.replica == nil }
        // Those that count most come last, and take the place of others.
        let own = all.filter { $0.replica != nil }
        promotedPieces = own.reversed()
        var lanes: [ReplicaID: [SegmentPiece]] = [:]
        for piece in own {
            if let replica = piece.replica { lanes[replica, default: []].append(piece) }
        }
        self.lanes = lanes
        for (index, piece) in promotedPieces.enumerated() {
            for run in log.placements where run.replica == piece.replica {
                let low = max(run.firstSequence, piece.numbers.lowerBound)
                let high = min(run.lastSequence, piece.numbers.upperBound)
                guard low <= high else { continue }
                promoted.insert(
                    Run(
                        sealed: UInt32(index + 1),
                        first: run.firstPosition + (low - run.firstSequence),
                        count: UInt32(high - low + 1),
                        firstSequence: low,
                        file: 0,
                        promotedAt: run.acceptedAt.milliseconds
                    )
                ) { _ in }
            }
        }
    }

    var faults: [Fault] { reader.faults + frameFaults }

    /// The last position that anything tells of.
    var head: UInt64 {
        pieces.reduce(max(log.head, promoted.runs.last?.last ?? 0)) {
            max($0, $1.numbers.upperBound)
        }
    }

    /// The replicas of which something may be pending.
    var replicas: Set<ReplicaID> {
        Set(lanes.keys).union(log.lanes.filter { !$0.value.isEmpty }.map { $0.key })
    }

    // MARK: Positions

    /// The events at the positions from `start` on that come next, in order; nil if there are no
    /// more.
    mutating func next(from start: UInt64) throws(LogError) -> (rows: [SalvagedRow], end: UInt64)? {
        let firsts =
            pieces.map { ($0.numbers.lowerBound, $0.numbers.upperBound) }
            + [log.canonical.next(from: start), promoted.next(from: start)].compactMap { $0 }
        guard let window = Self.window(firsts, from: start) else { return nil }
        var slots = Slots(window)
        for piece in pieces where !slots.isFull && piece.numbers.overlaps(window) {
            for found in try reader.events(piece, window) { slots.take(found) }
        }
        for run in promoted.runs(in: window) where !slots.isFull {
            let piece = promotedPieces[Int(run.lane) - 1]
            let low = max(run.first, window.lowerBound) - run.first
            let high = min(run.last, window.upperBound) - run.first
            let sequences = run.firstSequence + low...run.firstSequence + high
            for found in try reader.events(piece, sequences) {
                slots.take(found) { row in
                    row.placed(run.first + (row.row.sequence - run.firstSequence), run.promotedAt)
                }
            }
        }
        for run in log.canonical.runs(in: window) where !slots.isFull {
            if let events = try read(run, isPending: false) {
                slots.take(SegmentPieceReader.Found(events: events, isWithheld: false))
            }
        }
        return (slots.rows, window.upperBound + 1)
    }

    // MARK: Sequences

    /// The same of the events of one replica that have no position.
    mutating func next(
        of replica: ReplicaID,
        from start: UInt64
    ) throws(LogError) -> (rows: [SalvagedRow], end: UInt64)? {
        let own = lanes[replica] ?? []
        let list = log.lanes[replica] ?? RunList()
        let firsts =
            own.map { ($0.numbers.lowerBound, $0.numbers.upperBound) }
            + [list.next(from: start)].compactMap { $0 }
        guard let window = Self.window(firsts, from: start) else { return nil }
        var slots = Slots(window, of: replica)
        for piece in own where !slots.isFull && piece.numbers.overlaps(window) {
            for found in try reader.events(piece, window) { slots.take(found) }
        }
        for run in list.runs(in: window) where !slots.isFull {
            if let events = try read(run, isPending: true) {
                slots.take(SegmentPieceReader.Found(events: events, isWithheld: false))
            }
        }
        return (slots.rows, window.upperBound + 1)
    }

    private mutating func read(
        _ run: Run,
        isPending: Bool
    ) throws(LogError) -> StoredEvents? {
        do throws(LogError) { return try frames.events(run, isPending: isPending) } catch {
            guard case .corrupt(let fault) = error else { throw error }
            if !frameFaults.contains(fault) { frameFaults.append(fault) }
            return nil
        }
    }

    /// The numbers that are looked at next, of ranges that hold some.
    private static func window(
        _ ranges: [(first: UInt64, last: UInt64)],
        from start: UInt64
    ) -> ClosedRange<UInt64>? {
        let firsts = ranges.filter { $0.last >= start }.map { max($0.first, start) }
        guard let first = firsts.min() else { return nil }
        let end = ranges.reduce(first) { max($0, $1.last) }
        return first...min(end, first + windowCount - 1)
    }
}

/// The events of a window by number: those that came first count, unless they are withheld.
private struct Slots {
    private let window: ClosedRange<UInt64>
    private let replica: ReplicaID?
    private var found: [SalvagedRow?]
    private var rest: Int

    init(_ window: ClosedRange<UInt64>, of replica: ReplicaID? = nil) {
        self.window = window
        self.replica = replica
        rest = window.count
        found = [SalvagedRow?](repeating: nil, count: rest)
    }

    /// True if nothing better can come.
    var isFull: Bool { rest == 0 }

    var rows: [SalvagedRow] { found.compactMap { $0 } }

    mutating func take(
        _ new: SegmentPieceReader.Found,
        _ place: (StoredRow) -> StoredRow = { $0 }
    ) {
        for stored in new.events.rows {
            let stored = place(stored)
            guard let number = replica == nil ? stored.position : stored.row.sequence,
                window ~= number, replica == nil || stored.row.replica == replica
            else { continue }
            var isWithheld = false
            if new.isWithheld, case .erased = stored.row.personal { isWithheld = true }
            let index = Int(number - window.lowerBound)
            if let known = found[index], !known.isWithheld || isWithheld { continue }
            found[index] = SalvagedRow(
                events: new.events,
                stored: stored,
                isWithheld: isWithheld
            )
            if !isWithheld { rest -= 1 }
        }
    }
}

extension StoredRow {
    /// A pending event at the position that it was given.
    fileprivate func placed(_ position: UInt64, _ acceptedAt: Int64?) -> StoredRow {
        StoredRow(
            row: row,
            position: position,
            acceptedAt: acceptedAt.map { Timestamp(milliseconds: $0) },
            isAuthority: isAuthority
        )
    }
}

extension RunList {
    /// The first run that ends at or after a number.
    fileprivate func next(from start: UInt64) -> (UInt64, UInt64)? {
        let index = firstIndex(endingFrom: start)
        guard index < runs.count else { return nil }
        return (runs[index].first, runs[index].last)
    }

    fileprivate func runs(in window: ClosedRange<UInt64>) -> [Run] {
        var found: [Run] = []
        var index = firstIndex(endingFrom: window.lowerBound)
        while index < runs.count, runs[index].first <= window.upperBound {
            found.append(runs[index])
            index += 1
        }
        return found
    }
}
