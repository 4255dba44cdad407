/// A day of the calendar, without a time and without a zone: a `date` of a schema.
///
/// The calendar is the Gregorian one, from the year 1 to the year 9999.
public struct CivilDay: Hashable, Comparable, Sendable {
    /// The days from 1970-01-01 to this day; negative before.
    public let daysSince1970: Int

    /// The day that comes so many days after 1970-01-01; nil if the calendar does not have it.
    public init?(daysSince1970: Int) {
        guard CivilTime.daysMin...CivilTime.daysMax ~= Int64(daysSince1970) else { return nil }
        self.daysSince1970 = daysSince1970
    }

    /// A day of a month of a year, the month from 1 to 12; nil if there is none.
    public init?(year: Int, month: Int, day: Int) {
        let day = CivilTime.Day(year: year, month: month, day: day)
        guard let days = CivilTime.days(of: day) else { return nil }
        daysSince1970 = Int(days)
    }

    /// Reads `2026-05-04`; nil for anything else.
    public init?(text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard let days = CivilTime.parseDate(bytes.span) else { return nil }
        daysSince1970 = Int(days)
    }

    /// The day as `2026-05-04`.
    public var text: String {
        var bytes: [UInt8] = []
        CivilTime.appendDate(Int64(daysSince1970), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// From 1 to 9999.
    public var year: Int { parts.year }
    /// From 1 to 12.
    public var month: Int { parts.month }
    /// The day of the month, from 1.
    public var day: Int { parts.day }

    private var parts: CivilTime.Day { CivilTime.day(at: Int64(daysSince1970)) }

    public static func < (left: CivilDay, right: CivilDay) -> Bool {
        left.daysSince1970 < right.daysSince1970
    }
}
