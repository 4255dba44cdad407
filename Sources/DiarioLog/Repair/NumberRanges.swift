/// Numbers as ranges, in order, that neither overlap nor meet.
struct NumberRanges: Equatable {
    private(set) var ranges: [ClosedRange<UInt64>] = []

    init(_ list: [ClosedRange<UInt64>] = []) { for range in list { insert(range) } }

    var isEmpty: Bool { ranges.isEmpty }
    var first: UInt64? { ranges.first?.lowerBound }
    var last: UInt64? { ranges.last?.upperBound }

    mutating func insert(_ new: ClosedRange<UInt64>) {
        guard let end = ranges.last else { return ranges.append(new) }
        guard new.lowerBound <= end.upperBound + 1 else { return ranges.append(new) }
        // Mostly numbers come in order.
        if new.lowerBound >= end.lowerBound {
            let last = max(end.upperBound, new.upperBound)
            ranges[ranges.count - 1] = end.lowerBound...last
            return
        }
        var (low, high) = (new.lowerBound, new.upperBound)
        var kept: [ClosedRange<UInt64>] = []
        for range in ranges {
            if range.upperBound + 1 < low || high + 1 < range.lowerBound {
                kept.append(range)
            } else {
                (low, high) = (min(low, range.lowerBound), max(high, range.upperBound))
            }
        }
        kept.append(low...high)
        ranges = kept.sorted { $0.lowerBound < $1.lowerBound }
    }

    mutating func remove(_ gone: ClosedRange<UInt64>) {
        ranges = ranges.flatMap { range -> [ClosedRange<UInt64>] in
            guard range.overlaps(gone) else { return [range] }
            var rest: [ClosedRange<UInt64>] = []
            if range.lowerBound < gone.lowerBound {
                rest.append(range.lowerBound...gone.lowerBound - 1)
            }
            if range.upperBound > gone.upperBound {
                rest.append(gone.upperBound + 1...range.upperBound)
            }
            return rest
        }
    }

    /// The part of them that lies within `bounds`.
    func clamped(to bounds: ClosedRange<UInt64>) -> NumberRanges {
        var found = NumberRanges()
        found.ranges = ranges.filter { $0.overlaps(bounds) }.map { $0.clamped(to: bounds) }
        return found
    }

    /// How many numbers there are.
    var count: UInt64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) + 1 } }
}
