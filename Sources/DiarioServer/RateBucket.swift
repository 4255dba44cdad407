package import DiarioCore

/// Lets so much through in a second, and so much more at once after a rest; knows no clock.
///
/// schema/format/control.md, section 6.
package struct RateBucket: Hashable, Sendable {
    private let perSecond: Int64
    /// The rest, in thousandths.
    private var level: Int64
    private let levelMax: Int64
    private var filled: Timestamp

    /// A full one; `atOnceMin` is what it must be able to let through at once.
    package init(perSecond: Int, atOnceMin: Int = 1, at now: Timestamp) {
        // So bounded, thousandths of what is asked for in ten seconds do not overflow.
        self.perSecond = Int64(min(max(perSecond, 1), 1 << 40))
        let burst = self.perSecond * Int64(Limits.rateBurstSecondsMax)
        levelMax = max(burst, Int64(atOnceMin)) * 1000
        level = levelMax
        filled = now
    }

    /// Takes `count` out; nil if that is let through, else how many seconds to wait.
    ///
    /// A clock that goes back gives nothing and takes nothing.
    package mutating func take(_ count: Int, at now: Timestamp) -> Int? {
        let passed = now.milliseconds.subtractingReportingOverflow(filled.milliseconds)
        let toFull = (levelMax - level) / perSecond + 1
        if passed.overflow || passed.partialValue >= toFull {
            if now > filled { level = levelMax }
        } else if passed.partialValue > 0 {
            level = min(levelMax, level + passed.partialValue * perSecond)
        }
        filled = now
        let wanted = min(Int64(clamping: count), levelMax / 1000) * 1000
        guard wanted > level else {
            level -= wanted
            return nil
        }
        let rate = perSecond * 1000
        return Int((wanted - level + rate - 1) / rate)
    }
}
