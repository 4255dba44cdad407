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

    /// Acquires a lock that others may hold while they build; once it was asked, it waits no longer
    /// than a second.
    package func acquire(_ lock: any DirectoryLock) throws(DiarioError) {
        for second in 1...Limits.modelWaitSecondsMax {
            do throws(StorageError) { return try lock.acquire(waitSeconds: 1) } catch {
                try check()
                guard case .locked = error, second < Limits.modelWaitSecondsMax else {
                    throw DiarioError(error)
                }
            }
        }
    }
}
