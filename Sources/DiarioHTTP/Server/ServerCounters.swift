import Synchronization

/// Counters of a server since its start, for `/metrics`.
///
/// Made before the server, so that its handler can show it.
package final class ServerCounters: Sendable {
    /// Upper ends of the steps of `handlerSeconds`; the last step has none.
    package static let stepsSeconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

    // Atomic, because they are only shown to people: nothing is decided by them.
    private let informational = Atomic(0)
    private let successful = Atomic(0)
    private let redirected = Atomic(0)
    private let clientErrors = Atomic(0)
    private let serverErrors = Atomic(0)
    private let broken = Atomic(0)
    private let refused = Atomic(0)
    private let received = Atomic(0)
    private let sent = Atomic(0)
    let waiting = Atomic(0)
    let live = Atomic(0)
    private let times = Mutex(Times())
    private let gauges = Mutex<(@Sendable () -> Gauges)?>(nil)

    /// Current values that the server knows itself.
    struct Gauges {
        var openConnections = 0
        var queued = 0
        var late = 0
        var isSlow = false
        var readingsRunning = 0
        var readingsWaiting = 0
    }

    private struct Times {
        var counts = [Int](repeating: 0, count: ServerCounters.stepsSeconds.count + 1)
        var total = 0.0
    }

    /// The counters at one moment.
    package struct Snapshot: Hashable, Sendable {
        /// Answers by the first digit of their status, 1 to 5.
        package var answersByClass: [Int: Int] = [:]
        /// Requests whose connection ended before their answer was sent whole.
        package var brokenOff = 0
        /// Requests that were turned away because there was too much to do.
        package var refused = 0
        /// Of bodies, without heads.
        package var bytesReceived = 0
        package var bytesSent = 0
        package var openConnections = 0
        /// Requests that wait for news.
        package var waiting = 0
        /// Live streams that are open.
        package var live = 0
        /// Requests that wait for a worker.
        package var queued = 0
        /// Requests that waited for one longer than `Limits.slowWaitSecondsMax`.
        package var late = 0
        /// True if one waits for that long now.
        package var isSlow = false
        /// Questions and scans that run, and those that wait for their turn.
        package var readingsRunning = 0
        package var readingsWaiting = 0
        /// How often the handler took that long: one count for each of `stepsSeconds`, and one
        /// for more; not added up.
        package var handlerCounts: [Int] = []
        package var handlerSeconds = 0.0

        package init() {}
    }

    package init() {}

    func countAnswer(_ record: RequestRecord, isWhole: Bool) {
        switch record.status / 100 {
        case 1: informational.add(1, ordering: .relaxed)
        case 2: successful.add(1, ordering: .relaxed)
        case 3: redirected.add(1, ordering: .relaxed)
        case 4: clientErrors.add(1, ordering: .relaxed)
        case 5: serverErrors.add(1, ordering: .relaxed)
        // It was never answered, because the client went away before.
        default: break
        }
        received.add(record.received, ordering: .relaxed)
        sent.add(record.sent, ordering: .relaxed)
        if !isWhole { broken.add(1, ordering: .relaxed) }
    }

    func countRefusal() { refused.add(1, ordering: .relaxed) }

    func countHandling(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        let length = Double(seconds) + Double(attoseconds) / 1e18
        let steps = Self.stepsSeconds
        let step = steps.firstIndex { length <= $0 } ?? steps.count
        times.withLock { times in
            times.counts[step] += 1
            times.total += length
        }
    }

    /// Sets who is asked for the gauges, while the server runs.
    func use(_ gauges: (@Sendable () -> Gauges)?) { self.gauges.withLock { $0 = gauges } }

    /// The counters as they are now; each is right by itself.
    package func snapshot() -> Snapshot {
        // Called under the lock, so that the server does not end meanwhile; the callee takes other
        // locks, and no holder of those comes here.
        let gauges = gauges.withLock { $0?() } ?? Gauges()
        var snapshot = Snapshot()
        snapshot.answersByClass = [
            1: informational.value, 2: successful.value, 3: redirected.value,
            4: clientErrors.value, 5: serverErrors.value,
        ]
        snapshot.brokenOff = broken.value
        snapshot.refused = refused.value
        snapshot.bytesReceived = received.value
        snapshot.bytesSent = sent.value
        snapshot.openConnections = gauges.openConnections
        snapshot.waiting = waiting.value
        snapshot.live = live.value
        snapshot.queued = gauges.queued
        snapshot.late = gauges.late
        snapshot.isSlow = gauges.isSlow
        snapshot.readingsRunning = gauges.readingsRunning
        snapshot.readingsWaiting = gauges.readingsWaiting
        (snapshot.handlerCounts, snapshot.handlerSeconds) = times.withLock {
            ($0.counts, $0.total)
        }
        return snapshot
    }
}

extension Atomic<Int> {
    var value: Int { load(ordering: .relaxed) }
}
