package import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioStorage

/// Takes over sealed segments that were copied from elsewhere into a staging space, as they lie.
///
/// They are bytes from outside: every row is read, the rules of order are checked, and the root is
/// computed anew. Nothing refers to them before `finish`.
package struct SegmentIntake: ~Copyable {
    private let store: LogStore
    private let space: SpaceID
    private var entries: [SegmentEntry] = []
    private var seeds: Seeds
    private var hasher = EventHasher()
    private var tree = TileBuilder(CompactRange())
    private var heads: [ReplicaID: ReplicaHead] = [:]
    private var tallies: [ReplicaID: ReplicaTally] = [:]
    /// The packs that were adopted so far, in order.
    package private(set) var adoptions: [Adoption] = []
    private var acceptedAt = Int64.min
    /// The highest clock that counts: of none that runs far ahead of when it was accepted.
    private var clock = HybridTime(rawValue: 0)
    /// The segment at hand, the next of its events, and bytes of its rows so far.
    private var pair: SegmentPair?
    private var next = 0
    private var rowSize = 0

    private static let pieceCount = 1024

    package init(_ store: LogStore, _ space: SpaceID) {
        self.store = store
        self.space = space
        seeds = Seeds(store: store.shared, space: space)
    }

    /// The last position that was taken over.
    package var end: UInt64 { tree.size }

    /// Reads the next segment and its sidecar, which lie in the folder of segments, durably.
    ///
    /// - Throws: `.corrupt` if they are not what may come next.
    package mutating func take(_ name: SegmentName) throws(LogError) {
        try begin(name)
        while try step() {}
    }

    /// Begins to read the next segment, and checks the blocks of its files.
    package mutating func begin(_ name: SegmentName) throws(LogError) {
        let place = SegmentPlace(name, of: space)
        guard name.first == end + 1 else {
            throw place.fault(.segment, "position \(end + 1) comes next, not \(name.first)")
        }
        let shared = store.shared
        let pair = try SegmentPair(
            name,
            of: space,
            in: shared.directory,
            known: shared.segments.types
        )
        guard pair.replica == nil, pair.sidecarHeader != nil else {
            throw place.fault(.segment, "it is no segment of positions from \(name.first) on")
        }
        if let damage = try pair.damage().first { throw damage }
        (self.pair, next, rowSize) = (pair, 0, 0)
    }

    /// Reads the next events of the segment that was begun; false once all were taken over.
    package mutating func step() throws(LogError) -> Bool {
        guard let pair, let sidecar = pair.sidecarHeader else { return false }
        let piece = next..<min(next + Self.pieceCount, pair.header.eventCount)
        let events = try pair.events(piece)
        for stored in events.rows {
            let position = end + 1
            rowSize += stored.size
            guard let what = try fault(of: stored, at: position, in: events) else {
                try append(stored, events)
                continue
            }
            throw pair.place.fault(.segment, "position \(position): \(what)")
        }
        next = piece.upperBound
        guard next == pair.header.eventCount else { return true }
        entries.append(
            SegmentEntry(
                name: pair.name,
                count: pair.header.eventCount,
                segmentSize: pair.header.fileSize,
                sidecarSize: sidecar.fileSize,
                rowSize: rowSize,
                identity: pair.header.identity,
                sidecarChecksum: sidecar.checksum,
                replica: nil
            )
        )
        self.pair = nil
        return false
    }

    /// Takes a row into the tree and into what the state will say.
    private mutating func append(
        _ stored: StoredRow,
        _ events: StoredEvents
    ) throws(LogError) {
        let row = stored.row
        do throws(FormatError) {
            let hash = try hasher.eventHash(of: row, in: events, &seeds)
            tree.append(hasher.leaf(hash, acceptedAt: acceptedAt), &hasher)
            let (block, type) = (events.bytes.span, events.types[row.typeIndex])
            let facts = try store.shared.engine.facts(of: stored, in: block, type)
            adoptions += facts.adoptions
            note(row.replica, row.sequence, isAuthority: stored.isAuthority)
            for refused in facts.refusals {
                note(refused.replica, refused.sequences.upperBound, isAuthority: false)
            }
        } catch {
            throw .corrupt(Fault(file: events.file, offset: 0, what: error.message))
        }
    }

    /// Sequences count as used, those of refused events too.
    private mutating func note(_ replica: ReplicaID, _ sequence: UInt64, isAuthority: Bool) {
        let known = tallies[replica]
        tallies[replica] = ReplicaTally(
            replica: replica,
            lastSequence: max(known?.lastSequence ?? 0, sequence),
            isAuthority: isAuthority || known?.isAuthority ?? false
        )
    }

    /// What is wrong with a row; nil if nothing is.
    private mutating func fault(
        of stored: StoredRow,
        at position: UInt64,
        in events: StoredEvents
    ) throws(LogError) -> String? {
        let row = stored.row
        let clock: HybridTime
        do throws(FormatError) {
            clock = try PublicPart.parse(events.bytes.span, row).envelope.clock
        } catch {
            return error.message
        }
        guard stored.position == position, let time = stored.acceptedAt else {
            return "it has another position"
        }
        guard time.milliseconds >= acceptedAt else { return "acceptedAt goes back" }
        acceptedAt = time.milliseconds
        let head = ReplicaHead(sequence: row.sequence, clock: clock.rawValue)
        if let last = heads.updateValue(head, forKey: row.replica) {
            guard row.sequence > last.sequence else {
                return OrderFault.sequence(row.origin, after: last.sequence).message
            }
            guard clock.rawValue > last.clock else { return OrderFault.clock(row.origin).message }
        }
        self.clock = self.clock.merged(with: clock, acceptedAt: acceptedAt)
        return nil
    }

    /// Lets the space refer to all that was taken; durable when it returns.
    ///
    /// Its tiles are kept as well, and if there is no time for that, `extendTiles` makes them.
    ///
    /// - Throws: `.outOfOrder` if the first events have another root than `root`.
    package mutating func finish(root: Hash32) throws(LogError) {
        guard tree.root(&hasher) == root else {
            throw .outOfOrder(what: "the first \(end) events have another root than was told")
        }
        guard !entries.isEmpty else { return }
        let (space, entries, tree) = (space, entries, tree)
        let range: CompactRange
        do throws(FormatError) { range = try tree.range } catch { throw .format(error) }
        let state = SpaceState(
            released: end,
            acceptedAt: acceptedAt,
            clock: clock.rawValue,
            tallies: tallies.values.sorted { $0.replica < $1.replica },
            adoptions: adoptions,
            range: range
        )
        try store.withWriter { (writer) throws(LogError) in
            try writer.changeManifest(of: space) { $0.segments = entries }
            try writer.writeFrame { $0.append(.state, of: space) { state.append(to: &$0) } }
            writer.store.hashes.remove(space)
            var tiles = try TileStore(writer.store.directory, space: space)
            if tiles.size == 0 { try tiles.extend(tree) }
        }
    }
}
