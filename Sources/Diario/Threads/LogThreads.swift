package import DiarioLog
import DiarioStorage
import Synchronization

/// The threads of an open log: they commit what several callers append as one, and seal and hash
/// while no call is running.
///
/// A caller that is alone commits on its own thread, which is fastest. Of several the last one that
/// is expected commits for all; on a disk whose syncs take long the committer thread does, and no
/// caller's thread is held up.
package final class LogThreads: LogHelper {
    package typealias Outcome = Result<AppendedBatches, LogError>

    private let log = WeakLog()
    private let gathering = Mutex(Gathering())
    private let committer: CalledThread
    /// Hashing has time until somebody asks for the root, so whoever appends goes before it.
    private let hasher: CalledThread
    /// Nobody waits for it, and those who write must not wait because of it.
    private let sealer: CalledThread
    /// Seals along with it while the log holds too much: sealing a few events of a space is mostly
    /// waiting for locks and syncs.
    private let reliever: CalledThread

    package init() {
        let log = log
        let serving = Serving()
        committer = CalledThread(name: "diario-commit") { wake in
            serving.threads?.serve(wake) ?? false
        }
        hasher = CalledThread(name: "diario-hash", urgency: .low) { _ in
            guard let store = log.store else { return false }
            store.hashDue()
            return true
        }
        sealer = CalledThread(name: "diario-seal", urgency: .low) { wake in
            // The log itself is not kept alive while its thread waits.
            if let delay = log.store?.sealDelay, delay > 0 {
                wake.wait(nanosecondsMax: delay * 1_000_000)
            }
            return log.store?.sealDue() ?? false
        }
        reliever = CalledThread(name: "diario-relieve", urgency: .low) { _ in
            log.store?.sealDue() ?? false
        }
        serving.threads = self
    }

    package func begin(_ log: LogStore) { self.log.store = log }

    // MARK: Appending

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
    package func commit(_ append: Append) -> Outcome {
        let answer = Answer()
        enter(append, .call { answer.give($0) })
        return answer.wait()
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
        let outcomes: [Outcome] =
            log.store?.commit(waiting.appends)
            ?? waiting.appends.map { _ in .failure(.closed) }
        let duration = ContinuousClock.now - start
        let isCalled = gathering.withLock { gathering in
            gathering.note(duration, answered: isGathered ? outcomes.count : nil)
            return gathering.callsCommitter()
        }
        if isCalled { committer.call() }
        tell(waiting.completions, outcomes)
        pace()
    }

    /// Commits what waits until nothing does; false once the log is closed.
    private func serve(_ wake: Signal) -> Bool {
        while true {
            switch gathering.withLock({ $0.nextStep() }) {
            case .end: return false
            case .sleep: return true
            case .wait(let duration):
                wake.wait(nanosecondsMax: Int64(duration / .nanoseconds(1)))
            case .commit(let waiting): commit(waiting, isGathered: true)
            }
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

    // MARK: While no call is running

    package func hashSoon() { hasher.call() }

    package func sealSoon() {
        sealer.call()
        if log.store?.sealDelay == 0 { reliever.call() }
    }

    /// Never for long: what is asked for is done already.
    package func pace() {
        guard log.store?.isBehindWithSealing == true else { return }
        let moment = Signal()
        for _ in 0..<Self.paceCount {
            moment.wait(nanosecondsMax: Self.paceNanoseconds)
            guard log.store?.isBehindWithSealing == true else { return }
        }
    }

    private static let paceCount = 20
    private static let paceNanoseconds: Int64 = 2_000_000

    package func end() {
        sealer.finish()
        reliever.finish()
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
    case call(@Sendable (LogThreads.Outcome) -> Void)

    var isTask: Bool { if case .task = self { true } else { false } }
}

/// What a task is told whose append was committed.
struct TaskAnswer: Sendable {
    let outcome: LogThreads.Outcome
    /// Tells the others whose appends were committed along with this one; the task calls it.
    var tellOthers: (@Sendable () -> Void)?
}

/// An outcome that a thread waits for.
private final class Answer: Sendable {
    private let outcome = Mutex<LogThreads.Outcome?>(nil)
    private let isThere = Signal()

    func give(_ given: LogThreads.Outcome) {
        outcome.withLock { $0 = given }
        isThere.raise()
    }

    func wait() -> LogThreads.Outcome {
        while true {
            if let outcome = outcome.withLock({ $0 }) { return outcome }
            isThere.wait()
        }
    }
}

/// Leads from the threads to their log, and does not keep it alive.
private final class WeakLog: Sendable {
    private let reference = Mutex(Reference())

    private struct Reference: Sendable {
        weak var store: LogStore?
    }

    var store: LogStore? {
        get { reference.withLock { $0.store } }
        set { reference.withLock { $0.store = newValue } }
    }
}

/// Leads from the committer thread to what it works for, and does not keep it alive.
private final class Serving: Sendable {
    private let reference = Mutex(Reference())

    private struct Reference: Sendable {
        weak var threads: LogThreads?
    }

    var threads: LogThreads? {
        get { reference.withLock { $0.threads } }
        set { reference.withLock { $0.threads = newValue } }
    }
}
