// Civil dates and RFC 3339 times as numbers, without Foundation, a locale or a time zone table.
//
// The calendar is the proleptic Gregorian one from 0001-01-01 to 9999-12-31. A leap second
// (`:60`) has no place in milliseconds since 1970 and is refused.

/// Reads and writes dates as days since 1970 and RFC 3339 times as milliseconds since 1970.
///
/// Reading takes ASCII bytes, allocates nothing and returns nil for anything else.
package enum CivilTime {
    /// A day of the calendar; month and day count from 1.
    package struct Day: Equatable, Sendable {
        package let year: Int
        package let month: Int
        package let day: Int

        package init(year: Int, month: Int, day: Int) {
            self.year = year
            self.month = month
            self.day = day
        }
    }

    /// 0001-01-01.
    package static let daysMin: Int64 = -719_162
    /// 9999-12-31.
    package static let daysMax: Int64 = 2_932_896
    /// 0001-01-01T00:00:00.000Z.
    package static let millisecondsMin: Int64 = daysMin * millisecondsPerDay
    /// 9999-12-31T23:59:59.999Z.
    package static let millisecondsMax: Int64 = (daysMax + 1) * millisecondsPerDay - 1

    private static let millisecondsPerDay: Int64 = 86_400_000

    /// The days from 1970-01-01 to `day`; nil if the calendar has no such day.
    package static func days(of day: Day) -> Int64? {
        guard 1...9999 ~= day.year, 1...12 ~= day.month, day.day >= 1 else { return nil }
        guard day.day <= dayCount(year: day.year, month: day.month) else { return nil }
        // A year that starts in March has its leap day last; 400 such years have 146,097 days.
        let year = day.month <= 2 ? day.year - 1 : day.year
        let monthFromMarch = (day.month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day.day - 1
        return Int64(365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468)
    }

    /// The day that is `days` after 1970-01-01, which must lie in the calendar.
    package static func day(at days: Int64) -> Day {
        precondition(daysMin...daysMax ~= days, "the calendar ends with the year 9999")
        let shifted = Int(days) + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return Day(
            year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0),
            month: month,
            day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }

    /// Reads `2026-11-20`, all of `text`.
    package static func parseDate(_ text: Span<UInt8>) -> Int64? {
        guard text.count == 10 else { return nil }
        return date(in: text)
    }

    /// Reads `2026-11-20T10:44:00.123Z` or the like, all of `text`.
    ///
    /// Any offset and any number of fraction digits; those beyond the third are cut off. `t` and
    /// `z` may be lower case. The moment must lie in the years 1 to 9999 of UTC.
    package static func parseDateTime(_ text: Span<UInt8>) -> Timestamp? {
        guard text.count >= 20, let days = date(in: text), text[10] | 0x20 == 0x74,
            let hour = number(in: text, at: 11, max: 23), text[13] == 0x3a,
            let minute = number(in: text, at: 14, max: 59), text[16] == 0x3a,
            let second = number(in: text, at: 17, max: 59)
        else { return nil }
        var offset = 19
        var fraction = 0
        if text[offset] == 0x2e {
            offset += 1
            let start = offset
            while offset < text.count, let digit = digit(text[offset]) {
                if offset - start < 3 { fraction = fraction * 10 + digit }
                offset += 1
            }
            guard offset > start else { return nil }
            for _ in min(offset - start, 3)..<3 { fraction *= 10 }
        }
        guard let zone = zoneMinutes(in: text, at: offset) else { return nil }
        let minutes = Int64(hour * 60 + minute - zone)
        let milliseconds =
            days * millisecondsPerDay + minutes * 60_000 + Int64(second * 1000 + fraction)
        guard millisecondsMin...millisecondsMax ~= milliseconds else { return nil }
        return Timestamp(milliseconds: milliseconds)
    }

    /// Writes `2026-11-20`.
    package static func appendDate(_ days: Int64, to output: inout [UInt8]) {
        let day = day(at: days)
        append(day.year / 100, to: &output)
        append(day.year % 100, to: &output)
        output.append(0x2d)
        append(day.month, to: &output)
        output.append(0x2d)
        append(day.day, to: &output)
    }

    /// Writes `2026-11-20T10:44:00.123Z`; the moment must lie in the calendar.
    package static func appendDateTime(_ time: Timestamp, to output: inout [UInt8]) {
        precondition(contains(time), "the calendar ends with the year 9999")
        var days = time.milliseconds / millisecondsPerDay
        var rest = time.milliseconds % millisecondsPerDay
        if rest < 0 {
            days -= 1
            rest += millisecondsPerDay
        }
        let milliseconds = Int(rest)
        appendDate(days, to: &output)
        output.append(0x54)
        append(milliseconds / 3_600_000, to: &output)
        output.append(0x3a)
        append(milliseconds / 60_000 % 60, to: &output)
        output.append(0x3a)
        append(milliseconds / 1000 % 60, to: &output)
        output.append(0x2e)
        output.append(0x30 + UInt8(milliseconds / 100 % 10))
        append(milliseconds % 100, to: &output)
        output.append(0x5a)
    }

    /// True if `time` can be written: it lies in the years 1 to 9999.
    package static func contains(_ time: Timestamp) -> Bool { contains(time.milliseconds) }

    /// True if so many milliseconds after 1970 can be written.
    package static func contains(_ milliseconds: Int64) -> Bool {
        millisecondsMin...millisecondsMax ~= milliseconds
    }

    /// The same moment, or else the one in the years 1 to 9999 that is nearest to it.
    package static func clamped(_ time: Timestamp) -> Timestamp {
        Timestamp(milliseconds: max(millisecondsMin, min(time.milliseconds, millisecondsMax)))
    }

    private static func dayCount(year: Int, month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days of the date that the first ten bytes spell.
    private static func date(in text: Span<UInt8>) -> Int64? {
        guard let century = number(in: text, at: 0, max: 99),
            let year = number(in: text, at: 2, max: 99), text[4] == 0x2d,
            let month = number(in: text, at: 5, max: 12), text[7] == 0x2d,
            let day = number(in: text, at: 8, max: 31)
        else { return nil }
        return days(of: Day(year: century * 100 + year, month: month, day: day))
    }

    /// The minutes by which local time is ahead of UTC, where `text` ends with its zone.
    private static func zoneMinutes(in text: Span<UInt8>, at offset: Int) -> Int? {
        guard offset < text.count else { return nil }
        if text[offset] | 0x20 == 0x7a { return offset + 1 == text.count ? 0 : nil }
        guard text[offset] == 0x2b || text[offset] == 0x2d, text.count == offset + 6,
            let hours = number(in: text, at: offset + 1, max: 23), text[offset + 3] == 0x3a,
            let minutes = number(in: text, at: offset + 4, max: 59)
        else { return nil }
        let ahead = hours * 60 + minutes
        return text[offset] == 0x2d ? -ahead : ahead
    }

    /// The two digits at `offset`, which `text` must hold.
    private static func number(in text: Span<UInt8>, at offset: Int, max: Int) -> Int? {
        guard let tens = digit(text[offset]), let ones = digit(text[offset + 1]) else { return nil }
        let value = tens * 10 + ones
        return value <= max ? value : nil
    }

    private static func digit(_ byte: UInt8) -> Int? {
        0x30...0x39 ~= byte ? Int(byte) - 0x30 : nil
    }

    private static func append(_ twoDigits: Int, to output: inout [UInt8]) {
        output.append(0x30 + UInt8(twoDigits / 10))
        output.append(0x30 + UInt8(twoDigits % 10))
    }
}
