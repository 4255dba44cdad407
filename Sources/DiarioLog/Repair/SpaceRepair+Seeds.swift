import DiarioCore
import DiarioFormat
import Synchronization

/// Seeds for personal events whose own ones the log does not have any more.
struct SoughtSeeds {
    /// Those that a sidecar has.
    var found: [SaltSeed] = []
    /// New ones, where none has any.
    var drawn: [SaltSeed] = []

    var all: [SaltSeed] { found + drawn }
}

/// Looks for personal events whose seeds are gone.
struct SeedSearch {
    private let shared: LogShared
    private let space: SpaceID
    private var missing: Set<SpaceIndex.SeedKey> = []

    init(_ shared: LogShared, _ space: SpaceID) {
        self.shared = shared
        self.space = space
    }

    mutating func take(_ events: StoredEvents) {
        var seeds = Seeds(store: shared, space: space)
        seeds.segment = events.salts
        for stored in events.rows {
            guard case .present = stored.row.personal else { continue }
            let (replica, sequence) = (stored.row.replica, stored.row.sequence)
            guard seeds.node(of: replica, sequence: sequence) == nil else { continue }
            missing.insert(
                SpaceIndex.SeedKey(replica: replica, group: SaltSeed.group(of: sequence))
            )
        }
    }

    /// Seeds in the place of those that are gone: the same, as far as `known` has them.
    func seeds(
        _ known: () -> [SpaceIndex.SeedKey: Salt],
        _ report: inout RepairReport
    ) -> SoughtSeeds {
        var seeds = SoughtSeeds()
        guard !missing.isEmpty else { return seeds }
        let known = known()
        for key in missing.sorted() {
            func seed(_ root: Salt) -> SaltSeed {
                SaltSeed(replica: key.replica, group: key.group, root: root)
            }
            if let root = known[key] {
                seeds.found.append(seed(root))
            } else {
                let root = Salt(first: shared.entropy.next(), second: shared.entropy.next())
                seeds.drawn.append(seed(root))
            }
        }
        if !seeds.drawn.isEmpty {
            report.remarks.append(
                "the salts of \(seeds.drawn.count) groups of personal events: they have new ones"
            )
        }
        return seeds
    }
}

extension SpaceRepair {
    /// Seeds that personal events need and that the log does not have.
    func missingSeeds(
        _ pieces: [SpacePiece],
        _ report: inout RepairReport
    ) throws(LogError) -> SoughtSeeds {
        guard hasLostFrames || pieces.contains(where: { !$0.isSealed && !$0.isInLog }) else {
            return SoughtSeeds()
        }
        var search = SeedSearch(shared, space)
        for piece in pieces where !piece.isSealed {
            try read(piece.positions, piece.source) { (events) throws(LogError) in
                search.take(events)
            }
        }
        return search.seeds({ sidecarSeeds() }, &report)
    }

    /// The seeds that sidecars have.
    ///
    /// A group has one seed, wherever its events lie. Retired private segments are left out: the
    /// seed of a group may have been replaced since, once no event of it had a personal part.
    func sidecarSeeds() -> [SpaceIndex.SeedKey: Salt] {
        let whole = (sources.sealed + lanes.kept).compactMap {
            PairReader.open($0.name, of: space, in: shared)
        }
        let named = Set(lanes.damaged.map(\.name))
        let others = sources.pairs.map(\.reader) + lanes.others.filter { named.contains($0.name) }
        var seeds: [SpaceIndex.SeedKey: Salt] = [:]
        for seed in (whole + others).flatMap(\.seeds) {
            let key = SpaceIndex.SeedKey(replica: seed.replica, group: seed.group)
            if seeds[key] == nil { seeds[key] = seed.root }
        }
        return seeds
    }
}
