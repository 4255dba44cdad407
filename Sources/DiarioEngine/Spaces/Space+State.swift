package import DiarioCore
package import DiarioCrypto
package import DiarioLog
package import DiarioSchema

/// What a space is and holds, as far as it is known without reading its events.
package struct SpaceState: Sendable {
    package let space: SpaceID
    package let lineage: Lineage
    /// Who writes here.
    package let replica: ReplicaID
    /// Whether the positions are given here.
    package let hasAuthority: Bool
    /// The last position.
    package let head: UInt64
    package let pending: Int
    /// Canonical and pending events without those of an authority.
    package let events: Int
    /// All events that can be read here.
    package let storedCount: UInt64
    package let segmentCount: Int
}

extension SpaceState {
    init(_ status: SpaceStatus) {
        space = status.manifest.space
        lineage = status.manifest.lineage
        replica = status.replica
        hasAuthority = status.manifest.authority != nil
        head = status.head
        pending = status.pending
        events = status.events
        storedCount = status.head - status.released + UInt64(status.pending)
        segmentCount = status.segmentCount
    }
}

/// The server that a space remembers, and the token for it.
package struct RemoteServer: Equatable, Sendable {
    package var address: String
    package var token: String
    /// A file with certificates to trust in place of the system's.
    package var certificates: String?

    package init(address: String, token: String, certificates: String? = nil) {
        self.address = address
        self.token = token
        self.certificates = certificates
    }
}

/// What a space remembers of its syncs.
package struct SyncNotes: Sendable {
    /// When there was nothing left to exchange; nil if that never was.
    package var syncedAt: Timestamp?
    /// The failure after it, if there is one.
    package var failure: (at: Timestamp, message: String)?
    /// True if the file with these is damaged.
    package var isDamaged = false
}

extension Space {
    /// The version of the format of data directories.
    package static var formatVersion: Int { DirectoryFormat.version }

    package func state() throws(DiarioError) -> SpaceState {
        do { return SpaceState(try store[id].status()) } catch { throw DiarioError(error) }
    }

    /// The last position.
    package var head: UInt64 { store[id].head() }

    // MARK: The log

    /// Why nothing can be recorded, and some events not be read; nil if no damage is known.
    package var damage: DiarioError? { store.damage }

    package var now: Timestamp { store.now }

    /// Whether nothing may be written here.
    package var isReadOnly: Bool { store.access == .readOnly }

    /// Why events stay in the write-ahead log; nil if they are sealed as they should be.
    package var sealProblem: String? { store.sealFailure?.message }

    /// What opening the log cut off, for people; nil if nothing.
    package var cutText: String? { store.cutText }

    // MARK: The server

    /// Whether an attempt to publish it goes on.
    package func isPublishing() throws(DiarioError) -> Bool {
        do { return try store[id].publishing.attempt() != nil } catch { throw DiarioError(error) }
    }

    package func remote() throws(LogError) -> RemoteServer? {
        try store[id].remote().map {
            RemoteServer(address: $0.address, token: $0.token, certificates: $0.certificates)
        }
    }

    /// Remembers a server, or forgets it.
    package func setRemote(_ remote: RemoteServer?) throws(LogError) {
        try store[id].setRemote(remote.map { RemoteFile($0) })
    }

    /// Who acts on this replica where nobody is named: who was set, else in whose name its token
    /// is; nil if neither is known.
    package func defaultActor() throws(DiarioError) -> String? {
        do throws(LogError) {
            if let actor = try store[id].actor() { return actor }
            return try store[id].permission()?.actor
        } catch {
            throw DiarioError(error)
        }
    }

    /// What the server lets this replica do, as it said last; nil if that is not known.
    package func permission() throws(DiarioError) -> Permission? {
        do { return try store[id].permission().map { Permission($0) } } catch {
            throw DiarioError(error)
        }
    }

    /// Remembers what the server lets this replica do, and asks for that from now on.
    package mutating func setPermission(_ permission: Permission) throws(DiarioError) {
        do { try store[id].setPermission(PermissionFile(permission)) } catch {
            throw DiarioError(error)
        }
        try followPermission()
    }

    /// Asks before anything is recorded what the server would say of it, as far as that is known.
    mutating func followPermission() throws(DiarioError) {
        gate = nil
        guard let permission = try permission() else { return }
        // Of a file that is damaged nothing is known; `actor set` mends it.
        gate = ReplicaGate(permission, actor: (try? defaultActor()) ?? permission.actor)
    }

    /// Remembers who acts on this replica, or forgets them.
    package func setDefaultActor(_ actor: String?) throws(DiarioError) {
        do { try store[id].setActor(actor) } catch { throw DiarioError(error) }
    }

    package func syncNotes() throws(LogError) -> SyncNotes {
        let file = try store[id].lastSync()
        return SyncNotes(
            syncedAt: file?.success?.at,
            failure: file?.failure.map { ($0.at, $0.message) },
            isDamaged: try store[id].remoteFaults().contains { $0.file == LogPaths.lastSync(id) }
        )
    }

    /// Notes that there is nothing left to exchange.
    package func noteSync(head: UInt64) throws(LogError) { try store[id].noteSync(head: head) }

    package func noteFailedSync(_ message: String) throws(LogError) {
        try store[id].noteFailedSync(message)
    }

    /// Events of others that are kept here since the server lost them.
    package func keptCount() throws(DiarioError) -> (events: Int, replicas: Int) {
        do { return try store[id].kept.count() } catch { throw DiarioError(error) }
    }

    package func dropKept() throws(DiarioError) {
        do { try store[id].kept.removeAll() } catch { throw DiarioError(error) }
    }

    // MARK: Packs

    /// The packs that were adopted, in order of position.
    package func adoptedPacks() throws(DiarioError) -> [(
        pack: Pack, fingerprint: Hash32, position: UInt64
    )] {
        do {
            return try store[id].adoptions().map { (adoption) throws(LogError) in
                (
                    try store.packs.pack(adoption.fingerprint), adoption.fingerprint,
                    adoption.position
                )
            }
        } catch {
            throw DiarioError(error)
        }
    }

    // MARK: Segments

    /// Puts events into segments: all of them, or only runs that are complete.
    package func seal(
        all: Bool
    ) throws(LogError) -> (
        segments: Int, events: UInt64, bytes: Int, replaced: Int, end: UInt64, pending: Int
    ) {
        let report = try store.seal(id, all: all, waitSeconds: Limits.lockWaitSecondsMax)
        return (
            report.segmentCount, report.eventCount, report.byteCount, report.replacedCount,
            report.sealedEnd, report.sealedPending
        )
    }
}

extension RemoteFile {
    package init(_ remote: RemoteServer) {
        self.init(
            address: remote.address,
            token: remote.token,
            certificates: remote.certificates
        )
    }
}

extension LogStore {
    /// Why nothing can be recorded, and some events not be read; nil if no damage is known.
    package var damage: DiarioError? { fault.map { DiarioError(LogError.corrupt($0)) } }

    /// What opening the log cut off, for people; nil if nothing.
    package var cutText: String? {
        guard let cut, let keptIn = cut.keptIn else { return nil }
        return "a crash tore the last frame of \(cut.file) at \(cut.offset), which was never "
            + "acknowledged. Its bytes are kept in \(keptIn)"
    }
}
