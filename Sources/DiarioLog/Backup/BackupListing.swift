import DiarioCore
import DiarioCrypto
import DiarioFrames
import DiarioStorage

/// The files of a data directory that a backup has: schema/format/directory.md, section 9.
struct BackupListing {
    struct File {
        /// Relative to the data directory.
        let path: String
        let kind: Kind
    }

    enum Kind: Equatable {
        /// Never changed under its name, or replaced as a whole.
        case fixed
        /// The same, and only its owner may read it.
        case secret
        /// Changed where it lies.
        case growing
        /// A file of the write-ahead log, of which only the newest grows.
        case log(isNewest: Bool)
    }

    private(set) var files: [File] = []
    /// Those of the folders of every data directory that are there, also if they are empty.
    private(set) var folders: [String] = []
    private let directory: any LogDirectory

    init(of directory: any LogDirectory) throws(StorageError) {
        self.directory = directory
        for path in DirectoryFormat.folders where try directory.exists(path) {
            folders.append(path)
        }
        add([LogPaths.format], .fixed)
        try addLog()
        try addTree(LogPaths.packs)
        // Damaged ones too: nobody may have better bytes.
        let blobs = try names(LogPaths.blobs).filter { name in
            Hash32(text: name) != nil || LogPaths.damagedBlob(name) != nil
        }
        add(blobs.map { LogPaths.blobs + "/" + $0 }, .fixed)
        for name in try names(LogPaths.spaces) {
            if let space = SpaceID(text: name) { try add(space) }
        }
    }

    private mutating func add(_ paths: [String], _ kind: Kind) {
        files += paths.map { File(path: $0, kind: kind) }
    }

    private mutating func addLog() throws(StorageError) {
        let names = try names(FramePaths.folder)
        let numbers = names.compactMap { FramePaths.number($0) }
        for number in numbers {
            add([FramePaths.file(number)], .log(isNewest: number == numbers.max()))
        }
        if names.contains("synced") { add([FramePaths.syncedMark], .growing) }
    }

    private mutating func add(_ space: SpaceID) throws(StorageError) {
        let folder = LogPaths.space(space)
        let present = Set(try names(folder).map { folder + "/" + $0 })
        let small = [
            LogPaths.manifest(space), LogPaths.replica(space),
            LogPaths.publishing(space), LogPaths.lastSync(space), LogPaths.removed(space),
            LogPaths.successor(space),
        ]
        add(small.filter { present.contains($0) }, .fixed)
        let ownersOnly = [
            LogPaths.remote(space), LogPaths.actor(space), LogPaths.permission(space),
        ]
        add(ownersOnly.filter { present.contains($0) }, .secret)
        let folders: [(path: String, kind: Kind, holds: (String) -> Bool)] = [
            (LogPaths.segments(space), .fixed, { $0.hasSuffix(".dseg") || $0.hasSuffix(".dper") }),
            (
                LogPaths.inbox(space), .fixed,
                { LogPaths.isInboxEntry($0) || LogPaths.isInboxNote($0) }
            ),
            (LogPaths.kept(space), .fixed, { LogPaths.keptNumber($0) != nil }),
            (LogPaths.imports(space), .fixed, { LogPaths.isImportNote($0) }),
            (LogPaths.tiles(space), .growing, { !$0.hasSuffix(".new") }),
        ]
        for (path, kind, holds) in folders {
            add(try names(path).filter(holds).map { path + "/" + $0 }, kind)
        }
    }

    private mutating func addTree(_ path: String) throws(StorageError) {
        for name in try names(path) where !name.hasSuffix(".new") {
            let inner = path + "/" + name
            do throws(StorageError) {
                _ = try directory.list(inner)
            } catch {
                guard case .notDirectory = error else { throw error }
                add([inner], .fixed)
                continue
            }
            try addTree(inner)
        }
    }

    /// The names in a directory; none if it is not there.
    private func names(_ path: String) throws(StorageError) -> [String] {
        do throws(StorageError) { return try directory.list(path) } catch .notFound { return [] }
    }
}
