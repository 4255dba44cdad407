import CPlatform

/// A directory of the operating system, held by a descriptor: moving it elsewhere does no harm.
///
/// Its own path may lead through links. Inside it none is followed, and only regular files are
/// opened, since whoever made the directory could lead each write to a file elsewhere.
/// New files and directories get the permissions that the process's umask leaves.
package final class POSIXDirectory: LogDirectory {
    /// How a data directory is opened.
    package enum Access: Sendable {
        /// Nothing in it may be changed through this object.
        case read
        /// It must be there. Where it cannot be written, it is read-only.
        case readWrite
        /// As `readWrite`, but it is made, with those above it, if it is not there.
        case create
    }

    package let isReadOnly: Bool
    package let machineID: [UInt8]
    package let hasFewFiles = false
    private let descriptor: Int32
    /// Where it was when it was opened.
    package let rootPath: String

    package init(path: String, access: Access) throws(StorageError) {
        var result = unsafe diario_open_directory(diario_current_directory, path)
        if result == diario_error_not_found, access == .create {
            try Self.makeRoot(path)
            result = unsafe diario_open_directory(diario_current_directory, path)
        }
        guard result != diario_error_link_loop else { throw .notDirectory(path) }
        guard result >= 0 else { throw StorageError(.open, path, code: result) }
        descriptor = result
        rootPath = path
        isReadOnly = access == .read || diario_writable(result) < 0
        machineID = Self.readMachineID()
    }

    deinit { diario_close(descriptor) }

    package func open(_ path: String, _ access: FileAccess) throws(StorageError) -> any LogFile {
        try file(path, access)
    }

    package func exists(_ path: String) throws(StorageError) -> Bool {
        StoragePath.check(path)
        let result = unsafe diario_exists(descriptor, systemPath(path))
        guard result != diario_error_not_found else { return false }
        guard result >= 0 else { throw StorageError(.stat, shown(path), code: result) }
        return true
    }

    /// What tells the file at `path` from others, without opening it.
    package func identity(of path: String) throws(StorageError) -> FileIdentity {
        let status = try status(of: path)
        return FileIdentity(inode: status.inode, birthNanoseconds: status.birth_nanoseconds)
    }

    /// The length of the file at `path`, without opening it: whoever closes a file of SQLite gives
    /// up the locks that this process has on it.
    package func size(of path: String) throws(StorageError) -> Int64 {
        try status(of: path).size
    }

    private func status(of path: String) throws(StorageError) -> diario_file_status {
        StoragePath.checkName(path)
        var status = diario_file_status()
        let result = unsafe diario_status_at(descriptor, path, &status)
        guard result >= 0 else { throw StorageError(.stat, shown(path), code: result) }
        return status
    }

    package func list(_ path: String) throws(StorageError) -> [String] {
        StoragePath.check(path)
        var listing: OpaquePointer?
        let result = unsafe diario_list_open(descriptor, systemPath(path), &listing)
        guard result >= 0 else { throw StorageError(.list, shown(path), code: result) }
        defer { unsafe diario_list_close(listing) }
        var names: [String] = []
        var name = [UInt8](repeating: 0, count: 256)
        while true {
            let length = unsafe diario_list_next(listing, &name, name.count)
            guard length >= 0 else { throw StorageError(.list, shown(path), code: length) }
            guard length > 0 else { return StoragePath.sorted(names) }
            names.append(String(decoding: name[..<Int(length)], as: UTF8.self))
        }
    }

    package func makeDirectory(_ path: String) throws(StorageError) {
        try checkWritable(path)
        var prefix = ""
        for name in StoragePath.names(in: path) {
            prefix += prefix.isEmpty ? String(name) : "/\(name)"
            let result = unsafe diario_make_directory(descriptor, prefix)
            guard result < 0, result != diario_error_exists else { continue }
            throw StorageError(.makeDirectory, shown(prefix), code: result)
        }
        // What was there already may have been a file.
        diario_close(try openDirectory(path, for: .makeDirectory))
    }

    package func rename(_ old: String, to new: String) throws(StorageError) {
        StoragePath.checkRename(old, new)
        try checkWritable(new)
        let result = unsafe diario_rename(descriptor, old, new)
        guard result >= 0 else { throw StorageError(.rename, shown(old), code: result) }
    }

    package func remove(_ path: String) throws(StorageError) {
        StoragePath.checkName(path)
        try checkWritable(path)
        let result = unsafe diario_remove(descriptor, path)
        guard result >= 0 else { throw StorageError(.remove, shown(path), code: result) }
    }

    /// Gives each of two files or directories the name of the other, at once.
    ///
    /// - Throws: `StorageError.failed` where the file system cannot do that.
    package func exchange(_ first: String, with second: String) throws(StorageError) {
        StoragePath.checkRename(first, second)
        try checkWritable(first)
        let result = unsafe diario_exchange(descriptor, first, second)
        guard result >= 0 else { throw StorageError(.rename, shown(first), code: result) }
    }

    /// Gives the file at `path` a second name; false where the file system cannot do that.
    package func addName(_ name: String, to path: String) throws(StorageError) -> Bool {
        StoragePath.checkName(path)
        StoragePath.checkName(name)
        try checkWritable(name)
        return unsafe diario_add_name(descriptor, path, name) >= 0
    }

    /// Lets the symbolic link at `path` hold `target`, whatever it held before.
    package func setLink(_ path: String, to target: String) throws(StorageError) {
        StoragePath.checkName(path)
        try checkWritable(path)
        let temporary = path + ".new"
        let old = unsafe diario_remove(descriptor, temporary)
        guard old >= 0 || old == diario_error_not_found else {
            throw StorageError(.remove, shown(temporary), code: old)
        }
        let result = unsafe diario_make_link(descriptor, target, temporary)
        guard result >= 0 else { throw StorageError(.open, shown(temporary), code: result) }
        try rename(temporary, to: path)
    }

    /// What the symbolic link at `path` holds; nil if there is none.
    package func link(_ path: String) -> String? {
        StoragePath.checkName(path)
        var target = [UInt8](repeating: 0, count: 1024)
        let count = unsafe diario_read_link(descriptor, path, &target, target.count)
        guard 0..<Int32(target.count) ~= count else { return nil }
        return String(decoding: target[..<Int(count)], as: UTF8.self)
    }

    /// Where something in this directory is, for libraries that open files by themselves.
    package func fullPath(_ path: String) -> String { shown(path) }

    package func syncDirectory(_ path: String) throws(StorageError) {
        StoragePath.check(path)
        let directory = try openDirectory(path, for: .syncDirectory)
        defer { diario_close(directory) }
        let result = diario_sync_directory(directory)
        guard result >= 0 else { throw StorageError(.syncDirectory, shown(path), code: result) }
        if path.isEmpty { try syncName() }
    }

    private func syncName() throws(StorageError) {
        let above = unsafe diario_open_directory(descriptor, "..")
        // Whoever may not look into the folder above cannot sync it.
        guard above != diario_error_access else { return }
        let result = above < 0 ? above : diario_sync_directory(above)
        if above >= 0 { diario_close(above) }
        guard result >= 0 else { throw StorageError(.syncDirectory, rootPath, code: result) }
    }

    package func prepare(files count: Int) throws(StorageError) {}

    package func lock(_ path: String) throws(StorageError) -> any DirectoryLock {
        POSIXLock(file: try file(path, .create), path: shown(path))
    }

    private func file(_ path: String, _ access: FileAccess) throws(StorageError) -> POSIXFile {
        StoragePath.checkName(path)
        if access != .read { try checkWritable(path) }
        return try POSIXFile(
            directory: descriptor,
            path: path,
            shownPath: shown(path),
            access: access
        )
    }

    private func checkWritable(_ path: String) throws(StorageError) {
        guard !isReadOnly else { throw .readOnly(shown(path)) }
    }

    /// A descriptor for the directory at `path`, which the caller closes.
    private func openDirectory(
        _ path: String,
        for operation: StorageError.Operation
    ) throws(StorageError) -> Int32 {
        let result = unsafe diario_open_directory(descriptor, systemPath(path))
        guard result >= 0 else { throw StorageError(operation, shown(path), code: result) }
        return result
    }

    /// The path as the system wants it, relative to the descriptor.
    private func systemPath(_ path: String) -> String { path.isEmpty ? "." : path }

    /// The path as people know it, for errors.
    private func shown(_ path: String) -> String {
        guard !path.isEmpty, rootPath != "." else { return path.isEmpty ? rootPath : path }
        return rootPath.hasSuffix("/") ? rootPath + path : "\(rootPath)/\(path)"
    }
}

// MARK: - Opening

extension POSIXDirectory {
    /// Makes the directory at `path` and those above it, durably.
    ///
    /// Unlike paths inside, this one may be absolute and may hold `.` and `..`.
    private static func makeRoot(_ path: String) throws(StorageError) {
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { slash in
            slash == path.startIndex ? "/" : String(path[..<slash])
        }
        if path.hasSuffix("/"), let parent, parent != "/" { return try makeRoot(parent) }
        var result = unsafe diario_make_directory(diario_current_directory, path)
        if result == diario_error_not_found, let parent, parent != "/" {
            try makeRoot(parent)
            result = unsafe diario_make_directory(diario_current_directory, path)
        }
        guard result >= 0 || result == diario_error_exists else {
            throw StorageError(.makeDirectory, path, code: result)
        }
        let above = unsafe diario_open_directory(diario_current_directory, parent ?? ".")
        guard above >= 0 else { throw StorageError(.open, path, code: above) }
        defer { diario_close(above) }
        let synced = diario_sync_directory(above)
        guard synced >= 0 else { throw StorageError(.syncDirectory, path, code: synced) }
    }

    /// The machine's id where systemd or D-Bus gave it one, else its host name.
    private static func readMachineID() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 256)
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            let descriptor = unsafe diario_open(
                diario_current_directory,
                path,
                Int32(DIARIO_OPEN_READ)
            )
            guard descriptor >= 0 else { continue }
            defer { diario_close(descriptor) }
            let length = unsafe diario_read(descriptor, &bytes, bytes.count, 0)
            let id = bytes[..<Int(max(length, 0))].prefix { $0 > UInt8(ascii: " ") }
            if !id.isEmpty { return Array(id) }
        }
        let length = unsafe diario_host_name(&bytes, bytes.count)
        return Array(bytes[..<length])
    }
}
