package import DiarioCore
package import DiarioSchema
package import DiarioStorage
import Synchronization

/// The logs of all spaces in one data directory, behind one write-ahead log.
///
/// Safe to use from any thread, and from several processes at once: each commit takes the
/// directory's lock and first reads what others wrote. Calls that write block until the disk is
/// done, `enqueue` apart.
package final class LogStore: Sendable {
    let shared: LogShared
    let gate: Mutex<Gate>
    /// Commits what is enqueued and syncs what was only written.
    private let committer: CalledThread
    /// Hashes what was committed, if there is much of it.
    private let hasher: CalledThread
    /// Seals what was committed, if there is a run of it.
    private let sealer: CalledThread
    private let background: Background
    /// What this log may be used for, which can be less than what was asked for.
    package let access: Access
    /// What opening found.
    package var report: RecoveryReport {
        var report = opened
        report.fault = report.fault ?? noted.withLock { $0 }
        return report
    }
    private let opened: RecoveryReport
    /// Held by whoever writes; nil where nothing may be written.
    let lock: (any DirectoryLock)?
    /// Damage that was found later.
    private let noted = Mutex<Fault?>(nil)

    /// What may be done with a log.
    package enum Access: Hashable, Sendable {
        case readOnly
        case readWrite
    }

    /// Who works when no call is running.
    package enum Background: Hashable, Sendable {
        /// A thread, which commits what is enqueued and syncs what was only written.
        case thread
        /// Nobody: `enqueue` must not be used, and what was only written waits for the next call
        /// that writes. For the simulator, in which nothing may happen by itself.
        case none
    }

    /// Opens the log in `directory`, and recovers it from a crash if there was one.
    ///
    /// `types` are those whose schemas are in no pack that a space adopts, such as the engine's.
    /// With `isDraft` the directory is about to get another name.
    ///
    /// - Throws: `.notALog`, `.newerFormat` and `.beforeFirstRelease` if this is no directory of
    ///   ours, `.storage` if the disk refuses. Damage is no error here: it is in `report`, the
    ///   events before it can be read, and appends throw `.corrupt`.
    package init(
        _ directory: any LogDirectory,
        access: Access,
        time: any TimeSource,
        entropy: any EntropySource,
        engine: EngineReader,
        types: [EventType] = [],
        sizes: LogSizes = .standard,
        background: Background = .thread,
        isDraft: Bool = false
    ) throws(LogError) {
        Limits.check()
        sizes.check()
        self.background = background
        try DirectoryFormat.check(directory)
        let mayWrite = access == .readWrite && !directory.isReadOnly
        self.access = mayWrite ? .readWrite : .readOnly
        shared = LogShared(
            directory: directory,
            time: time,
            entropy: entropy,
            engine: engine,
            types: types,
            sizes: sizes,
            hasThreads: background == .thread
        )
        let weak = WeakStore()
        committer = CalledThread(name: "diario-commit") { wake in weak.store?.serve(wake) ?? false }
        // Who appends goes before it: its work has time until somebody asks for the root, and on
        // few processors it would run where the next commit is being gathered.
        hasher = CalledThread(name: "diario-hash", urgency: .low) { [weak shared] _ in
            guard let shared else { return false }
            shared.hashes.hashQueue(in: shared)
            return true
        }
        // Nobody waits for it, and those who write must not wait because of it.
        sealer = CalledThread(name: "diario-seal", urgency: .low) { wake in
            // The log itself is not kept alive while its thread waits.
            if let delay = weak.store?.sealDelay, delay > 0 {
                wake.wait(nanosecondsMax: delay * 1_000_000)
            }
            return weak.store?.sealDue() ?? false
        }
        lock =
            try !mayWrite
            ? nil
            : storing { () throws(StorageError) in try directory.lock(LogPaths.lock) }
        var writer = Writer(
            store: shared,
            lock: lock,
            hasher: background == .thread ? hasher : nil
        )
        try writer.start(isDraft: isDraft)
        opened = writer.report
        gate = Mutex(Gate(writer: writer))
        weak.store = self
    }

    deinit { try? close() }

    /// The types that this log was opened with.
    package var broughtTypes: [EventType] { shared.types }

    /// Makes an empty data directory; does nothing if it is one already.
    package static func create(in directory: any LogDirectory) throws(LogError) {
        try DirectoryFormat.create(in: directory)
    }

    // MARK: Appending

    /// Appends and waits: when this returns, the events survive a power cut.
    ///
    /// When it throws, nothing of `append` is in the log.
    package func append(_ append: Append) throws(LogError) -> AppendedBatches {
        try commit(append, try takeWriter(to: .use)).get()
    }

    /// Appends several things in as few syncs as the limits allow; each has its own outcome.
    package func append(
        _ appends: [Append]
    ) throws(LogError) -> [Result<AppendedBatches, LogError>] {
        let outcomes = commit(appends, try takeWriter(to: .use), isGathered: false)
        pace()
        return Array(outcomes)
    }

    /// Appends and lets the thread do other things meanwhile.
    ///
    /// If nobody else writes, the events are written and synced right here, on the caller's
    /// thread, which is fastest; else those of several callers are gathered, and the last one of
    /// them commits them all. On a disk whose syncs take long the committer thread does that, and
    /// no caller's thread is held up.
    package func enqueue(_ append: Append) async -> Result<AppendedBatches, LogError> {
        // Safe: each append that enters is told its outcome exactly once.
        let answer = unsafe await withUnsafeContinuation { unsafe enter(append, .task($0)) }
        answer.tellOthers?()
        return answer.outcome
    }

    /// The same without a task; `completion` is called once, when the outcome is known.
    package func enqueue(
        _ append: Append,
        completion: @escaping @Sendable (Result<AppendedBatches, LogError>) -> Void
    ) {
        enter(append, .call(completion))
    }

    private func enter(_ append: Append, _ completion: Gate.Completion) {
        precondition(background == .thread, "somebody must commit what is enqueued")
        switch gate.withLock({ $0.enter(append, completion) }) {
        case .alone(let writer): Self.tell(completion, commit(append, writer))
        case .leads(let writer, let waiting): commit(waiting, writer)
        case .calls: callCommitter()
        case .waits: break
        case .refused: Self.tell(completion, .failure(.closed))
        }
    }

    /// Commits what one caller appended, and gives the writer back.
    private func commit(_ append: Append, _ writer: consuming Placed<Writer>) -> Writer.Outcome {
        let outcomes = commit([append], writer, isGathered: false)
        pace()
        return outcomes[0]
    }

    private func commit(
        _ appends: [Append],
        _ writer: consuming Placed<Writer>,
        isGathered: Bool
    ) -> Few<Writer.Outcome> {
        let start = ContinuousClock.now
        let outcomes = writer.with { $0.commit(appends) }
        // The writer first: who is told may want it at once.
        finish(
            writer,
            after: Commit(
                duration: ContinuousClock.now - start,
                gathered: isGathered ? outcomes.count : nil
            )
        )
        return outcomes
    }

    /// Commits what several callers appended, and tells them.
    private func commit(_ waiting: Gate.Waiting, _ writer: consuming Placed<Writer>) {
        tell(waiting.completions, commit(waiting.appends, writer, isGathered: true))
        pace()
    }

    /// Waits a moment while the log is written faster than sealed: else it would grow without end.
    ///
    /// Never for long, and not at all if sealing fails: what is asked for is done already.
    private func pace() {
        guard background == .thread, shared.sealing.isBehind.load(ordering: .relaxed) else {
            return
        }
        let moment = Signal()
        for _ in 0..<Self.paceCount {
            let liveBytes = shared.index.withLock { $0.liveBytesTotal }
            guard liveBytes > shared.sizes.paceMax, shared.sealing.failure == nil else {
                shared.sealing.isBehind.store(false, ordering: .relaxed)
                return
            }
            moment.wait(nanosecondsMax: Self.paceNanoseconds)
        }
    }

    private static let paceCount = 20
    private static let paceNanoseconds: Int64 = 2_000_000

    private func tell(_ completions: [Gate.Completion], _ outcomes: Few<Writer.Outcome>) {
        // Of many tasks one is told first, and tells the others when it runs. If this thread told
        // them all, each would wake a thread, which found nothing more to do and slept again.
        let last = completions.count - 1
        guard last > 1, completions.allSatisfy(\.isTask) else {
            for index in completions.indices { Self.tell(completions[index], outcomes[index]) }
            return
        }
        Self.tell(completions[0], outcomes[0]) {
            for index in 1..<last { Self.tell(completions[index], outcomes[index]) }
        }
        Self.tell(completions[last], outcomes[last])
    }

    private static func tell(
        _ completion: Gate.Completion,
        _ outcome: Writer.Outcome,
        others: (@Sendable () -> Void)? = nil
    ) {
        switch completion {
        case .task(let continuation):
            // Safe: this is the one time that the task is told.
            unsafe continuation.resume(
                returning: Gate.Answer(outcome: outcome, tellOthers: others)
            )
        case .call(let completion):
            completion(outcome)
            others?()
        }
    }

    /// How a commit went; `gathered` is how many callers it answered, if it was of those who wait.
    private struct Commit {
        let duration: Duration
        let gathered: Int?
    }

    /// Gives the writer back after a commit, and sees to the hashes.
    private func finish(_ writer: consuming Placed<Writer>, after commit: Commit? = nil) {
        giveBack(writer, after: commit)
        if background == .thread, shared.sealing.takeCall() { sealer.call() }
        if background == .none || shared.hashes.isOverdue { shared.hashes.hashQueue(in: shared) }
    }

    // MARK: The writer

    private enum Purpose {
        case use
        /// For the last time; the log counts as closed already.
        case close
    }

    /// Waits for the writer, which the caller gives back, unless it closes the log.
    private func takeWriter(to purpose: Purpose) throws(LogError) -> Placed<Writer> {
        let isClosing = purpose == .close
        if let writer = try gate.withLock({ (gate) throws(LogError) in
            try gate.takeAtOnce(isClosing: isClosing)
        }) {
            return writer
        }
        let ticket = Signal()
        let isThere: Bool? = gate.withLock { gate in
            // Checked along with taking a ticket: nobody raises one after the log was closed.
            if gate.isClosed, !isClosing { return nil }
            let isThere = gate.writer != nil && gate.tickets.isEmpty && !gate.isReserved
            if isThere { gate.isReserved = true } else { gate.tickets.append(ticket) }
            return isThere
        }
        guard let isThere else { throw .closed }
        if !isThere { ticket.wait() }
        let writer = gate.withLock { gate in
            gate.isReserved = false
            return gate.take()
        }
        guard let writer else { preconditionFailure("who has the turn finds the writer") }
        return writer
    }

    private func giveBack(_ writer: consuming Placed<Writer>, after commit: Commit?) {
        var writer: Placed<Writer>? = consume writer
        let (ticket, isCalled) = gate.withLock { gate in
            gate.writer = writer.take()
            if let commit {
                gate.lastCommit = commit.duration
                if let count = commit.gathered { gate.note(answered: count) }
            }
            if !gate.tickets.isEmpty {
                gate.isReserved = true
                return (Optional(gate.tickets.removeFirst()), false)
            }
            return (nil, gate.callsCommitter())
        }
        ticket?.raise()
        if isCalled { callCommitter() }
    }

    /// Does something with the writer, when it is there.
    func withWriter<Value: Sendable>(
        _ body: (inout Writer) throws(LogError) -> Value
    ) throws(LogError) -> Value {
        var writer = try takeWriter(to: .use)
        let result: Result<Value, LogError>
        do throws(LogError) {
            result = .success(try writer.with(body))
        } catch {
            result = .failure(error)
        }
        finish(writer)
        return try result.get()
    }

    /// Takes the log for damaged from now on: nothing is written to it.
    func note(_ fault: Fault) throws(LogError) {
        noted.withLock { $0 = fault }
        try withWriter { (writer) throws(LogError) in writer.note(fault) }
    }

    /// For how long a commit has been under way at `now` without an end.
    package func standstill(at now: ContinuousClock.Instant) -> Duration {
        gate.withLock { $0.standstill(at: now) }
    }

    /// Reads what other processes wrote since, under the lock: nothing is being written meanwhile.
    package func catchUp() throws(LogError) {
        try withWriter { (writer) throws(LogError) in
            try writer.begin()
            writer.end()
        }
    }

    /// Ends the log, and leaves a mark of a clean stop.
    ///
    /// Appends that wait are done first; later ones throw `.closed`.
    package func close() throws(LogError) {
        // Whoever closes a log may take its folder away, so nothing is written to it after this.
        // What is being sealed is not thrown away: that is done before the writer is gone.
        shared.sealing.isEnding.store(true, ordering: .sequentiallyConsistent)
        sealer.finish()
        let isFirst = gate.withLock { gate in
            defer { gate.isClosed = true }
            return !gate.isClosed
        }
        guard isFirst else { return }
        // Those who waited for the writer had their turn before this.
        var writer = try takeWriter(to: .close)
        let waiting = gate.withLock { $0.takeWaiting() }
        let outcomes = writer.with { $0.commit(waiting.appends) }
        tell(waiting.completions, outcomes)
        committer.end()
        guard access == .readWrite else { return }
        try writer.with { (writer) throws(LogError) in try writer.close() }
    }

    // MARK: The committer

    private func callCommitter() {
        guard background == .thread else { return }
        committer.call()
    }

    /// Commits what waits until nothing does; false once the log is closed.
    fileprivate func serve(_ wake: Signal) -> Bool {
        while true {
            switch gate.withLock({ $0.nextStep() }) {
            case .end: return false
            case .sleep: return true
            case .wait(let duration):
                wake.wait(nanosecondsMax: Int64(duration / .nanoseconds(1)))
            case .commit(let writer, let waiting): commit(waiting, writer)
            }
        }
    }
}

/// Leads from the committer thread to the log, and does not keep it alive.
private final class WeakStore: Sendable {
    private let reference = Mutex(Reference())

    private struct Reference: Sendable {
        weak var store: LogStore?
    }

    var store: LogStore? {
        get { reference.withLock { $0.store } }
        set { reference.withLock { $0.store = newValue } }
    }
}
