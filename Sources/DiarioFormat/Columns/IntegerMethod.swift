/// How a column of numbers is written: schema/format/segments.md, section 5.
enum IntegerMethod: Hashable, Sendable {
    case simple(SimpleMethod)
    case runs(SimpleMethod)
    case same(keys: [Int], SimpleMethod)
    case last(keys: [Int])
    case distinct(SimpleMethod, SimpleMethod)
    case offset(OffsetColumn, SimpleMethod)

    static let runsTag: UInt8 = 4
    static let sameTag: UInt8 = 5
    static let lastTag: UInt8 = 6
    static let distinctTag: UInt8 = 7
    static let offsetTag: UInt8 = 8
}

/// The methods that need nothing but the numbers themselves.
enum SimpleMethod: UInt8, Hashable, Sendable {
    case plain = 1
    case delta
    case new
}

/// A column that others are written as differences to.
enum OffsetColumn: UInt8, Hashable, Sendable {
    /// When the author says it happened.
    case time
    /// The day of that.
    case day

    /// This column for an event that happened at `milliseconds`.
    @inline(__always)
    func value(_ milliseconds: Int64) -> Int64 {
        switch self {
        case .time: return milliseconds
        case .day:
            let day = milliseconds / Self.dayMilliseconds
            return day - (milliseconds % Self.dayMilliseconds < 0 ? 1 : 0)
        }
    }

    private static let dayMilliseconds: Int64 = 86_400_000
}

/// What the columns of a block may refer to.
struct ColumnScope {
    /// Columns that can be keys.
    var keys: KeyLayer
    /// When the events of the rows happened, from the first wanted one on; nil if that is not
    /// known here.
    var times: [Int64]?
    /// The row that the times begin with.
    var firstTime = 0
    /// The rows that the column at hand has values for; nil if all.
    var present: [Int32]?

    init(keys: KeyLayer, times: [Int64]? = nil) {
        self.keys = keys
        self.times = times
    }

    /// The column named by `offset` for some of the rows that have a value; nil if it is not known.
    func values(of offset: OffsetColumn, _ wanted: Range<Int>) -> [Int64]? {
        guard let times else { return nil }
        let known = firstTime..<firstTime + times.count
        guard let present else {
            guard known.lowerBound <= wanted.lowerBound, wanted.upperBound <= known.upperBound
            else { return nil }
            return times[wanted.lowerBound - firstTime..<wanted.upperBound - firstTime]
                .map(offset.value)
        }
        guard wanted.upperBound <= present.count else { return nil }
        // Rows ascend.
        let rows = present[wanted]
        guard rows.allSatisfy({ known.contains(Int($0)) }) else { return nil }
        return rows.map { offset.value(times[Int($0) - firstTime]) }
    }
}
