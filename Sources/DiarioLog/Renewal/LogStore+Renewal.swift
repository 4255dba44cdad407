package import DiarioCore
import DiarioFormat
package import DiarioStorage
import Synchronization

// What changes who a space is: schema/format/sync.md, sections 7 and 9.

extension LogStore {
    /// The ids under which this replica records, or recorded before, oldest first, with the last
    /// sequence of each that it may have recorded.
    func ownReplicas(of space: SpaceID) throws(LogError) -> [FormerID] {
        let home = try SpaceHome.read(space, in: directory)
        var ids = home.former + [FormerID(home.replica, lastSequence: .max)]
        for lane in shared.index.withLock({ $0[space].lanes })
        where !ids.contains(where: { $0.replica == lane.replica }) {
            ids.insert(FormerID(lane.replica, lastSequence: .max), at: 0)
        }
        return ids
    }

    /// Makes an empty space that is to take the place of another one, with a replica id of its own.
    ///
    /// Of the replica of `fork`, another device recorded what has a position from there on.
    package func stage(
        inPlaceOf old: SpaceID,
        epoch: UInt64,
        fork: Origin? = nil
    ) throws(LogError) -> (space: SpaceID, replica: ReplicaID, lock: any DirectoryLock) {
        let former = try ownReplicas(of: old).map { own in
            var last = own.lastSequence
            if last == .max { last = self[old].lastSequence(of: own.replica) }
            if let fork, fork.replica == own.replica { last = min(last, fork.sequence - 1) }
            return FormerID(own.replica, lastSequence: last)
        }
        let lineage = try SpaceHome.readManifest(old, in: directory).lineage
        let manifest = Manifest(
            space: SpaceID(drawnFrom: shared.entropy),
            lineage: lineage,
            epoch: epoch,
            authority: nil,
            isStaging: true,
            replaces: nil
        )
        let lock = try stageSpace(manifest, former: former)
        do throws(LogError) {
            let home = try SpaceHome.read(manifest.space, in: directory)
            return (manifest.space, home.replica, lock)
        } catch {
            lock.release()
            throw error
        }
    }

    /// Removes a space if it is still staged.
    package func removeStaged(_ space: SpaceID) throws(LogError) {
        guard try SpaceHome.readManifest(space, in: directory).isStaging else { return }
        try remove(space)
    }

    /// Takes a new id for what is recorded from now on: another device uses the one that was.
    ///
    /// Pending events keep their origins.
    package func takeNewReplica(
        of space: SpaceID,
        inPlaceOf old: ReplicaID
    ) throws(LogError) {
        try withWriter { (writer) throws(LogError) in
            try writer.takeNewReplica(of: space, inPlaceOf: old)
        }
    }

    /// Notes that others push to a space: a copy of it must not go on by itself.
    package func markServed(_ space: SpaceID) throws(LogError) {
        try changeManifest(of: space) { $0.isServed = true }
    }

    /// Whether the authority gives no positions until somebody lets it, as far as the disk tells.
    ///
    /// A copy waits from the start, though it writes that down only when it is used.
    package func isWaiting(_ space: SpaceID) throws(LogError) -> Bool {
        let home = try SpaceHome.read(space, in: shared.directory)
        guard home.manifest.authority != nil else { return false }
        return home.manifest.isWaiting || home.manifest.isServed && !home.isAtHome
    }

    /// Lets an authority that was restored give positions again.
    package func resumeAuthority(of space: SpaceID) throws(LogError) {
        try changeManifest(of: space) { $0.isWaiting = false }
        let directory = directory
        try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.noRestore(space)) else { return }
            try directory.remove(LogPaths.noRestore(space))
            try directory.syncDirectory(LogPaths.space(space))
        }
    }

    /// Lets an authority give no positions until it is resumed, or restored from a replica, unless
    /// that is ruled out.
    package func holdAuthority(
        of space: SpaceID,
        mayBeRestored: Bool = true
    ) throws(LogError) {
        if !mayBeRestored {
            // First, so that no replica comes in between.
            try withWriter { (writer) throws(LogError) in
                let directory = directory
                try storing { () throws(StorageError) in
                    try Files.replace(LogPaths.noRestore(space), with: [], in: directory)
                }
            }
        }
        try withWriter { (writer) throws(LogError) in try writer.holdAuthority(of: space) }
    }

    /// Whether an authority that waits may get events back from a replica.
    package func mayBeRestored(_ space: SpaceID) throws(LogError) -> Bool {
        let directory = directory
        return try storing { () throws(StorageError) in
            try !directory.exists(LogPaths.noRestore(space))
        }
    }

    /// Begins an epoch that is later than another one.
    package func beginEpoch(of space: SpaceID, behind epoch: UInt64) throws(LogError) {
        let now = now
        try changeManifest(of: space) { manifest in
            manifest.epoch = max(manifest.epoch, epoch)
            manifest.beginEpoch(at: now)
        }
    }

    /// Takes over the epoch of an authority that has the same log.
    package func setEpoch(_ epoch: UInt64, of space: SpaceID) throws(LogError) {
        try changeManifest(of: space) { $0.epoch = epoch }
    }

    private func changeManifest(
        of space: SpaceID,
        _ body: (inout Manifest) -> Void
    ) throws(LogError) {
        try withWriter { (writer) throws(LogError) in
            // A copied directory takes its ids first.
            var manifest = try writer.lastingManifest(of: space)
            let old = manifest
            body(&manifest)
            guard manifest != old else { return }
            try writer.replaceManifest(manifest)
        }
    }
}

extension Writer {
    /// Takes a new id for what is recorded from now on; the caller holds the lock.
    fileprivate mutating func takeNewReplica(
        of space: SpaceID,
        inPlaceOf old: ReplicaID
    ) throws(LogError) {
        var home = try writableHome(space)
        // A copied directory just took one.
        guard home.replica == old else { return }
        // Other processes keep the old id in memory until they find a frame.
        try writeState(of: space)
        homes[space] = nil
        lasting[space] = nil
        let last = store.index.withLock { $0.lastSequence(of: old, in: space) }
        try home.takeNewReplica(behind: last, in: store.directory, entropy: store.entropy)
        keep(home)
        // What earlier commits left knows the old id.
        staged.removeAll()
    }
}
