import DiarioCore

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
    /// True if there is room for some hundred files only: what may be one file is one.
    var hasFewFiles: Bool { get }

    func open(_ path: String, _ access: FileAccess) throws(StorageError) -> any LogFile
    func exists(_ path: String) throws(StorageError) -> Bool
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
    ///
    /// For "" also the name of the data directory itself, as far as that can be done.
    func syncDirectory(_ path: String) throws(StorageError)
    /// Throws `.noSlots` if there is no room to make `count` more files, so that work that needs
    /// them does not begin; a hint, which does nothing where files are bounded by the system alone.
    func prepare(files count: Int) throws(StorageError)
    /// The lock of that name, not held yet.
    ///
    /// Its folder is there. It may be kept in a file of that name, or apart from all files, so
    /// nobody opens, lists or renames it by its name.
    func lock(_ path: String) throws(StorageError) -> any DirectoryLock
}

/// What takes several operations of a directory or a file.
///
/// No extension of the protocols: linked for wasm32, a call of one has another signature than it.
package enum Files {
    /// Replaces the file at `path`, durably: after a crash it holds its old bytes or `bytes`.
    ///
    /// The caller holds the directory's lock, since the temporary file has a fixed name
    /// (`path` and ".new").
    package static func replace(
        _ path: String,
        with bytes: [UInt8],
        in directory: any LogDirectory
    ) throws(StorageError) {
        let file = try directory.open(path + ".new", .create)
        try file.truncate(to: 0)
        try fill(file, with: bytes, for: path, in: directory)
    }

    /// The same for a file that nobody but its owner may read, not even for a moment.
    package static func replacePrivately(
        _ path: String,
        with bytes: [UInt8],
        in directory: any LogDirectory
    ) throws(StorageError) {
        // One that a crash left may be readable to others.
        try removeTree(path + ".new", in: directory)
        let file = try directory.open(path + ".new", .createPrivate)
        try fill(file, with: bytes, for: path, in: directory)
    }

    private static func fill(
        _ file: any LogFile,
        with bytes: [UInt8],
        for path: String,
        in directory: any LogDirectory
    ) throws(StorageError) {
        try file.write(bytes.span, at: 0)
        // Before the rename, because a name must never lead to bytes that are not on disk.
        try file.sync()
        try directory.rename(path + ".new", to: path)
        try directory.syncDirectory(StoragePath.parent(of: path))
    }

    /// Removes a file, or a directory with all that is in it; does nothing if it is not there.
    package static func removeTree(
        _ path: String,
        in directory: any LogDirectory
    ) throws(StorageError) {
        do throws(StorageError) {
            for name in try directory.list(path) {
                try removeTree(path + "/" + name, in: directory)
            }
        } catch {
            switch error {
            // A link whose target is gone, or is the link, is found by its name alone.
            case .notDirectory, .notFound, .notFile: break
            default: throw error
            }
        }
        do throws(StorageError) { try directory.remove(path) } catch .notFound {
            // Somebody else removed it.
        }
    }

    /// All bytes of the file at `path`.
    ///
    /// - Throws: `StorageError.tooLarge` before any memory is taken for more than `sizeMax` bytes.
    package static func contents(
        of path: String,
        in directory: any LogDirectory,
        sizeMax: Int
    ) throws(StorageError) -> [UInt8] {
        try contents(of: try directory.open(path, .read), at: path, sizeMax: sizeMax)
    }

    /// The same for a file that is open, and is the one at `path`.
    package static func contents(
        of file: any LogFile,
        at path: String,
        sizeMax: Int
    ) throws(StorageError) -> [UInt8] {
        let size = try file.size()
        guard size <= sizeMax else { throw .tooLarge(path, size: size) }
        var bytes: [UInt8] = []
        try file.read(at: 0, count: Int(size), into: &bytes)
        return bytes
    }

    /// Makes the directory at `path` and those above it, and makes them survive a power cut.
    ///
    /// The one at `ancestor` does so already, and all above it.
    package static func makeDirectoryDurably(
        _ path: String,
        below ancestor: String = "",
        in directory: any LogDirectory
    ) throws(StorageError) {
        precondition(path.hasPrefix(ancestor), "a directory lies below its ancestor")
        try directory.makeDirectory(path)
        var child = path
        while child.utf8.count > ancestor.utf8.count {
            child = StoragePath.parent(of: child)
            try directory.syncDirectory(child)
        }
    }

    /// The lock of that name, once nobody else has it.
    package static func acquire(
        _ path: String,
        in directory: any LogDirectory
    ) throws(StorageError) -> any DirectoryLock {
        let lock = try directory.lock(path)
        try lock.acquire(waitSeconds: Limits.lockWaitSecondsMax)
        return lock
    }

    /// Takes the lock if nobody has it; false if somebody has.
    package static func tryAcquire(_ lock: any DirectoryLock) throws(StorageError) -> Bool {
        do throws(StorageError) {
            try lock.acquire(waitSeconds: 0)
            return true
        } catch .locked {
            return false
        }
    }
}
