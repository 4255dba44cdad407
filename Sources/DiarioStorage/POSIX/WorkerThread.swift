import CPlatform

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A thread of our own, for work that blocks: such work must not hold a thread of the shared pool.
///
/// It runs until its body returns, whoever lets go of this object before.
package final class WorkerThread: Sendable {
    /// Whether somebody waits for what a thread does.
    package enum Urgency: Sendable {
        /// It runs as soon as any other.
        case usual
        /// Others go before it.
        case low
    }

    private final class Start: Sendable {
        let name: StaticString
        let urgency: Urgency
        let body: @Sendable () -> Void
        init(name: StaticString, urgency: Urgency, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.urgency = urgency
            self.body = body
        }
    }

    private let thread: pthread_t

    /// Starts a thread that runs `body` to its end.
    ///
    /// `name`, of at most 15 bytes, is what the system's tools show, so that who runs a program can
    /// see what it is busy with.
    package init(
        name: StaticString,
        urgency: Urgency = .usual,
        _ body: @escaping @Sendable () -> Void
    ) {
        let contents = Start(name: name, urgency: urgency, body: body)
        // Safe: the reference is kept for the new thread, which takes it over.
        let start = unsafe Unmanaged.passRetained(contents).toOpaque()
        #if canImport(Darwin)
        var started: pthread_t?
        #else
        var started = pthread_t()
        #endif
        // The new thread takes over the reference that `start` holds.
        let code = unsafe pthread_create(&started, nil, runWorker, start)
        precondition(code == 0, "a process that cannot start a thread cannot go on")
        #if canImport(Darwin)
        guard let started = unsafe started else { preconditionFailure("pthread_create set it") }
        #endif
        thread = started
    }

    /// How many threads run at once.
    package static let processorCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// Whether it is this thread that asks.
    package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

    /// The thread goes on to its end, and the system takes back what it used then.
    deinit { pthread_detach(thread) }
}

extension WorkerThread {
    fileprivate static func run(_ start: UnsafeMutableRawPointer) {
        // Safe: `init` passed this reference on, once.
        let start = unsafe Unmanaged<Start>.fromOpaque(start).takeRetainedValue()
        start.name.withUTF8Buffer { name in
            unsafe diario_name_thread(name.baseAddress, name.count)
        }
        if start.urgency == .low { diario_yield_priority() }
        start.body()
    }
}

#if canImport(Darwin)
private func runWorker(_ start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    // Safe: the pointer is the one that `pthread_create` was given.
    unsafe WorkerThread.run(start)
    return nil
}
#else
private func runWorker(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // Safe: the pointer is the one that `pthread_create` was given.
    if let start = unsafe start { unsafe WorkerThread.run(start) }
    return nil
}
#endif
