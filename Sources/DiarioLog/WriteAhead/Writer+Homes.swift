import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

// Who writes to the spaces, and what of that survives a power cut.
extension Writer {
    /// Who writes to a space here; a copied directory takes its own ids at this point.
    mutating func writableHome(_ id: SpaceID) throws(LogError) -> SpaceHome {
        // Another process may have said meanwhile that it goes on.
        if let known = homes[id], !known.manifest.isWaiting { return known }
        let directory = store.directory
        var home = try SpaceHome.read(id, in: directory)
        try makeLast(home)
        // Else events would be acknowledged at positions that a segment holds already.
        if let end = home.manifest.segments.last?.last,
            let fault = store.shortFault(of: id, sealed: end)
        {
            throw .corrupt(fault)
        }
        if !home.isAtHome {
            let last = store.index.withLock { $0.lastSequence(of: home.replica, in: id) }
            try home.settle(
                behind: last,
                in: directory,
                entropy: store.entropy,
                at: store.time.now
            )
        }
        keep(home)
        return home
    }

    /// Makes sure that what was read of a space survives a power cut: whoever wrote it may have
    /// died before the names of its files were on disk.
    private mutating func makeLast(_ home: SpaceHome) throws(LogError) {
        let id = home.manifest.space
        let known = lasting[id]
        guard known != home else { return }
        let directory = store.directory
        try storing { () throws(StorageError) in
            try directory.syncDirectory(LogPaths.space(id))
            if known == nil { try makeNameLast(id) }
        }
        lasting[id] = home
    }

    /// Makes sure that the name of a space's folder does.
    ///
    /// From the second space on there may be many, so those that are there are synced together.
    private mutating func makeNameLast(_ id: SpaceID) throws(StorageError) {
        guard !lastingNames.contains(id) else { return }
        let directory = store.directory
        let others = lastingNames.count == 1 ? try directory.list(LogPaths.spaces) : []
        try directory.syncDirectory(LogPaths.spaces)
        lastingNames.formUnion(others.compactMap { SpaceID(text: $0) })
        lastingNames.insert(id)
    }

    /// Takes up who writes to a space, as it stands on disk to last.
    mutating func keep(_ home: SpaceHome) {
        homes[home.manifest.space] = home
        lasting[home.manifest.space] = home
    }

    /// The manifest as it is now, and after a power cut as well.
    mutating func lastingManifest(of id: SpaceID) throws(LogError) -> Manifest {
        // That also makes sure that the space itself lasts.
        var home = try writableHome(id)
        home.manifest = try SpaceHome.readManifest(id, in: store.directory)
        try makeLast(home)
        keep(home)
        return home.manifest
    }
}
