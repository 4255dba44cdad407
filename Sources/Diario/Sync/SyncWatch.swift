import Synchronization

/// Publishes the state of the sync, and allows one sync at a time.
final class SyncWatch: Sendable {
    private struct State: Sendable {
        var isSyncing = false
        var status = SyncStatus()
        var nextID: UInt64 = 0
        var listeners: [UInt64: AsyncStream<SyncStatus>.Continuation] = [:]
    }

    private let state = Mutex(State())

    /// False if a sync is under way already.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.isSyncing = true }
            return !state.isSyncing
        }
    }

    func end(_ status: SyncStatus) {
        state.withLock { $0.isSyncing = false }
        var last = status
        if last.phase != .paused { last.phase = .offline }
        show(last)
    }

    /// True while nothing is left to do for events.
    var isUpToDate: Bool { state.withLock { $0.isSyncing && $0.status.phase == .upToDate } }

    /// Says why no sync goes on, unless that is known already.
    func note(failure: String) {
        var status = state.withLock { $0.status }
        guard status.lastError == nil else { return }
        status.lastError = failure
        show(status)
    }

    func show(_ status: SyncStatus) {
        let listeners = state.withLock { state in
            guard state.status != status else { return [AsyncStream<SyncStatus>.Continuation]() }
            state.status = status
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(status) }
    }

    func statuses() -> AsyncStream<SyncStatus> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let (id, status) = state.withLock { state in
                state.nextID += 1
                state.listeners[state.nextID] = continuation
                return (state.nextID, state.status)
            }
            continuation.yield(status)
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.listeners[id] = nil }
            }
        }
    }
}
