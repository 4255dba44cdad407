import DiarioTransport
import Synchronization

/// Waits at the authority for news, beside a sync that goes on.
final class NewsListener: Sendable {
    /// Raised when there is something for the sync to do.
    let signal = ChangeSignal()
    private let state = Mutex(State())
    private let known = ChangeSignal()

    private struct State: Sendable {
        /// The authority's head as far as the sync knows; nil before its first rest.
        var head: UInt64?
        /// Its head as last heard; more than it can have if that is not known.
        var heard: UInt64 = 0
    }

    /// A wait that ends sooner without news is not begun again at once.
    private static let waitMin = Duration.seconds(1)

    /// The sync has learned how many events the authority has.
    func note(head: UInt64) {
        state.withLock { state in
            state.head = head
            if state.heard <= head { state.heard = 0 }
        }
        known.raise()
    }

    /// True if news were heard that the sync does not know yet; once for each.
    func takeNews() -> Bool {
        state.withLock { state in
            defer { state.heard = 0 }
            return state.heard > state.head ?? 0
        }
    }

    /// Goes on until the task is cancelled; after failures it waits as long as `pause`.
    func listen(to transport: some Transport, pausing pause: Duration) async {
        var hasFailed = false
        while !Task.isCancelled {
            let version = known.version
            let (head, isTold) = state.withLock { ($0.head, $0.heard > 0) }
            guard let head, !isTold else {
                await known.wait(after: version, atMost: .seconds(60))
                continue
            }
            let start = ContinuousClock.now
            do {
                if let found = try await transport.waitForNews(after: head) { tell(found) }
                hasFailed = false
                let isNew = state.withLock { $0.heard > 0 || $0.head != head }
                if !isNew, ContinuousClock.now - start < Self.waitMin {
                    try await Task.sleep(for: Self.waitMin)
                }
            } catch is CancellationError {
                return
            } catch {
                // The first time at once: the sync finds out by itself what is wrong.
                if hasFailed { try? await Task.sleep(for: pause) }
                hasFailed = true
                tell(.max)
            }
        }
    }

    /// Waits until something is recorded, or there are news.
    func rest(
        _ versions: (changes: UInt64, news: UInt64),
        _ changes: ChangeSignal,
        _ limit: Duration
    ) async {
        await withTaskGroup { group in
            group.addTask { await changes.wait(after: versions.changes, atMost: limit) }
            group.addTask { await self.signal.wait(after: versions.news, atMost: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    private func tell(_ found: UInt64) {
        let isNew = state.withLock { state in
            guard found > state.head ?? 0 else { return false }
            state.heard = found
            return true
        }
        if isNew { signal.raise() }
    }
}
