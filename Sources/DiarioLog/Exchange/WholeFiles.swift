import DiarioCore
import DiarioStorage

/// A folder of a space in which each file is written, read and removed as a whole.
struct WholeFiles: Sendable {
    let log: LogStore
    let space: SpaceID
    let path: String
    /// Of one file.
    let sizeMax: Int

    private var directory: any LogDirectory { log.directory }

    /// Sees to it that nobody else takes anything out of it, until the lock is released.
    func hold(_ lock: String) throws(LogError) -> any DirectoryLock {
        guard log.access == .readWrite else { throw .readOnly }
        return try storing { () throws(StorageError) in
            try Files.makeDirectoryDurably(path, below: LogPaths.space(space), in: directory)
            return try Files.acquire(lock, in: directory)
        }
    }

    /// The names of its files, in order.
    func names() throws(LogError) -> [String] {
        try storing { () throws(StorageError) in
            try directory.exists(path) ? try directory.list(path) : []
        }
    }

    /// The bytes of a file; nil if somebody has removed it meanwhile.
    func contents(_ file: String) throws(LogError) -> [UInt8]? {
        do throws(StorageError) {
            return try Files.contents(of: file, in: directory, sizeMax: sizeMax)
        } catch {
            if case .notFound = error { return nil }
            throw .storage(error)
        }
    }

    /// Writes files; durable when it returns.
    func write(_ files: [(path: String, bytes: [UInt8])]) throws(LogError) {
        try storing { () throws(StorageError) in
            try Files.makeDirectoryDurably(path, below: LogPaths.space(space), in: directory)
            for file in files { try Files.replace(file.path, with: file.bytes, in: directory) }
        }
    }

    /// Removes files as far as they are there; durable when it returns.
    func remove(_ files: [String]) throws(LogError) {
        try storing { () throws(StorageError) in
            var isThere = false
            for file in files where try directory.exists(file) {
                try directory.remove(file)
                isThere = true
            }
            if isThere { try directory.syncDirectory(path) }
        }
    }
}
