/// A data directory: the only way to files.
///
/// Paths are relative to it, with `/` between names; "" is the directory itself. A path that is
/// absolute, or has an empty name, `.`, `..` or a zero byte in it, is a mistake of the caller and
/// traps; so names that come from outside are checked before they get here.
package protocol LogDirectory: AnyObject, Sendable {
    /// True when nothing may be written here: by the medium, by permissions or by wish.
    var isReadOnly: Bool { get }
    /// What names this machine: `/etc/machine-id`, else the host name; empty if unknown.
    var machineID: [UInt8] { get }

    func open(_ path: String, _ access: FileAccess) throws(StorageError) -> any LogFile
    func exists(_ path: String) throws(StorageError) -> Bool
    /// What tells the file at `path` from others.
    ///
    /// As long as a file is open no other one has its identity, so this says whether a name still
    /// leads to it.
    func identity(of path: String) throws(StorageError) -> FileIdentity
    /// The names in the directory at `path`, in the order of their bytes.
    func list(_ path: String) throws(StorageError) -> [String]
    /// Makes the directory at `path` and those above it; does nothing if it is there.
    func makeDirectory(_ path: String) throws(StorageError)
    /// Gives a file or directory another name in the same directory; a file there is replaced.
    ///
    /// Nobody ever sees both names, or neither, or a mix of two files.
    func rename(_ old: String, to new: String) throws(StorageError)
    /// Removes a file or an empty directory.
    func remove(_ path: String) throws(StorageError)
    /// Makes the names in the directory at `path` (made, changed, removed) survive a power cut.
    func syncDirectory(_ path: String) throws(StorageError)
    /// Makes the name of the directory itself survive a power cut, as far as that can be done.
    func syncName() throws(StorageError)
    /// The lock kept in the file at `path`, which is made if needed; not held yet.
    func lock(_ path: String) throws(StorageError) -> any DirectoryLock
}

extension LogDirectory {
    package func syncName() throws(StorageError) {}

    package func identity(of path: String) throws(StorageError) -> FileIdentity {
        try open(path, .read).identity
    }

    /// Replaces the file at `path`, durably: after a crash it holds its old bytes or `bytes`.
    ///
    /// The caller holds the directory's lock, since the temporary file has a fixed name
    /// (`path` and ".new").
    package func replace(_ path: String, with bytes: [UInt8]) throws(StorageError) {
        let temporaryPath = path + ".new"
        let file = try open(temporaryPath, .create)
        try file.truncate(to: 0)
        try fill(file, at: temporaryPath, with: bytes, for: path)
    }

    /// The same for a file that nobody but its owner may read, not even for a moment.
    package func replacePrivately(_ path: String, with bytes: [UInt8]) throws(StorageError) {
        let temporaryPath = path + ".new"
        // One that a crash left may be readable to others.
        try removeTree(temporaryPath)
        let file = try open(temporaryPath, .createPrivate)
        try fill(file, at: temporaryPath, with: bytes, for: path)
    }

    private func fill(
        _ file: any LogFile,
        at temporaryPath: String,
        with bytes: [UInt8],
        for path: String
    ) throws(StorageError) {
        try file.write(bytes.span, at: 0)
        // Before the rename, because a name must never lead to bytes that are not on disk.
        try file.sync()
        try rename(temporaryPath, to: path)
        try syncDirectory(StoragePath.parent(of: path))
    }

    /// Removes a file, or a directory with all that is in it; does nothing if it is not there.
    package func removeTree(_ path: String) throws(StorageError) {
        do throws(StorageError) {
            for name in try list(path) { try removeTree(path + "/" + name) }
        } catch {
            switch error {
            // A link whose target is gone, or is the link, is found by its name alone.
            case .notDirectory, .notFound, .notFile: break
            default: throw error
            }
        }
        do throws(StorageError) { try remove(path) } catch .notFound {
            // Somebody else removed it.
        }
    }

    /// All bytes of the file at `path`.
    ///
    /// - Throws: `StorageError.tooLarge` before any memory is taken for more than `sizeMax` bytes.
    package func contents(of path: String, sizeMax: Int) throws(StorageError) -> [UInt8] {
        try open(path, .read).contents(at: path, sizeMax: sizeMax)
    }

    /// Makes the directory at `path` and those above it, and makes them survive a power cut.
    ///
    /// The one at `ancestor` does so already, and all above it.
    package func makeDirectoryDurably(
        _ path: String,
        below ancestor: String = ""
    ) throws(StorageError) {
        precondition(path.hasPrefix(ancestor), "a directory lies below its ancestor")
        try makeDirectory(path)
        var child = path
        while child.utf8.count > ancestor.utf8.count {
            child = StoragePath.parent(of: child)
            try syncDirectory(child)
        }
    }
}

extension LogFile {
    /// All bytes of the file, which is the one at `path`.
    ///
    /// - Throws: `StorageError.tooLarge` before any memory is taken for more than `sizeMax` bytes.
    package func contents(at path: String, sizeMax: Int) throws(StorageError) -> [UInt8] {
        let size = try size()
        guard size <= sizeMax else { throw .tooLarge(path, size: size) }
        var bytes: [UInt8] = []
        try read(at: 0, count: size, into: &bytes)
        return bytes
    }
}
