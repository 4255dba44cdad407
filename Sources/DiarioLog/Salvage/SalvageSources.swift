import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioStorage

/// An event that verifies, and what it was read with.
struct SalvagedRow {
    let events: StoredEvents
    let stored: StoredRow
    /// Its personal part cannot be read.
    let isWithheld: Bool
    /// Another source has another event under its number.
    var isDisputed = false

    var row: BlockRow { stored.row }
    var type: TypeEntry { events.types[stored.row.typeIndex] }
}

/// Finds the events of a damaged space by position or by sequence, in the order of trust: whole
/// segments, damaged ones, frames of the log.
struct SalvageSources: ~Copyable {
    let log: LogPieces.Space
    private let frames: LogPieces
    private var pieces: [SegmentPiece] = []
    /// Private segments, by replica.
    private var lanes: [ReplicaID: [SegmentPiece]] = [:]
    /// Positions of events in private segments; a run's lane is the number of its piece, from 1.
    private var promoted = RunList()
    private var promotedPieces: [SegmentPiece] = []
    private var reader: SegmentPieceReader
    private var frameFaults: [Fault] = []
    /// Nil if they cannot be read.
    private let tiles: TileStore?
    private var hasher = EventHasher()

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
        reader = try SegmentPieceReader(directory, space, known)
        tiles = try? TileStore(directory, space: space)
    }

    /// Looks at the next segment; gives its size, or nil once events can be asked for.
    mutating func step() throws(LogError) -> Int? {
        if let size = try reader.step() { return size }
        pieces = reader.pieces.filter { $0.replica == nil }
        // Those that count most come last, and take the place of others.
        let own = reader.pieces.filter { $0.replica != nil }
        promotedPieces = own.reversed()
        for piece in own {
            if let replica = piece.replica { lanes[replica, default: []].append(piece) }
        }
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
        return nil
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

    /// The ids under which events of this replica were recorded, oldest first.
    func authors(_ file: ReplicaFile?) -> [FormerID] {
        var ids = file.map { $0.former + [FormerID($0.replica, lastSequence: .max)] } ?? []
        for replica in replicas.sorted() where !ids.contains(where: { $0.replica == replica }) {
            ids.append(FormerID(replica, lastSequence: .max))
        }
        return ids
    }

    // MARK: Positions

    /// The events at the positions from `start` on that come next, in order; nil if there are no
    /// more.
    mutating func next(from start: UInt64) throws(LogError) -> (rows: [SalvagedRow], end: UInt64)? {
        let firsts =
            pieces.map { (first: $0.numbers.lowerBound, last: $0.numbers.upperBound) }
            + [log.canonical.next(from: start), promoted.next(from: start)].compactMap { $0 }
        guard let window = Self.window(firsts, from: start) else { return nil }
        var slots = Slots(window)
        for piece in pieces where piece.numbers.overlaps(window) {
            for found in try reader.events(piece, window) { slots.take(found) }
        }
        for run in promoted.runs(in: window) {
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
        for run in log.canonical.runs(in: window) {
            if let events = try read(run, isPending: false) {
                slots.take(SegmentPieceReader.Found(events: events, isWithheld: false))
            }
        }
        try? decide(window, &slots)
        return (slots.rows, window.upperBound + 1)
    }

    /// Takes the events of the other source where the tiles vouch for those, and not for the better
    /// one.
    private mutating func decide(
        _ window: ClosedRange<UInt64>,
        _ slots: inout Slots
    ) throws(LogError) {
        guard let tiles, slots.isDisputed else { return }
        let width = UInt64(Tile.widthMax)
        var first = (window.lowerBound + width - 2) / width * width + 1
        while first + width - 1 <= window.upperBound {
            let events = first...first + width - 1
            let node = TreeNode(level: Tile.height, index: (first - 1) / width)
            if let wanted = try tiles.hash(node, &hasher), root(slots.events(events)) != wanted,
                root(slots.events(events, disputed: true)) == wanted
            {
                slots.takeDisputed(events)
            }
            first += width
        }
    }

    /// The root of the tree of these events; nil if one of them is missing, or not as it was.
    private mutating func root(_ events: [SalvagedRow?]) -> Hash32? {
        var range = CompactRange()
        for found in events {
            guard let found, let leaf = leaf(of: found) else { return nil }
            range.append(leaf, &hasher)
        }
        return range.root(&hasher)
    }

    private mutating func leaf(of found: SalvagedRow) -> Hash32? {
        guard let time = found.stored.acceptedAt, !found.isWithheld else { return nil }
        let (row, bytes) = (found.row, found.events.bytes.span)
        let node = row.seedNode(found.events, log.seeds)
        guard let hash = try? hasher.eventHash(of: row, found.type, bytes, node) else { return nil }
        return hasher.leaf(hash, acceptedAt: time.milliseconds)
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
            own.map { (first: $0.numbers.lowerBound, last: $0.numbers.upperBound) }
            + [list.next(from: start)].compactMap { $0 }
        guard let window = Self.window(firsts, from: start) else { return nil }
        var slots = Slots(window, of: replica)
        for piece in own where piece.numbers.overlaps(window) {
            for found in try reader.events(piece, window) { slots.take(found) }
        }
        for run in list.runs(in: window) {
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
        // Up to the end of a tile.
        return first...min(end, (first - 1) / windowCount * windowCount + windowCount)
    }
}

/// The events of a window by number: those that came first count, unless they are withheld.
private struct Slots {
    private let window: ClosedRange<UInt64>
    private let replica: ReplicaID?
    private var found: [SalvagedRow?]
    /// Of each event of which another source told different what that told first, by its index.
    private var others: [Int: SalvagedRow] = [:]

    init(_ window: ClosedRange<UInt64>, of replica: ReplicaID? = nil) {
        self.window = window
        self.replica = replica
        found = [SalvagedRow?](repeating: nil, count: window.count)
    }

    var rows: [SalvagedRow] { found.compactMap { $0 } }

    var isDisputed: Bool { !others.isEmpty }

    private func indices(_ numbers: ClosedRange<UInt64>) -> ClosedRange<Int> {
        Int(numbers.lowerBound - window.lowerBound)...Int(numbers.upperBound - window.lowerBound)
    }

    /// The events with these numbers; with `disputed`, those that the other source told.
    func events(_ numbers: ClosedRange<UInt64>, disputed: Bool = false) -> [SalvagedRow?] {
        indices(numbers).map { disputed ? others[$0] ?? found[$0] : found[$0] }
    }

    mutating func takeDisputed(_ numbers: ClosedRange<UInt64>) {
        for index in indices(numbers) { found[index] = others[index] ?? found[index] }
    }

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
            var row = SalvagedRow(events: new.events, stored: stored, isWithheld: isWithheld)
            guard let known = found[index] else {
                found[index] = row
                continue
            }
            let isSame = known.isSame(as: row)
            row.isDisputed = known.isDisputed || !isSame
            if !isSame, others[index] == nil { others[index] = row }
            if known.isWithheld, !isWithheld {
                found[index] = row
            } else {
                found[index]?.isDisputed = row.isDisputed
            }
        }
    }
}

extension SalvagedRow {
    /// Whether both are the same event, as far as both have its parts.
    fileprivate func isSame(as other: SalvagedRow) -> Bool {
        guard row.origin == other.row.origin, type == other.type,
            stored.isAuthority == other.stored.isAuthority,
            stored.acceptedAt == other.stored.acceptedAt,
            events.bytes[row.publicPart] == other.events.bytes[other.row.publicPart]
        else { return false }
        guard case .present(let own) = row.personal, case .present(let their) = other.row.personal
        else { return true }
        return events.bytes[own] == other.events.bytes[their]
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
    fileprivate func next(from start: UInt64) -> (first: UInt64, last: UInt64)? {
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
