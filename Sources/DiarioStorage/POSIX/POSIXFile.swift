import CPlatform

/// A file of the operating system.
package final class POSIXFile: LogFile {
    private let descriptor: Int32
    private let path: String
    private let isWritable: Bool

    /// Opens the file at `path`, relative to the directory of descriptor `directory`.
    ///
    /// Errors name it as `shownPath`.
    init(
        directory: Int32,
        path: String,
        shownPath: String,
        access: FileAccess
    ) throws(StorageError) {
        self.path = shownPath
        isWritable = access != .read
        let result = unsafe diario_open(directory, path, access.code)
        guard result >= 0 else { throw StorageError(.open, shownPath, code: result) }
        descriptor = result
    }

    deinit { diario_close(descriptor) }

    package func size() throws(StorageError) -> Int64 {
        let result = diario_size(descriptor)
        guard result >= 0 else { throw StorageError(.stat, path, code: Int32(result)) }
        return result
    }

    package var identity: FileIdentity? {
        get throws(StorageError) {
            let status = try status()
            return FileIdentity(inode: status.inode, birthNanoseconds: status.birth_nanoseconds)
        }
    }

    package var modifiedNanoseconds: Int64? {
        get throws(StorageError) { try status().modified_nanoseconds }
    }

    private func status() throws(StorageError) -> diario_file_status {
        var status = diario_file_status()
        let result = unsafe diario_status(descriptor, &status)
        guard result >= 0 else { throw StorageError(.stat, path, code: result) }
        return status
    }

    package func checkName() throws(StorageError) {
        let result = diario_is_nameless(descriptor)
        guard result >= 0 else { throw StorageError(.stat, path, code: result) }
        guard result == 0 else { throw .removed(path) }
    }

    package func read(
        at offset: Int64,
        count: Int,
        into bytes: inout [UInt8]
    ) throws(StorageError) {
        precondition(offset >= 0 && count >= 0, "a file has no bytes before its first")
        var failure: Int64 = 0
        bytes.append(addingCapacity: count) { (output: inout OutputSpan<UInt8>) in
            // Safe: the system fills `space` from `done` on and says how far; so much is counted.
            unsafe output.withUnsafeMutableBufferPointer { (space, done) in
                while done < count {
                    let target = unsafe space.baseAddress?.advanced(by: done)
                    let result = unsafe diario_read(
                        descriptor,
                        target,
                        count - done,
                        offset + Int64(done)
                    )
                    failure = min(result, 0)
                    guard result > 0 else { return }
                    done += Int(result)
                }
            }
            if failure < 0 { output.removeAll() }
        }
        guard failure == 0 else { throw StorageError(.read, path, code: Int32(failure)) }
    }

    package func write(_ bytes: Span<UInt8>, at offset: Int64) throws(StorageError) {
        precondition(isWritable, "a file opened for reading is not written to")
        precondition(offset >= 0, "a file has no bytes before its first")
        // Safe: the pointer is used within the closure only, below the span's count.
        let failure = unsafe bytes.withUnsafeBufferPointer { source -> Int64 in
            var done = 0
            while done < source.count {
                let start = unsafe source.baseAddress?.advanced(by: done)
                let result = unsafe diario_write(
                    descriptor,
                    start,
                    source.count - done,
                    offset + Int64(done)
                )
                // A write of nothing would be tried for ever; no file system should answer so.
                guard result != 0 else { return Int64(diario_error_io) }
                guard result > 0 else { return result }
                done += Int(result)
            }
            return 0
        }
        guard failure == 0 else { throw StorageError(.write, path, code: Int32(failure)) }
    }

    package func truncate(to size: Int64) throws(StorageError) {
        precondition(isWritable, "a file opened for reading is not cut")
        precondition(size >= 0, "a file is never shorter than nothing")
        let result = diario_truncate(descriptor, size)
        guard result >= 0 else { throw StorageError(.truncate, path, code: result) }
    }

    package func sync() throws(StorageError) {
        let result = diario_sync(descriptor)
        guard result >= 0 else { throw StorageError(.sync, path, code: result) }
    }

    /// Shows the first 16 bytes in memory; nil if the system cannot do that here.
    func mapWords() -> MappedWords? {
        guard diario_reserve(descriptor, 16) >= 0 else { return nil }
        return MappedWords(descriptor: descriptor)
    }

    /// The first 16 bytes as they lie there; what is beyond the end is zero.
    func readWords() throws(StorageError) -> (UInt64, UInt64) {
        var words: (UInt64, UInt64) = (0, 0)
        // Safe: the system writes no more than the size of `words`.
        let result = unsafe withUnsafeMutableBytes(of: &words) { target in
            unsafe diario_read(descriptor, target.baseAddress, target.count, 0)
        }
        guard result >= 0 else { throw StorageError(.read, path, code: Int32(result)) }
        return words
    }

    /// Takes the file's `flock`; false if somebody has it.
    func tryLock() throws(StorageError) -> Bool {
        let result = diario_lock(descriptor)
        guard result < 0 else { return true }
        guard result == diario_error_would_block else {
            throw StorageError(.lock, path, code: result)
        }
        return false
    }

    /// Gives the file's `flock` back.
    func unlock() {
        let result = diario_unlock(descriptor)
        precondition(result >= 0, "unlocking an open file cannot fail")
    }
}

extension FileAccess {
    /// The number that `diario_open` takes.
    fileprivate var code: Int32 {
        switch self {
        case .read: Int32(DIARIO_OPEN_READ)
        case .readWrite: Int32(DIARIO_OPEN_READ_WRITE)
        case .create: Int32(DIARIO_OPEN_CREATE)
        case .createNew: Int32(DIARIO_OPEN_CREATE_NEW)
        case .createPrivate: Int32(DIARIO_OPEN_CREATE_PRIVATE)
        }
    }
}

extension StorageError {
    /// Names what the system's error number `code` (negative, as CPlatform gives it) stands for.
    init(_ operation: Operation, _ path: String, code: Int32) {
        self =
            switch code {
            case diario_error_not_found: .notFound(path)
            case diario_error_exists: .exists(path)
            case diario_error_space, diario_error_quota: .full(path)
            case diario_error_read_only: .readOnly(path)
            case diario_error_access, diario_error_permission: .denied(path)
            case diario_error_process_files, diario_error_system_files: .tooManyFiles
            case diario_error_not_directory: .notDirectory(path)
            case diario_error_is_directory, diario_error_link_loop: .notFile(path)
            case diario_error_name_too_long: .nameTooLong(path)
            default: .failed(operation, path, code: -code)
            }
    }
}
