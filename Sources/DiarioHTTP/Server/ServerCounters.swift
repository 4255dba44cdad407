import Synchronization

/// Counters of a server since its start, for `/metrics`.
///
/// Made before the server, so that its handler can show it.
package final class ServerCounters: Sendable {
    /// Upper ends of the steps of `handlerSeconds`; the last step has none.
    package static let stepsSeconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

    private let counts: Mutex<Snapshot>
    private let gauges = Mutex<(@Sendable (inout Snapshot) -> Void)?>(nil)

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
        /// Requests whose answer took that long, each once: one count for each of `stepsSeconds`,
        /// and one for more; not added up.
        package var handlerCounts: [Int] = []
        package var handlerSeconds = 0.0

        package init() {}
    }

    package init() {
        var counts = Snapshot()
        for digit in 1...5 { counts.answersByClass[digit] = 0 }
        counts.handlerCounts = Array(repeating: 0, count: Self.stepsSeconds.count + 1)
        self.counts = Mutex(counts)
    }

    func countAnswer(_ record: RequestRecord, isWhole: Bool) {
        counts.withLock { counts in
            // One with 0 was never answered, because the client went away before.
            if record.status > 0 { counts.answersByClass[record.status / 100, default: 0] += 1 }
            counts.bytesReceived += record.received
            counts.bytesSent += record.sent
            if !isWhole { counts.brokenOff += 1 }
            let (seconds, attoseconds) = record.handling.components
            let length = Double(seconds) + Double(attoseconds) / 1e18
            let steps = Self.stepsSeconds
            counts.handlerCounts[steps.firstIndex { length <= $0 } ?? steps.count] += 1
            counts.handlerSeconds += length
        }
    }

    func countRefusal() { counts.withLock { $0.refused += 1 } }

    /// Counts one more that waits for news; false if as many do as may.
    func begin(_ kind: any WritableKeyPath<Snapshot, Int> & Sendable, countMax: Int) -> Bool {
        counts.withLock { counts in
            guard counts.waiting + counts.live < countMax else { return false }
            counts[keyPath: kind] += 1
            return true
        }
    }

    func end(_ kind: any WritableKeyPath<Snapshot, Int> & Sendable) {
        counts.withLock { $0[keyPath: kind] -= 1 }
    }

    /// Sets who adds what the server knows itself, while it runs.
    func use(_ gauges: (@Sendable (inout Snapshot) -> Void)?) {
        self.gauges.withLock { $0 = gauges }
    }

    /// The counters as they are now.
    package func snapshot() -> Snapshot {
        var snapshot = counts.withLock { $0 }
        // Called under the lock, so that the server does not end meanwhile; the callee takes other
        // locks, and no holder of those comes here.
        gauges.withLock { $0?(&snapshot) }
        return snapshot
    }
}
