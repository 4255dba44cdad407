import DiarioLog
import DiarioStorage
import Synchronization

/// By which a build of read models or a query is ended early, and by which its end is heard of.
///
/// What it has done until then stays, and the next build goes on from there.
package final class BuildStop: Sendable {
    private let isAsked = Atomic(false)
    private let hasEnded = Signal()

    package init() {}

    var hasBeenAsked: Bool { isAsked.load(ordering: .relaxed) }

    /// Lets the build go no further than to the end of the transaction that it is in.
    package func ask() { isAsked.store(true, ordering: .relaxed) }

    /// Called by who builds wherever it may end.
    func check() throws(DiarioError) {
        if hasBeenAsked { throw DiarioError(LogError.closed) }
    }

    /// Said when nothing of the build goes on any more.
    func end() { hasEnded.raise() }

    /// Sleeps until `end` is called; for one thread alone.
    @available(*, noasync, message: "it holds a thread up that other tasks need")
    func waitForEnd() { hasEnded.wait() }
}
