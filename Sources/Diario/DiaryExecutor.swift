import DiarioStorage
import Synchronization

/// Runs what is isolated to a diary on a thread of its own: SQLite and the disk block, and must not
/// hold a thread that all tasks share.
package final class DiaryExecutor: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isEnded = false
        var hasThread = false
    }

    private let state = Mutex(State())
    private let wake = Signal()

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // All under the lock: once that is released, the thread may run the job, which may be the
        // last to hold the actor, and end. Nothing here is there any more then.
        state.withLock { state in
            state.jobs.append(job)
            if !state.hasThread {
                state.hasThread = true
                // The thread keeps the executor alive until it is ended.
                _ = WorkerThread(name: "diario-diary") { [self] in work() }
            }
            wake.raise()
        }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        // Safe: the actor that asks holds this executor as long as it lives.
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// Lets the thread end once it has nothing to do; a later job starts another one.
    package func end() {
        state.withLock { state in
            state.isEnded = true
            wake.raise()
        }
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
