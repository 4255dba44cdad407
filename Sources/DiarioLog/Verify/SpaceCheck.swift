import DiarioCore
import DiarioCrypto
import DiarioFormat
import Synchronization
import DiarioStorage

/// The rules that hold between the events of a space: B2, B3, and positions without gaps.
struct SpaceCheck: ~Copyable {
    private let space: SpaceID
    private var hasher = EventHasher()
    private var seeds: Seeds
    private var heads: [ReplicaID: ReplicaHead] = [:]
    private var acceptedAt = Int64.min
    private var position: UInt64
    /// Makes the tree of the leaves, and compares the tiles with it.
    private var tree: TileCheck
    /// False once rows were missing: the root stays that of those before.
    private var isWhole = true
    /// The leaves of the piece at hand.
    private var leaves: [Hash32] = []

    init(_ shared: LogShared, _ space: SpaceID, released: UInt64) throws(LogError) {
        self.space = space
        seeds = Seeds(store: shared, space: space)
        let index = shared.index.withLock { $0[space] }
        position = released
        // Released events cannot be hashed again; the state has their hash.
        let range = released > 0 ? index.state?.range ?? CompactRange() : CompactRange()
        tree = TileCheck(try TileStore(shared.directory, space: space), from: range)
    }

    func fault(_ what: String, in file: String) -> Fault {
        Fault(file: file, offset: 0, what: "position \(position): \(what)")
    }

    /// Continues after positions that could not be read.
    mutating func skip(to position: UInt64) {
        self.position = max(self.position, position)
        tree.stopComparing()
        isWhole = false
    }

    mutating func finishTiles(_ faults: inout [Fault]) throws(LogError) {
        if let fault = try tree.finish() { faults.append(fault) }
    }

    mutating func root() -> Hash32 { tree.root(&hasher) }

    // MARK: Segments

    /// The fault in the order of some events of a segment that begins at `first`; nil if there is
    /// none.
    mutating func begin(
        _ first: UInt64,
        _ events: Range<Int>,
        of rows: borrowing SegmentRows
    ) -> String? {
        guard first == position + 1 else { return "position \(first) comes next" }
        // Within a segment it never does.
        guard rows.acceptedAt(0) >= acceptedAt else { return "acceptedAt goes back" }
        acceptedAt = rows.acceptedAt(events.upperBound - 1)
        guard let (event, fault) = rows.outOfOrder(in: events, after: &heads) else { return nil }
        return "position \(first + UInt64(event)): \(fault.message)"
    }

    /// Takes the next events of a segment that was begun.
    mutating func take(
        _ events: Range<Int>,
        of rows: inout SegmentRows,
        at place: SegmentPlace,
        _ salts: SaltNodes
    ) throws(LogError) {
        seeds.segment = salts
        leaves.removeAll(keepingCapacity: true)
        do throws(SegmentError) {
            try rows.appendLeaves(of: events, &hasher, to: &leaves) { replica, sequence in
                seeds.node(of: replica, sequence: sequence)
            }
        } catch {
            throw place.error(error)
        }
        for leaf in leaves {
            position += 1
            if position > tree.size, isWhole { try tree.append(leaf, &hasher) }
        }
    }

    // MARK: Rows

    /// The fault of the events; nil if there is none.
    mutating func take(_ events: StoredEvents) throws(LogError) -> String? {
        for stored in events.rows {
            let isNext = stored.position == position + 1
            if isNext { position += 1 }
            let (leaf, what) = leaf(stored, events, isNext: isNext)
            if let what { return what }
            if let leaf { try tree.append(leaf, &hasher) }
        }
        return nil
    }

    /// The leaf of a row that is right; of others what is wrong.
    private mutating func leaf(
        _ stored: StoredRow,
        _ events: StoredEvents,
        isNext: Bool
    ) -> (Hash32?, String?) {
        do throws(FormatError) {
            return try take(stored, events, isNext: isNext)
        } catch {
            return (nil, error.message)
        }
    }

    private mutating func take(
        _ stored: StoredRow,
        _ events: StoredEvents,
        isNext: Bool
    ) throws(FormatError) -> (Hash32?, String?) {
        let row = stored.row
        let clock = try PublicPart.parse(events.bytes.span, row).envelope.clock.rawValue
        let head = ReplicaHead(sequence: row.sequence, clock: clock)
        if let last = heads.updateValue(head, forKey: row.replica) {
            guard row.sequence > last.sequence else {
                return (nil, OrderFault.sequence(row.origin, after: last.sequence).message)
            }
            guard clock > last.clock else { return (nil, OrderFault.clock(row.origin).message) }
        }
        guard let given = stored.position else { return (nil, nil) }
        guard isNext else { return (nil, "position \(given) comes next") }
        let time = stored.acceptedAt?.milliseconds ?? Int64.min
        guard time >= acceptedAt else { return (nil, "acceptedAt goes back") }
        acceptedAt = time
        guard given > tree.size, isWhole else { return (nil, nil) }
        let hash = try hasher.eventHash(of: row, in: events, &seeds)
        return (hasher.leaf(hash, acceptedAt: time), nil)
    }
}
