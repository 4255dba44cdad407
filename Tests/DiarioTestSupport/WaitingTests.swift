import DiarioStorage
import Synchronization
package import Testing

extension Trait where Self == WaitingTests {
    /// For tests that wait for time to pass, for what comes over a socket, or for the end of a
    /// process that they begin: while one has ended and its test cannot go on to take note of it,
    /// the library that runs tests turns in a circle.
    package static var waits: Self { Self() }
}

/// Runs tests on threads of their own: the shared pool has as many as there are cores, and one of
/// them that waits is a core on which no other test runs.
package struct WaitingTests: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(WaitingThreads.shared) { try await function() }
    }
}

/// A few threads that live as long as the tests.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()
    private static let count = 4

    private struct State {
        var jobs: [UnownedJob] = []
        var threadCount = 0
    }

    private let state = Mutex(State())
    private let wake = Signal()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.threadCount < Self.count else { return false }
            state.threadCount += 1
            return true
        }
        if needsThread { _ = WorkerThread(name: "test-waiting") { [self] in work() } }
        wake.raise()
    }

    private func work() {
        while true {
            let (job, hasMore) = state.withLock { state in
                let job = state.jobs.isEmpty ? nil : state.jobs.removeFirst()
                return (job, !state.jobs.isEmpty)
            }
            // A signal wakes one thread, which passes it on.
            if hasMore { wake.raise() }
            if let job {
                // Safe: this thread is one of the executor's.
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            } else {
                wake.wait()
            }
        }
    }
}
