package import DiarioCore
import DiarioCrypto
package import DiarioStorage

// How spaces begin, and what is left of those that ended.

extension LogStore {
    // MARK: Making

    /// Makes an empty space; durable when it returns.
    ///
    /// With `isAuthority`, positions are given here at once; else events are pending until
    /// `promote` says where they stand. Whoever opens the directory before the first event takes
    /// the log for gone.
    package func makeSpace(isAuthority: Bool) throws(LogError) -> Manifest {
        let manifest = newManifest(isAuthority: isAuthority)
        try makeSpace(manifest)
        return manifest
    }

    /// Makes an empty space with this id that is whole without an event, and gives positions here;
    /// durable when it returns.
    package func makeWholeSpace(_ id: SpaceID) throws(LogError) -> Manifest {
        let manifest = newManifest(id)
        let making = try holdFolder(of: id)
        defer { making.release() }
        // First: a space of which the log has nothing is one whose log is gone.
        try withWriter { (writer) throws(LogError) in try writer.beginSpace(id) }
        try fillFolder(manifest, [])
        return manifest
    }

    /// Makes an empty space that is not shown until `activate`; nobody clears it away while the
    /// lock is held.
    package func stageSpace() throws(LogError) -> (space: SpaceID, lock: any DirectoryLock) {
        var manifest = newManifest()
        manifest.isStaging = true
        return (manifest.space, try stageSpace(manifest))
    }

    /// Makes an empty replica of a space whose authority is elsewhere; durable when it returns.
    ///
    /// If it is staging, it is to be filled from elsewhere, and is not shown until `show`.
    package func makeReplica(
        of space: SpaceID,
        lineage: Lineage,
        epoch: UInt64,
        isStaging: Bool = false
    ) throws(LogError) {
        try makeSpace(
            Manifest(space: space, lineage: lineage, epoch: epoch, isStaging: isStaging)
        )
    }

    private func newManifest(_ id: SpaceID? = nil, isAuthority: Bool = true) -> Manifest {
        Manifest(
            space: id ?? drawSpaceID(),
            lineage: Lineage(drawnFrom: shared.entropy),
            authority: isAuthority ? ReplicaID(drawnFrom: shared.entropy) : nil
        )
    }

    private func makeSpace(_ manifest: Manifest) throws(LogError) {
        let making = try holdFolder(of: manifest.space)
        defer { making.release() }
        try fillFolder(manifest, [])
    }

    /// Makes an empty staging space for a replica that had other ids before; nobody clears it away
    /// while the lock is held.
    func stageSpace(
        _ manifest: Manifest,
        former: [FormerID] = []
    ) throws(LogError) -> any DirectoryLock {
        let making = try holdFolder(of: manifest.space)
        defer { making.release() }
        let staging = try self[manifest.space].stagingLock()
        do throws(LogError) {
            try fillFolder(manifest, former)
        } catch {
            staging.release()
            throw error
        }
        return staging
    }

    /// The folder of a space that is made, held until its manifest says that it is not a remain.
    private func holdFolder(of space: SpaceID) throws(LogError) -> any DirectoryLock {
        guard access == .readWrite else { throw .readOnly }
        let directory = shared.directory
        // Or what the log still has of an earlier one with this id would be in the new one.
        if try SpaceHome.isRemoved(space, in: directory) { try self[space].remove() }
        return try storing { () throws(StorageError) in
            while true {
                try Files.makeDirectoryDurably(LogPaths.space(space), in: directory)
                do throws(StorageError) {
                    let lock = try Files.acquire(LogPaths.sealingLock(space), in: directory)
                    if try directory.exists(LogPaths.space(space)) { return lock }
                    lock.release()
                } catch .notFound {
                    // Somebody took the folder for a remain just then, and it is made again.
                }
            }
        }
    }

    private func fillFolder(_ manifest: Manifest, _ former: [FormerID]) throws(LogError) {
        let directory = shared.directory
        let replica = ReplicaID(drawnFrom: shared.entropy)
        try storing { () throws(StorageError) in
            try ReplicaFile.write(
                replica,
                former: former,
                at: LogPaths.replica(manifest.space),
                in: directory
            )
            // Last, because a space is there from then on.
            try Files.replace(
                LogPaths.manifest(manifest.space),
                with: manifest.encoded(),
                in: directory
            )
        }
    }

    // MARK: Remains

    /// Whether there is something for `removeRemains`, beside these spaces.
    package func hasRemains(beside manifests: [Manifest]) -> Bool {
        let isOfServer = (try? isOfServer()) ?? true
        return manifests.contains { manifest in
            guard !manifest.isStaging else { return !isOfServer }
            guard let dead = manifest.replaces else { return false }
            return (try? shared.directory.exists(LogPaths.space(dead))) ?? false
        }
    }

    /// Removes what imports left that did not end, and spaces that others replaced.
    package func removeRemains() throws(LogError) {
        let names = try storing { () throws(StorageError) in
            try shared.directory.list(LogPaths.spaces)
        }
        let live = try manifests().filter { !$0.isStaging }
        for manifest in live where manifest.replaces.map({ names.contains($0.text) }) == true {
            // Whoever put it in the place of that one may have died before it would last.
            try storing { () throws(StorageError) in
                try shared.directory.syncDirectory(LogPaths.space(manifest.space))
            }
        }
        // Of a space whose manifest was lost the rest is there still.
        let kept = Set(live.map { $0.space } + (try missingManifests().map { $0.space }))
        for name in names {
            guard let id = SpaceID(text: name), !kept.contains(id) else { continue }
            try clear(id)
        }
    }

    /// Removes a space that looked like a remain, unless somebody is busy with it.
    private func clear(_ space: SpaceID) throws(LogError) {
        var locks: [any DirectoryLock] = []
        defer { for lock in locks { lock.release() } }
        // Whoever fills it holds the first one, and whoever makes or seals it the other.
        for path in [LogPaths.stagingLock(space), LogPaths.sealingLock(space)] {
            let directory = shared.directory
            let isFree = try storing { () throws(StorageError) -> Bool in
                do throws(StorageError) {
                    let lock = try directory.lock(path)
                    guard try Files.tryAcquire(lock) else { return false }
                    locks.append(lock)
                    return true
                } catch .notFound {
                    // Another process cleared it away.
                    return false
                }
            }
            guard isFree else { return }
        }
        // From here on it stays what it is; since it was looked at, it may have been shown.
        if let known = try manifests().first(where: { $0.space == space }) {
            // What a server fills comes in many requests, and the server clears it away.
            guard known.isStaging, try !isOfServer() else { return }
        }
        try self[space].removeFiles()
    }
}
