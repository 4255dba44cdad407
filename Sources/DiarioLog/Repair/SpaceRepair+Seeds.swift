import DiarioCore
import DiarioFormat
import Synchronization

/// Looks for personal events whose seeds are gone.
struct SeedSearch {
    private let shared: LogShared
    private let space: SpaceID
    private var found: Set<SpaceIndex.SeedKey> = []

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
            found.insert(
                SpaceIndex.SeedKey(replica: replica, group: SaltSeed.group(of: sequence))
            )
        }
    }

    /// New seeds in the place of those that are gone.
    func drawn(_ report: inout RepairReport) -> [SaltSeed] {
        guard !found.isEmpty else { return [] }
        report.remarks.append(
            "the salts of \(found.count) groups of personal events: they have new ones"
        )
        return found.sorted().map { key in
            let root = Salt(first: shared.entropy.next(), second: shared.entropy.next())
            return SaltSeed(replica: key.replica, group: key.group, root: root)
        }
    }
}

extension SpaceRepair {
    /// Seeds that personal events need and that are gone: new ones take their place.
    func missingSeeds(
        _ pieces: [SpacePiece],
        _ report: inout RepairReport
    ) throws(LogError) -> [SaltSeed] {
        guard hasLostFrames || pieces.contains(where: { !$0.isSealed && !$0.isInLog }) else {
            return []
        }
        var search = SeedSearch(shared, space)
        for piece in pieces where !piece.isSealed {
            try read(piece.positions, piece.source) { (events) throws(LogError) in
                search.take(events)
            }
        }
        return search.drawn(&report)
    }
}
