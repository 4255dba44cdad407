import DiarioCore

// The operations of a `CrashDisk`, with the results of POSIX systems.
extension CrashState {
    // MARK: Directories

    /// The file at `path`, made if `access` says so.
    mutating func open(
        _ path: String,
        _ access: FileAccess,
        _ session: CrashSession,
        isLock: Bool = false
    ) throws(StorageError) -> UInt64 {
        try check(session)
        if access != .read { try checkWritable(path) }
        try faults.check(.open, path)
        let (folder, name) = try place(of: path)
        var node = folders[folder]?.nodes[name]
        if node != nil, access.isExclusive { throw .exists(path) }
        if node == nil {
            guard access == .create || access.isExclusive else { throw .notFound(path) }
            if !isLock { try checkSlots(1, path) }
            try perform(session) { (state, _) throws(StorageError) in
                let made = state.makeNode()
                if isLock { state.locks[made] = Lock() }
                state.files[made] = CrashFileImage(identity: Self.identity(of: made))
                state.folders[folder]?.put(made, named: name)
                node = made
            }
        }
        guard let node, files[node] != nil else {
            throw .notFile(path)
        }
        handleCounts[node, default: 0] += 1
        return node
    }

    /// Throws if there are no handles for `count` more files.
    func checkSlots(_ count: Int, _ path: String) throws(StorageError) {
        guard let slotCount = faults.slotCount else { return }
        let used = files.keys.reduce(0) { $0 + (locks[$1] == nil ? 1 : 0) }
        guard used + count <= slotCount else { throw .noSlots(path) }
    }

    mutating func close(_ node: UInt64, _ session: CrashSession) {
        guard isSinceCrash(session), let count = handleCounts[node] else { return }
        handleCounts[node] = count > 1 ? count - 1 : nil
    }

    mutating func makeDirectory(_ path: String, _ session: CrashSession) throws(StorageError) {
        try check(session)
        try checkWritable(path)
        var folder = Self.root
        for name in StoragePath.names(in: path).map(String.init) {
            if let node = folders[folder]?.nodes[name] {
                guard folders[node] != nil else { throw .notDirectory(path) }
                folder = node
                continue
            }
            let parent = folder
            try perform(session) { (state, _) throws(StorageError) in
                folder = state.makeNode()
                state.folders[folder] = CrashFolderImage()
                state.folders[parent]?.put(folder, named: name)
            }
        }
    }

    mutating func rename(
        _ old: String,
        to new: String,
        _ session: CrashSession
    ) throws(StorageError) {
        StoragePath.checkRename(old, new)
        try check(session)
        try checkWritable(new)
        let (folder, oldName) = try place(of: old)
        let newName = try place(of: new).name
        guard let node = folders[folder]?.nodes[oldName] else { throw .notFound(old) }
        if let replaced = folders[folder]?.nodes[newName], replaced != node {
            let isReplaceable = files[node] != nil && files[replaced] != nil
            guard isReplaceable else { throw .exists(new) }
        }
        try perform(session) { (state, _) throws(StorageError) in
            try state.faults.check(.rename, new)
            state.folders[folder]?.rename(oldName, to: newName)
        }
    }

    mutating func remove(_ path: String, _ session: CrashSession) throws(StorageError) {
        try check(session)
        try checkWritable(path)
        let (folder, name) = try place(of: path)
        guard let node = folders[folder]?.nodes[name] else { throw .notFound(path) }
        if let removed = folders[node], !removed.nodes.isEmpty {
            // ENOTEMPTY of Linux.
            throw .failed(.remove, path, code: 39)
        }
        try perform(session) { (state, _) throws(StorageError) in
            try state.faults.check(.remove, path)
            state.folders[folder]?.remove(name)
        }
    }

    mutating func syncDirectory(_ path: String, _ session: CrashSession) throws(StorageError) {
        try check(session)
        let folder = try folder(at: path)
        try perform(session) { (state, isTorn) throws(StorageError) in
            state.faults.counters.directorySyncs += 1
            // Half a sync is what a power cut without one may leave as well.
            if isTorn { return }
            try state.faults.check(.syncDirectory, path)
            state.folders[folder]?.sync()
            state.removeUnreachable()
        }
    }

    private func checkWritable(_ path: String) throws(StorageError) {
        guard !isReadOnly else { throw .readOnly(path) }
    }

    // MARK: Files

    func image(of node: UInt64, _ session: CrashSession) throws(StorageError) -> CrashFileImage {
        try check(session)
        guard let file = files[node] else {
            preconditionFailure("a file stays as long as a handle leads to it")
        }
        return file
    }

    mutating func write(
        _ bytes: [UInt8],
        to node: UInt64,
        at offset: Int,
        path: String,
        _ session: CrashSession
    ) throws(StorageError) {
        try perform(session) { (state, isTorn) throws(StorageError) in
            state.faults.counters.writes += 1
            let fails = state.faults.nextWriteFails()
            let fitting = state.fittingCount(bytes.count, at: offset, of: node)
            var count = min(bytes.count, fitting)
            if fails || isTorn { count = min(count, bytes.count / 2) }
            state.files[node]?.write(Array(bytes.prefix(count)), at: offset)
            state.faults.counters.bytesWritten += count
            guard !fails else { throw .failed(.write, path, code: CrashFaults.code) }
            guard fitting >= bytes.count else { throw .full(path) }
        }
    }

    mutating func truncate(
        _ node: UInt64,
        to size: Int,
        path: String,
        _ session: CrashSession
    ) throws(StorageError) {
        try perform(session) { (state, _) throws(StorageError) in
            let oldSize = state.files[node]?.bytes.count ?? 0
            let growth = max(size - oldSize, 0)
            guard state.fittingCount(growth, at: oldSize, of: node) == growth else {
                throw .full(path)
            }
            state.files[node]?.truncate(to: size)
        }
    }

    mutating func sync(
        _ node: UInt64,
        path: String,
        _ session: CrashSession
    ) throws(StorageError) {
        try perform(session) { (state, isTorn) throws(StorageError) in
            state.faults.counters.syncs += 1
            // Half a sync is what a power cut without one may leave as well.
            if isTorn { return }
            guard !state.faults.nextSyncFails() else {
                // Every handle throws that did not know of it yet, and this is one of them.
                state.files[node]?.abandonChanges()
                return
            }
            state.files[node]?.sync()
        }
    }

    /// The number of `count` bytes at `offset` of a file for which the disk has room.
    private func fittingCount(_ count: Int, at offset: Int, of node: UInt64) -> Int {
        guard let capacity = faults.capacity else { return count }
        let size = files[node]?.bytes.count ?? 0
        let used = files.values.reduce(0) { $0 + $1.bytes.count }
        return min(count, max(size + capacity - used - offset, min(count, size - offset), 0))
    }
}
