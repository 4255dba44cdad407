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

    package func result(in month: Month) -> Fish.DateResult {
        isClosed(in: month) ? .reproducing : .inSeason
    }
}
