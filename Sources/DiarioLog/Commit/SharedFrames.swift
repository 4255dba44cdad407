import DiarioCore
import DiarioFrames
import DiarioStorage
import Synchronization

/// The write-ahead log as several processes share it: the directory's lock, and how far memory
/// follows what others wrote.
struct SharedFrames: ~Copyable {
    private let store: LogShared
    private let lock: (any DirectoryLock)?
    var log: FrameLog
    /// What reading the log found.
    private(set) var report = RecoveryReport()
    /// Damage that reading the log alone does not show.
    private var noted: Fault?
    private var memory = Memory.incomplete

    /// How far the index is that of the log.
    private enum Memory {
        /// Reading did not come to its end, so all is read again.
        case incomplete
        /// All is replayed, but it is not known whether the last frame is on disk: it was read
        /// without the lock. It is written again before another one follows it.
        case unsynced
        /// All is replayed that was there when the lock was held last, and is on disk.
        case complete
    }

    /// What others wrote since the last look.
    enum News {
        case nothing
        case frames
        /// All was read again, since the files changed.
        case files
    }

    init(_ store: LogShared, _ lock: (any DirectoryLock)?) {
        self.store = store
        self.lock = lock
        log = FrameLog(
            store.directory,
            lock: lock,
            time: store.time,
            entropy: store.entropy,
            sizes: store.sizes.frames
        )
    }

    /// Reads the log for the first time, and cuts what a crash left if this process may write.
    mutating func start(isDraft: Bool) throws(LogError) {
        guard lock != nil else { return try reload(mayCut: false) }
        try acquire()
        defer { release() }
        if !isDraft { try DirectoryFormat.makeDurable(in: store.directory) }
        try reload(mayCut: true)
        Reserve.restore(in: store.directory, size: store.sizes.reserve)
    }

    /// Notes damage that reading the log alone does not show: nothing is written from now on.
    mutating func note(_ fault: Fault) {
        noted = fault
        report.fault = report.fault ?? fault
    }

    // MARK: With the lock

    /// Takes the lock and replays what other processes wrote meanwhile.
    mutating func begin() throws(LogError) -> News {
        guard let lock else { throw .readOnly }
        if let fault = report.fault { throw .corrupt(fault) }
        try acquire()
        if case .complete = memory, lock.wasLastHolder { return .nothing }
        do throws(LogError) { return try catchUp() } catch {
            release()
            throw error
        }
    }

    private func acquire() throws(LogError) {
        try storing { () throws(StorageError) in
            try lock?.acquire(waitSeconds: Limits.lockWaitSecondsMax)
        }
    }

    /// Releases the lock; what was written before is on disk, or will be by the next writer.
    func release() { lock?.release() }

    private mutating func catchUp() throws(LogError) -> News {
        let before = memory
        // Until it came to its end.
        memory = .incomplete
        let number = try storing { () throws(StorageError) in try lock?.note ?? 0 }
        let trust: FrameLog.Trust
        switch before {
        case .complete: trust = .synced
        case .unsynced: trust = .writtenAgain
        case .incomplete:
            try reload(mayCut: true)
            return .files
        }
        // A file without frames may have been begun anew by others, under another generation.
        guard number == log.files.last?.number, try hasLast() else {
            try reload(mayCut: true)
            return .files
        }
        let count = try follow(trust)
        memory = .complete
        return count > 0 ? .frames : .nothing
    }

    /// Replays the frames that follow in the newest file; the count of them.
    private mutating func follow(_ trust: FrameLog.Trust) throws(LogError) -> Int {
        let store = store
        do throws(FrameError) {
            return try log.readOn(trust) { (piece) throws(FrameError) in
                try store.index.withLock { (index) throws(FrameError) in
                    try index.replay(piece, store.engine)
                }
            }
        } catch {
            throw LogError(error)
        }
    }

    private func hasLast() throws(LogError) -> Bool {
        do throws(FrameError) { return try log.hasLast() } catch { throw LogError(error) }
    }

    /// Leaves a mark of a clean stop.
    func writeMark() throws(LogError) {
        do throws(FrameError) { try log.writeMark() } catch { throw LogError(error) }
    }

    // MARK: Without the lock

    /// Replays what other processes wrote, without the lock.
    mutating func refresh() throws(LogError) -> News {
        let before = memory
        memory = .incomplete
        let hasNewFile: Bool
        do throws(FrameError) { hasNewFile = try log.hasNewFile() } catch {
            memory = before
            throw LogError(error)
        }
        if case .incomplete = before {
            try reload(mayCut: false)
            return .files
        }
        guard !hasNewFile else {
            try reload(mayCut: false)
            return .files
        }
        let count = try follow(.synced)
        memory = count > 0 ? .unsynced : before
        return count > 0 ? .frames : .nothing
    }

    // MARK: Reading all

    /// Reads the whole log again; what memory held of it is forgotten.
    private mutating func reload(mayCut: Bool) throws(LogError) {
        memory = .incomplete
        store.hashes.removeAll()
        store.files.removeAll()
        var index = LogIndex()
        do throws(FrameError) { index = try readAll(mayCut: mayCut) } catch {
            throw LogError(error)
        }
        report.fault = report.fault ?? noted
        store.index.withLock { $0 = index }
        recycle()
        guard mayCut else { return memory = .unsynced }
        let number = log.files.last?.number ?? 0
        try storing { () throws(StorageError) in try lock?.setNote(number) }
        memory = .complete
    }

    /// Reads all files.
    ///
    /// Without the lock others may put them to another use meanwhile, and what looks like damage
    /// then is none.
    private mutating func readAll(mayCut: Bool) throws(FrameError) -> LogIndex {
        let engine = store.engine
        var attemptCount = 1
        while true {
            var index = LogIndex()
            let isLast = mayCut || attemptCount == Self.readCountMax
            do throws(FrameError) {
                report = try log.recover(mayCut: mayCut) { (piece) throws(FrameError) in
                    try index.replay(piece, engine)
                }
                if report.fault == nil || isLast { return index }
                if try !log.hasOtherFiles() { return index }
            } catch {
                if isLast { throw error }
                guard try log.hasOtherFiles() else { throw error }
            }
            attemptCount += 1
        }
    }

    private static let readCountMax = 8

    /// Marks the oldest files of which nothing is live as free for another use.
    mutating func recycle() {
        let live = store.index.withLock { $0.liveBytes }
        let count = log.files.dropLast().prefix { live[$0.number] == 0 }.count
        log.recycle(count)
    }
}
