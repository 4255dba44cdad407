package import DiarioCore
package import DiarioFormat
import DiarioStorage
import Synchronization

/// Events that lie in one block, as they were read.
package struct StoredEvents: Sendable {
    /// The block: header, head and rows.
    package let bytes: [UInt8]
    package let head: BlockHead
    /// The rows that were asked for, in order.
    package let rows: [StoredRow]
}

/// A row, and where its event stands by now.
package struct StoredRow: Sendable {
    package let row: BlockRow
    /// Nil while the event is pending.
    package let position: UInt64?
    /// Nil while the event is pending.
    package let acceptedAt: Timestamp?
}

/// Which events of a space are read.
package enum LogPart: Hashable, Sendable {
    case all
    case canonical
    case pending
}

/// Reads the events of a space block by block; memory is bounded by the size of a block.
///
/// Sees the events up to the head that the space had when the cursor was made; first all canonical
/// ones, then the pending ones; in reverse the other way round.
package struct LogCursor: Sendable {
    private let store: LogStore
    private let space: SpaceID
    private let isReversed: Bool
    /// The positions that are still to be read.
    private var positions: Range<UInt64>
    /// The pending runs that are still to be read, in order.
    private var pending: [(ReplicaID, Run)]

    /// How often a block is looked for again after its file was used for others.
    private static let attemptCountMax = 4

    init(
        _ store: LogStore,
        _ space: SpaceID,
        positions: ClosedRange<UInt64>?,
        _ part: LogPart,
        isReversed: Bool
    ) throws(LogError) {
        self.store = store
        self.space = space
        self.isReversed = isReversed
        let index = store.shared.index.withLock { $0[space] }
        let first = max(positions?.lowerBound ?? index.released + 1, 1)
        let last = min(positions?.upperBound ?? index.head, index.head)
        if first <= index.released, first <= last, part != .pending {
            throw .released(position: first, released: index.released)
        }
        self.positions = part == .pending ? first..<first : first..<max(first, last + 1)
        pending =
            part != .canonical
            ? index.lanes.flatMap { lane in lane.runs.runs.map { (lane.replica, $0) } } : []
    }

    /// The next block with events that were asked for; nil at the end.
    package mutating func next() throws(LogError) -> StoredEvents? {
        if isReversed {
            if let events = try nextPending() { return events }
            return try nextCanonical()
        }
        if let events = try nextCanonical() { return events }
        return try nextPending()
    }

    private mutating func nextCanonical() throws(LogError) -> StoredEvents? {
        guard !positions.isEmpty else { return nil }
        let wanted = isReversed ? positions.upperBound - 1 : positions.lowerBound
        for _ in 0..<Self.attemptCountMax {
            let run = try run(at: wanted)
            guard let events = try read(run, isPending: false) else {
                _ = try store.refresh()
                continue
            }
            if isReversed {
                positions = positions.lowerBound..<max(positions.lowerBound, run.first)
            } else {
                positions = min(positions.upperBound, run.last + 1)..<positions.upperBound
            }
            return events
        }
        throw moved("position \(wanted)")
    }

    private mutating func nextPending() throws(LogError) -> StoredEvents? {
        guard let (replica, run) = isReversed ? pending.last : pending.first else { return nil }
        for _ in 0..<Self.attemptCountMax {
            let place = isReversed ? pending.count - 1 : 0
            let run = pending[place].1
            if let events = try read(run, isPending: true) {
                pending.remove(at: place)
                return events
            }
            _ = try store.refresh()
            let runs = self.runs(of: replica, run.first...run.last)
            guard runs.reduce(0, { $0 + $1.count }) == run.count else { break }
            pending.replaceSubrange(place...place, with: runs.map { (replica, $0) })
        }
        throw moved("\(replica.text)-\(run.first)")
    }

    /// Files are used again faster than they are read, or what was pending got positions.
    private func moved(_ what: String) -> LogError {
        .outOfOrder(what: "\(what) moved while it was read; read again")
    }

    private func run(at position: UInt64) throws(LogError) -> Run {
        let index = store.shared.index.withLock { $0[space] }
        let found = index.canonical.firstIndex(endingFrom: position)
        let runs = index.canonical.runs
        guard found < runs.count, runs[found].first <= position else {
            guard position > index.released else {
                throw .released(position: position, released: index.released)
            }
            throw .corrupt(
                Fault(
                    file: LogPaths.log,
                    offset: 0,
                    what: "position \(position) of space \(space.text) is missing"
                )
            )
        }
        return runs[found]
    }

    /// Where pending events lie by now; fewer if some are not pending any more.
    private func runs(of replica: ReplicaID, _ sequences: ClosedRange<UInt64>) -> [Run] {
        let index = store.shared.index.withLock { $0[space] }
        guard var list = index.lanes.first(where: { $0.replica == replica })?.runs else {
            return []
        }
        var runs: [Run] = []
        list.remove(from: sequences.lowerBound, through: sequences.upperBound) { runs.append($0) }
        return runs
    }

    /// Nil if the file was used again since.
    private func read(_ run: Run, isPending: Bool) throws(LogError) -> StoredEvents? {
        var bytes: [UInt8] = []
        let isThere = try storing { () throws(StorageError) in
            try store.shared.read(
                at: Int(run.offset),
                count: Int(run.blockSize),
                of: UInt64(run.file),
                into: &bytes
            )
        }
        guard isThere else { return nil }
        do throws(FormatError) {
            let head = try BlockHead.parse(bytes.span, verifyChecksum: true)
            return StoredEvents(
                bytes: bytes,
                head: head,
                rows: try rows(bytes, head, run, isPending: isPending)
            )
        } catch {
            throw run.fault(error)
        }
    }

    private func rows(
        _ bytes: [UInt8],
        _ head: BlockHead,
        _ run: Run,
        isPending: Bool
    ) throws(FormatError) -> [StoredRow] {
        var rows: [StoredRow] = []
        rows.reserveCapacity(Int(run.count))
        var cursor = RowCursor(bytes.span, head.summary)
        let end = Int(run.skip) + Int(run.count)
        while let row = try cursor.next(), row.index < end {
            guard row.index >= Int(run.skip) else { continue }
            let position = run.first + UInt64(row.index) - UInt64(run.skip)
            guard isPending || positions.contains(position) else { continue }
            rows.append(
                StoredRow(
                    row: row,
                    position: isPending ? nil : position,
                    acceptedAt: run.promotedAt.map { Timestamp(milliseconds: $0) }
                        ?? row.acceptedAt
                )
            )
        }
        if isReversed { rows.reverse() }
        return rows
    }
}

extension LogStore {
    /// Reads events: of the canonical ones those at `positions`, or all that are not released.
    package func cursor(
        _ space: SpaceID,
        positions: ClosedRange<UInt64>? = nil,
        _ part: LogPart = .all,
        isReversed: Bool = false
    ) throws(LogError) -> LogCursor {
        try LogCursor(self, space, positions: positions, part, isReversed: isReversed)
    }

    /// Takes up what other processes wrote since; true if there was something.
    ///
    /// Needs no lock: what it shows is synced first.
    package func refresh() throws(LogError) -> Bool {
        try withWriter { (writer) throws(LogError) in try writer.refresh() }
    }
}
