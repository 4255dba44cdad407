/// A unit that people use, for a field that holds integers of a smaller one.
///
/// The name of a field ends with its unit: `lengthUm` is given in millimetres.
package struct HumanUnit: Sendable {
    /// The end of the names of fields.
    let suffix: String
    /// The unit that people use.
    package let symbol: String
    /// So many decimal places of it are one of the field's units.
    let places: Int
    /// Other units that a text may name, with their decimal places.
    let others: [(symbol: String, places: Int)]

    private static let all = [
        HumanUnit(
            suffix: "Um",
            symbol: "mm",
            places: 3,
            others: [("um", 0), ("cm", 4), ("m", 6)]
        ),
        HumanUnit(suffix: "Mpx", symbol: "px", places: 3, others: []),
        HumanUnit(suffix: "MicroG", symbol: "g", places: 6, others: []),
        HumanUnit(suffix: "Mdeg", symbol: "deg", places: 3, others: [("\u{b0}", 3)]),
        HumanUnit(suffix: "E7", symbol: "deg", places: 7, others: [("\u{b0}", 7)]),
        HumanUnit(suffix: "Mg", symbol: "g", places: 3, others: [("mg", 0), ("kg", 6)]),
        HumanUnit(suffix: "Mkcal", symbol: "kcal", places: 3, others: []),
    ]

    /// The unit for a field of this name; nil if its integers are what people write.
    package init?(of field: String) {
        guard
            let unit = Self.all.first(where: {
                field.hasSuffix($0.suffix) && field.utf8.count > $0.suffix.utf8.count
            })
        else { return nil }
        self = unit
    }

    private init(
        suffix: String,
        symbol: String,
        places: Int,
        others: [(symbol: String, places: Int)]
    ) {
        self.suffix = suffix
        self.symbol = symbol
        self.places = places
        self.others = others
    }

    /// The integer of a text such as `11,5`, `11.5` or `1.15 cm`, rounded half away from zero; nil
    /// if it is no number, or too large.
    package func integer(_ text: String) -> Int64? {
        var text = Self.trimmed(text[...])
        var places = places
        // Longer ones first: `mm` ends with `m`.
        for (symbol, other) in ([(symbol, places)] + others).sorted(by: { $0.0.count > $1.0.count })
        where text.hasSuffix(symbol) {
            text = Self.trimmed(text.dropLast(symbol.count))
            places = other
            break
        }
        return Self.scaled(text, places: places)
    }

    /// A decimal number times a power of ten, rounded half away from zero.
    static func scaled(_ text: Substring, places: Int) -> Int64? {
        let isNegative = text.hasPrefix("-")
        let parts = (isNegative ? text.dropFirst() : text).split(
            omittingEmptySubsequences: false,
            whereSeparator: { $0 == "." || $0 == "," }
        )
        guard parts.count <= 2, let whole = parts.first, !whole.isEmpty || parts.count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }),
            parts.contains(where: { !$0.isEmpty })
        else { return nil }
        let fraction = parts.count == 2 ? Array(parts[1].utf8) : []
        var value: Int64 = 0
        for digit in Array(whole.utf8)
            + (0..<places).map({ $0 < fraction.count ? fraction[$0] : 48 })
        {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, isOver) = product.addingReportingOverflow(Int64(digit) - 48)
            guard !overflow, !isOver else { return nil }
            value = sum
        }
        if fraction.count > places, fraction[places] >= 53 {
            let (sum, isOver) = value.addingReportingOverflow(1)
            guard !isOver else { return nil }
            value = sum
        }
        return isNegative ? -value : value
    }

    /// The number that people write for an integer of the field, with a point.
    package func text(_ value: Int64) -> String {
        let digits = String(value.magnitude)
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        var fraction = String(padded.suffix(places))
        while fraction.hasSuffix("0") { fraction.removeLast() }
        let whole = padded.dropLast(places)
        return (value < 0 ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " }
        guard let last = start.lastIndex(where: { $0 != " " }) else { return start }
        return start[...last]
    }
}
