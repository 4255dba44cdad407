import DiarioCore

/// Turns evenly spread moments into those of people, who are asleep at night.
///
/// A moment counts from the start of the year, in units of which a day has `unitsPerDay`.
struct SimulatedYear: Sendable {
    static let dayCount = 365
    static let unitsPerDay: Int64 = 1 << 28
    static let unitCount = Int64(dayCount) * unitsPerDay
    /// 2025-01-01.
    private static let firstDay: Int64 = 20_089
    private static let millisecondsPerDay: Int64 = 86_400_000
    /// How much happens in each hour of a day.
    private static let hourWeights = [
        1, 1, 1, 1, 1, 2, 6, 9, 8, 6, 5, 6, 9, 9, 6, 5, 6, 7, 8, 9, 9, 7, 4, 2,
    ]
    private static let bucketBits: Int64 = 12

    /// The millisecond of the day at which each bucket of a day's moments begins, and the end.
    private let bucketStarts: [Int64]
    /// The days of the year as `2025-01-01`.
    let dates: [String]

    init() {
        let total = Self.hourWeights.reduce(0, +)
        var starts: [Int64] = []
        var (hour, before) = (0, 0)
        for bucket in 0..<1 << Self.bucketBits {
            let wanted = Double(bucket) / Double(1 << Self.bucketBits) * Double(total)
            while Double(before + Self.hourWeights[hour]) <= wanted {
                before += Self.hourWeights[hour]
                hour += 1
            }
            let part = (wanted - Double(before)) / Double(Self.hourWeights[hour])
            starts.append(Int64((Double(hour) + part) * 3_600_000))
        }
        bucketStarts = starts + [Self.millisecondsPerDay]
        dates = (0..<Self.dayCount).map { day in
            var text: [UInt8] = []
            CivilTime.appendDate(Self.firstDay + Int64(day), to: &text)
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// The day of the year, and the millisecond of that day.
    func time(at moment: Int64) -> (day: Int, millisecond: Int) {
        let clamped = max(0, min(moment, Self.unitCount - 1))
        let rest = clamped & (Self.unitsPerDay - 1)
        let bucketShift = 28 - Self.bucketBits
        let bucket = Int(rest >> bucketShift)
        let part = rest & (1 << bucketShift - 1)
        let span = bucketStarts[bucket + 1] - bucketStarts[bucket]
        let millisecond = bucketStarts[bucket] + (span * part) >> bucketShift
        return (Int(clamped >> 28), Int(millisecond))
    }
}
