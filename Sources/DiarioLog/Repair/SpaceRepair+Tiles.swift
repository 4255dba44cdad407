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
