import Synchronization

/// A lock that may be held while a disk works; threads get it in the order in which they came.
package final class FairLock<Value: ~Copyable & Sendable>: Sendable {
    private struct State: ~Copyable, Sendable {
        /// Nil while a thread has it.
        var value: Placed<Value>?
        var takenAt = ContinuousClock.now
        /// True while the value is there for the first thread that waited.
        var isReserved = false
        var waiting: [Signal] = []

        mutating func take() -> Placed<Value>? {
            guard value != nil else { return nil }
            takenAt = .now
            return value.take()
        }

        mutating func takeIfFree() -> Placed<Value>? {
            waiting.isEmpty && !isReserved ? take() : nil
        }
    }

    private let state: Mutex<State>

    package init(_ value: consuming sending Value) {
        state = Mutex(State(value: Placed(value)))
    }

    /// Runs `body` with the value, when no other thread has it.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var value = take()
        do throws(Failure) {
            let result = try value.with(body)
            giveBack(value)
            return result
        } catch {
            giveBack(value)
            throw error
        }
    }

    /// For how long a thread has had the value at `now`; nothing if it is free.
    package func held(at now: ContinuousClock.Instant) -> Duration {
        state.withLock { $0.value == nil ? now - $0.takenAt : .zero }
    }

    private func take() -> Placed<Value> {
        if let value = state.withLock({ $0.takeIfFree() }) { return value }
        let signal = Signal()
        let value: Placed<Value>? = state.withLock { state in
            if let value = state.takeIfFree() { return value }
            state.waiting.append(signal)
            return nil
        }
        if let value { return value }
        signal.wait()
        let given = state.withLock { state in
            state.isReserved = false
            return state.take()
        }
        guard let given else { preconditionFailure("the thread that has the turn finds the value") }
        return given
    }

    private func giveBack(_ value: consuming Placed<Value>) {
        var value: Placed<Value>? = consume value
        let next: Signal? = state.withLock { state in
            state.value = value.take()
            guard !state.waiting.isEmpty else { return nil }
            state.isReserved = true
            return state.waiting.removeFirst()
        }
        next?.raise()
    }
}
