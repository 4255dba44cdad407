package import DiarioCore
package import DiarioStorage

// How a space takes the place of another one, and how it ends.

extension SpaceLog {
    /// Ends the staging of the space: from now on it is there, in the place of `old`.
    ///
    /// With `standing`, only if the old space still has these events; false if it has others.
    ///
    /// What is left of the old space is removed as far as that can be done now, and otherwise by
    /// `removeRemains`.
    @discardableResult
    package func activate(
        inPlaceOf old: SpaceID,
        ifStill standing: SpaceStanding? = nil
    ) throws(LogError) -> Bool {
        let old = log[old]
        let isActive = try log.withWriter { (writer) throws(LogError) in
            guard standing == nil || standing == old.standing() else { return false }
            // Under the lock, since whoever seals writes the manifest too.
            var manifest = try SpaceHome.readManifest(space, in: shared.directory)
            manifest.isStaging = false
            manifest.replaces = old.space
            try writer.beginReplacing(old.space, by: space)
            try writer.replaceManifest(manifest)
            // The new space is there, so this has succeeded. Nobody records into the old one any
            // more, and what is not said of it here, who clears up says.
            if (try? writer.writeDropped(old.space)) != nil { try? old.takeManifest() }
            return true
        }
        // The new space is there, whatever becomes of the files of the old one.
        if isActive { try? old.remove() }
        return isActive
    }

    /// Removes a space and all its events.
    package func remove() throws(LogError) {
        let directory = shared.directory
        // Whoever is sealing it comes to an end first, or files would come back.
        let sealing = try storing { () throws(StorageError) -> (any DirectoryLock)? in
            guard try directory.exists(LogPaths.space(space)) else { return nil }
            return try Files.acquire(LogPaths.sealingLock(space), in: directory)
        }
        defer { sealing?.release() }
        try removeFiles()
    }

    /// Takes the manifest from a dead space, without which nobody takes it for one; not if it is
    /// what tells that another one is dead.
    private func takeManifest() throws(LogError) {
        let directory = shared.directory
        let before = try SpaceHome.readManifest(space, in: directory).replaces
        try storing { () throws(StorageError) in
            if let before, try directory.exists(LogPaths.manifest(before)) { return }
            try directory.rename(LogPaths.manifest(space), to: LogPaths.removed(space))
            try directory.syncDirectory(LogPaths.space(space))
        }
    }

    /// Removes a space; the caller holds the lock of those who seal it.
    func removeFiles() throws(LogError) {
        let directory = shared.directory
        let (folder, manifest) = (LogPaths.space(space), LogPaths.manifest(space))
        let isComplete = try storing { () throws(StorageError) in try directory.exists(manifest) }
        if isComplete, let dead = try SpaceHome.readManifest(space, in: directory).replaces,
            try storing({ () throws(StorageError) in
                try directory.exists(LogPaths.manifest(dead))
            })
        {
            // Nothing would say any more that it is dead.
            try log[dead].remove()
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
        try log.withWriter { (writer) throws(LogError) in
            try writer.writeDropped(space)
            try writer.compact()
        }
        shared.segments.forget(space)
        try storing { () throws(StorageError) in
            try Files.removeTree(folder, in: directory)
            try directory.syncDirectory(LogPaths.spaces)
        }
    }

    /// Removes the space if it is still staged.
    package func removeStaged() throws(LogError) {
        guard try SpaceHome.readManifest(space, in: shared.directory).isStaging else { return }
        try remove()
    }

    /// Held while a staging space is filled and takes its place, so that nobody clears it away.
    package func stagingLock() throws(LogError) -> any DirectoryLock {
        // Whoever clears remains away lets it go at once.
        try storing { () throws(StorageError) in
            try Files.acquire(LogPaths.stagingLock(space), in: shared.directory)
        }
    }
}
