/// Sorts scalars into classes that no set of a pattern tells apart.
struct ScalarClasses {
    /// The class of each ASCII scalar.
    let asciiClasses: [UInt16]
    /// The starts of the intervals, ascending, from 0 on.
    private let starts: [UInt32]
    /// The class of each interval.
    private let intervalClasses: [UInt16]
    let count: Int
    /// For each class one bit for each set that holds its scalars, in whole words.
    private let members: [UInt64]
    private let wordCount: Int

    init(_ sets: [ScalarSet]) {
        var bounds: Set<UInt32> = [0]
        for range in sets.lazy.flatMap({ $0.ranges }) {
            bounds.insert(range.lowerBound)
            bounds.insert(range.upperBound + 1)
        }
        let starts = bounds.sorted()
        wordCount = (sets.count + 63) / 64
        var memberships = Array(
            repeating: [UInt64](repeating: 0, count: wordCount),
            count: starts.count
        )
        for (setIndex, set) in sets.enumerated() {
            for range in set.ranges {
                var interval = Self.interval(of: range.lowerBound, in: starts)
                while interval < starts.count, starts[interval] <= range.upperBound {
                    memberships[interval][setIndex / 64] |= 1 << UInt64(setIndex % 64)
                    interval += 1
                }
            }
        }
        var members: [[UInt64]] = []
        var classes: [[UInt64]: UInt16] = [:]
        intervalClasses = memberships.map { membership in
            if let known = classes[membership] { return known }
            let new = UInt16(members.count)
            classes[membership] = new
            members.append(membership)
            return new
        }
        self.starts = starts
        count = members.count
        self.members = Array(members.joined())
        let intervalClasses = intervalClasses
        asciiClasses = (0..<128).map { intervalClasses[Self.interval(of: $0, in: starts)] }
    }

    func contains(set: Int, class index: Int) -> Bool {
        members[index * wordCount + set / 64] >> UInt64(set % 64) & 1 == 1
    }

    func index(of scalar: UInt32) -> Int {
        Int(intervalClasses[Self.interval(of: scalar, in: starts)])
    }

    /// The last interval that starts at or before `scalar`.
    private static func interval(of scalar: UInt32, in starts: [UInt32]) -> Int {
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= scalar { low = middle } else { high = middle }
        }
        return low
    }
}
