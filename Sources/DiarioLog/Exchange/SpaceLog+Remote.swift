package import DiarioCore
import DiarioStorage

// What a replica remembers of its server: schema/format/directory.md.

extension SpaceLog {
    /// Where the authority of a space is; nil if nobody said so.
    package func remote() throws(LogError) -> RemoteFile? {
        let path = LogPaths.remote(space)
        guard let bytes = try contents(path, sizeMax: RemoteFile.sizeMax) else { return nil }
        guard let file = RemoteFile(bytes) else { throw Self.damaged(path, "diario remote set") }
        return file
    }

    private static func damaged(_ path: String, _ remedy: String) -> LogError {
        .corrupt(
            Fault(
                file: path,
                offset: 0,
                what: "the file is damaged; `\(remedy)` writes it anew"
            )
        )
    }

    /// Remembers where the authority of a space is, or forgets it; durable when it returns.
    package func setRemote(_ file: RemoteFile?) throws(LogError) {
        try keep(file?.encoded(), at: LogPaths.remote(space))
    }

    /// Writes a file that only its owner may read, or removes it.
    private func keep(_ bytes: [UInt8]?, at path: String) throws(LogError) {
        // Under the lock, because others may do the same.
        try log.withWriter { (_) throws(LogError) in
            guard let bytes else { return try removeFile(path) }
            try storing { () throws(StorageError) in
                try Files.replacePrivately(path, with: bytes, in: shared.directory)
            }
        }
    }

    /// Who acts on this replica where nobody is named; nil if nobody said so.
    package func actor() throws(LogError) -> String? {
        let path = LogPaths.actor(space)
        guard let bytes = try contents(path, sizeMax: ActorFile.sizeMax) else { return nil }
        guard let file = ActorFile(bytes) else { throw Self.damaged(path, "diario actor set") }
        return file.actor
    }

    /// Remembers who acts on this replica, or forgets them; durable when it returns.
    package func setActor(_ actor: String?) throws(LogError) {
        try keep(actor.map { ActorFile($0).encoded() }, at: LogPaths.actor(space))
    }

    /// What the server lets this replica do, as it said last; nil if that is not known.
    package func permission() throws(LogError) -> PermissionFile? {
        try contents(LogPaths.permission(space), sizeMax: PermissionFile.sizeMax)
            .flatMap { PermissionFile($0) }
    }

    /// Remembers what the server lets this replica do; durable when it returns.
    package func setPermission(_ file: PermissionFile) throws(LogError) {
        guard try permission() != file else { return }
        try keep(file.encoded(), at: LogPaths.permission(space))
    }

    /// How the last sync of a space ended; nil if there was none, or if it is not known any more.
    package func lastSync() throws(LogError) -> LastSyncFile? {
        try contents(LogPaths.lastSync(space), sizeMax: LastSyncFile.sizeMax)
            .flatMap { LastSyncFile($0) }
    }

    /// Remembers that a space is in sync now.
    package func noteSync(head: UInt64) throws(LogError) {
        try note(LastSyncFile(LastSyncFile.Success(at: shared.time.now, head: head)))
    }

    /// Remembers that a sync of a space failed just now, beside the last one that did not.
    package func noteFailedSync(_ message: String) throws(LogError) {
        let failure = LastSyncFile.Failure(at: shared.time.now, message: message)
        try note(LastSyncFile(try lastSync()?.success, failure))
    }

    private func note(_ file: LastSyncFile) throws(LogError) {
        try log.withWriter { (_) throws(LogError) in
            try write(file.encoded(), to: LogPaths.lastSync(space))
        }
    }

    /// What of this is damaged, though no event depends on it.
    package func remoteFaults() throws(LogError) -> [Fault] {
        let directory = shared.directory
        let files: [(path: String, sizeMax: Int, verifies: ([UInt8]) -> Bool)] = [
            (LogPaths.remote(space), RemoteFile.sizeMax, { RemoteFile($0) != nil }),
            (LogPaths.lastSync(space), LastSyncFile.sizeMax, { LastSyncFile($0) != nil }),
            (LogPaths.actor(space), ActorFile.sizeMax, { ActorFile($0) != nil }),
            (
                LogPaths.permission(space), PermissionFile.sizeMax,
                { PermissionFile($0) != nil }
            ),
        ]
        var faults: [Fault] = []
        for (path, sizeMax, verifies) in files {
            do throws(StorageError) {
                if verifies(try Files.contents(of: path, in: directory, sizeMax: sizeMax)) {
                    continue
                }
            } catch {
                switch error {
                case .notFound: continue
                case .tooLarge, .notFile: break
                default: throw .storage(error)
                }
            }
            faults.append(Fault(file: path, offset: 0, what: "the file is damaged"))
        }
        return faults
    }
}
