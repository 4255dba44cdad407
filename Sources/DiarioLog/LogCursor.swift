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
    private let shared: LogShared
    private let space: SpaceID
    private let isReversed: Bool
    /// The positions that are still to be read.
    private var positions: Range<UInt64>
    /// The pending runs that are still to be read, in order.
    private var pending: [(ReplicaID, Run)]

    init(
        _ shared: LogShared,
        _ space: SpaceID,
        positions: ClosedRange<UInt64>?,
        _ part: LogPart,
        isReversed: Bool
    ) throws(LogError) {
        self.shared = shared
        self.space = space
        self.isReversed = isReversed
        let index = shared.index.withLock { $0[space] }
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
            if let (_, run) = pending.popLast() { return try read(run, isPending: true) }
            return try nextCanonical()
        }
        if let events = try nextCanonical() { return events }
        guard !pending.isEmpty else { return nil }
        let (_, run) = pending.removeFirst()
        return try read(run, isPending: true)
    }

    private mutating func nextCanonical() throws(LogError) -> StoredEvents? {
        guard !positions.isEmpty else { return nil }
        let wanted = isReversed ? positions.upperBound - 1 : positions.lowerBound
        // A file that was used anew between the look-up and the read shows as damage: look again.
        var attempt = 0
        while true {
            guard let run = run(at: wanted) else {
                throw .corrupt(
                    Fault(
                        file: LogPaths.log,
                        offset: 0,
                        what: "position \(wanted) of space \(space.text) is missing"
                    )
                )
            }
            do throws(LogError) {
                let events = try read(run, isPending: false)
                if isReversed {
                    positions = positions.lowerBound..<max(positions.lowerBound, run.first)
                } else {
                    positions = min(positions.upperBound, run.last + 1)..<positions.upperBound
                }
                return events
            } catch {
                attempt += 1
                guard attempt < 3, self.run(at: wanted) != run else { throw error }
            }
        }
    }

    private func run(at position: UInt64) -> Run? {
        shared.index.withLock { index in
            let runs = index[space].canonical
            let found = runs.firstIndex(endingFrom: position)
            guard found < runs.runs.count, runs.runs[found].first <= position else { return nil }
            return runs.runs[found]
        }
    }

    private func read(_ run: Run, isPending: Bool) throws(LogError) -> StoredEvents {
        var bytes: [UInt8] = []
        try storing { () throws(StorageError) in
            try shared.files.file(UInt64(run.file)).read(
                at: Int(run.offset),
                count: Int(run.blockSize),
                into: &bytes
            )
        }
        do throws(FormatError) {
            let head = try BlockHead.parse(bytes.span, verifyChecksum: true)
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
            return StoredEvents(bytes: bytes, head: head, rows: rows)
        } catch {
            throw run.fault(error)
        }
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
        try LogCursor(shared, space, positions: positions, part, isReversed: isReversed)
    }

    /// Takes up what other processes wrote since; true if there was something.
    ///
    /// Needs no lock: what it shows is synced first.
    package func refresh() throws(LogError) -> Bool {
        try withWriter { (writer) throws(LogError) in try writer.refresh() }
    }
}
