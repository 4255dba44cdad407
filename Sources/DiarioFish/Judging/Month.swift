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

    /// The month that a text names: its number, or its Italian or English name in any case.
    ///
    /// The first three letters of a name are enough with `isShort`.
    package init?(named text: String, isShort: Bool = false) {
        let bytes = Array(text.utf8)
        if !bytes.isEmpty, bytes.count <= 2, bytes.allSatisfy({ 0x30...0x39 ~= $0 }) {
            self.init(bytes.reduce(0) { $0 * 10 + Int($1 - 0x30) })
            return
        }
        let key = TextKey.of(text, .same)
        let index = Self.names.firstIndex { name in
            [name.italian, name.english].contains {
                isShort && key.utf8.count >= 3 ? $0.hasPrefix(key) : $0.hasBytes(of: key)
            }
        }
        guard let index else { return nil }
        self.init(at: index + 1)
    }

    /// The Italian name, in small letters.
    package var italianName: String { Self.names[number - 1].italian }

    private static var names: [(italian: String, english: String)] {
        [
            ("gennaio", "january"), ("febbraio", "february"), ("marzo", "march"),
            ("aprile", "april"), ("maggio", "may"), ("giugno", "june"), ("luglio", "july"),
            ("agosto", "august"), ("settembre", "september"), ("ottobre", "october"),
            ("novembre", "november"), ("dicembre", "december"),
        ]
    }

    private init(at number: Int) { self.number = number }

    /// January to December.
    package static var all: [Month] { (1...12).map { Month(at: $0) } }
}
