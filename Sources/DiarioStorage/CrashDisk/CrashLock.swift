/// A lock of a `CrashDisk`; it never waits, since in a simulation nobody would release it then.
final class CrashLock: DirectoryLock {
    private let disk: CrashDisk
    private let holder: CrashState.Holder
    private let node: UInt64
    private let path: String

    init(disk: CrashDisk, holder: CrashState.Holder, node: UInt64, path: String) {
        self.disk = disk
        self.holder = holder
        self.node = node
        self.path = path
    }

    deinit {
        disk.withState { state in
            if state.locks[node]?.holder == holder { state.locks[node]?.holder = nil }
            state.close(node, holder.session)
        }
    }

    func acquire(waitSeconds: Int) throws(StorageError) {
        try disk.withState { state throws(StorageError) in
            guard try state.lock(node, for: holder) else {
                throw .locked(path, owner: state.locks[node]?.holder?.session.process)
            }
        }
    }

    func release() {
        disk.withState { state in
            // The dead hold nothing, and their clearing up does no harm.
            guard state.isAlive(holder.session) else { return }
            precondition(
                state.locks[node]?.holder == holder,
                "only a lock that is held is released"
            )
            state.locks[node]?.holder = nil
        }
    }

    /// So that whoever reads looks again each time.
    let isOurs = false

    var wasLastHolder: Bool {
        disk.withState { state in state.locks[node]?.previous == holder }
    }

    var note: UInt64 {
        get throws(StorageError) {
            try disk.withState { state throws(StorageError) in
                try state.check(holder.session)
                guard let lock = state.locks[node], lock.holder == holder else {
                    preconditionFailure("the note is read while the lock is held")
                }
                return lock.notes.last ?? 0
            }
        }
    }

    func setNote(_ value: UInt64) throws(StorageError) {
        try disk.withState { state throws(StorageError) in
            try state.perform(holder.session) { (state, _) throws(StorageError) in
                state.setNote(value, of: node, by: holder)
            }
        }
    }
}

extension CrashState {
    /// Takes the lock in file `node`; false if somebody has it.
    fileprivate mutating func lock(
        _ node: UInt64,
        for holder: Holder
    ) throws(StorageError) -> Bool {
        try check(holder.session)
        var lock = locks[node] ?? Lock()
        precondition(lock.holder != holder, "a lock that is held is not acquired again")
        guard lock.holder == nil else { return false }
        lock.previous = lock.last
        lock.last = holder
        lock.holder = holder
        locks[node] = lock
        return true
    }

    fileprivate mutating func setNote(_ value: UInt64, of node: UInt64, by holder: Holder) {
        guard var lock = locks[node], lock.holder == holder else {
            preconditionFailure("the note is set while the lock is held")
        }
        lock.notes = lock.notes.suffix(Lock.noteCountMax - 1) + [value]
        locks[node] = lock
    }
}
