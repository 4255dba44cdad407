import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioFrames
import DiarioSchema
import DiarioStorage
import Synchronization

/// What the one who writes to a log needs: handed from thread to thread, used by one at a time.
struct Writer: ~Copyable {
    let store: LogShared
    let hashSoon: @Sendable () -> Void
    var frames: SharedFrames
    /// Spaces that were written to, with who writes.
    var homes: [SpaceID: SpaceHome] = [:]
    /// What survives a power cut of spaces, as this process has made sure.
    var lasting: [SpaceID: SpaceHome] = [:]
    var draft = FrameDraft()
    /// What the frame under construction changes.
    var staged = StagedSpaces()
    /// The time of the commit.
    var time = Timestamp(milliseconds: 0)
    /// Spaces whose state is due, and did not fit in the frame in which it was.
    var lateStates: Set<SpaceID> = []
    /// Bytes of frames after which it is looked whether the log holds too much.
    var bytesToLook = 0

    /// `hashSoon` is told that events wait to be hashed.
    init(
        store: LogShared,
        lock: (any DirectoryLock)?,
        hashSoon: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.hashSoon = hashSoon
        frames = SharedFrames(store, lock)
    }

    /// Reads the log for the first time, and cuts what a crash left if this process may write.
    mutating func start(isDraft: Bool) throws(LogError) { try frames.start(isDraft: isDraft) }

    /// What reading the log found.
    var report: RecoveryReport { frames.report }

    /// Notes damage that reading the log alone does not show: nothing is written from now on.
    mutating func note(_ fault: Fault) { frames.note(fault) }

    /// Leaves a mark of a clean stop.
    mutating func close() throws(LogError) {
        // A log that failed or is damaged has no clean stop, and says so already.
        guard frames.log.stopped == nil, report.fault == nil else { return }
        try begin()
        defer { end() }
        try frames.writeMark()
    }

    /// Takes the directory's lock and replays what other processes wrote meanwhile.
    mutating func begin() throws(LogError) {
        do throws(LogError) { forget(try frames.begin()) } catch {
            forget(.files)
            throw error
        }
    }

    /// Releases the lock.
    func end() { frames.release() }

    /// Replays what other processes wrote, without the lock; true if there was something.
    mutating func refresh() throws(LogError) -> Bool {
        let news = try frames.refresh()
        forget(news)
        return news != .nothing
    }

    /// Forgets what is not known any more since others wrote.
    private mutating func forget(_ news: SharedFrames.News) {
        guard news != .nothing else { return }
        staged.removeAll()
        homes.removeAll()
    }
}
