import DiarioCore
import DiarioLog
package import DiarioStorage
import Synchronization

/// Asks a build of read models, a query or a scan to end early.
///
/// What it has done until then stays, and the next build goes on from there.
package final class BuildStop: Sendable {
    private let isAsked = Atomic(false)
    /// Asks it as well.
    private let whole: BuildStop?

    /// With `whole`, for what ends when that is asked as well.
    package init(with whole: BuildStop? = nil) { self.whole = whole }

    package var hasBeenAsked: Bool {
        isAsked.load(ordering: .relaxed) || whole?.hasBeenAsked ?? false
    }

    /// Lets the build go no further than to the end of the transaction that it is in.
    package func ask() { isAsked.store(true, ordering: .relaxed) }

    /// Throws once it was asked; called wherever the work may end.
    package func check() throws(DiarioError) {
        if hasBeenAsked { throw DiarioError(LogError.closed) }
    }

    /// Acquires a lock that others may hold while they build.
    package func acquire(_ lock: any DirectoryLock) throws(DiarioError) {
        do throws(StorageError) {
            let seconds = Limits.modelWaitSecondsMax
            try lock.acquire(waitSeconds: seconds, unless: { hasBeenAsked })
        } catch {
            try check()
            throw DiarioError(error)
        }
    }
}
