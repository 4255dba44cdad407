import DiarioCore
import DiarioFormat

/// Reads rows of private segments piece by piece: pending ones, and promoted ones until they are in
/// a segment of canonical events.
struct SealedRunReader: Sendable {
    private let shared: LogShared
    private let space: SpaceID
    private let filter: LogFilter
    private let isReversed: Bool
    /// The segment that was read last.
    private var walk: SegmentWalk?

    /// A piece of a run: the wanted events, and the positions or sequences that it covers.
    typealias Piece = (events: StoredEvents, covered: Range<UInt64>)

    init(
        _ shared: LogShared,
        _ space: SpaceID,
        _ filter: LogFilter = LogFilter(),
        isReversed: Bool = false
    ) {
        self.shared = shared
        self.space = space
        self.filter = filter
        self.isReversed = isReversed
    }

    /// The first, or last, piece of those rows of a run whose numbers are in `wanted`; nil if no
    /// private segment holds them any more.
    ///
    /// May turn out empty. Pending events come as they are; others with the positions of the run.
    mutating func piece(
        of run: Run,
        by replica: ReplicaID,
        _ wanted: Range<UInt64>,
        isPending: Bool
    ) throws(LogError) -> Piece? {
        let low = max(wanted.lowerBound, run.first)
        let high = min(wanted.upperBound, run.last + 1)
        precondition(low < high, "a piece is asked for of the rows of its run")
        guard filter.mayWant(acceptedAt: isPending ? nil : run.promotedAt) else {
            return (.empty, low..<high)
        }
        let start = run.firstSequence
        let sequences = start + (low - run.first)..<start + (high - run.first)
        let next = isReversed ? sequences.upperBound - 1 : sequences.lowerBound
        if walk?.holds(next, by: replica) != true {
            walk = nil
            guard let (entry, opened) = try open(next, by: replica) else { return nil }
            switch opened {
            case .nothingWanted:
                let covered = sequences.clamped(to: entry.first..<entry.last + 1)
                return (.empty, numbers(of: covered, run))
            case .walk(let new): walk = new
            }
        }
        guard let walk else { return nil }
        let (events, covered) = try walk.events(sequences, isReversed: isReversed)
        return (isPending ? events : events.placed(by: run), numbers(of: covered, run))
    }

    /// Opens the private segment that holds a sequence; nil if none does.
    ///
    /// One that is known here may have been replaced so long ago that it is gone. Then the manifest
    /// names another one.
    private func open(
        _ number: UInt64,
        by replica: ReplicaID
    ) throws(LogError) -> (entry: SegmentEntry, SegmentWalk.Opened)? {
        let (list, directory) = (shared.segments, shared.directory)
        var missing: SegmentEntry?
        for _ in 0..<2 {
            guard let entry = try list.entry(at: number, by: replica, of: space, in: directory)
            else { return nil }
            if let opened = try SegmentWalk.open(entry, of: space, in: shared, filter) {
                return (entry, opened)
            }
            guard missing != entry else { throw SegmentPlace(entry, of: space).missingFault }
            missing = entry
            list.forget(space)
        }
        return nil
    }

    /// The positions or sequences that rows of a run have there.
    private func numbers(of sequences: Range<UInt64>, _ run: Run) -> Range<UInt64> {
        let start = run.firstSequence
        let first = run.first + (sequences.lowerBound - start)
        return first..<first + (sequences.upperBound - sequences.lowerBound)
    }
}

extension SegmentWalk {
    /// True if the segment has this sequence of a replica, or this position.
    func holds(_ number: UInt64, by replica: ReplicaID?) -> Bool {
        entry.replica == replica && entry.first <= number && number <= entry.last
    }
}

extension StoredEvents {
    /// A piece of a segment without an event that is wanted.
    static let empty = StoredEvents(bytes: [], types: [], rows: [], fileName: nil, salts: nil)

    /// Pending events with the positions of a run.
    fileprivate func placed(by run: Run) -> StoredEvents {
        let acceptedAt = run.promotedAt.map { Timestamp(milliseconds: $0) }
        return StoredEvents(
            bytes: bytes,
            types: types,
            rows: rows.map { stored in
                StoredRow(
                    row: stored.row,
                    position: run.first + (stored.row.sequence - run.firstSequence),
                    acceptedAt: acceptedAt,
                    isAuthority: stored.isAuthority
                )
            },
            fileName: fileName,
            salts: salts
        )
    }
}
