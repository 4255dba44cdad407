import DiarioStorage
import Synchronization

/// Where those who want to write meet: the writer, and who waits for it.
///
/// The writer is taken out by one user at a time, so no lock is held while a disk works.
struct Gate: ~Copyable, Sendable {
    /// Nil while somebody uses it, and after the log was closed.
    var writer: Placed<Writer>?
    /// When the writer was taken out last.
    private(set) var takenAt = ContinuousClock.now
    /// True once no new appends are taken.
    var isClosed = false
    /// True while the writer is there for the first of the tickets that was called.
    var isReserved = false
    /// Appends that wait to be committed together, in order.
    var waiting = Waiting()
    /// Threads that wait for the writer itself; they come before the appends.
    var tickets: [Signal] = []
    /// How many appends the next commit hopes for: as many writers as lately seen.
    var target = 1
    /// When the committer stops hoping for more.
    var deadline = ContinuousClock.now
    /// How long the last commit took, from the lock to the end of the sync.
    var lastCommit = Duration.zero
    var committer = CommitterState.idle
    /// True while the thread of one who appends commits what others append too.
    var isLed = false

    /// Who is told the outcome of an append.
    @safe enum Completion: Sendable {
        /// A task, which is let run on.
        case task(UnsafeContinuation<Answer, Never>)
        case call(@Sendable (Writer.Outcome) -> Void)

        var isTask: Bool { if case .task = self { true } else { false } }
    }

    /// What a task is told whose append was committed.
    struct Answer: Sendable {
        let outcome: Writer.Outcome
        /// Tells the others whose appends were committed along with this one; the task calls it.
        var tellOthers: (@Sendable () -> Void)?
    }

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

    /// For so many appends memory is taken at once.
    private static let targetKnownMax = 1024

    init(writer: consuming Writer) { self.writer = Placed(writer) }

    /// Appends that wait, and who is told of each.
    struct Waiting: Sendable {
        var appends: [Append] = []
        var completions: [Completion] = []

        mutating func reserveCapacity(_ count: Int) {
            appends.reserveCapacity(count)
            completions.reserveCapacity(count)
        }
    }

    /// Takes the writer out, if it is there.
    mutating func take() -> Placed<Writer>? {
        if writer != nil { takenAt = ContinuousClock.now }
        return writer.take()
    }

    /// For how long one has had the writer who has it now.
    func standstill(at now: ContinuousClock.Instant) -> Duration {
        writer == nil && !isClosed ? now - takenAt : .zero
    }

    /// The writer, if it is there and nobody waits for it.
    mutating func takeAtOnce(isClosing: Bool) throws(LogError) -> Placed<Writer>? {
        if isClosed, !isClosing { throw .closed }
        return tickets.isEmpty && !isReserved ? take() : nil
    }

    /// What becomes of an append that comes in.
    enum Entry: ~Copyable {
        /// Nobody else is there: who appends commits it.
        case alone(Placed<Writer>)
        /// It is the last one that was hoped for: who appends commits all that wait, it included.
        case leads(Placed<Writer>, Waiting)
        case waits
        /// It waits, and the committer thread has to be called.
        case calls
        case refused
    }

    /// Lets an append in.
    ///
    /// The thread of the caller is spared a hop if it can commit at once; on a slow disk the hop
    /// does not matter, and the thread is needed elsewhere.
    mutating func enter(_ append: Append, _ completion: Completion) -> Entry {
        if isClosed { return .refused }
        let isFast = lastCommit < Self.inlineCommitMax
        let isFree = tickets.isEmpty && !isReserved && isFast
        if isFree, target <= 1, waiting.appends.isEmpty, let writer = take() {
            return .alone(writer)
        }
        // As many as lately are likely to come.
        if waiting.appends.isEmpty { waiting.reserveCapacity(min(target, Self.targetKnownMax)) }
        waiting.appends.append(append)
        waiting.completions.append(completion)
        switch committer {
        case .blocked, .busy: return .waits
        case .idle: break
        case .gathering:
            guard isComplete else { return .waits }
            if isFree, let writer = take() {
                isLed = true
                return .leads(writer, takeWaiting())
            }
            // Who leads looks at what waits when it is done.
            if isLed { return .waits }
        }
        committer = .busy
        return .calls
    }

    /// Whether as many appends wait as a commit hopes for.
    var isComplete: Bool { waiting.appends.count >= target }

    /// What waits, which the caller commits now.
    mutating func takeWaiting() -> Waiting {
        defer { waiting = Waiting() }
        return waiting
    }

    /// Notes that the last commit answered `count` appends that waited.
    mutating func note(answered count: Int) {
        isLed = false
        // Falls step by step, so that writers who are late once are still hoped for the next time.
        target = max(count < target ? target / 2 : 1, waiting.appends.count + count)
        deadline = ContinuousClock.now + max(lastCommit / 2, Self.patience)
    }
}

// MARK: The committer thread

extension Gate {
    /// What the committer thread does next.
    enum Step: ~Copyable {
        case end
        /// Until it is called.
        case sleep
        /// Until it is called, or so much time has passed.
        case wait(Duration)
        case commit(Placed<Writer>, Waiting)
    }

    /// How long the thread sleeps at least while callers commit: it only watches that those who
    /// wait are not forgotten when fewer come than were hoped for.
    private static let patience = Duration.microseconds(400)

    mutating func nextStep() -> Step {
        if isClosed { return .end }
        if isLed {
            committer = .gathering
            return .wait(Self.patience)
        }
        let rest = deadline - ContinuousClock.now
        if waiting.appends.isEmpty {
            // Reset only now: resetting it whenever nobody waits for a moment would alternate full
            // commits and commits of one.
            guard target > 1, rest > .zero else {
                target = 1
                committer = .idle
                return .sleep
            }
            committer = .gathering
            return .wait(rest)
        }
        guard tickets.isEmpty, !isReserved, writer != nil else {
            committer = .blocked
            return .sleep
        }
        if !isComplete, rest > .zero {
            committer = .gathering
            return .wait(rest)
        }
        committer = .busy
        guard let writer = take() else { return .sleep }
        return .commit(writer, takeWaiting())
    }

    /// Whether the committer thread has to be called when the writer is back.
    mutating func callsCommitter() -> Bool {
        guard !waiting.appends.isEmpty else { return false }
        switch committer {
        case .busy: return false
        case .gathering where !isComplete: return false
        case .idle, .blocked, .gathering:
            committer = .busy
            return true
        }
    }
}
