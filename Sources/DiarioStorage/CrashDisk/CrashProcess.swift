/// The directory of a `CrashDisk` as one process sees it, for as long as that lives.
final class CrashProcess: LogDirectory {
    private let disk: CrashDisk
    private let session: CrashSession

    init(disk: CrashDisk, session: CrashSession) {
        self.disk = disk
        self.session = session
    }

    var isReadOnly: Bool { disk.isReadOnly }
    var machineID: [UInt8] { disk.machineID }
    var hasFewFiles: Bool { disk.hasFewFiles }

    func open(_ path: String, _ access: FileAccess) throws(StorageError) -> any LogFile {
        let node = try disk.withState { state throws(StorageError) in
            try state.open(path, access, session)
        }
        return CrashFile(
            disk: disk,
            session: session,
            node: node,
            path: path,
            isWritable: access != .read
        )
    }

    func exists(_ path: String) throws(StorageError) -> Bool {
        try disk.withState { state throws(StorageError) in
            try state.check(session)
            do throws(StorageError) {
                _ = try state.node(at: path)
                return true
            } catch .notFound {
                return false
            }
        }
    }

    func list(_ path: String) throws(StorageError) -> [String] {
        try disk.withState { state throws(StorageError) in
            try state.check(session)
            let folder = try state.folder(at: path)
            return StoragePath.sorted((state.folders[folder]?.nodes ?? [:]).keys)
        }
    }

    func makeDirectory(_ path: String) throws(StorageError) {
        try disk.withState { state throws(StorageError) in
            try state.makeDirectory(path, session)
        }
    }

    func rename(_ old: String, to new: String) throws(StorageError) {
        try disk.withState { state throws(StorageError) in
            try state.rename(old, to: new, session)
        }
    }

    func remove(_ path: String) throws(StorageError) {
        try disk.withState { state throws(StorageError) in
            try state.remove(path, session)
        }
    }

    func syncDirectory(_ path: String) throws(StorageError) {
        try disk.withState { state throws(StorageError) in
            try state.syncDirectory(path, session)
        }
    }

    func prepare(files count: Int) throws(StorageError) {
        try disk.withState { state throws(StorageError) in
            try state.check(session)
            try state.checkSlots(count, "a file")
        }
    }

    func lock(_ path: String) throws(StorageError) -> any DirectoryLock {
        let (node, holder) = try disk.withState { state throws(StorageError) in
            let node = try state.open(path, .create, session, isLock: true)
            return (node, state.makeHolder(session))
        }
        return CrashLock(disk: disk, holder: holder, node: node, path: path)
    }
}
