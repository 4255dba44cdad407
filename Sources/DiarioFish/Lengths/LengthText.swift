package import DiarioSchema
/// Why a text is no length.
package enum LengthRefusal: String, Error, Sendable {
    /// No number, or more than a number and a unit.
    case notANumber = "not_a_number"
    /// The number has two marks, as in `1.234,5`, of which either may be the decimal one.
    case ambiguous
    /// What follows the number is no unit of length that is known here.
    case unknownUnit = "unknown_unit"
    /// It says more than a micrometre can.
    case tooFine = "too_fine"
    /// Less than 1 mm, or more than 5 m.
    case outOfRange = "out_of_range"
}

/// Lengths as people type and read them; in between they are micrometres.
package enum LengthText {
    /// The lengths that a fish may have, in micrometres.
    package static let range: ClosedRange<Int64> = 1000...5_000_000

    /// Reads `11,5 cm`, `115 mm`, `0.115 m` or, in the unit given, `115`; exact, without rounding.
    package static func parse(
        _ text: String,
        unit defaultUnit: LengthUnit
    ) throws(LengthRefusal) -> Int64 {
        var scalars = Array(text.unicodeScalars)
        while let last = scalars.last, isSpace(last) { scalars.removeLast() }
        let start = scalars.firstIndex { !isSpace($0) } ?? scalars.count
        let end = scalars[start...].firstIndex { !isDigit($0) && !isMark($0) } ?? scalars.count
        let number = scalars[start..<end]
        guard number.contains(where: isDigit) else { throw .notANumber }
        let unit = try parseUnit(scalars[end...].drop { isSpace($0) }, default: defaultUnit)
        let parts = number.split(separator: ",", omittingEmptySubsequences: false)
            .flatMap { $0.split(separator: ".", omittingEmptySubsequences: false) }
        guard parts.count <= 2 else { throw .ambiguous }
        guard let whole = parts.first, !whole.isEmpty, parts.allSatisfy({ !$0.isEmpty }) else {
            throw .notANumber
        }
        var micrometres: Int64 = 0
        // Beyond any range long before it could overflow.
        for digit in whole where micrometres < 1_000_000_000 {
            micrometres = micrometres * 10 + Int64(digit.value - 0x30)
        }
        var places = unit.exponent
        for digit in parts.count == 2 ? parts[1] : [] {
            let digit = Int64(digit.value - 0x30)
            guard places > 0 || digit == 0 else { throw .tooFine }
            guard places > 0, micrometres < 1_000_000_000 else { continue }
            micrometres = micrometres * 10 + digit
            places -= 1
        }
        for _ in 0..<places where micrometres < 1_000_000_000 { micrometres *= 10 }
        guard range ~= micrometres else { throw .outOfRange }
        return micrometres
    }

    /// Shows a length as `11,5 cm`, or in English `11.5 cm`, rounded once, a half away from zero.
    package static func show(
        um: Int64,
        in unit: LengthUnit = .centimetre,
        decimals: Int = 1,
        language: Language
    ) -> String {
        // More decimals than the unit has micrometres would be made up.
        let decimals = max(0, min(decimals, unit.exponent))
        let step = powerOfTen(unit.exponent - decimals)
        let (whole, rest) = um.magnitude.quotientAndRemainder(dividingBy: step)
        let rounded = whole + (rest * 2 >= step && rest > 0 ? 1 : 0)
        let (integer, fraction) = rounded.quotientAndRemainder(dividingBy: powerOfTen(decimals))
        var text = um < 0 && rounded > 0 ? "-\(integer)" : "\(integer)"
        if decimals > 0 {
            let digits = "\(fraction)"
            text += language == .italian ? "," : "."
            text += String(repeating: "0", count: decimals - digits.utf8.count) + digits
        }
        return "\(text) \(unit == .micrometre ? "\u{b5}m" : unit.rawValue)"
    }

    private static func parseUnit(
        _ scalars: ArraySlice<Unicode.Scalar>,
        default defaultUnit: LengthUnit
    ) throws(LengthRefusal) -> LengthUnit {
        guard !scalars.isEmpty else { return defaultUnit }
        var name = ""
        for scalar in scalars.prefix(3) {
            switch scalar {
            // The micro sign and the Greek letter.
            case "\u{b5}", "\u{3bc}": name += "u"
            case "A"..."Z": name.unicodeScalars.append(Unicode.Scalar(UInt8(scalar.value) + 32))
            default: name.unicodeScalars.append(scalar)
            }
        }
        if let unit = LengthUnit(rawValue: name) { return unit }
        // A sign, or a digit after a gap, is a fault of the number.
        let isWord = scalars.allSatisfy { $0.value > 0x39 || $0 == "'" || $0 == "\"" }
        throw isWord ? .unknownUnit : .notANumber
    }

    private static func powerOfTen(_ exponent: Int) -> UInt64 {
        var power: UInt64 = 1
        for _ in 0..<exponent { power *= 10 }
        return power
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { "0"..."9" ~= scalar }
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool { scalar == "," || scalar == "." }
    /// A blank or a tab, or one of the blanks that typesetting puts before a unit.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\u{a0}" || scalar == "\u{202f}"
    }
}
