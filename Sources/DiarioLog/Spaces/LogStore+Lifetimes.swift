package import DiarioCore
import DiarioCrypto
package import DiarioStorage

// How spaces begin and end.

extension LogStore {
    // MARK: Making

    /// Makes an empty space; durable when it returns.
    ///
    /// With `isAuthority`, positions are given here at once; else events are pending until
    /// `promote` says where they stand. Whoever opens the directory before the first event takes
    /// the log for gone.
    package func makeSpace(isAuthority: Bool) throws(LogError) -> Manifest {
        let manifest = draftManifest(nil, isAuthority: isAuthority, isStaging: false)
        try makeSpace(manifest)
        return manifest
    }

    /// Makes an empty space with this id that is whole without an event, and gives positions here;
    /// durable when it returns.
    package func makeWholeSpace(_ id: SpaceID) throws(LogError) -> Manifest {
        let manifest = draftManifest(id, isAuthority: true, isStaging: false)
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
        let manifest = draftManifest(nil, isAuthority: true, isStaging: true)
        return (manifest.space, try stageSpace(manifest))
    }

    private func draftManifest(_ id: SpaceID?, isAuthority: Bool, isStaging: Bool) -> Manifest {
        let entropy = shared.entropy
        return Manifest(
            space: id ?? SpaceID(drawnFrom: entropy),
            lineage: Lineage(drawnFrom: entropy),
            epoch: 0,
            authority: isAuthority ? ReplicaID(drawnFrom: entropy) : nil,
            isStaging: isStaging,
            replaces: nil
        )
    }

    /// Makes an empty replica of a space whose authority is elsewhere; durable when it returns.
    package func makeReplica(
        of space: SpaceID,
        lineage: Lineage,
        epoch: UInt64
    ) throws(LogError) {
        try makeSpace(
            Manifest(
                space: space,
                lineage: lineage,
                epoch: epoch,
                authority: nil,
                isStaging: false,
                replaces: nil
            )
        )
    }

    /// Makes a space that is to be filled from elsewhere, and is not shown until `show`.
    package func makeStagingSpace(
        _ id: SpaceID,
        lineage: Lineage,
        epoch: UInt64
    ) throws(LogError) {
        try makeSpace(
            Manifest(
                space: id,
                lineage: lineage,
                epoch: epoch,
                authority: nil,
                isStaging: true,
                replaces: nil
            )
        )
    }

    /// Makes an empty space for a replica that had other ids before.
    func makeSpace(_ manifest: Manifest, former: [FormerID] = []) throws(LogError) {
        let making = try holdFolder(of: manifest.space)
        defer { making.release() }
        try fillFolder(manifest, former)
    }

    /// The same for one that is staging; nobody clears it away while the lock is held.
    func stageSpace(
        _ manifest: Manifest,
        former: [FormerID] = []
    ) throws(LogError) -> any DirectoryLock {
        let making = try holdFolder(of: manifest.space)
        defer { making.release() }
        let staging = try stagingLock(of: manifest.space)
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
        if try SpaceHome.isRemoved(space, in: directory) { try remove(space) }
        return try storing { () throws(StorageError) in
            while true {
                try Files.makeDirectoryDurably(LogPaths.space(space), in: directory)
                do throws(StorageError) {
                    let lock = try directory.lock(LogPaths.sealingLock(space))
                    try lock.acquire(waitSeconds: Limits.lockWaitSecondsMax)
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

    // MARK: Ending

    /// Ends the staging of a space: from now on it is there, in the place of `old`.
    ///
    /// With `standing`, only if the old space still has these events; false if it has others.
    ///
    /// What is left of the old space is removed as far as that can be done now, and otherwise by
    /// `removeRemains`.
    @discardableResult
    package func activate(
        _ space: SpaceID,
        inPlaceOf old: SpaceID,
        ifStill standing: SpaceStanding? = nil
    ) throws(LogError) -> Bool {
        let isActive = try withWriter { (writer) throws(LogError) in
            guard standing == nil || standing == self.standing(of: old) else { return false }
            // Under the lock, since whoever seals writes the manifest too.
            var manifest = try SpaceHome.readManifest(space, in: shared.directory)
            manifest.isStaging = false
            manifest.replaces = old
            try writer.beginReplacing(old, by: space)
            try writer.replaceManifest(manifest)
            // The new space is there, so this has succeeded. Nobody records into the old one any
            // more, and what is not said of it here, who clears up says.
            if (try? writer.writeDropped(old)) != nil { try? takeManifest(of: old) }
            return true
        }
        // The new space is there, whatever becomes of the files of the old one.
        if isActive { try? remove(old) }
        return isActive
    }

    /// Removes a space and all its events.
    package func remove(_ space: SpaceID) throws(LogError) {
        let directory = shared.directory
        // Whoever is sealing it comes to an end first, or files would come back.
        let sealing = try storing { () throws(StorageError) -> (any DirectoryLock)? in
            guard try directory.exists(LogPaths.space(space)) else { return nil }
            let lock = try directory.lock(LogPaths.sealingLock(space))
            try lock.acquire(waitSeconds: Limits.lockWaitSecondsMax)
            return lock
        }
        defer { sealing?.release() }
        try removeFiles(of: space)
    }

    /// Takes the manifest from a dead space, without which nobody takes it for one; not if it is
    /// what tells that another one is dead.
    private func takeManifest(of dead: SpaceID) throws(LogError) {
        let directory = shared.directory
        let before = try SpaceHome.readManifest(dead, in: directory).replaces
        try storing { () throws(StorageError) in
            if let before, try directory.exists(LogPaths.manifest(before)) { return }
            try directory.rename(LogPaths.manifest(dead), to: LogPaths.removed(dead))
            try directory.syncDirectory(LogPaths.space(dead))
        }
    }

    /// Removes a space; the caller holds the lock of those who seal it.
    private func removeFiles(of space: SpaceID) throws(LogError) {
        let directory = shared.directory
        let (folder, manifest) = (LogPaths.space(space), LogPaths.manifest(space))
        let isComplete = try storing { () throws(StorageError) in try directory.exists(manifest) }
        if isComplete, let dead = try SpaceHome.readManifest(space, in: directory).replaces,
            try storing({ () throws(StorageError) in
                try directory.exists(LogPaths.manifest(dead))
            })
        {
            // Nothing would say any more that it is dead.
            try remove(dead)
        }
        try storing { () throws(StorageError) in
            // The manifest goes first, before the events: without one the rest is not a space any
            // more, and is removed by `removeRemains`. The name that it gets tells that from
            // damage.
            if isComplete { try directory.rename(manifest, to: LogPaths.removed(space)) }
            // Also where it is gone already: a process may have died before this, and then the
            // manifest would come back after a power cut, to a space without events.
            if try directory.exists(folder) { try directory.syncDirectory(folder) }
        }
        try withWriter { (writer) throws(LogError) in try writer.drop(space) }
        shared.segments.forget(space)
        try storing { () throws(StorageError) in
            try Files.removeTree(folder, in: directory)
            try directory.syncDirectory(LogPaths.spaces)
        }
    }

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
        try removeFiles(of: space)
    }

    /// Held while a staging space is filled and takes its place, so that nobody clears it away.
    package func stagingLock(of space: SpaceID) throws(LogError) -> any DirectoryLock {
        try storing { () throws(StorageError) in
            let lock = try shared.directory.lock(LogPaths.stagingLock(space))
            // Whoever clears remains away lets it go at once.
            try lock.acquire(waitSeconds: Limits.lockWaitSecondsMax)
            return lock
        }
    }
}
