import Synchronization

/// Tells those who wait for news of a space that there may be some.
package final class Bell: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        var nextID: UInt64 = 0
        var listeners: [UInt64: @Sendable () -> Void] = [:]
    }

    package init() {}

    /// Calls all who listen, on the caller's thread.
    package func ring() {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener() }
    }

    /// Calls `body` each time the bell rings, until `ignore`; it must be quick.
    ///
    /// Whoever listens looks once more afterwards: what happened before is not told again.
    package func listen(_ body: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.nextID += 1
            state.listeners[state.nextID] = body
            return state.nextID
        }
    }

    package func ignore(_ id: UInt64) {
        state.withLock { $0.listeners[id] = nil }
    }

    package var listenerCount: Int { state.withLock { $0.listeners.count } }
}
