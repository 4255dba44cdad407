import DiarioCore
package import DiarioLog
import Synchronization

/// Notes what is due in the log of a page, which has one thread: the page sees to it between calls.
package final class PageHelper: LogHelper {
    private struct State {
        /// Until `end`, so that nothing of it is looked for behind that.
        var log: LogStore?
        var hashesAreDue = false
        var sealsAreDue = false
    }

    private let state = Mutex(State())

    package init() {}

    package func begin(_ log: LogStore) { state.withLock { $0.log = log } }
    package func hashSoon() { state.withLock { $0.hashesAreDue = true } }
    package func sealSoon() { state.withLock { $0.sealsAreDue = true } }
    /// The page seals between two calls however much comes.
    package func pace() {}
    package func end() { state.withLock { $0 = State() } }

    /// Hashes what waits for that; true if something did.
    func hash() -> Bool {
        let log = state.withLock { state in
            defer { state.hashesAreDue = false }
            return state.hashesAreDue ? state.log : nil
        }
        log?.hashDue()
        return log != nil
    }

    /// The log, if something is to be sealed; from then on that is for the caller to do.
    func takeSeals() -> LogStore? {
        state.withLock { state in
            defer { state.sealsAreDue = false }
            return state.sealsAreDue ? state.log : nil
        }
    }
}
