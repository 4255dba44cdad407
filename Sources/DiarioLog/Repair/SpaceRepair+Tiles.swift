import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage
import Synchronization

extension SpaceRepair {
    /// Makes the tiles anew if they are not those of the events; they hold nothing of their own.
    func mendTiles(
        isNew: Bool,
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) {
        let folder = LogPaths.tiles(space)
        let directory = directory
        let names = try storing { () throws(StorageError) in
            try directory.exists(folder) ? try directory.list(folder) : []
        }
        let faults = try store.verify(space) { _ in nil }.faults.filter {
            $0.file.hasPrefix(folder + "/")
        }
        if !faults.isEmpty || isNew && !names.isEmpty {
            for fault in faults {
                report.found(fault, "the tiles are set aside, and made again from the events")
            }
            try setAside.keepTree(folder, because: "the tiles were not those of the events")
            try storing { () throws(StorageError) in
                // The mark goes first: without it the rest means nothing.
                for name in names.sorted(by: >) { try directory.remove(folder + "/" + name) }
                try directory.syncDirectory(folder)
            }
        }
        let lost = shared.segments.lost(of: space)
        let end = max(
            try shared.segments.readLists(of: space, in: directory).segments.last?.last ?? 0,
            lost.last?.last ?? 0
        )
        let tiles = try TileStore(directory, space: space)
        let known = lost.last { !$0.hashes.isEmpty }?.last ?? 0
        guard known <= tiles.size else {
            if !faults.isEmpty {
                report.remarks.append(
                    "the tiles of space \(space.text): of lost positions only the subtrees are "
                        + "known, so proofs are computed from the events from now on"
                )
            }
            return
        }
        let first = try shared.firstReadable(
            space,
            released: shared.index.withLock { $0[space].released }
        )
        guard end > tiles.size, tiles.size + 1 >= first,
            end <= shared.index.withLock({ $0[space].released })
        else { return }
        try store.extendTiles(of: space, to: end)
    }

    /// Seeds that personal events need and that are gone: new ones take their place.
    func missingSeeds(
        _ pieces: [SpacePiece],
        _ report: inout RepairReport
    ) throws(LogError) -> [SaltSeed] {
        guard hasLostFrames || pieces.contains(where: { !$0.isSealed && !$0.isInLog }) else {
            return []
        }
        var found: Set<SpaceIndex.SeedKey> = []
        for piece in pieces where !piece.isSealed {
            var seeds = Seeds(store: shared, space: space)
            try read(piece.positions, piece.source) { (events) throws(LogError) in
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
        }
        guard !found.isEmpty else { return [] }
        report.remarks.append(
            "the salts of \(found.count) groups of personal events: they have new ones"
        )
        return found.sorted().map { key in
            let root = Salt(first: shared.entropy.next(), second: shared.entropy.next())
            return SaltSeed(replica: key.replica, group: key.group, root: root)
        }
    }

    /// Packs that are here, and that no event says are used: their adoption may be among what is
    /// lost.
    func packsToAdopt(_ adoptions: [Adoption]) throws(LogError) -> [Hash32] {
        let directory = directory
        let names = try storing { () throws(StorageError) in
            try directory.exists(LogPaths.packs) ? try directory.list(LogPaths.packs) : []
        }
        let known = Set(adoptions.map(\.fingerprint))
        return names.compactMap { Hash32(text: $0) }.filter { pack in
            !known.contains(pack) && (try? store.packFiles(pack)) != nil
        }
    }
}

extension Writer {
    /// Writes seeds, and the state of a space as repair found it; durable when this returns.
    mutating func write(
        _ state: SpaceState?,
        seeds: [SaltSeed],
        of id: SpaceID
    ) throws(LogError) {
        guard state != nil || !seeds.isEmpty else { return }
        try begin()
        defer { end() }
        try syncPrevious()
        beginFrame()
        for seed in seeds { append(seed, of: id) }
        if let state {
            Record.append(.state, id, to: &frame) { state.append(to: &$0) }
            recordCount += 1
        }
        try finishFrame(isSynced: true)
        store.hashes.remove(id)
    }
}
