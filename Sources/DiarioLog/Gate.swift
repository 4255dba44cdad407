import DiarioStorage
import Synchronization

/// Where those who want to write meet: the writer, and who waits for it.
///
/// The writer is taken out by one user at a time, so no lock is held while a disk works.
struct Gate: ~Copyable, Sendable {
    /// Nil while somebody uses it, and after the log was closed.
    var writer: Writer?
    /// True once no new appends are taken.
    var isClosed = false
    /// True while the writer is there for the first of the tickets that was called.
    var isReserved = false
    /// Appends that wait for the committer thread, in order, and who is told of each.
    var queue: [Append] = []
    var completions: [Completion] = []
    /// Threads that wait for the writer itself; they come before the queue.
    var tickets: [Signal] = []
    /// How many appends the next commit hopes for: as many writers as lately seen.
    var target = 1
    /// When the committer stops hoping for more.
    var deadline = ContinuousClock.now
    /// How long the last commit took, from the lock to the end of the sync.
    var lastCommit = Duration.zero
    /// True while a frame is with the operating system that was not synced.
    var hasUnsynced = false
    var committer = CommitterState.idle

    typealias Completion = @Sendable (Writer.Outcome) -> Void

    enum CommitterState {
        /// Sleeps until it is called.
        case idle
        /// Waits for more appends, up to the target or the deadline.
        case gathering
        /// Waits for the writer.
        case blocked
        case busy
    }

    /// On a disk that takes longer, nobody syncs on a thread that is not his own.
    private static let inlineCommitMax = Duration.milliseconds(1)

    init(writer: consuming Writer) { self.writer = consume writer }

    /// The writer, for one who finds nobody waiting and expects nobody.
    mutating func takeIfFree() -> Writer? {
        guard !isClosed, queue.isEmpty, tickets.isEmpty, !isReserved, target <= 1,
            lastCommit < Self.inlineCommitMax
        else { return nil }
        return writer.take()
    }

    /// Queues an append; true if the committer thread has to be called for it.
    mutating func add(_ append: Append, _ completion: @escaping Completion) -> Bool {
        queue.append(append)
        completions.append(completion)
        switch committer {
        case .idle: break
        case .gathering where queue.count >= target: break
        case .gathering, .blocked, .busy: return false
        }
        committer = .busy
        return true
    }

    /// What waits, which the caller commits now.
    mutating func takeQueue() -> ([Append], [Completion]) {
        defer { (queue, completions) = ([], []) }
        return (queue, completions)
    }

    /// Notes a commit that took `duration` and answered `count` appends.
    mutating func note(duration: Duration, answered count: Int) {
        lastCommit = duration
        // Falls slowly, so that writers who are late once are still hoped for the next time.
        target = max(target - 1, queue.count + count)
        deadline = ContinuousClock.now + duration / 2
    }
}
