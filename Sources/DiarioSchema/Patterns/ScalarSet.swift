/// A set of Unicode scalar values, as sorted ranges that neither overlap nor touch.
struct ScalarSet: Hashable {
    private(set) var ranges: [ClosedRange<UInt32>]

    private static let scalarMax: UInt32 = 0x10ffff

    init(_ ranges: [ClosedRange<UInt32>]) {
        self.ranges = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = self.ranges.last, range.lowerBound <= last.upperBound + 1 {
                let upperBound = max(last.upperBound, range.upperBound)
                self.ranges[self.ranges.count - 1] = last.lowerBound...upperBound
            } else {
                self.ranges.append(range)
            }
        }
    }

    /// Every scalar that is not in this set.
    var inverted: ScalarSet {
        var gaps: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { gaps.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= Self.scalarMax { gaps.append(next...Self.scalarMax) }
        return ScalarSet(gaps)
    }

    // The classes as ECMA-262 defines them: digits and words are ASCII, white space is Unicode's.

    static let digits = ScalarSet([0x30...0x39])
    static let words = ScalarSet([0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a])
    static let spaces = ScalarSet([
        0x09...0x0d, 0x20...0x20, 0xa0...0xa0, 0x1680...0x1680, 0x2000...0x200a, 0x2028...0x2029,
        0x202f...0x202f, 0x205f...0x205f, 0x3000...0x3000, 0xfeff...0xfeff,
    ])
    /// The scalars that `.` matches: all but the ends of lines.
    static let notLineEnds = ScalarSet([0x0a...0x0a, 0x0d...0x0d, 0x2028...0x2029]).inverted
}
