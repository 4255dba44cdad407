package import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

// Under which id a space is recorded into here, and who gives its positions:
// schema/format/sync.md, sections 7 and 9.
//
// Processes keep both in memory until they find a frame that another one wrote. So a frame goes
// first, and the file follows under the same lock: whoever comes next reads it
// (schema/format/directory.md, D1).

extension SpaceLog {
    // MARK: Recording

    /// Who writes the next events of a space, and the last sequence it used.
    ///
    /// In a copied directory this takes the new id.
    package func author() throws(LogError) -> (ReplicaID, UInt64) {
        try log.withWriter { (writer) throws(LogError) in
            let replica = try writer.writableHome(space).replica
            return (replica, lastSequence(of: replica))
        }
    }

    /// The ids under which this replica records, or recorded before, oldest first, with the last
    /// sequence of each that it may have recorded.
    func ownReplicas() throws(LogError) -> [FormerID] {
        let home = try SpaceHome.read(space, in: shared.directory)
        var ids = home.former + [FormerID(home.replica, lastSequence: .max)]
        for lane in shared.index.withLock({ $0[space].lanes })
        where !ids.contains(where: { $0.replica == lane.replica }) {
            ids.insert(FormerID(lane.replica, lastSequence: .max), at: 0)
        }
        return ids
    }

    /// Takes a new id for what is recorded from now on: another device uses the one that was.
    ///
    /// Pending events keep their origins.
    package func takeNewReplica(inPlaceOf old: ReplicaID) throws(LogError) {
        try log.withWriter { (writer) throws(LogError) in
            // A copied directory takes one at this point.
            guard try writer.writableHome(space).replica == old else { return }
            try writer.writeState(of: space)
            let last = lastSequence(of: old)
            try writer.changeHome(of: space) { (home) throws(LogError) in
                try home.takeNewReplica(behind: last, in: shared.directory, entropy: shared.entropy)
            }
        }
    }

    /// Notes that a replica had these ids before.
    func takeFormer(_ former: [FormerID]) throws(LogError) {
        try log.withWriter { (writer) throws(LogError) in
            try writer.changeHome(of: space) { (home) throws(LogError) in
                try home.takeFormer(former, in: shared.directory)
            }
        }
    }

    // MARK: An authority

    /// Notes that others push to a space: a copy of it must not go on by itself.
    package func markServed() throws(LogError) { try changeManifest { $0.isServed = true } }

    /// Whether the authority gives no positions until somebody lets it, as far as the disk tells.
    ///
    /// A copy waits from the start, though it writes that down only when it is used.
    package func isWaiting() throws(LogError) -> Bool {
        let home = try SpaceHome.read(space, in: shared.directory)
        guard home.manifest.authority != nil else { return false }
        return home.manifest.isWaiting || home.manifest.isServed && !home.isAtHome
    }

    /// Lets an authority that was restored give positions again.
    package func resumeAuthority() throws(LogError) {
        try changeManifest { $0.isWaiting = false }
        try removeFile(LogPaths.noRestore(space))
    }

    /// Lets an authority give no positions until it is resumed, or restored from a replica, unless
    /// that is ruled out; durable when it returns.
    package func holdAuthority(mayBeRestored: Bool = true) throws(LogError) {
        try log.withWriter { (writer) throws(LogError) in
            // First, so that no replica comes in between.
            if !mayBeRestored { try write([], to: LogPaths.noRestore(space)) }
            let manifest = try writer.writableHome(space).manifest
            guard manifest.authority != nil else { throw .notAuthority(space) }
            guard !manifest.isWaiting else { return }
            try writer.writeState(of: space)
            try writer.changeManifest(of: space) { $0.isWaiting = true }
        }
    }

    /// Whether an authority that waits may get events back from a replica.
    package func mayBeRestored() throws(LogError) -> Bool {
        try storing { () throws(StorageError) in
            try !shared.directory.exists(LogPaths.noRestore(space))
        }
    }

    /// Begins an epoch that is later than another one.
    package func beginEpoch(behind epoch: UInt64) throws(LogError) {
        let now = log.now
        try changeManifest { manifest in
            manifest.epoch = max(manifest.epoch, epoch)
            manifest.beginEpoch(at: now)
        }
    }

    /// Takes over the epoch of an authority that has the same log.
    package func setEpoch(_ epoch: UInt64) throws(LogError) {
        try changeManifest { $0.epoch = epoch }
    }

    /// Takes over the authority of a space that was filled from elsewhere; durable when it returns.
    ///
    /// Does nothing if it has one.
    package func takeAuthority() throws(LogError) {
        try log.withWriter { (writer) throws(LogError) in
            guard try writer.writableHome(space).manifest.authority == nil else { return }
            try writer.writeState(of: space)
            let authority = ReplicaID(drawnFrom: shared.entropy)
            try writer.changeManifest(of: space) { $0.authority = authority }
        }
    }

    /// Shows a space that was staging; durable when it returns.
    package func show() throws(LogError) {
        // Otherwise it could be taken for a leftover.
        let staging = try stagingLock()
        defer { staging.release() }
        try changeManifest { $0.isStaging = false }
    }

    func changeManifest(_ body: (inout Manifest) -> Void) throws(LogError) {
        try log.withWriter { (writer) throws(LogError) in
            _ = try writer.changeManifest(of: space) { (manifest) throws(LogError) in
                body(&manifest)
            }
        }
    }
}
