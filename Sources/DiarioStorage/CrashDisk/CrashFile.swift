import DiarioCore
import Synchronization

/// An open file of a `CrashDisk`.
final class CrashFile: LogFile {
    private let disk: CrashDisk
    private let session: CrashSession
    private let node: UInt64
    private let path: String
    private let isWritable: Bool
    /// Of how many failed syncs this handle knows.
    private let failedSyncCount: Mutex<Int>

    init(disk: CrashDisk, session: CrashSession, node: UInt64, path: String, isWritable: Bool) {
        failedSyncCount = Mutex(disk.withState { $0.files[node]?.failedSyncCount ?? 0 })
        self.disk = disk
        self.session = session
        self.node = node
        self.path = path
        self.isWritable = isWritable
    }

    deinit {
        disk.withState { $0.close(node, session) }
    }

    func size() throws(StorageError) -> Int64 {
        try disk.withState { state throws(StorageError) in
            Int64(try state.image(of: node, session).bytes.count)
        }
    }

    var identity: FileIdentity? {
        get throws(StorageError) {
            try disk.withState { state throws(StorageError) in
                try state.image(of: node, session).identity
            }
        }
    }

    var modifiedNanoseconds: Int64? {
        get throws(StorageError) {
            try disk.withState { state throws(StorageError) in
                try state.image(of: node, session).changeCount
            }
        }
    }

    /// Nobody but the log's own processes gets at its names here.
    func checkName() throws(StorageError) {}

    func read(at offset: Int64, count: Int, into bytes: inout [UInt8]) throws(StorageError) {
        precondition(offset >= 0 && count >= 0, "a file has no bytes before its first")
        let found = try disk.withState { state throws(StorageError) in
            let image = try state.image(of: node, session)
            let start = Int(min(offset, Int64(image.bytes.count)))
            let end = min(count, image.bytes.count - start) + start
            state.faults.counters.reads += 1
            guard !state.faults.nextReadFails() else {
                throw .failed(.read, path, code: CrashFaults.code)
            }
            try state.faults.check(.read, path)
            state.faults.counters.bytesRead += end - start
            return image.bytes[start..<end]
        }
        bytes += found
    }

    func write(_ bytes: Span<UInt8>, at offset: Int64) throws(StorageError) {
        precondition(isWritable, "a file opened for reading is not written to")
        precondition(offset >= 0, "a file has no bytes before its first")
        // Safe: the pointer is used within the closure only.
        let copy = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
        try disk.withState { state throws(StorageError) in
            try state.write(copy, to: node, at: Int(offset), path: path, session)
        }
    }

    func truncate(to size: Int64) throws(StorageError) {
        precondition(isWritable, "a file opened for reading is not cut")
        precondition(size >= 0, "a file is never shorter than nothing")
        try disk.withState { state throws(StorageError) in
            try state.truncate(node, to: Int(size), path: path, session)
        }
    }

    func sync() throws(StorageError) {
        let known = failedSyncCount.withLock { $0 }
        let count = try disk.withState { state throws(StorageError) in
            try state.sync(node, path: path, session)
            return state.files[node]?.failedSyncCount ?? 0
        }
        guard count > known else { return }
        failedSyncCount.withLock { $0 = count }
        throw .failed(.sync, path, code: CrashFaults.code)
    }
}
