import DiarioCore
import DiarioFormat

/// The bound of positions and sequences: what follows them can always be counted.
package enum LogNumber {
    /// None is higher: at a million events each second, it is reached after 146,000 years.
    package static let max: UInt64 = 1 << 62 - 1

    /// True if `count` numbers from `first` on are within the bound.
    package static func isValid(_ first: UInt64, count: UInt64) -> Bool {
        first >= 1 && count >= 1 && count <= max && first <= max - count + 1
    }

    /// True if the numbers of all rows are within the bound.
    static func areValid(_ rows: PlainRows) -> Bool {
        isValid(rows.run.firstSequence, count: rows.run.count)
            && isValid(rows.position ?? 1, count: rows.run.count)
    }
}
