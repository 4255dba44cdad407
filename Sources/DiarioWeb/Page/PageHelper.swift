import DiarioCore
package import DiarioLog
import Synchronization

/// Notes what is due in the log of a page, which has one thread: the page sees to it between calls.
package final class PageHelper: LogHelper {
    private struct State {
        // What a page did before it ended may have left something.
        var hashesAreDue = true
        var sealsAreDue = true
    }

    private let state = Mutex(State())

    package init() {}

    package func begin(_ log: LogStore) {}
    package func hashSoon() { state.withLock { $0.hashesAreDue = true } }
    package func sealSoon() { state.withLock { $0.sealsAreDue = true } }
    /// The page seals between two calls however much comes.
    package func pace() {}
    package func end() {}

    /// True once if events wait to be hashed.
    func takeHashes() -> Bool {
        state.withLock { state in
            defer { state.hashesAreDue = false }
            return state.hashesAreDue
        }
    }

    /// True once if something is to be sealed; from then on that is for the caller to do.
    func takeSeals() -> Bool {
        state.withLock { state in
            defer { state.sealsAreDue = false }
            return state.sealsAreDue
        }
    }
}
