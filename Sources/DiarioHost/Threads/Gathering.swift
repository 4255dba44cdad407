import DiarioLog

/// Group commit above the log: appends of several callers, and the one that commits them.
struct Gathering: Sendable {
    /// Waiting appends, in order, with their callers.
    struct Waiting: Sendable {
        var appends: [Append] = []
        var completions: [Completion] = []

        init() {}

        init(_ append: Append, _ completion: Completion) {
            appends = [append]
            completions = [completion]
        }
    }

    private enum Committer {
        /// Sleeps until it is called.
        case idle
        /// Waits for more appends, up to the target or the deadline.
        case gathering
        /// Waits for the commit of a caller to end.
        case blocked
        case busy
    }

    private var waiting = Waiting()
    private var committer = Committer.idle
    /// True while a thread commits.
    private var isCommitting = false
    /// True while that is the thread of one of several callers.
    private var isLed = false
    private var isClosed = false
    /// How many appends the next commit expects: as many callers as lately seen.
    private var target = 1
    /// When the committer stops expecting more.
    private var deadline = ContinuousClock.now
    /// How long the last commit took.
    private var lastCommit = Duration.zero

    /// On a disk that takes longer, no caller syncs on its own thread.
    private static let inlineCommitMax = Duration.milliseconds(1)
    /// For so many appends memory is taken at once.
    private static let targetKnownMax = 1024
    /// How long the thread sleeps at least while callers commit: it only watches that those who
    /// wait are not forgotten when fewer come than were expected.
    private static let patience = Duration.microseconds(400)

    /// What becomes of an append that comes in.
    enum Entry {
        /// Nobody else is there: its caller commits it.
        case alone
        /// It is the last one that was expected: its caller commits all that wait.
        case leads(Waiting)
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
        let isFree = !isCommitting && lastCommit < Self.inlineCommitMax
        if isFree, target <= 1, waiting.appends.isEmpty {
            isCommitting = true
            return .alone
        }
        if waiting.appends.isEmpty {
            let count = min(target, Self.targetKnownMax)
            waiting.appends.reserveCapacity(count)
            waiting.completions.reserveCapacity(count)
        }
        waiting.appends.append(append)
        waiting.completions.append(completion)
        switch committer {
        case .blocked, .busy: return .waits
        case .idle: break
        case .gathering:
            guard isComplete else { return .waits }
            if isFree {
                isLed = true
                return .leads(takeWaiting())
            }
            // Whoever leads looks at what waits when it is done.
            if isLed { return .waits }
        }
        committer = .busy
        return .calls
    }

    private var isComplete: Bool { waiting.appends.count >= target }

    private mutating func takeWaiting() -> Waiting {
        isCommitting = true
        defer { waiting = Waiting() }
        return waiting
    }

    /// Notes that a commit ended; `count` is how many callers it answered, if it was of several.
    mutating func note(_ duration: Duration, answered count: Int?) {
        isCommitting = false
        lastCommit = duration
        guard let count else { return }
        isLed = false
        // Falls step by step, so that callers that are late once are still expected the next time.
        target = max(count < target ? target / 2 : 1, waiting.appends.count + count)
        deadline = ContinuousClock.now + max(lastCommit / 2, Self.patience)
    }

    /// True if the committer thread has to be called when a commit has ended.
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

    /// Takes no more appends; gives those that wait.
    mutating func close() -> Waiting {
        isClosed = true
        return takeWaiting()
    }

    /// What the committer thread does next.
    enum Step {
        case end
        /// Until it is called.
        case sleep
        /// Until it is called, or so much time has passed.
        case wait(Duration)
        case commit(Waiting)
    }

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
        guard !isCommitting else {
            committer = .blocked
            return .sleep
        }
        if !isComplete, rest > .zero {
            committer = .gathering
            return .wait(rest)
        }
        committer = .busy
        return .commit(takeWaiting())
    }
}
