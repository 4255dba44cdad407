package import DiarioCore
import DiarioStorage

/// Who writes to a space here: read from its manifest and its replica file.
struct SpaceHome: Equatable, Sendable {
    var manifest: Manifest
    var replica: ReplicaID
    /// Ids that this replica had before, oldest first.
    var former: [FormerID]
    /// False in a copy of the directory until it has taken ids of its own.
    var isAtHome: Bool

    /// Reads the files of a space, and notices a directory that was copied, cloned or restored.
    static func read(
        _ space: SpaceID,
        in directory: any LogDirectory
    ) throws(LogError) -> SpaceHome {
        let manifest = try readManifest(space, in: directory)
        let path = LogPaths.replica(space)
        return try storing { () throws(StorageError) -> Result<SpaceHome, LogError> in
            let file: any LogFile
            do throws(StorageError) {
                file = try directory.open(path, .read)
            } catch .notFound {
                // Who removes a space begins with the manifest.
                guard try directory.exists(LogPaths.manifest(space)) else {
                    return .failure(.unknownSpace(space))
                }
                return .failure(
                    .corrupt(Fault(file: path, offset: 0, what: "the replica file is missing"))
                )
            }
            let bytes = try Files.contents(of: file, at: path, sizeMax: 4096)
            guard let content = ReplicaFile(bytes.span) else {
                return .failure(
                    .corrupt(Fault(file: path, offset: 0, what: "the replica file is damaged"))
                )
            }
            let isAtHome = content.isHome(of: try file.identity ?? .unknown, in: directory)
            return .success(
                SpaceHome(
                    manifest: manifest,
                    replica: content.replica,
                    former: content.former,
                    isAtHome: isAtHome
                )
            )
        }.get()
    }

    static func readManifest(
        _ space: SpaceID,
        in directory: any LogDirectory
    ) throws(LogError) -> Manifest {
        try readManifestFile(space, in: directory).manifest
    }

    /// The manifest, and the file that it was read from.
    static func readManifestFile(
        _ space: SpaceID,
        in directory: any LogDirectory
    ) throws(LogError) -> (manifest: Manifest, file: any LogFile) {
        let path = LogPaths.manifest(space)
        let file: any LogFile
        let bytes: [UInt8]
        do throws(StorageError) {
            file = try directory.open(path, .read)
            bytes = try Files.contents(of: file, at: path, sizeMax: Manifest.sizeMax)
        } catch {
            switch error {
            case .notFound: throw .unknownSpace(space)
            case .notFile:
                throw .corrupt(Fault(file: path, offset: 0, what: "the manifest is no file"))
            default: throw .storage(error)
            }
        }
        guard let manifest = Manifest(bytes.span), manifest.space == space else {
            throw .corrupt(Fault(file: path, offset: 0, what: "the manifest is damaged"))
        }
        return (manifest, file)
    }

    /// Takes new ids in a copied directory, so that no two events get one origin.
    ///
    /// `last` is the last sequence that is known of the id that it had. The caller holds the
    /// directory's lock.
    mutating func settle(
        behind last: UInt64,
        in directory: any LogDirectory,
        entropy: any EntropySource,
        at now: Timestamp
    ) throws(LogError) {
        if manifest.authority != nil {
            manifest.authority = ReplicaID(drawnFrom: entropy)
            if manifest.isServed {
                // Others know what was recorded after the copy was made.
                manifest.beginEpoch(at: now)
                manifest.isWaiting = true
            }
        }
        // The replica file goes last: it alone says that the change is complete.
        let manifest = manifest
        if manifest.authority != nil {
            try storing { () throws(StorageError) in
                try Files.replace(
                    LogPaths.manifest(manifest.space),
                    with: manifest.encoded(),
                    in: directory
                )
            }
        }
        try takeNewReplica(behind: last, in: directory, entropy: entropy)
        isAtHome = true
    }

    /// Takes a new id, behind the last sequence of the one that it had.
    ///
    /// The caller holds the directory's lock.
    mutating func takeNewReplica(
        behind last: UInt64,
        in directory: any LogDirectory,
        entropy: any EntropySource
    ) throws(LogError) {
        let id = ReplicaID(drawnFrom: entropy)
        let left = FormerID(replica, lastSequence: last)
        let former = Array((former + [left]).suffix(ReplicaFile.formerCountMax))
        let path = LogPaths.replica(manifest.space)
        try storing { () throws(StorageError) in
            try ReplicaFile.write(id, former: former, at: path, in: directory)
        }
        (replica, self.former) = (id, former)
    }
}

extension SpaceHome {
    /// Adds ids that this replica had before, oldest first.
    ///
    /// The caller holds the directory's lock.
    mutating func takeFormer(
        _ others: [FormerID],
        in directory: any LogDirectory
    ) throws(LogError) {
        let former = Array((former + others).suffix(ReplicaFile.formerCountMax))
        let (id, path) = (replica, LogPaths.replica(manifest.space))
        try storing { () throws(StorageError) in
            try ReplicaFile.write(id, former: former, at: path, in: directory)
        }
        self.former = former
    }
}

extension SpaceHome {
    /// Whether a space is being removed, or somebody did not come to the end of that.
    static func isRemoved(
        _ space: SpaceID,
        in directory: any LogDirectory
    ) throws(LogError) -> Bool {
        try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.removed(space)) else { return false }
            return try !directory.exists(LogPaths.manifest(space))
        }
    }

    /// Whether another space took the place of this one, and the log does not tell so yet.
    static func isReplaced(
        _ space: SpaceID,
        in directory: any LogDirectory
    ) throws(LogError) -> Bool {
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try Files.contents(of: LogPaths.successor(space), in: directory, sizeMax: 64)
        } catch {
            guard case .notFound = error else { throw .storage(error) }
            return false
        }
        // Where it did not come to that, the other one is staging still, or not there any more.
        guard let new = SpaceID(text: String(decoding: bytes.dropLast(), as: UTF8.self)),
            let manifest = try? readManifest(new, in: directory)
        else { return false }
        return !manifest.isStaging && manifest.replaces == space
    }
}

extension ReplicaID {
    package init(drawnFrom entropy: any EntropySource) {
        while true {
            if let id = ReplicaID(rawValue: entropy.next()) {
                self = id
                return
            }
        }
    }
}

extension SpaceID {
    package init(drawnFrom entropy: any EntropySource) {
        while true {
            if let id = SpaceID(rawValue: entropy.next()) {
                self = id
                return
            }
        }
    }
}
