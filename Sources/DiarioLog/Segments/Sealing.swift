import DiarioCore
import DiarioFormat
import Synchronization

/// The part of a space that is sealed.
enum SealExtent {
    /// Complete runs.
    case complete
    /// Those, and what is left, in a short segment in whose place others come.
    case all
    /// The same, but short segments may be left to lie beside one another: for a tail that has to
    /// leave the log at little cost.
    case tail
}

/// The work of sealing in the background, and the plan that it learned.
final class Sealing: Sendable {
    private struct State: Sendable {
        /// Spaces with a run of events that no segment holds.
        var due: Set<SpaceID> = []
        /// The best plan of columns so far, for any space: a search for each would cost many times
        /// as much as writing them.
        var plan = SegmentPlan()
        /// The same for short segments.
        var tailPlan = SegmentPlan()
        /// Why sealing in the background failed last.
        var failure: LogError?
        /// Spaces in which it failed, and the mark from which on it is tried again.
        var retryMarks: [SpaceID: UInt64] = [:]
        /// True if the write-ahead log holds too much.
        var isCrowded = false
        /// Spaces whose tails are to be sealed because of that, the first last.
        var tails: [SpaceID] = []
        /// True once the thread was called for what is due.
        var isCalled = false
    }

    private let state = Mutex(State())

    /// True while the write-ahead log holds far too much: it is written faster than sealed.
    let isBehind = Atomic(false)

    /// True once the log is about to be closed: what is begun is ended, and nothing else begun.
    let isEnding = Atomic(false)

    /// True if the thread has to be called for what is due; says so once.
    func takeCall() -> Bool {
        state.withLock { state in
            guard !state.isCalled, !state.due.isEmpty || state.isCrowded else { return false }
            state.isCalled = true
            return true
        }
    }

    var isCrowded: Bool { state.withLock { $0.isCrowded } }

    /// Notes that a space has something to seal, at a mark that grows with its events; if that
    /// failed lately, only after `step` more of them.
    func note(_ space: SpaceID, mark: UInt64, step: UInt64) {
        state.withLock { state in
            if let retryMark = state.retryMarks[space] {
                guard mark >= retryMark else { return }
                state.retryMarks[space] = mark + step
            }
            state.due.insert(space)
        }
    }

    func note(_ space: SpaceID, failure: LogError, mark: UInt64, step: UInt64) {
        state.withLock { state in
            state.failure = failure
            state.retryMarks[space] = mark + step
        }
    }

    func noteSuccess(_ space: SpaceID) { state.withLock { $0.retryMarks[space] = nil } }

    func noteCrowded() {
        state.withLock { state in
            // Waiting calls need not wait any longer.
            if !state.isCrowded { state.isCalled = false }
            state.isCrowded = true
        }
    }

    /// The spaces that are due, which count as done from now on.
    func takeDue() -> [SpaceID] {
        state.withLock { state in
            defer {
                state.due.removeAll()
                state.isCrowded = false
                state.isCalled = false
            }
            return state.due.sorted()
        }
    }

    /// Takes spaces whose tails are to be sealed in this order, unless there are some already.
    func offer(_ tails: [SpaceID]) {
        state.withLock { if $0.tails.isEmpty { $0.tails = tails.reversed() } }
    }

    /// A space whose tail nobody else seals.
    func takeTail() -> SpaceID? { state.withLock { $0.tails.popLast() } }

    /// Forgets what was offered: by the next time other tails are the largest.
    func endRelief() { state.withLock { $0.tails.removeAll() } }

    func plan(_ extent: SealExtent) -> SegmentPlan {
        state.withLock { extent == .tail ? $0.tailPlan : $0.plan }
    }

    func keep(_ plan: SegmentPlan, _ extent: SealExtent) {
        // Spaces may have types of their own, without end.
        let kept = plan.columnCount > Self.columnCountMax ? SegmentPlan() : plan
        state.withLock { state in
            if extent == .tail { state.tailPlan = kept } else { state.plan = kept }
        }
    }

    private static let columnCountMax = 16_384

    var failure: LogError? { state.withLock { $0.failure } }
}
