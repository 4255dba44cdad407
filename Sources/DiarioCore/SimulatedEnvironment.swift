import Synchronization

/// A clock that stands still until it is told to move; for tests and the simulator.
package final class ManualClock: TimeSource, Sendable {
    private let milliseconds: Mutex<Int64>

    package init(milliseconds: Int64) { self.milliseconds = Mutex(milliseconds) }

    package var now: Timestamp { Timestamp(milliseconds: milliseconds.withLock { $0 }) }

    /// Moves the clock on, or back if `step` is negative, as a clock that is set does.
    package func advance(milliseconds step: Int64) { milliseconds.withLock { $0 += step } }

    package func set(milliseconds value: Int64) { milliseconds.withLock { $0 = value } }
}

/// Random bits that a seed repeats; for tests and the simulator, never for secrets.
package final class SeededEntropy: EntropySource, Sendable {
    private let random: Mutex<SeededRandom>

    package init(seed: UInt64) { random = Mutex(SeededRandom(seed: seed)) }

    package func next() -> UInt64 { random.withLock { $0.next() } }
}
