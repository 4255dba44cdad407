import Synchronization

/// Lets tasks wait until something was recorded.
final class ChangeSignal: Sendable {
    private struct State {
        var version: UInt64 = 0
        var nextID: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// Changes with every `raise`.
    var version: UInt64 { state.withLock { $0.version } }

    func raise() {
        let waiting = state.withLock { state in
            state.version += 1
            // Each append comes by here, and mostly nobody waits.
            guard !state.waiting.isEmpty else { return [CheckedContinuation<Void, Never>]() }
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
                    guard state.version == version, !Task.isCancelled else { return true }
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
