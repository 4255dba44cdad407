import Synchronization

/// Lets tasks wait until something was recorded.
final class ChangeSignal: Sendable {
    private struct State {
        var nextID: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())
    private let count = Atomic<UInt64>(0)
    /// True while somebody may wait; changed only with the lock of `state`.
    private let isAwaited = Atomic(false)

    /// Changes with every `raise`.
    var version: UInt64 { count.load(ordering: .sequentiallyConsistent) }

    func raise() {
        count.add(1, ordering: .sequentiallyConsistent)
        // Each append comes by here, and mostly nobody waits. Who begins to wait says so before he
        // looks at the count: one of the two sees the other.
        guard isAwaited.load(ordering: .sequentiallyConsistent) else { return }
        let waiting = state.withLock { state in
            isAwaited.store(false, ordering: .sequentiallyConsistent)
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until `raise` was called after `version` was read, at most for a while; or until the
    /// task is cancelled.
    func wait(after version: UInt64, atMost duration: Duration) async {
        await withTaskGroup { group in
            group.addTask { await self.wait(after: version) }
            group.addTask { try? await Task.sleep(for: duration) }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait(after version: UInt64) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    isAwaited.store(true, ordering: .sequentiallyConsistent)
                    guard self.version == version, !Task.isCancelled else { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
