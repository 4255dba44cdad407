package import DiarioCore
package import DiarioSQLite

/// A function that SQL of packs can call besides those of SQLite.
///
/// A pack that calls one names it in `needs` of its `pack.json`. The results of a version of a
/// function never change.
package enum EngineFunction: String, CaseIterable, Sendable {
    /// `day_of(ms, offset)`: the day on which an instant falls, `offset` minutes east of UTC.
    case dayOf = "day_of"
    /// `day_add(day, count)`: the day that comes so many days later.
    case dayAdd = "day_add"
    /// `day_diff(day, other)`: how many days `day` comes after `other`.
    case dayDifference = "day_diff"
    /// `weekday_of(day)`: 1 for Monday up to 7 for Sunday.
    case weekdayOf = "weekday_of"
    /// `text_key(text, kind)`: what texts are compared by, in the sense of `same` or `search`.
    case textKey = "text_key"

    package static let version = 1

    package var argumentCount: Int { self == .weekdayOf ? 1 : 2 }

    /// Gives its value; NULL if an argument is.
    package func callAsFunction(_ arguments: [SQLValue]) throws(FunctionError) -> SQLValue {
        guard !arguments.contains(.null) else { return .null }
        switch self {
        case .dayOf:
            let (time, offset) = (try integer(arguments[0]), try integer(arguments[1]))
            guard -1080...1080 ~= offset, CivilTime.contains(Timestamp(milliseconds: time)) else {
                throw FunctionError("day_of(\(time), \(offset)) is out of bounds")
            }
            return try day(at: (time + offset * 60_000).flooredQuotient(by: 86_400_000))
        case .dayAdd:
            let (sum, isTooMuch) = try days(arguments[0])
                .addingReportingOverflow(try integer(arguments[1]))
            guard !isTooMuch else { throw FunctionError("day_add leaves the years 0001 to 9999") }
            return try day(at: sum)
        case .dayDifference:
            return .integer(try days(arguments[0]) - days(arguments[1]))
        case .weekdayOf:
            // 1970 began on a Thursday.
            let days = try days(arguments[0]) + 3
            return .integer(days - 7 * days.flooredQuotient(by: 7) + 1)
        case .textKey: return .text(try textKey(arguments[0], arguments[1]))
        }
    }

    private func textKey(_ value: SQLValue, _ kind: SQLValue) throws(FunctionError) -> String {
        guard case .text(let text) = value else {
            throw FunctionError("text_key needs a text")
        }
        guard case .text(let name) = kind, let kind = TextKey.Kind(rawValue: name) else {
            throw FunctionError("text_key knows the kinds 'same' and 'search' alone")
        }
        guard text.utf8.count <= Limits.textKeySizeMax else {
            throw FunctionError("text_key takes at most \(Limits.textKeySizeMax) bytes")
        }
        return TextKey.of(text, kind)
    }

    private func integer(_ value: SQLValue) throws(FunctionError) -> Int64 {
        guard case .integer(let integer) = value else {
            throw FunctionError("\(rawValue) needs an integer")
        }
        return integer
    }

    private func days(_ value: SQLValue) throws(FunctionError) -> Int64 {
        guard case .text(let text) = value,
            let days = CivilTime.parseDate(Array(text.utf8).span)
        else { throw FunctionError("\(rawValue) needs a day, as in 2026-05-04") }
        return days
    }

    private func day(at days: Int64) throws(FunctionError) -> SQLValue {
        guard CivilTime.daysMin...CivilTime.daysMax ~= days else {
            throw FunctionError("\(rawValue) leaves the years 0001 to 9999")
        }
        var text: [UInt8] = []
        CivilTime.appendDate(days, to: &text)
        return .text(String(decoding: text, as: UTF8.self))
    }
}

extension Int64 {
    /// The quotient towards minus infinity.
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
