import DiarioCore

/// A month of the year, whole: seasons begin with the first day of one and end with the last.
package struct Month: Equatable, Sendable {
    /// From 1 for January to 12 for December.
    package let number: Int

    /// A month by its number; nil outside 1 to 12.
    package init?(_ number: Int) {
        guard 1...12 ~= number else { return nil }
        self.number = number
    }

    /// The month of a day such as `2026-05-04`; nil if the calendar has no such day.
    package init?(ofDay text: String) {
        let bytes = Array(text.utf8)
        guard let days = CivilTime.parseDate(bytes.span) else { return nil }
        number = CivilTime.day(at: days).month
    }

    private init(at number: Int) { self.number = number }

    /// January to December.
    package static var all: [Month] { (1...12).map { Month(at: $0) } }
}
