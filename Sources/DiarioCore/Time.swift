/// A moment in UTC, in milliseconds since 1970 without leap seconds.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

/// A hybrid logical time: 47 bits of milliseconds and a 16-bit counter, monotone per replica.
public struct HybridTime: Hashable, Comparable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public init(milliseconds: Int64, counter: UInt16) {
        let clamped = UInt64(max(0, min(milliseconds, Self.millisecondsMax)))
        rawValue = clamped << 16 | UInt64(counter)
    }

    /// The last millisecond that 47 bits can hold: in the year 6429.
    public static let millisecondsMax: Int64 = 1 << 47 - 1

    public var milliseconds: Int64 { Int64(rawValue >> 16) }
    public var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

    /// The time of the next event, when the clock on the wall shows `now`.
    ///
    /// Always later than `self`, so a clock that goes back or stands still does no harm.
    public func next(at now: Timestamp) -> HybridTime {
        let wall = HybridTime(milliseconds: now.milliseconds, counter: 0)
        return wall > self ? wall : HybridTime(rawValue: rawValue + 1)
    }

    /// No clock of others is later: half of all are left for the events that follow, until the year
    /// 4199.
    package static let highest = HybridTime(rawValue: 1 << 62 - 1)

    /// True if events can be recorded at this wall-clock time: from the year 1 to 4199.
    ///
    /// Others refuse later ones. The bound here is an hour lower, so that the counter has room.
    package static func canFollow(_ now: Timestamp) -> Bool {
        CivilTime.millisecondsMin...highest.milliseconds - 3_600_000 ~= now.milliseconds
    }

    /// The time as far as it is believed of an event that was accepted at `acceptedAt`: a wrong
    /// clock neither wins for ever nor makes that of others wrong.
    package func believed(acceptedAt: Int64) -> HybridTime {
        let (bound, overflows) = acceptedAt.addingReportingOverflow(Limits.clockLeadMillisecondsMax)
        guard !overflows, milliseconds > max(bound, 0) else { return self }
        return HybridTime(milliseconds: bound, counter: .max)
    }

    /// The acceptance time of an event with this clock, after one accepted at `last`: `now`, or
    /// `last` if that is later.
    ///
    /// Moved on if the event's clock would otherwise not be believed. Events that its author had
    /// seen were accepted before, so it counts as later than they, even if the authority's clock
    /// does not advance.
    package func accepted(at now: Int64, after last: Int64) -> Int64 {
        let time = max(now, last)
        let lead = milliseconds - Limits.clockLeadMillisecondsMax - time
        guard lead > 0 else { return time }
        // A clock that continues from one that was just believed is ahead by a few milliseconds.
        let later = lead <= Self.stepMillisecondsMax ? time + lead : max(time, last + 1)
        return min(later, CivilTime.millisecondsMax)
    }

    private static let stepMillisecondsMax: Int64 = 10

    /// The later of both clocks, with the other limited to what is believed.
    ///
    /// So an event that follows another one is later than that.
    package func merged(with other: HybridTime, acceptedAt: Int64) -> HybridTime {
        max(self, other.believed(acceptedAt: acceptedAt))
    }

    public static func < (left: HybridTime, right: HybridTime) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// Tells the time; passed in wherever time matters, so that tests and the simulator own it.
public protocol TimeSource: AnyObject, Sendable {
    var now: Timestamp { get }
}

/// Gives random bits; passed in wherever chance matters, so that a seed repeats a run.
public protocol EntropySource: AnyObject, Sendable {
    /// 64 bits that nobody can guess.
    func next() -> UInt64
}
