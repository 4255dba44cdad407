import DiarioStorage
import Synchronization

/// A thread that does its work each time it is called; made at the first call.
final class CalledThread: Sendable {
    private let wake = Signal()
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
            thread = WorkerThread(name: name, urgency: urgency) { [wake, work] in
                repeat { wake.wait() } while work(wake)
            }
        }
        wake.raise()
    }

    /// Lets the thread, if there is one, find out that there is nothing more to do.
    func end() { wake.raise() }
}
