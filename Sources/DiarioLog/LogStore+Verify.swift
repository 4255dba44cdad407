package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import DiarioStorage
import Synchronization

/// What reading a space from its first to its last event showed.
package struct Verification: Sendable {
    /// Canonical and pending events that were read, those of an authority included.
    package var rowCount = 0
    /// The root of all positions; nil if a fault leaves it unknown.
    package var root: Hash32?
    /// Positions whose events were lost before, as `diario repair` wrote down.
    package var lost: [LostPositions] = []
    package var faults: [Fault] = []
}

extension LogStore {
    /// Reads every event of a space, checks it against the rules of the format, and recomputes the
    /// root; goes on after a fault where it can.
    ///
    /// `visit` sees each block after it was checked, and may return a fault of its own.
    package func verify(
        _ space: SpaceID,
        _ visit: (StoredEvents) -> String?
    ) throws(LogError) -> Verification {
        var result = Verification()
        if let fault = report.fault { result.faults.append(fault) }
        if let fault = try missingTail(of: space) { result.faults.append(fault) }
        if let fault = try TileStore.markFault(shared.directory, space: space) {
            result.faults.append(fault)
        }
        let (released, head) = shared.index.withLock { ($0[space].released, $0[space].head) }
        let first = try shared.firstReadable(space, released: released)
        let damaged = try damagedSegments(of: space, first: first, &result.faults)
        var check = try SpaceCheck(shared, space, released: first - 1)
        result.lost = shared.segments.lost(of: space)
        let known = Dictionary(uniqueKeysWithValues: result.lost.map { ($0.first, $0) })
        var next = first
        let gaps = damaged.positions + result.lost.map(\.positions)
        for gap in gaps.sorted(by: { $0.lowerBound < $1.lowerBound }) + [head + 1...head + 1] {
            if next < gap.lowerBound {
                let positions = next...gap.lowerBound - 1
                try read(cursor(space, positions: positions, .canonical), &check, &result, visit) {
                    $0.skip(to: positions.upperBound)
                }
            }
            next = gap.upperBound + 1
            guard gap.lowerBound <= head else { continue }
            if let lost = known[gap.lowerBound] {
                try check.pass(lost, &result.faults)
            } else {
                check.skip(to: gap.upperBound)
            }
        }
        var pending = try cursor(space, .pending)
        for entry in damaged.lanes { pending.skip(entry) }
        try read(pending, &check, &result, visit) { _ in }
        try check.finishTiles(&result.faults)
        guard result.faults.isEmpty else { return result }
        result.root = check.root()
        if first == 1, result.root != (try root(of: space)) {
            result.root = nil
            result.faults.append(
                Fault(
                    file: LogPaths.log,
                    offset: 0,
                    what: "the root of space \(space.text) is not that of its events"
                )
            )
        }
        return result
    }

    /// A fault if the write-ahead log ends before what was sealed of it.
    private func missingTail(of space: SpaceID) throws(LogError) -> Fault? {
        let end = try segments(of: space).last?.last ?? 0
        guard shared.index.withLock({ $0[space].head }) < end else { return nil }
        // Another process may have sealed events that were not taken up yet.
        if report.fault == nil { _ = try refresh() }
        let head = shared.index.withLock { $0[space].head }
        guard head < end else { return nil }
        return Fault(
            file: LogPaths.log,
            offset: 0,
            what: "the log ends at position \(head), but \(end) are sealed"
        )
    }

    /// Reads what a cursor gives; `skip` is asked to go on behind it after a fault.
    private func read(
        _ cursor: LogCursor,
        _ check: inout SpaceCheck,
        _ result: inout Verification,
        _ visit: (StoredEvents) -> String?,
        skip: (inout SpaceCheck) -> Void
    ) throws(LogError) {
        var cursor = cursor
        do throws(LogError) {
            while let events = try cursor.next() {
                result.rowCount += events.rows.count
                let what = try check.take(events) ?? visit(events)
                if let what { result.faults.append(check.fault(what, in: events.file)) }
            }
        } catch {
            guard case .corrupt(let fault) = error else { throw error }
            result.faults.append(fault)
            skip(&check)
        }
    }

    /// Segments whose rows are not read.
    private struct Damage {
        /// In order.
        var positions: [ClosedRange<UInt64>] = []
        /// Private segments.
        var lanes: [SegmentEntry] = []
    }

    /// Checks both files of each segment, block by block.
    private func damagedSegments(
        of space: SpaceID,
        first: UInt64,
        _ faults: inout [Fault]
    ) throws(LogError) -> Damage {
        var damage = Damage()
        let index = shared.index.withLock { $0[space] }
        let lists = try shared.segments.readLists(of: space, in: shared.directory)
        for entry in lists.segments where entry.last >= first && entry.first <= index.released {
            let found = try self.damage(of: entry, in: space)
            guard !found.isEmpty else { continue }
            faults += found
            damage.positions.append(entry.first...entry.last)
        }
        for entry in lists.lanes {
            let found = try self.damage(of: entry, in: space)
            guard !found.isEmpty else { continue }
            faults += found
            damage.lanes.append(entry)
        }
        // Behind those of segments, since what was released is in no private one any more.
        damage.positions += damage.lanes.flatMap(index.positions)
            .sorted { $0.lowerBound < $1.lowerBound }
        return damage
    }

    func damage(of entry: SegmentEntry, in space: SpaceID) throws(LogError) -> [Fault] {
        do throws(LogError) {
            guard var segment = try OpenSegment.open(entry, of: space, in: shared) else {
                let place = SegmentPlace(entry, of: space)
                throw place.fault(.segment, "the segment or its sidecar is missing")
            }
            let place = segment.place
            do throws(SegmentError) {
                return try segment.reader.damagedBlocks().compactMap { fault in
                    place.error(.fault(fault)).fault
                }
            } catch {
                throw place.error(error)
            }
        } catch {
            guard case .corrupt(let fault) = error else { throw error }
            return [fault]
        }
    }
}

extension LogError {
    fileprivate var fault: Fault? {
        guard case .corrupt(let fault) = self else { return nil }
        return fault
    }
}

/// The rules that hold between the events of a space: L4, L5, and positions without gaps.
private struct SpaceCheck: ~Copyable {
    private let space: SpaceID
    private var hasher = EventHasher()
    private var seeds: Seeds
    private var range: CompactRange
    private var sequences: [ReplicaID: UInt64] = [:]
    private var clocks: [ReplicaID: HybridTime] = [:]
    private var acceptedAt = Int64.min
    private var position: UInt64
    /// Compares the tiles with the leaves; nil once leaves are missing.
    private var tiles: TileCheck?
    /// False once rows were missing: the root stays that of those before.
    private var isWhole = true

    init(_ shared: LogShared, _ space: SpaceID, released: UInt64) throws(LogError) {
        self.space = space
        seeds = Seeds(store: shared, space: space)
        let index = shared.index.withLock { $0[space] }
        position = released
        // What was released cannot be hashed again; the state vouches for it.
        range = released > 0 ? index.state?.range ?? CompactRange() : CompactRange()
        tiles = TileCheck(try TileStore(shared.directory, space: space), from: range)
    }

    func fault(_ what: String, in file: String) -> Fault {
        Fault(file: file, offset: 0, what: "position \(position): \(what)")
    }

    /// Goes on behind positions that could not be read.
    mutating func skip(to position: UInt64) {
        self.position = max(self.position, position)
        tiles = nil
        isWhole = false
    }

    /// Goes on behind positions that were lost, whose place in the tree is known.
    mutating func pass(
        _ lost: LostPositions,
        _ faults: inout [Fault]
    ) throws(LogError) {
        guard isWhole, lost.first == range.size + 1 else { return skip(to: lost.last) }
        position = lost.last
        if lost.hashes.isEmpty {
            for position in lost.positions {
                let leaf = LostPositions.standIn(position)
                range.append(leaf, &hasher)
                try tiles?.append(leaf, &hasher)
            }
            return
        }
        try finishTiles(&faults)
        lost.append(to: &range, &hasher)
        guard let store = tiles?.tiles else { return }
        for (node, hash) in zip(lost.nodes, lost.hashes) {
            if let fault = try store.fault(below: node, hash, &hasher) { faults.append(fault) }
        }
        tiles = TileCheck(store, from: range)
    }

    mutating func finishTiles(_ faults: inout [Fault]) throws(LogError) {
        if let fault = try tiles?.finish() { faults.append(fault) }
    }

    mutating func root() -> Hash32 { range.root(&hasher) }

    /// What is wrong with the events; nil if nothing is.
    mutating func take(_ events: StoredEvents) throws(LogError) -> String? {
        seeds.segment = events.salts
        let block = events.bytes.span
        for stored in events.rows {
            let (leaf, what) = leaf(stored, events, block)
            if let what { return what }
            guard let leaf else { continue }
            range.append(leaf, &hasher)
            try tiles?.append(leaf, &hasher)
        }
        return nil
    }

    /// The leaf of a row that is right; of others what is wrong.
    private mutating func leaf(
        _ stored: StoredRow,
        _ events: StoredEvents,
        _ block: Span<UInt8>
    ) -> (Hash32?, String?) {
        do throws(FormatError) {
            return try take(stored, events, block)
        } catch {
            return (nil, error.message)
        }
    }

    private mutating func take(
        _ stored: StoredRow,
        _ events: StoredEvents,
        _ block: Span<UInt8>
    ) throws(FormatError) -> (Hash32?, String?) {
        let row = stored.row
        let part = try PublicPart.parse(block, row)
        let last = sequences.updateValue(row.sequence, forKey: row.replica) ?? 0
        guard row.sequence > last else {
            return (nil, "sequence \(row.sequence) of \(row.replica.text) comes after \(last)")
        }
        let clock = clocks.updateValue(part.envelope.clock, forKey: row.replica)
        if let clock, part.envelope.clock <= clock {
            return (nil, "the clock of \(row.origin.text) does not go on")
        }
        guard let given = stored.position else { return (nil, nil) }
        guard given == position + 1 else { return (nil, "position \(given) comes next") }
        position = given
        let time = stored.acceptedAt?.milliseconds ?? Int64.min
        guard time >= acceptedAt else { return (nil, "acceptedAt goes back") }
        acceptedAt = time
        guard given > range.size, isWhole else { return (nil, nil) }
        let type = events.types[row.typeIndex]
        let hash = eventHash(
            row,
            block,
            type,
            try hasher.commitment(of: row, in: block, seeds: &seeds)
        )
        return (hasher.leaf(hash, acceptedAt: time), nil)
    }

    private mutating func eventHash(
        _ row: BlockRow,
        _ block: Span<UInt8>,
        _ type: TypeEntry,
        _ commitment: Hash32?
    ) -> Hash32 {
        let name = type.name
        return hasher.eventHash(
            typeName: name.span,
            version: type.version,
            replica: row.replica,
            sequence: row.sequence,
            publicPart: block.raw.extracting(row.publicPart),
            commitment: commitment
        )
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
