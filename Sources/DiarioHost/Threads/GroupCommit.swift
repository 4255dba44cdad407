package import DiarioLog
import DiarioStorage
import Synchronization

/// Commits what several callers append to a log as one.
///
/// A caller that is alone commits on its own thread, which is fastest. Of several the last one that
/// is expected commits for all; on a disk whose syncs take long a thread of its own does, and no
/// caller's thread is held up.
package final class GroupCommit: Sendable {
    package typealias Outcome = Result<AppendedBatches, LogError>

    private let log: LogStore
    private let gathering = Mutex(Gathering())
    private let committer: CalledThread

    package init(_ log: LogStore) {
        self.log = log
        let serving = WeakReference<GroupCommit>()
        committer = CalledThread(name: "diario-commit") { wake in
            while true {
                // Nothing is kept alive while the thread waits.
                switch serving.object?.serve() {
                case .sleep: return true
                case .wait(let duration):
                    wake.wait(nanosecondsMax: Int64(duration / .nanoseconds(1)))
                case .commit, .end, nil: return false
                }
            }
        }
        serving.object = self
    }

    /// Appends, and lets the thread do other things meanwhile; with what others append, if they do.
    package func append(_ append: Append) async -> Outcome {
        // Safe: each append that enters is told its outcome exactly once.
        let answer = unsafe await withUnsafeContinuation { unsafe enter(append, .task($0)) }
        answer.tellOthers?()
        return answer.outcome
    }

    /// The same without a task; `completion` is called once, when the outcome is known.
    package func append(_ append: Append, completion: @escaping @Sendable (Outcome) -> Void) {
        enter(append, .call(completion))
    }

    /// The same for a thread that waits.
    package func commit(_ append: Append) throws(LogError) -> AppendedBatches {
        let answer = Answer()
        enter(append, .call { answer.give($0) })
        return try answer.wait().get()
    }

    private func enter(_ append: Append, _ completion: Completion) {
        switch gathering.withLock({ $0.enter(append, completion) }) {
        case .alone: commit(Gathering.Waiting(append, completion), isGathered: false)
        case .leads(let waiting): commit(waiting, isGathered: true)
        case .calls: committer.call()
        case .waits: break
        case .refused: tell(completion, .failure(.closed))
        }
    }

    private func commit(_ waiting: Gathering.Waiting, isGathered: Bool) {
        let start = ContinuousClock.now
        let outcomes = log.commit(waiting.appends)
        let duration = ContinuousClock.now - start
        let isCalled = gathering.withLock { gathering in
            gathering.note(duration, answered: isGathered ? outcomes.count : nil)
            return gathering.callsCommitter()
        }
        if isCalled { committer.call() }
        tell(waiting.completions, outcomes)
        log.helper?.pace()
    }

    /// Commits what waits; gives what comes next when nothing does.
    private func serve() -> Gathering.Step {
        while true {
            let step = gathering.withLock { $0.nextStep() }
            guard case .commit(let waiting) = step else { return step }
            commit(waiting, isGathered: true)
        }
    }

    private func tell(_ completions: [Completion], _ outcomes: [Outcome]) {
        // Of many tasks one is told first, and tells the others when it runs. If this thread told
        // them all, each would wake a thread, which found nothing more to do and slept again.
        let last = completions.count - 1
        guard last > 1, completions.allSatisfy(\.isTask) else {
            for index in completions.indices { tell(completions[index], outcomes[index]) }
            return
        }
        tell(completions[0], outcomes[0]) { [self] in
            for index in 1..<last { tell(completions[index], outcomes[index]) }
        }
        tell(completions[last], outcomes[last])
    }

    private func tell(
        _ completion: Completion,
        _ outcome: Outcome,
        others: (@Sendable () -> Void)? = nil
    ) {
        switch completion {
        case .task(let continuation):
            // Safe: this is the one time that the task is told.
            unsafe continuation.resume(returning: TaskAnswer(outcome: outcome, tellOthers: others))
        case .call(let completion):
            completion(outcome)
            others?()
        }
    }

    /// Commits what waits; later appends are told that the log is closed.
    package func end() {
        let waiting = gathering.withLock { $0.close() }
        if !waiting.appends.isEmpty { commit(waiting, isGathered: true) }
        committer.end()
    }

    deinit { committer.end() }
}

/// Who is told the outcome of an append.
@safe enum Completion: Sendable {
    /// A task, which is let run on.
    case task(UnsafeContinuation<TaskAnswer, Never>)
    case call(@Sendable (GroupCommit.Outcome) -> Void)

    var isTask: Bool { if case .task = self { true } else { false } }
}

/// What a task is told whose append was committed.
struct TaskAnswer: Sendable {
    let outcome: GroupCommit.Outcome
    /// Tells the others whose appends were committed along with this one; the task calls it.
    var tellOthers: (@Sendable () -> Void)?
}

/// An outcome that a thread waits for.
private final class Answer: Sendable {
    private let outcome = Mutex<GroupCommit.Outcome?>(nil)
    private let isThere = Signal()

    func give(_ given: GroupCommit.Outcome) {
        outcome.withLock { $0 = given }
        isThere.raise()
    }

    func wait() -> GroupCommit.Outcome {
        while true {
            if let outcome = outcome.withLock({ $0 }) { return outcome }
            isThere.wait()
        }
    }
}
