package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import DiarioFrames
package import DiarioStorage
import Synchronization

/// What reading a space from its first to its last event showed.
package struct Verification: Sendable {
    /// Canonical and pending events that were read, those of an authority included.
    package var rowCount = 0
    /// The root of all positions; nil if a fault leaves it unknown.
    package var root: Hash32?
    package var faults: [Fault] = []
}

/// What `verify` has read and checked.
package enum VerifiedEvents {
    /// Rows as they are in the log; their payloads were not looked at.
    case rows(StoredEvents)
    /// So many events of a segment whose types are these; their payloads were checked when their
    /// columns were read.
    case sealed(types: [TypeEntry], count: Int)

    package var count: Int {
        switch self {
        case .rows(let events): events.rows.count
        case .sealed(_, let count): count
        }
    }
}

extension LogStore {
    /// Reads every event of a space, checks it against the rules of the format, and recomputes the
    /// root; goes on after a fault where it can.
    ///
    /// `visit` sees each piece after it was checked, and may return a fault of its own.
    package func verify(
        _ space: SpaceID,
        _ visit: (VerifiedEvents) -> String?
    ) throws(LogError) -> Verification {
        var result = try verifyEvents(of: space, visit)
        // The root does not depend on it.
        result.faults += try inboxFaults(of: space)
        result.faults += try keptFaults(of: space)
        result.faults += try importFaults(of: space)
        result.faults += try remoteFaults(of: space)
        if let fault = try publishingFault(of: space, root: result.root) {
            result.faults.append(fault)
        }
        return result
    }

    private func verifyEvents(
        of space: SpaceID,
        _ visit: (VerifiedEvents) -> String?
    ) throws(LogError) -> Verification {
        var result = Verification()
        if let fault = self.fault { result.faults.append(fault) }
        if let fault = try missingTail(of: space) { result.faults.append(fault) }
        if let fault = try TileStore.markFault(shared.directory, space: space) {
            result.faults.append(fault)
        }
        let (released, head) = shared.index.withLock { ($0[space].released, $0[space].head) }
        let first = try shared.firstReadable(space, released: released)
        var check = try SpaceCheck(shared, space, released: first - 1)
        let lanes = try damagedLanes(of: space, &result.faults)
        let all = try stretches(of: space, first...max(first, head), released, lanes)
        var next = first
        for stretch in all {
            let positions = stretch.positions
            guard positions.lowerBound >= next else { continue }
            if next < positions.lowerBound {
                try read(space, next...positions.lowerBound - 1, &check, &result, visit)
            }
            switch stretch {
            case .damaged(let positions): check.skip(to: positions.upperBound)
            case .sealed(let entry, let last):
                let faults = try verify(entry, through: last, of: space, &check, &result, visit)
                if !faults.isEmpty { check.skip(to: last) }
                result.faults += faults
            }
            next = positions.upperBound + 1
        }
        if next <= head { try read(space, next...head, &check, &result, visit) }
        var pending = try cursor(space, .pending)
        for entry in lanes { pending.skip(entry) }
        try read(pending, &check, &result, visit) { _ in }
        try check.finishTiles(&result.faults)
        guard result.faults.isEmpty else { return result }
        result.root = check.root()
        if first == 1, result.root != (try root(of: space)) {
            result.root = nil
            result.faults.append(
                Fault(
                    file: FramePaths.folder,
                    offset: 0,
                    what: "the root of space \(space.text) is not that of its events"
                )
            )
        }
        return result
    }

    /// Positions that are not read as rows of the log.
    private enum Stretch {
        /// A segment, and the last of its positions that was released: what follows is in the log
        /// as well, and read there.
        case sealed(SegmentEntry, last: UInt64)
        /// Events that were promoted and lie in a damaged private segment.
        case damaged(ClosedRange<UInt64>)

        var positions: ClosedRange<UInt64> {
            switch self {
            case .sealed(let entry, let last): entry.first...last
            case .damaged(let positions): positions
            }
        }
    }

    /// The stretches among `positions`, in order.
    private func stretches(
        of space: SpaceID,
        _ positions: ClosedRange<UInt64>,
        _ released: UInt64,
        _ lanes: [SegmentEntry]
    ) throws(LogError) -> [Stretch] {
        var found: [Stretch] = []
        for entry in try segments(of: space)
        where entry.last >= positions.lowerBound && entry.first <= released {
            found.append(.sealed(entry, last: min(entry.last, released)))
        }
        let index = shared.index.withLock { $0[space] }
        for entry in lanes { found += index.positions(in: entry).map { .damaged($0) } }
        return found.sorted { $0.positions.lowerBound < $1.positions.lowerBound }
    }

    /// Looks whether the log has what a space needs of it, and takes it for damaged if not.
    ///
    /// A log that is gone, or an older one, looks whole by itself.
    package func checkTail(of space: SpaceID) throws(LogError) {
        if let fault = try missingTail(of: space) { return try note(fault) }
        if let fault = try missingFault(of: space) { try note(fault) }
    }

    /// A fault if neither the log nor a segment has anything of a space.
    package func missingFault(of space: SpaceID) throws(LogError) -> Fault? {
        guard try isMissing(space) else { return nil }
        return Fault(
            file: FramePaths.folder,
            offset: 0,
            what: "the log has nothing of space \(space.text), and no segment has: it is gone, or "
                + "the space was never made whole"
        )
    }

    /// Whether the log lacks events of a space that are sealed, as an older one does.
    func endsBeforeSegments(of space: SpaceID) throws(LogError) -> Bool {
        try missingTail(of: space) != nil
    }

    /// Whether the log has nothing of a space: each has at least adopted packs, or is written down
    /// as one without events.
    func isMissing(_ space: SpaceID) throws(LogError) -> Bool {
        func isUnknown() -> Bool { shared.index.withLock { !$0[space].isKnown } }
        guard isUnknown() else { return false }
        // Another process may have made it just now.
        if fault == nil { _ = try refresh() }
        return isUnknown()
    }

    /// A fault if the write-ahead log ends before what was sealed of it.
    private func missingTail(of space: SpaceID) throws(LogError) -> Fault? {
        let end = try segments(of: space).last?.last ?? 0
        guard shared.index.withLock({ $0[space].head }) < end else { return nil }
        // Another process may have sealed events that were not taken up yet.
        if fault == nil { _ = try refresh() }
        return shared.shortFault(of: space, sealed: end)
    }

    /// Reads canonical events at `positions`.
    private func read(
        _ space: SpaceID,
        _ positions: ClosedRange<UInt64>,
        _ check: inout SpaceCheck,
        _ result: inout Verification,
        _ visit: (VerifiedEvents) -> String?
    ) throws(LogError) {
        let cursor = try cursor(space, positions: positions, .canonical)
        try read(cursor, &check, &result, visit) { $0.skip(to: positions.upperBound) }
    }

    /// Reads what a cursor gives; `skip` is asked to go on behind it after a fault.
    private func read(
        _ cursor: LogCursor,
        _ check: inout SpaceCheck,
        _ result: inout Verification,
        _ visit: (VerifiedEvents) -> String?,
        skip: (inout SpaceCheck) -> Void
    ) throws(LogError) {
        var cursor = cursor
        do throws(LogError) {
            while let events = try cursor.next() {
                result.rowCount += events.rows.count
                let what = try check.take(events) ?? visit(.rows(events))
                if let what { result.faults.append(check.fault(what, in: events.file)) }
            }
        } catch {
            guard case .corrupt(let fault) = error else { throw error }
            result.faults.append(fault)
            skip(&check)
        }
    }

    /// Private segments whose rows are not read, because a block of theirs is damaged.
    private func damagedLanes(
        of space: SpaceID,
        _ faults: inout [Fault]
    ) throws(LogError) -> [SegmentEntry] {
        var damaged: [SegmentEntry] = []
        for entry in try shared.segments.readLists(of: space, in: shared.directory).lanes {
            let found = try damage(of: entry, in: space)
            guard !found.isEmpty else { continue }
            faults += found
            damaged.append(entry)
        }
        return damaged
    }

    /// Checks both files of a segment block by block, and then its events up to `last`.
    private func verify(
        _ entry: SegmentEntry,
        through last: UInt64,
        of space: SpaceID,
        _ check: inout SpaceCheck,
        _ result: inout Verification,
        _ visit: (VerifiedEvents) -> String?
    ) throws(LogError) -> [Fault] {
        do throws(LogError) {
            var segment = try opened(entry, of: space)
            let place = segment.place
            let types = segment.reader.index.types.map { $0.entry }
            let damaged = try damagedBlocks(of: &segment)
            guard damaged.isEmpty else { return damaged }
            let nodes = try place.reading { () throws(SegmentError) in
                try segment.reader.saltNodes()
            }
            let salts = SaltNodes(nodes)
            var rows = try segment.rows()
            let events = 0..<Int(last - entry.first) + 1
            if let what = check.begin(entry.first, events, of: rows) {
                throw place.fault(.segment, what)
            }
            var isKnown = true
            for start in stride(from: 0, to: events.count, by: Self.pieceCount) {
                let piece = start..<min(start + Self.pieceCount, events.count)
                try check.take(piece, of: &rows, at: place, salts)
                result.rowCount += piece.count
                if isKnown, let what = visit(.sealed(types: types, count: piece.count)) {
                    isKnown = false
                    if let fault = place.fault(.segment, what).fault {
                        result.faults.append(fault)
                    }
                }
            }
            return []
        } catch {
            guard case .corrupt(let fault) = error else { throw error }
            return [fault]
        }
    }

    /// Events of a segment that are made rows at once.
    private static let pieceCount = 4096

    /// The blocks of a segment's files that are damaged.
    func damage(of entry: SegmentEntry, in space: SpaceID) throws(LogError) -> [Fault] {
        do throws(LogError) {
            var segment = try opened(entry, of: space)
            return try damagedBlocks(of: &segment)
        } catch {
            guard case .corrupt(let fault) = error else { throw error }
            return [fault]
        }
    }

    private func opened(
        _ entry: SegmentEntry,
        of space: SpaceID
    ) throws(LogError) -> OpenSegment {
        guard let segment = try OpenSegment.open(entry, of: space, in: shared) else {
            throw SegmentPlace(entry, of: space).missingFault
        }
        for (file, size) in [
            (SegmentFile.segment, entry.segmentSize), (.sidecar, entry.sidecarSize),
        ] {
            let rest = try self.size(of: segment.place.path(file)) - Int64(size)
            guard rest <= 0 else {
                throw segment.place.fault(file, at: size, "\(rest) bytes follow its end")
            }
        }
        return segment
    }

    /// The size of a file; 0 if it was removed meanwhile, as happens to those that others replaced.
    private func size(of path: String) throws(LogError) -> Int64 {
        do throws(StorageError) {
            return try shared.directory.open(path, .read).size()
        } catch {
            if case .notFound = error { return 0 }
            throw .storage(error)
        }
    }

    private func damagedBlocks(of segment: inout OpenSegment) throws(LogError) -> [Fault] {
        let place = segment.place
        let damaged = try place.reading { () throws(SegmentError) in
            try segment.reader.damagedBlocks()
        }
        return damaged.compactMap { place.error(.fault($0)).fault }
    }
}

extension LogShared {
    /// A fault if the log, as far as it is known, ends before a position that is sealed.
    func shortFault(of space: SpaceID, sealed end: UInt64) -> Fault? {
        let head = index.withLock { $0[space].head }
        guard head < end else { return nil }
        return Fault(
            file: FramePaths.folder,
            offset: 0,
            what: "the log ends at position \(head), but \(end) are sealed"
        )
    }
}

extension LogError {
    fileprivate var fault: Fault? {
        guard case .corrupt(let fault) = self else { return nil }
        return fault
    }
}

extension SegmentPlace {
    /// Errors of the segment as those of the log.
    fileprivate func reading<Value: ~Copyable>(
        _ body: () throws(SegmentError) -> Value
    ) throws(LogError) -> Value {
        do throws(SegmentError) { return try body() } catch { throw self.error(error) }
    }
}

extension LogStore {
    /// The hash of an event, which is the same for its author and everybody else.
    package func eventHash(
        of row: BlockRow,
        in events: StoredEvents,
        of space: SpaceID
    ) throws(LogError) -> Hash32 {
        var hasher = EventHasher()
        var seeds = Seeds(store: shared, space: space)
        seeds.segment = events.salts
        do throws(FormatError) {
            let block = events.bytes.span
            let type = events.types[row.typeIndex]
            let name = type.name
            return hasher.eventHash(
                typeName: name.span,
                version: type.version,
                replica: row.replica,
                sequence: row.sequence,
                publicPart: block.raw.extracting(row.publicPart),
                commitment: try hasher.commitment(of: row, in: block, seeds: &seeds)
            )
        } catch {
            throw .format(error)
        }
    }
}
