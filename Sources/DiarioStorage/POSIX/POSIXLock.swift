import CPlatform
import Synchronization

/// A lock by `flock` on a file's open description, which ends with the process at the latest.
///
/// Acquiring costs a `flock` and a look at the 16 bytes, which mostly lie in memory: every commit
/// does it. The owner's number is written only when the last holder was another process.
package final class POSIXLock: DirectoryLock {
    private enum State {
        case free
        case held(LockRecord, wasLast: Bool)
    }

    private let file: POSIXFile
    /// What the file says; nil if it has to be read.
    private let words: MappedWords?
    private let path: String
    /// Tells this lock from others of this process.
    private let token = UInt32(truncatingIfNeeded: SystemEntropy().next())
    private let process = diario_process_id()
    private let state = Mutex(State.free)

    init(file: POSIXFile, path: String) {
        self.file = file
        words = file.mapWords()
        self.path = path
    }

    package func acquire(waitSeconds: Int) throws(StorageError) {
        guard try !tryAcquire() else { return }
        let end = diario_monotonic_nanoseconds() + Int64(waitSeconds) * 1_000_000_000
        // A commit takes some 100 microseconds, so the first looks are close together; later ones
        // are apart by 5 ms at most, which costs next to nothing and delays nobody for long.
        var pause: Int64 = 50_000
        repeat {
            let left = end - diario_monotonic_nanoseconds()
            guard left > 0 else { throw .locked(path, owner: try readOwner()) }
            diario_sleep(min(pause, left))
            pause = min(2 * pause, 5_000_000)
        } while try !tryAcquire()
    }

    private func tryAcquire() throws(StorageError) -> Bool {
        try state.withLock { (state: inout State) throws(StorageError) -> Bool in
            guard case .free = state else {
                preconditionFailure("a lock that is held is not acquired again")
            }
            guard try file.tryLock() else { return false }
            do throws(StorageError) {
                state = try takeOver()
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

    package var wasLastHolder: Bool {
        state.withLock { state in
            guard case .held(_, let wasLast) = state else {
                preconditionFailure("who held the lock is asked while it is held")
            }
            return wasLast
        }
    }

    package var isOurs: Bool {
        guard let record = try? readRecord() else { return false }
        return record.owner == process && record.token == token
    }

    package var note: UInt64 {
        get throws(StorageError) {
            state.withLock { state in
                guard case .held(let record, _) = state else {
                    preconditionFailure("the note is read while the lock is held")
                }
                return record.note
            }
        }
    }

    package func setNote(_ value: UInt64) throws(StorageError) {
        try state.withLock { (state: inout State) throws(StorageError) in
            guard case .held(var record, let wasLast) = state else {
                preconditionFailure("the note is set while the lock is held")
            }
            record.note = value
            try file.write(record.noteBytes.span, at: Int64(LockRecord.noteOffset))
            state = .held(record, wasLast: wasLast)
        }
    }

    /// Reads what the last holder left and writes down this process as the owner.
    private func takeOver() throws(StorageError) -> State {
        var record = try readRecord()
        if record.owner == process, record.token == token { return .held(record, wasLast: true) }
        record.owner = process
        record.token = token
        // Must not fail in silence: the last holder would think that nobody wrote since.
        try file.write(record.ownerBytes.span, at: 0)
        return .held(record, wasLast: false)
    }

    private func readRecord() throws(StorageError) -> LockRecord {
        if let words { return LockRecord(words: words.value) }
        return LockRecord(words: try file.readWords())
    }

    private func readOwner() throws(StorageError) -> Int32? {
        let owner = try readRecord().owner
        return owner == 0 ? nil : owner
    }
}
