import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

// Who writes to the spaces, and their manifests, as they will be after a power cut as well.
extension Writer {
    /// Who writes to a space here; a copied directory takes its own ids at this point.
    mutating func writableHome(_ id: SpaceID) throws(LogError) -> SpaceHome {
        // Another process may have said meanwhile that it goes on.
        if let known = homes[id], !known.manifest.isWaiting { return known }
        let directory = store.directory
        var home = try SpaceHome.read(id, in: directory)
        // What is recorded into it now would be removed with it.
        guard try !SpaceHome.isReplaced(id, in: directory) else { throw .unknownSpace(id) }
        try makeDurable(home)
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
    private mutating func makeDurable(_ home: SpaceHome) throws(LogError) {
        let id = home.manifest.space
        guard lasting[id] != home else { return }
        let directory = store.directory
        try storing { () throws(StorageError) in
            try directory.syncDirectory(LogPaths.space(id))
            try directory.syncDirectory(LogPaths.spaces)
        }
        lasting[id] = home
    }

    /// Takes up who writes to a space, as it stands on disk to last.
    mutating func keep(_ home: SpaceHome) {
        homes[home.manifest.space] = home
        lasting[home.manifest.space] = home
    }

    /// Changes who writes to a space, on disk and here.
    mutating func changeHome(
        of id: SpaceID,
        _ body: (inout SpaceHome) throws(LogError) -> Void
    ) throws(LogError) {
        var home = try writableHome(id)
        // Known again only once it is on disk.
        homes[id] = nil
        lasting[id] = nil
        try body(&home)
        keep(home)
        // What earlier commits left knows the old id.
        staged.removeAll()
    }

    /// The manifest as it is now, and after a power cut as well.
    mutating func lastingManifest(of id: SpaceID) throws(LogError) -> Manifest {
        // That also makes sure that the space itself lasts.
        var home = try writableHome(id)
        home.manifest = try SpaceHome.readManifest(id, in: store.directory)
        try makeDurable(home)
        keep(home)
        return home.manifest
    }

    /// Writes a manifest anew; durable when it returns.
    ///
    /// When it throws, others may read the old one or the new one.
    mutating func replaceManifest(_ manifest: Manifest) throws(LogError) {
        let directory = store.directory
        let path = LogPaths.manifest(manifest.space)
        let encoded = manifest.encoded()
        // Known again only once it is on disk.
        var home = homes.removeValue(forKey: manifest.space)
        var lastingHome = lasting.removeValue(forKey: manifest.space)
        try storing { () throws(StorageError) in
            try Files.replace(path, with: encoded, in: directory)
        }
        home?.manifest = manifest
        lastingHome?.manifest = manifest
        homes[manifest.space] = home
        lasting[manifest.space] = lastingHome
    }

    /// Changes the manifest of a space, and gives it as it is then; durable when it returns.
    ///
    /// From then on readers find the segments that it lists.
    @discardableResult
    mutating func changeManifest(
        of id: SpaceID,
        _ body: (inout Manifest) throws(LogError) -> Void
    ) throws(LogError) -> Manifest {
        // A copied directory takes its ids first.
        var manifest = try lastingManifest(of: id)
        let old = manifest
        try body(&manifest)
        guard manifest != old else { return manifest }
        try replaceManifest(manifest)
        store.segments.set(manifest)
        // What was staged before may say who gave positions then.
        staged.removeAll()
        return manifest
    }
}
