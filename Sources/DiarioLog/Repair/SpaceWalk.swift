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
    /// What was lost behind the events that were taken.
    private var gaps: ArraySlice<LostPositions> = []
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
    private var hasTaken = false

    /// Compact ranges that were written down before, by size.
    private var anchors: [UInt64: [CompactRange]] = [:]
    private let tiles: TileStore?
    /// The hashes of nodes that anchors have.
    private var nodes: [TreeNode: Hash32] = [:]
    /// The last size at which the tree was what an anchor says.
    private var confirmedSize: UInt64 = 0
    /// The last size at which it was not, though there are anchors.
    private var deniedSize: UInt64 = 0
    /// What was known before this repair.
    private let known: [LostPositions]

    init(
        _ space: SpaceID,
        _ store: LogStore,
        _ engine: EngineReader,
        anchors list: [CompactRange],
        known: [LostPositions],
        tallies: [ReplicaTally],
        adoptions: [Adoption],
        clock: HybridTime,
        own: Set<ReplicaID>
    ) {
        self.store = store
        self.engine = engine
        self.known = known
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
        let places = Set(known.map(\.place))
        let last = lost.last { !$0.hashes.isEmpty && !places.contains($0.place) }
        return confirmedSize >= last?.last ?? 0
    }

    /// Whether the tree is another one than anchors say.
    ///
    /// Once one leaf is another, no later anchor is what it was.
    var isDenied: Bool { deniedSize > confirmedSize }

    /// Says which positions are lost, before the first event is taken.
    ///
    /// All positions up to `end` are in segments, or lost. With `trusts`, what anchors and tiles
    /// say of them is believed.
    mutating func expect(
        lost runs: [ClosedRange<UInt64>],
        upTo end: UInt64,
        since: Timestamp,
        trusts: Bool
    ) throws(LogError) {
        var cover = LostCover(known)
        for run in runs {
            for part in cover.add(run) {
                if trusts, let nodes = try nodes(around: part, upTo: end) {
                    cover.cover(by: nodes, since: since)
                } else {
                    cover.coverByStandIns(part, since: since)
                }
            }
        }
        gaps = cover.list[...]
    }

    /// The smallest subtrees around lost positions of which something is known; nil if of some
    /// position nothing is.
    private mutating func nodes(
        around run: ClosedRange<UInt64>,
        upTo end: UInt64
    ) throws(LogError) -> [LostCover.Node]? {
        var found: [LostCover.Node] = []
        for node in TreeNode.covering(run.lowerBound - 1..<run.upperBound) {
            // The one before may be around it as well.
            if let last = found.last?.node, last.leaves.overlaps(node.leaves) { continue }
            var next = node
            var hash = try hash(next)
            while hash == nil {
                guard let parent = next.parent, parent.level <= Self.levelMax,
                    parent.leaves.upperBound <= end
                else { return nil }
                next = parent
                hash = try self.hash(next)
            }
            if let hash { found.append((next, hash)) }
        }
        return found
    }

    /// No subtree is given up for an event in it that is larger than this.
    private static let levelMax = 16

    /// Goes on behind a gap.
    private mutating func pass(_ gap: LostPositions) {
        precondition(range.size == gap.first - 1, "a walk leaves no position out")
        gap.append(to: &range, &hasher)
        lost.append(gap)
        confirm()
    }

    /// Goes on behind what was lost before a position, or around it.
    private mutating func passGaps(before position: UInt64) {
        while let gap = gaps.first, gap.first <= position {
            gaps.removeFirst()
            pass(gap)
        }
    }

    /// Goes on behind all that was lost, once all events were taken.
    mutating func finish() { passGaps(before: .max) }

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
        guard let known = anchors[range.size] else { return }
        if known.contains(range) { confirmedSize = range.size } else { deniedSize = range.size }
    }

    mutating func take(_ events: StoredEvents) throws(LogError) {
        seeds.segment = events.salts
        let block = events.bytes.span
        for stored in events.rows {
            if let position = stored.position { passGaps(before: position) }
            if !events.isLost(stored) { try take(stored, events, block) }
            note(stored)
        }
    }

    private mutating func take(
        _ stored: StoredRow,
        _ events: StoredEvents,
        _ block: Span<UInt8>
    ) throws(LogError) {
        let type = events.types[stored.row.typeIndex]
        do throws(FormatError) {
            let part = try PublicPart.parse(block, stored.row)
            note(part.envelope.clock, of: stored)
            let time = stored.acceptedAt?.milliseconds ?? 0
            // Of what is in a subtree with lost events the hash is known otherwise.
            if range.size < stored.position ?? .max {
                let name = type.name
                let hash = hasher.eventHash(
                    typeName: name.span,
                    version: type.version,
                    replica: stored.row.replica,
                    sequence: stored.row.sequence,
                    publicPart: block.raw.extracting(stored.row.publicPart),
                    commitment: try hasher.commitment(of: stored.row, in: block, seeds: &seeds)
                )
                range.append(hasher.leaf(hash, acceptedAt: time), &hasher)
                confirm()
            }
            acceptedAt = hasTaken ? max(time, acceptedAt) : time
            hasTaken = true
            let facts = try engine.facts(of: stored, in: block, type)
            for found in facts.adoptions { note(found) }
            for found in facts.refusals { note(found) }
        } catch {
            throw .corrupt(Fault(file: events.file, offset: 0, what: error.message))
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
        var places = lost.lazy.flatMap { $0.runs.lazy.joined() }.makeIterator()
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
