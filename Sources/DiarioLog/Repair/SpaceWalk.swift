import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage

/// Goes through all events of a space in order, with the gaps between them, and learns what a state
/// of the log has to say.
struct SpaceWalk: ~Copyable {
    private let store: LogStore
    private let engine: EngineReader
    private var seeds: Seeds
    private var hasher = EventHasher()
    private(set) var range = CompactRange()
    /// All that was lost, with what is known of it.
    private(set) var lost: [LostPositions] = []
    private var tallies: [ReplicaID: ReplicaTally]
    private(set) var adoptions: [Adoption]
    /// The last sequence of each replica among those that were read.
    private(set) var lastSequences: [ReplicaID: UInt64] = [:]
    /// What the authority refused, in order of position.
    private(set) var refusals: [RefusedRun] = []
    private var clock: HybridTime
    /// The ids under which events are recorded here now: their clocks count, whatever they are.
    private let own: Set<ReplicaID>
    private var acceptedAt: Int64 = 0

    /// Compact ranges that were written down before, by size.
    private var anchors: [UInt64: [CompactRange]] = [:]
    private let tiles: TileStore?
    /// The hashes of nodes that anchors have.
    private var nodes: [TreeNode: Hash32] = [:]
    /// The last size at which the tree was what an anchor says.
    private var confirmedSize: UInt64 = 0
    /// What was known before this repair.
    private let known: Set<LostPositions>
    /// Whether what anchors and tiles say of lost positions is believed.
    private let trusts: Bool

    init(
        _ space: SpaceID,
        _ store: LogStore,
        _ engine: EngineReader,
        anchors list: [CompactRange],
        known: Set<LostPositions>,
        trusts: Bool,
        tallies: [ReplicaTally],
        adoptions: [Adoption],
        clock: HybridTime,
        own: Set<ReplicaID>
    ) {
        self.store = store
        self.engine = engine
        self.known = known
        self.trusts = trusts
        self.adoptions = adoptions
        self.clock = clock
        self.own = own
        self.tallies = Dictionary(tallies.map { ($0.replica, $0) }) { first, _ in first }
        seeds = Seeds(store: store.shared, space: space)
        tiles = try? TileStore(store.shared.directory, space: space)
        for anchor in list + [tiles?.range ?? CompactRange()] where anchor.size > 0 {
            anchors[anchor.size, default: []].append(anchor)
            for (node, hash) in anchor.places { nodes[node] = hash }
        }
    }

    /// Whether what was taken for known of lost positions is what an anchor confirms.
    var isConfirmed: Bool {
        let last = lost.last { !$0.hashes.isEmpty && !known.contains($0) }
        return confirmedSize >= last?.last ?? 0
    }

    /// Goes on behind a gap.
    mutating func pass(_ gap: LostPositions) throws(LogError) {
        var gap = gap
        if gap.hashes.isEmpty, !known.contains(gap), trusts {
            var hashes: [Hash32] = []
            for node in gap.nodes {
                guard let hash = try hash(node) else { break }
                hashes.append(hash)
            }
            if hashes.count == gap.nodes.count { gap.hashes = hashes }
        }
        precondition(range.size == gap.first - 1, "a walk leaves no position out")
        gap.append(to: &range, &hasher)
        lost.append(gap)
        confirm()
    }

    /// What is known of a node from anchors and tiles.
    private mutating func hash(_ node: TreeNode) throws(LogError) -> Hash32? {
        if let hash = nodes[node] { return hash }
        if let hash = try tiles?.hash(node, &hasher) { return hash }
        guard let children = node.children, node.level > Tile.height,
            let left = try hash(children.left), let right = try hash(children.right)
        else { return nil }
        return hasher.node(left, right)
    }

    private mutating func confirm() {
        if anchors[range.size]?.contains(range) == true { confirmedSize = range.size }
    }

    mutating func take(_ events: StoredEvents) throws(LogError) {
        seeds.segment = events.salts
        let block = events.bytes.span
        for stored in events.rows {
            let type = events.types[stored.row.typeIndex]
            do throws(FormatError) {
                let part = try PublicPart.parse(block, stored.row)
                note(part.envelope.clock, of: stored)
                let name = type.name
                let hash = hasher.eventHash(
                    typeName: name.span,
                    version: type.version,
                    replica: stored.row.replica,
                    sequence: stored.row.sequence,
                    publicPart: block.raw.extracting(stored.row.publicPart),
                    commitment: try hasher.commitment(of: stored.row, in: block, seeds: &seeds)
                )
                let time = stored.acceptedAt?.milliseconds ?? 0
                range.append(hasher.leaf(hash, acceptedAt: time), &hasher)
                acceptedAt = max(time, range.size == 1 ? time : acceptedAt)
                let facts = try engine.facts(of: stored, in: block, type)
                for found in facts.adoptions { note(found) }
                for found in facts.refusals { note(found) }
            } catch {
                throw .corrupt(Fault(file: events.file, offset: 0, what: error.message))
            }
            note(stored)
            confirm()
        }
    }

    /// A clock that ran far ahead elsewhere is not taken over (W12).
    private mutating func note(_ other: HybridTime, of stored: StoredRow) {
        if let time = stored.acceptedAt, !own.contains(stored.row.replica) {
            clock = clock.merged(with: other, acceptedAt: time.milliseconds)
        } else {
            clock = max(clock, other)
        }
    }

    private mutating func note(_ stored: StoredRow) {
        lastSequences[stored.row.replica] = stored.row.sequence
        let known = tallies[stored.row.replica]
        tallies[stored.row.replica] = ReplicaTally(
            replica: stored.row.replica,
            lastSequence: max(known?.lastSequence ?? 0, stored.row.sequence),
            isAuthority: stored.isAuthority || known?.isAuthority ?? false
        )
    }

    /// Sequences of refused events count as used.
    private mutating func note(_ found: RefusedRun) {
        refusals.append(found)
        let known = tallies[found.replica]
        tallies[found.replica] = ReplicaTally(
            replica: found.replica,
            lastSequence: max(known?.lastSequence ?? 0, found.sequences.upperBound),
            isAuthority: known?.isAuthority ?? false
        )
    }

    private mutating func note(_ found: Adoption) {
        guard !adoptions.contains(where: { $0.position == found.position }) else { return }
        adoptions.append(found)
        adoptions.sort { $0.position < $1.position }
    }

    /// Says what the log knows of the space from now on.
    ///
    /// `packs` are there, and nothing says any more where they were adopted: at lost positions.
    /// `clock` is that of an event elsewhere, and `known` when the last position was given.
    func state(
        released: UInt64,
        packs: [Hash32],
        acceptedAt known: Int64,
        clock other: HybridTime
    ) -> SpaceState {
        var adoptions = adoptions
        var places = lost.lazy.flatMap(\.positions).makeIterator()
        for pack in packs {
            while let position = places.next() {
                guard !adoptions.contains(where: { $0.position == position }) else { continue }
                adoptions.append(Adoption(position: position, fingerprint: pack))
                break
            }
        }
        return SpaceState(
            released: released,
            acceptedAt: range.size == 0 ? 0 : max(acceptedAt, known),
            clock: max(clock, other).rawValue,
            tallies: tallies.values.sorted { $0.replica < $1.replica },
            adoptions: adoptions.sorted { $0.position < $1.position },
            range: range
        )
    }
}
