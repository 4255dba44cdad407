import DiarioCore
import DiarioSchema

/// The months in which a species reproduces, as a set: so it may go past the end of the year.
///
/// They are the thesis's table on reproduction, and no legal closure.
package struct Season: Equatable, Sendable {
    /// One bit for each closed month, January's the lowest.
    package let mask: Int

    /// A season by its mask; nil outside 0 (never closed) to 4095 (always).
    package init?(mask: Int) {
        guard 0...0xfff ~= mask else { return nil }
        self.mask = mask
    }

    package func isClosed(in month: Month) -> Bool { mask >> (month.number - 1) & 1 == 1 }

    /// The last month of the time in which it is as it is in this month; nil if it always is.
    package func lastMonth(from month: Month) -> Month? {
        let isClosed = isClosed(in: month)
        var last = month
        for step in 1...11 {
            guard let next = Month((month.number - 1 + step) % 12 + 1) else { return nil }
            if self.isClosed(in: next) != isClosed { return last }
            last = next
        }
        return nil
    }

    package func result(in month: Month) -> Fish.DateResult {
        isClosed(in: month) ? .reproducing : .inSeason
    }
}

extension Season {
    /// The months of a text such as `3,4` or `mar-apr` or `nov-feb`, by numbers or by names in
    /// Italian or English; `none` or `nessuno` for none; nil if it is none of these.
    package init?(months text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        if parts.count == 1, Self.noMonth.contains(where: { $0.hasBytes(of: Self.word(parts[0])) })
        {
            mask = 0
            return
        }
        var mask = 0
        for part in parts {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
                .map { Month(named: Self.word($0), isShort: true) }
            guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil else {
                return nil
            }
            let count = (last.number - first.number + 12) % 12
            for step in 0...count { mask |= 1 << ((first.number - 1 + step) % 12) }
        }
        self.mask = mask
    }

    private static var noMonth: [String] { ["none", "nessuno"] }

    /// In small letters, without blanks around it.
    private static func word(_ text: Substring) -> String {
        TextKey.of(String(text), .same)
    }
}

extension Season {
    /// The months that a curator gives.
    init(months text: String, field: String) throws(BrokenRule) {
        guard let season = Season(months: text) else { throw Fish.Rule.months(field, text) }
        self = season
    }
}
