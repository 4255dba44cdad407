import CPlatform
import Synchronization

/// A lock by `flock` on a file's open description, which ends with the process at the latest.
///
/// Acquiring costs a `flock` and a read of the 16 bytes; the owner's number is written only when
/// the last holder was another process.
package final class POSIXLock: DirectoryLock {
    private enum State {
        case free
        case held(LockRecord)
    }

    private let file: POSIXFile
    private let path: String
    private let state = Mutex(State.free)

    init(file: POSIXFile, path: String) {
        self.file = file
        self.path = path
    }

    package func acquire(waitSeconds: Int) throws(StorageError) {
        let end = diario_monotonic_nanoseconds() + Int64(waitSeconds) * 1_000_000_000
        // A commit takes some 100 microseconds, so the first looks are close together; later ones
        // are apart by 5 ms at most, which costs next to nothing and delays nobody for long.
        var pause: Int64 = 50_000
        while try !tryAcquire() {
            let left = end - diario_monotonic_nanoseconds()
            guard left > 0 else { throw .locked(path, owner: try readOwner()) }
            diario_sleep(min(pause, left))
            pause = min(2 * pause, 5_000_000)
        }
    }

    package func tryAcquire() throws(StorageError) -> Bool {
        try state.withLock { (state: inout State) throws(StorageError) -> Bool in
            guard case .free = state else {
                preconditionFailure("a lock that is held is not acquired again")
            }
            guard try file.tryLock() else { return false }
            do throws(StorageError) {
                state = .held(try takeOver())
            } catch {
                file.unlock()
                throw error
            }
            return true
        }
    }

    package func release() {
        state.withLock { state in
            guard case .held = state else {
                preconditionFailure("only a lock that is held is released")
            }
            state = .free
            file.unlock()
        }
    }

    package var note: UInt64 {
        get throws(StorageError) {
            state.withLock { state in
                guard case .held(let record) = state else {
                    preconditionFailure("the note is read while the lock is held")
                }
                return record.note
            }
        }
    }

    package func setNote(_ value: UInt64) throws(StorageError) {
        try state.withLock { (state: inout State) throws(StorageError) in
            guard case .held(var record) = state else {
                preconditionFailure("the note is set while the lock is held")
            }
            record.note = value
            try file.write(record.noteBytes.span, at: LockRecord.noteOffset)
            state = .held(record)
        }
    }

    /// Reads what the last holder left and writes down this process as the owner.
    private func takeOver() throws(StorageError) -> LockRecord {
        var record = try readRecord()
        let process = diario_process_id()
        guard record.owner != process else { return record }
        record.owner = process
        do throws(StorageError) {
            try file.write(record.ownerBytes.span, at: 0)
        } catch .full {
            // The owner is only named to people; a full disk must not keep anyone from the lock.
        }
        return record
    }

    private func readRecord() throws(StorageError) -> LockRecord {
        LockRecord(words: try file.readWords())
    }

    private func readOwner() throws(StorageError) -> Int32? {
        let owner = try readRecord().owner
        return owner == 0 ? nil : owner
    }
}
