import DiarioSchema

extension Fish.Unit {
    /// The lengths that a report may have, in micrometres.
    static let range: ClosedRange<Int64> = 1000...5_000_000

    /// The micrometres of a text such as `113`, `11,3 cm` or `113 mm`; nil if it is no length of a
    /// report.
    package func um(_ text: String) -> Int64? {
        // All units that there are end with it.
        let isNamed = text.utf8.last { $0 != 0x20 } == UInt8(ascii: "m")
        let named = isNamed ? text : "\(text) \(rawValue)"
        guard let um = HumanUnit(of: "lengthUm")?.integer(named), Self.range.contains(um) else {
            return nil
        }
        return um
    }

    /// A length as a bare number with a point and no more decimals than it needs, such as `11.5`.
    package func text(um: Int64) -> String {
        let one: UInt64 = self == .mm ? 1000 : 10_000
        let (whole, rest) = um.magnitude.quotientAndRemainder(dividingBy: one)
        let text = um < 0 ? "-\(whole)" : "\(whole)"
        guard rest > 0 else { return text }
        // A digit in front keeps the zeros that follow the point.
        var decimals = Array("\(one + rest)".utf8.dropFirst())
        while decimals.last == 0x30 { decimals.removeLast() }
        return "\(text).\(String(decoding: decimals, as: UTF8.self))"
    }
}
