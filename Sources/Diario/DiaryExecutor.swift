import DiarioStorage
import Synchronization

/// Runs what is isolated to a diary on a thread of its own: SQLite and the disk block, and must not
/// hold a thread that all tasks share.
final class DiaryExecutor: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isEnded = false
        var hasThread = false
    }

    private let state = Mutex(State())
    private let wake = Signal()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        // The thread keeps the executor alive until it is ended: a job may be the last to hold it.
        if needsThread { _ = WorkerThread(name: "diario-diary") { [self] in work() } }
        wake.raise()
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        // Safe: the actor that asks holds this executor as long as it lives.
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// Lets the thread end once it has nothing to do; a later job starts another one.
    func end() {
        state.withLock { $0.isEnded = true }
        wake.raise()
    }

    private func work() {
        while true {
            let (jobs, isEnded) = state.withLock { state in
                let jobs = state.jobs
                state.jobs = []
                let isEnded = state.isEnded && jobs.isEmpty
                if isEnded {
                    state.isEnded = false
                    state.hasThread = false
                }
                return (jobs, isEnded)
            }
            if isEnded { return }
            // Safe: each job is run once, here, on the executor that it was given to.
            for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
            if jobs.isEmpty { wake.wait() }
        }
    }
}
