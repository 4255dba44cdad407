import Synchronization

/// Counts how often it is called.
final class RingCounter: Sendable {
    private let calls = Mutex(0)

    func count() { calls.withLock { $0 += 1 } }

    var value: Int { calls.withLock { $0 } }
}
