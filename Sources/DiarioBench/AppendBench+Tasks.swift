import CBaseline
import Diario
import DiarioCore
import DiarioSchema
import Synchronization

// Many tasks, each of which waits for its event before it appends the next.

extension AppendBench {
    func measureTasks() async throws(BenchError) -> Measurement {
        try await withStage { (stage) throws(BenchError) in
            let diary = Diary(space: stage.space)
            let pairs = try await compare(runs: runs) { () throws(BenchError) in
                try await runTasks(stage, diary)
            } baseline: { () throws(BenchError) in
                var loop = try stage.runLoop(
                    commits: eventCount / taskCount,
                    recordsForEach: taskCount,
                    hashes: true
                )
                let meeting = try await runMeetings(stage)
                loop.figures.append(
                    ("tasks that only meet for each commit", loop.seconds / meeting)
                )
                return loop
            }
            return Measurement("tasks", pairs, goal: .atLeast(0.5))
        }
    }

    /// Many tasks, each of which waits for its event before it appends the next.
    func runTasks(_ stage: Stage, _ diary: Diary) async throws(BenchError) -> Sample {
        let (tasks, share) = (taskCount, eventCount / taskCount)
        let batches: [EventBatch]
        do {
            // As few as fit in the processor's cache: an app appends what it has just made.
            batches = try (0..<min(events.count, 256)).map { index in
                let line = events.lines[index]
                var batch = diary.makeBatch()
                try batch.add(
                    line.type.name,
                    json: events.payloadText(index),
                    at: line.at,
                    actor: "user-17"
                )
                return batch
            }
        } catch {
            throw .failed("\(error)")
        }
        return try await stage.measure(events: tasks * share) { () throws(BenchError) in
            let failures = await withTaskGroup(of: Int.self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        var failures = 0
                        for index in 0..<share {
                            let batch = batches[(task * share + index) % batches.count]
                            do { _ = try await diary.append(batch) } catch { failures += 1 }
                        }
                        return failures
                    }
                }
                return await group.reduce(0, +)
            }
            guard failures == 0 else { throw .failed("\(failures) appends failed") }
        }
    }

    /// What is left if all that an append does is taken away; gives the seconds.
    ///
    /// As many tasks meet, the last to come does in C what one turn of the loop does, and all go
    /// on.
    private func runMeetings(_ stage: Stage) async throws(BenchError) -> Double {
        let meeting = Meeting(
            count: taskCount,
            path: stage.loopFile,
            frameSize: stage.frameSize
        )
        let (tasks, share) = (taskCount, eventCount / taskCount)
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask { for _ in 0..<share { await meeting.attend() } }
            }
        }
        let taken = seconds(since: start)
        guard !meeting.hasFailed else { throw .failed("\(stage.loopFile) cannot be written") }
        return taken
    }
}

/// Where tasks wait until so many have come.
private final class Meeting: Sendable {
    @safe private struct Waiter: Sendable {
        // Safe: it is let go on exactly once, by who comes last.
        private let continuation: UnsafeContinuation<Void, Never>

        init(_ continuation: UnsafeContinuation<Void, Never>) {
            unsafe self.continuation = unsafe continuation
        }

        // Safe: as above.
        func goOn() { unsafe continuation.resume() }
    }

    private struct State: ~Copyable {
        var waiting: [Waiter] = []
        var hasFailed = false
    }

    private let state = Mutex(State())
    private let count: Int
    private let path: String
    private let frameSize: Int

    init(count: Int, path: String, frameSize: Int) {
        self.count = count
        self.path = path
        self.frameSize = frameSize
    }

    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    func attend() async {
        // Safe: who comes last lets each of the others go on once, and itself.
        unsafe await withUnsafeContinuation { unsafe enter(Waiter($0)) }
    }

    private func enter(_ waiter: Waiter) {
        let waiting: [Waiter]? = state.withLock { state in
            state.waiting.append(waiter)
            guard state.waiting.count == count else { return nil }
            defer { state.waiting = [] }
            return state.waiting
        }
        guard let waiting else { return }
        // Safe: a plain call into C, which keeps no pointer.
        let taken = unsafe baseline_sync_loop(path, "", frameSize, 1, count, frameSize / count)
        if taken < 0 { state.withLock { $0.hasFailed = true } }
        for waiter in waiting { waiter.goOn() }
    }
}
