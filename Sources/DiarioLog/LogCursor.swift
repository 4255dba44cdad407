package import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioStorage
import Synchronization

/// Which events of a space are read.
package enum LogPart: Hashable, Sendable {
    case all
    case canonical
    case pending
}

/// Reads the events of a space block by block, from segments and from the write-ahead log; memory
/// is bounded by the size of a block.
///
/// Sees the events up to the head that the space had when the cursor was made; first all canonical
/// ones, then the pending ones; in reverse the other way round.
package struct LogCursor: Sendable {
    let store: LogStore
    let space: SpaceID
    let isReversed: Bool
    let filter: LogFilter
    /// The segment of canonical events that is being read.
    private var walk: SegmentWalk?
    /// A segment whose files were not there, because others took their place or they are lost.
    private var missing: SegmentEntry?
    private var sealedRuns: SealedRunReader
    /// The positions that are still to be read.
    package private(set) var positions: Range<UInt64>
    /// The rest of the pending runs, in order.
    fileprivate var pending: [(ReplicaID, Run)]

    /// How often a block is searched again after its file was reused.
    private static let attemptCountMax = 4

    init(
        _ store: LogStore,
        _ space: SpaceID,
        positions: ClosedRange<UInt64>?,
        _ part: LogPart,
        _ filter: LogFilter,
        isReversed: Bool
    ) throws(LogError) {
        self.init(store, space, [], filter, isReversed: isReversed)
        let index = store.shared.index.withLock { $0[space] }
        let lowest = try store.shared.firstReadable(space, released: index.released)
        let first = max(positions?.lowerBound ?? lowest, 1)
        let last = min(positions?.upperBound ?? index.head, index.head)
        if first < lowest, first <= last, part != .pending {
            throw .released(position: first, released: lowest - 1)
        }
        self.positions = part == .pending ? first..<first : first..<max(first, last + 1)
        pending =
            part != .canonical
            ? index.lanes.flatMap { lane in lane.runs.runs.map { (lane.replica, $0) } } : []
    }

    /// Reads pending events of these runs alone.
    init(
        _ store: LogStore,
        _ space: SpaceID,
        _ pending: [(ReplicaID, Run)],
        _ filter: LogFilter = LogFilter(),
        isReversed: Bool = false
    ) {
        self.store = store
        self.space = space
        self.isReversed = isReversed
        self.filter = filter
        self.pending = pending
        positions = 1..<1
        sealedRuns = SealedRunReader(store.shared, space, filter, isReversed: isReversed)
    }

    /// The next block with events that were asked for; nil at the end.
    package mutating func next() throws(LogError) -> StoredEvents? {
        while let events = try look() {
            if !events.rows.isEmpty { return events }
        }
        return nil
    }

    /// The next block, or a segment that was passed over, which may have no event that was asked
    /// for; nil at the end.
    ///
    /// For those who look for few events among many, and stop for now after so many blocks.
    package mutating func look() throws(LogError) -> StoredEvents? {
        if isReversed {
            if let events = try nextPending() { return events }
            return try nextCanonical()
        }
        if let events = try nextCanonical() { return events }
        return try nextPending()
    }

    private mutating func nextCanonical() throws(LogError) -> StoredEvents? {
        var attemptCount = 0
        while !positions.isEmpty {
            let wanted = isReversed ? positions.upperBound - 1 : positions.lowerBound
            let index = store.shared.index.withLock { $0[space] }
            if wanted <= index.released {
                switch try nextSealed(wanted, released: index.released) {
                case .some(let events): return events
                case .none: store.shared.segments.forget(space)
                }
            } else {
                let run = try run(at: wanted, index)
                let replica = run.isSealed ? index.replica(of: run) : nil
                if let (events, covered) = try read(run, by: replica, positions, isPending: false) {
                    leave(covered)
                    return events
                }
                _ = try store.refresh()
            }
            attemptCount += 1
            guard attemptCount < Self.attemptCountMax else { throw moved("Position \(wanted)") }
        }
        return nil
    }

    /// The next piece of the segment that holds a position, which may turn out empty; nil if its
    /// file was replaced by others.
    private mutating func nextSealed(
        _ wanted: UInt64,
        released: UInt64
    ) throws(LogError) -> StoredEvents? {
        if walk?.holds(wanted, by: nil) != true {
            walk = nil
            let shared = store.shared
            let found = try shared.segments.entry(at: wanted, of: space, in: shared.directory)
            guard let entry = found else {
                throw .released(position: wanted, released: released)
            }
            switch try SegmentWalk.open(entry, of: space, in: shared, filter)
            {
            case .none:
                // The list is read again in between, and names others if these were replaced.
                guard missing != entry else {
                    throw SegmentPlace(entry, of: space).missingFault
                }
                missing = entry
                return nil
            case .nothingWanted:
                leave(entry.first..<entry.last + 1)
                return .empty
            case .walk(let new): walk = new
            }
        }
        guard let walk else { return nil }
        let (events, covered) = try walk.events(positions, isReversed: isReversed)
        leave(covered)
        return events
    }

    /// True if no segment is being read as rows.
    var isBetweenSegments: Bool { walk?.holds(positions.lowerBound, by: nil) != true }

    /// Continues after positions that were read.
    mutating func leave(_ read: Range<UInt64>) {
        if isReversed {
            let end = max(positions.lowerBound, read.lowerBound)
            positions = positions.lowerBound..<min(positions.upperBound, end)
        } else {
            let start = min(positions.upperBound, read.upperBound)
            positions = max(positions.lowerBound, start)..<positions.upperBound
        }
    }

    private mutating func nextPending() throws(LogError) -> StoredEvents? {
        var attemptCount = 0
        while let (replica, run) = isReversed ? pending.last : pending.first {
            let place = isReversed ? pending.count - 1 : 0
            let sequences = run.first..<run.last + 1
            if let (events, covered) = try read(run, by: replica, sequences, isPending: true) {
                leave(covered, ofRunAt: place)
                return events
            }
            _ = try store.refresh()
            attemptCount += 1
            let index = store.shared.index.withLock { $0[space] }
            let runs = index.pendingRuns(of: replica, run.first...run.last)
            guard attemptCount < Self.attemptCountMax,
                runs.reduce(0, { $0 + $1.1.count }) == run.count
            else { throw moved("Event \(replica.text)-\(run.first)") }
            pending.replaceSubrange(place...place, with: runs)
        }
        return nil
    }

    /// Continues after sequences of a pending run that were read.
    private mutating func leave(_ read: Range<UInt64>, ofRunAt place: Int) {
        var run = pending[place].1
        if isReversed, read.lowerBound > run.first {
            _ = run.split(at: read.lowerBound)
            pending[place].1 = run
        } else if !isReversed, read.upperBound <= run.last {
            pending[place].1 = run.split(at: read.upperBound)
        } else {
            pending.remove(at: place)
        }
    }

    /// Leaves pending events out that lie in a private segment.
    mutating func skip(_ entry: SegmentEntry) {
        pending = pending.flatMap { (replica, run) -> [(ReplicaID, Run)] in
            guard run.isSealed, replica == entry.replica else { return [(replica, run)] }
            var rest = RunList()
            rest.insert(run) { _ in }
            rest.remove(from: entry.first, through: entry.last) { _ in }
            return rest.runs.map { (replica, $0) }
        }
    }

    /// Files are used again faster than they are read, or what was pending got positions.
    private func moved(_ what: String) -> LogError {
        // A damaged log was read to the damage alone, and knows nothing of what moved after that.
        if let fault = store.fault { return .corrupt(fault) }
        return .moved(what: what)
    }

    private func run(at position: UInt64, _ index: SpaceIndex) throws(LogError) -> Run {
        let found = index.canonical.firstIndex(endingFrom: position)
        let runs = index.canonical.runs
        guard found < runs.count, runs[found].first <= position else {
            throw .corrupt(
                Fault(
                    file: FramePaths.folder,
                    offset: 0,
                    what: "position \(position) of space \(space.text) is missing"
                )
            )
        }
        return runs[found]
    }

    /// Events of a run among `wanted`, and which numbers they cover; nil if they are not there any
    /// more.
    ///
    /// `replica` wrote them, if they are pending or sealed.
    private mutating func read(
        _ run: Run,
        by replica: ReplicaID?,
        _ wanted: Range<UInt64>,
        isPending: Bool
    ) throws(LogError) -> SealedRunReader.Piece? {
        walk = nil
        guard run.isSealed, let replica else {
            return try read(run, isPending: isPending).map { ($0, run.first..<run.last + 1) }
        }
        return try sealedRuns.piece(of: run, by: replica, wanted, isPending: isPending)
    }

    /// Nil if the file was used again since.
    private func read(_ run: Run, isPending: Bool) throws(LogError) -> StoredEvents? {
        guard let bytes = try store.shared.read(run) else { return nil }
        let wanted = isPending ? nil : positions
        let events = try StoredEvents(bytes, run, isPending: isPending, positions: wanted)
        return isReversed ? events.reversed() : events
    }
}

extension LogStore {
    /// Reads events: of the canonical ones those at `positions`, or all that are here.
    ///
    /// With `filter`, segments and blocks are skipped that hold no event that is wanted.
    package func cursor(
        _ space: SpaceID,
        positions: ClosedRange<UInt64>? = nil,
        _ part: LogPart = .all,
        filter: LogFilter = LogFilter(),
        isReversed: Bool = false
    ) throws(LogError) -> LogCursor {
        try LogCursor(self, space, positions: positions, part, filter, isReversed: isReversed)
    }

    /// Reads those of some pending events that are pending still.
    package func cursor(
        _ space: SpaceID,
        _ pending: PendingEvents,
        filter: LogFilter = LogFilter()
    ) -> LogCursor {
        let index = shared.index.withLock { $0[space] }
        let runs = index.pendingRuns(of: pending.replica, pending.sequences)
        return LogCursor(self, space, runs, filter)
    }

    /// Reads pending events; throws `.moved` if not all of them are pending any more.
    package func cursor(
        _ space: SpaceID,
        allOf pending: PendingEvents
    ) throws(LogError) -> LogCursor {
        let cursor = cursor(space, pending)
        guard cursor.pending.reduce(0, { $0 + $1.1.count }) == pending.sequences.count else {
            throw .moved(what: "Event \(pending.replica.text)-\(pending.sequences.lowerBound)")
        }
        return cursor
    }
}
