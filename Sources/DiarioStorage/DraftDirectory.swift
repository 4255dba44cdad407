import DiarioCore
import Synchronization

/// A directory on which changes can be tried: it shows another one, and keeps what is changed in
/// memory, so that the other one stays as it is.
///
/// Locks exclude nobody. A file that is written to is read into memory as a whole.
package final class DraftDirectory: LogDirectory {
    private let base: any LogDirectory
    private let state = Mutex(State())

    /// What was changed, by path.
    private struct State: Sendable {
        var files: [String: DraftFile] = [:]
        var folders: Set<String> = []
        /// Names of the base that are not there any more.
        var removed: Set<String> = []
        var fileCount: UInt64 = 0
    }

    package init(over base: any LogDirectory) { self.base = base }

    package let isReadOnly = false
    package var machineID: [UInt8] { base.machineID }

    /// Whether the base still shows through at a path.
    private func isCovered(_ path: String, _ state: State) -> Bool {
        var path = path
        while !path.isEmpty {
            if state.removed.contains(path) { return true }
            path = StoragePath.parent(of: path)
        }
        return false
    }

    package func open(_ path: String, _ access: FileAccess) throws(StorageError) -> any LogFile {
        StoragePath.checkName(path)
        let (known, isHidden) = state.withLock { ($0.files[path], isCovered(path, $0)) }
        if let known {
            if access.isExclusive { throw .exists(path) }
            return known
        }
        var bytes: [UInt8]?
        var identity: FileIdentity?
        if !isHidden {
            do throws(StorageError) {
                let file = try base.open(path, .read)
                if access.isExclusive { throw StorageError.exists(path) }
                if access == .read { return ShownFile(file) }
                var content: [UInt8] = []
                try file.read(at: 0, count: try file.size(), into: &content)
                bytes = content
                identity = try file.identity
            } catch .notFound {
                bytes = nil
            }
        }
        if bytes == nil, access == .read || access == .readWrite { throw .notFound(path) }
        guard try exists(StoragePath.parent(of: path)) else { throw .notFound(path) }
        let content = bytes ?? []
        return state.withLock { state in
            state.fileCount += 1
            let new = FileIdentity(inode: UInt64.max - state.fileCount, birthNanoseconds: 0)
            let file = DraftFile(content, identity ?? new)
            state.files[path] = file
            return file
        }
    }

    package func exists(_ path: String) throws(StorageError) -> Bool {
        let (isKnown, isHidden) = state.withLock { state in
            (
                state.files[path] != nil || state.folders.contains(path),
                isCovered(path, state)
            )
        }
        if isKnown { return true }
        return isHidden ? false : try base.exists(path)
    }

    package func list(_ path: String) throws(StorageError) -> [String] {
        let state = state.withLock { $0 }
        let isNew = state.folders.contains(path)
        var names: Set<String> = []
        if state.files[path] != nil { throw .notDirectory(path) }
        if !isCovered(path, state) {
            do throws(StorageError) {
                names = Set(try base.list(path))
            } catch .notFound where isNew {
                names = []
            }
        } else if !isNew {
            throw .notFound(path)
        }
        let prefix = path.isEmpty ? "" : path + "/"
        names = names.filter { !state.removed.contains(prefix + $0) }
        for known in Array(state.files.keys) + state.folders
        where StoragePath.parent(of: known) == path && !known.isEmpty {
            names.insert(String(known.dropFirst(prefix.count)))
        }
        return StoragePath.sorted(names)
    }

    package func makeDirectory(_ path: String) throws(StorageError) {
        var path = path
        while !path.isEmpty, try !exists(path) {
            let new = path
            state.withLock { _ = $0.folders.insert(new) }
            path = StoragePath.parent(of: path)
        }
    }

    package func rename(_ old: String, to new: String) throws(StorageError) {
        StoragePath.checkRename(old, new)
        // Folders are renamed by whoever keeps packs; their files are moved one by one.
        if try isFolder(old) {
            try makeDirectory(new)
            for name in try list(old) { try move(old + "/" + name, to: new + "/" + name) }
            try remove(old)
        } else {
            try move(old, to: new)
        }
    }

    private func isFolder(_ path: String) throws(StorageError) -> Bool {
        do throws(StorageError) {
            _ = try list(path)
            return true
        } catch .notDirectory {
            return false
        }
    }

    private func move(_ old: String, to new: String) throws(StorageError) {
        if try isFolder(old) {
            try makeDirectory(new)
            for name in try list(old) { try move(old + "/" + name, to: new + "/" + name) }
            return try remove(old)
        }
        _ = try open(old, .readWrite)
        state.withLock { state in
            state.files[new] = state.files.removeValue(forKey: old)
            state.removed.insert(old)
        }
    }

    package func remove(_ path: String) throws(StorageError) {
        guard try exists(path) else { throw .notFound(path) }
        state.withLock { state in
            state.files[path] = nil
            state.folders.remove(path)
            state.removed.insert(path)
        }
    }

    package func syncDirectory(_ path: String) throws(StorageError) {}

    package func lock(_ path: String) throws(StorageError) -> any DirectoryLock { DraftLock() }
}

/// A file of a draft, in memory.
private final class DraftFile: LogFile {
    private let bytes: Mutex<[UInt8]>
    let identity: FileIdentity

    init(_ bytes: [UInt8], _ identity: FileIdentity) {
        self.bytes = Mutex(bytes)
        self.identity = identity
    }

    func size() throws(StorageError) -> Int { bytes.withLock { $0.count } }

    func read(at offset: Int, count: Int, into target: inout [UInt8]) throws(StorageError) {
        let part = bytes.withLock { bytes in
            Array(bytes[min(offset, bytes.count)..<min(offset + count, bytes.count)])
        }
        target += part
    }

    func write(_ new: Span<UInt8>, at offset: Int) throws(StorageError) {
        var copy: [UInt8] = []
        copy.reserveCapacity(new.count)
        for index in new.indices { copy.append(new[index]) }
        let part = copy
        bytes.withLock { bytes in
            let end = offset + part.count
            if bytes.count < end {
                bytes.append(repeating: 0, count: end - bytes.count)
            }
            bytes.replaceSubrange(offset..<end, with: part)
        }
    }

    func truncate(to size: Int) throws(StorageError) {
        bytes.withLock { bytes in
            if bytes.count > size {
                bytes.removeLast(bytes.count - size)
            } else {
                bytes.append(repeating: 0, count: size - bytes.count)
            }
        }
    }

    func sync() throws(StorageError) {}
}

/// A file of the directory that a draft shows, which only reads it.
private final class ShownFile: LogFile {
    private let file: any LogFile

    init(_ file: any LogFile) { self.file = file }

    var identity: FileIdentity { get throws(StorageError) { try file.identity } }

    func size() throws(StorageError) -> Int { try file.size() }

    func read(at offset: Int, count: Int, into bytes: inout [UInt8]) throws(StorageError) {
        try file.read(at: offset, count: count, into: &bytes)
    }

    func write(_ bytes: Span<UInt8>, at offset: Int) throws(StorageError) {
        preconditionFailure("a file opened for reading is not written to")
    }

    func truncate(to size: Int) throws(StorageError) {
        preconditionFailure("a file opened for reading is not cut")
    }

    func sync() throws(StorageError) {}
}

/// The lock of a draft, which nobody else sees.
private final class DraftLock: DirectoryLock {
    private let value = Mutex<UInt64>(0)

    func acquire(waitSeconds: Int, unless isOver: () -> Bool) throws(StorageError) {}
    func tryAcquire() throws(StorageError) -> Bool { true }
    func release() {}
    var wasLastHolder: Bool { true }
    var note: UInt64 { get throws(StorageError) { value.withLock { $0 } } }
    func setNote(_ new: UInt64) throws(StorageError) { value.withLock { $0 = new } }
}
