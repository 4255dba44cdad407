package import DiarioCore

/// The state machine of a replica: schema/format/sync.md, section 7.
///
/// Knows nothing of disks and networks. Its driver asks for the next step, does it, and reports the
/// result.
package struct ReplicaMachine: Sendable {
    /// The state of the replica.
    package enum State: Hashable, Sendable {
        case pulling
        case pushing
        /// Looking for the size up to which the logs are the same.
        case comparing
        /// There is nothing to do but to wait for news.
        case live
        /// Until a time.
        case backingOff(until: Timestamp)
        /// Until `goOn` is called.
        case paused(Refusal)
    }

    /// A step for the driver.
    package enum Step: Hashable, Sendable {
        case pull
        case push
        case compare
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
    /// Failures since something last worked.
    private var failureCount = 0
    /// The planned milliseconds of the last wait.
    private var lastWait: Int64 = 0

    private static let delayMin: Int64 = 500
    private static let delayMax: Int64 = 60_000
    /// So long is waited at the most because the authority says so.
    private static let secondsMax: UInt64 = 3600

    package init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// The next step, given the number of own events without a verdict.
    package mutating func next(at now: Timestamp, unsent: Int) -> Step {
        switch state {
        case .backingOff(let until):
            // A clock that was set back would make the wait longer than planned.
            let rest = until.milliseconds - now.milliseconds
            guard rest <= 0 || rest > lastWait else { return .wait(until: until) }
            state = .pulling
            return .pull
        case .paused(let refusal): return .stop(refusal)
        case .pulling: return .pull
        case .comparing: return .compare
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

    /// An answer came: the next failure is the first one again.
    package mutating func worked() {
        failureCount = 0
        failure = nil
    }

    /// Pulled events were applied up to a position; the authority has `head` events.
    package mutating func pulled(through end: UInt64, of head: UInt64, unsent: Int) {
        guard end >= head else { return state = .pulling }
        state = unsent > 0 ? .pushing : .live
    }

    /// Verdicts came for pushed events; `isWhole` says that they were all that was unsent.
    package mutating func pushed(isWhole: Bool) {
        state = isWhole ? .pulling : .pushing
    }

    /// Own events are to be pushed before anything is pulled.
    package mutating func pushFirst() { state = .pushing }

    /// The logs are to be compared.
    package mutating func compare() { state = .comparing }

    /// The log is a part of the authority's again.
    package mutating func compared() { state = .pulling }

    /// There may be news of others.
    package mutating func heardOfNews() {
        if case .live = state { state = .pulling }
    }

    /// Ends a wait or a pause: the network is back, or a person asked for it.
    package mutating func goOn() {
        switch state {
        case .backingOff, .paused: state = .pulling
        case .pulling, .pushing, .comparing, .live: break
        }
    }

    /// The carrier failed, or its answer cannot be read.
    package mutating func failed(_ what: String, at now: Timestamp, secondsMin: UInt64 = 0) {
        failure = what
        let delay = min(Self.delayMin << Int64(min(failureCount, 16)), Self.delayMax)
        failureCount += 1
        let jittered = delay - Int64(random.below(Int(delay / 2) + 1))
        let least = Int64(min(secondsMin, Self.secondsMax)) * 1000
        lastWait = max(jittered, least)
        state = .backingOff(until: Timestamp(milliseconds: now.milliseconds + lastWait))
    }

    /// The authority does nothing about a request.
    package mutating func refused(_ refusal: Refusal, at now: Timestamp) {
        switch refusal.reason {
        case .tooFast, .full, .unavailable, .waiting:
            failed(refusal.message, at: now, secondsMin: refusal.number)
        case .malformed, .version, .unauthorized, .forbidden, .unknownSpace, .lineage, .epoch,
            .ahead, .diverged, .tooLarge, .noPack:
            state = .paused(refusal)
        }
    }
}
