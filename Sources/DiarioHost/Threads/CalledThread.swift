import DiarioStorage
import Synchronization

/// A thread that does its work each time it is called; made at the first call.
final class CalledThread: Sendable {
    /// The state of the thread, for callers that wait for its end.
    private final class Course: Sendable {
        private struct State: Sendable {
            var isBusy = false
            var hasEnded = false
            var waiting: [Signal] = []
        }

        private let state = Mutex(State())

        /// Begins a turn; false if there are no more turns.
        func begin() -> Bool {
            state.withLock { state in
                guard !state.hasEnded else { return false }
                state.isBusy = true
                return true
            }
        }

        func end() {
            let waiting = state.withLock { state in
                state.isBusy = false
                defer { state.waiting = [] }
                return state.waiting
            }
            for signal in waiting { signal.raise() }
        }

        /// Lets no more turns begin; gives a signal that is raised at the end of the one that is
        /// under way, if there is one.
        func finish() -> Signal? {
            state.withLock { state in
                state.hasEnded = true
                guard state.isBusy else { return nil }
                let signal = Signal()
                state.waiting.append(signal)
                return signal
            }
        }
    }

    private let wake = Signal()
    private let course = Course()
    private let thread = Mutex<WorkerThread?>(nil)
    /// False once there is nothing more to do, ever.
    ///
    /// Must not keep alive what calls the thread.
    private let work: @Sendable (Signal) -> Bool
    private let name: StaticString
    private let urgency: WorkerThread.Urgency

    /// `work` is given the signal by which it is called, should it want to wait for the next call.
    init(
        name: StaticString,
        urgency: WorkerThread.Urgency = .usual,
        _ work: @escaping @Sendable (Signal) -> Bool
    ) {
        self.name = name
        self.urgency = urgency
        self.work = work
    }

    deinit {
        // The thread finds out that there is nothing more to do, and ends.
        wake.raise()
    }

    func call() {
        thread.withLock { thread in
            guard thread == nil else { return }
            thread = WorkerThread(name: name, urgency: urgency) { [wake, course, work] in
                var goesOn = true
                while goesOn {
                    wake.wait()
                    guard course.begin() else { return }
                    goesOn = work(wake)
                    course.end()
                }
            }
        }
        wake.raise()
    }

    /// Lets the thread, if there is one, find out that there is nothing more to do.
    func end() { wake.raise() }

    /// Waits until the thread is done with what it is at; it does nothing more after this.
    ///
    /// Does not wait if it is the thread itself that calls.
    func finish() {
        let last = course.finish()
        wake.raise()
        guard let last, thread.withLock({ $0?.isCurrent }) == false else { return }
        last.wait()
    }
}
