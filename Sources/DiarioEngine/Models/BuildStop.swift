import DiarioCore
import DiarioLog
import DiarioStorage
import Synchronization

/// By which a build of read models, a query or a scan is ended early, and by which its end is heard
/// of.
///
/// What it has done until then stays, and the next build goes on from there.
package final class BuildStop: Sendable {
    private let isAsked = Atomic(false)
    private let hasEnded = Signal()
    /// By which it is asked as well.
    private let whole: BuildStop?

    /// For what ends with a `whole` as well.
    package init(with whole: BuildStop? = nil) { self.whole = whole }

    package var hasBeenAsked: Bool {
        isAsked.load(ordering: .relaxed) || whole?.hasBeenAsked ?? false
    }

    /// Lets the build go no further than to the end of the transaction that it is in.
    package func ask() { isAsked.store(true, ordering: .relaxed) }

    /// Called by who builds wherever it may end.
    package func check() throws(DiarioError) {
        if hasBeenAsked { throw DiarioError(LogError.closed) }
    }

    /// Acquires a lock that others may hold while they build.
    func acquire(_ lock: any DirectoryLock) throws(DiarioError) {
        do throws(StorageError) {
            let seconds = Limits.modelWaitSecondsMax
            try lock.acquire(waitSeconds: seconds, unless: { hasBeenAsked })
        } catch {
            try check()
            throw DiarioError(error)
        }
    }

    /// Said when nothing of the build goes on any more.
    package func end() { hasEnded.raise() }

    /// Sleeps until `end` is called; for one thread alone.
    @available(*, noasync, message: "it holds a thread up that other tasks need")
    package func waitForEnd() { hasEnded.wait() }
}
