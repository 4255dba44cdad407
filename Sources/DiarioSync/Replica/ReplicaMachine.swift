package import DiarioCore

/// What a replica does next, and what an answer means for that: the state table of
/// schema/format/sync.md, section 7.
///
/// Knows nothing of disks and networks. Whoever drives it asks for the next step, does it, and says
/// what came of it.
package struct ReplicaMachine: Sendable {
    /// Where the replica stands.
    package enum State: Hashable, Sendable {
        case pulling
        case pushing
        /// There is nothing to do but to wait for news.
        case live
        /// Until a time; the count of failures in a row.
        case backingOff(until: Timestamp, failures: Int)
        /// Until somebody says to go on.
        case paused(Refusal)
    }

    /// What is to be done.
    package enum Step: Hashable, Sendable {
        case pull
        case push
        case wait(until: Timestamp)
        /// For own events or for news of others.
        case rest
        /// For a person.
        case stop(Refusal)
    }

    package private(set) var state = State.pulling
    /// The last failure that was no pause; nil once something worked.
    package private(set) var failure: String?
    private var random: SeededRandom

    private static let delayMin: Int64 = 500
    private static let delayMax: Int64 = 60_000

    package init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// What is to be done now, if so many own events have no verdict yet.
    package mutating func next(at now: Timestamp, unsent: Int) -> Step {
        switch state {
        case .backingOff(let until, _):
            // A clock that was set back would make the wait longer than it was meant to be.
            let rest = until.milliseconds - now.milliseconds
            guard rest <= 0 || rest > lastWait else { return .wait(until: until) }
            state = .pulling
            return .pull
        case .paused(let refusal): return .stop(refusal)
        case .pulling: return .pull
        case .pushing:
            guard unsent > 0 else {
                state = .pulling
                return .pull
            }
            return .push
        case .live:
            guard unsent > 0 else { return .rest }
            state = .pushing
            return .push
        }
    }

    /// News were taken up to a position, of so many that the authority has.
    package mutating func pulled(through end: UInt64, of head: UInt64, unsent: Int) {
        failure = nil
        guard end >= head else { return state = .pulling }
        state = unsent > 0 ? .pushing : .live
    }

    /// Verdicts came for pushed events; `isWhole` says that they were all that was unsent.
    package mutating func pushed(isWhole: Bool) {
        failure = nil
        state = isWhole ? .pulling : .pushing
    }

    /// There may be news of others.
    package mutating func heardOfNews() {
        if case .live = state { state = .pulling }
    }

    /// The network is there again, or a person says so: what waits need not wait any longer.
    package mutating func goOn() {
        switch state {
        case .backingOff, .paused: state = .pulling
        case .pulling, .pushing, .live: break
        }
    }

    /// The carrier failed, or what it brought cannot be read.
    package mutating func failed(_ what: String, at now: Timestamp, secondsMin: UInt64 = 0) {
        failure = what
        var failures = 1
        if case .backingOff(_, let before) = state { failures = before + 1 }
        failures = max(failures, failureCount + 1)
        failureCount = failures
        let steps = min(failures - 1, 16)
        let delay = min(Self.delayMin << Int64(steps), Self.delayMax)
        let least = Int64(clamping: secondsMin.multipliedReportingOverflow(by: 1000).partialValue)
        let jittered = delay - Int64(random.below(Int(delay / 2) + 1))
        let wait = max(jittered, min(least, 3_600_000))
        lastWait = wait
        state = .backingOff(
            until: Timestamp(milliseconds: now.milliseconds + wait),
            failures: failures
        )
    }

    /// Failures since something last worked.
    private var failureCount = 0
    /// Milliseconds that the last wait was meant to take.
    private var lastWait: Int64 = 0

    /// Something worked: the next failure is the first one again.
    package mutating func worked() { failureCount = 0 }

    /// The authority does nothing about a request.
    package mutating func refused(_ refusal: Refusal, at now: Timestamp) {
        switch refusal.reason {
        case .tooFast, .full, .unavailable:
            failed(refusal.message, at: now, secondsMin: refusal.number)
        case .malformed, .version, .unauthorized, .forbidden, .unknownSpace, .lineage, .epoch,
            .ahead, .diverged, .tooLarge, .noPack:
            state = .paused(refusal)
        }
    }
}
