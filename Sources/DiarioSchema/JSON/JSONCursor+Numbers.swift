extension JSONCursor {
    /// Reads the number that starts here.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func readDecimal() throws(Fault) -> Decimal {
        let start = offset
        let isNegative = take(0x2d)
        let firstDigit = offset
        var mantissa: UInt64 = 0
        while case let digit = current &- 0x30, digit < 10 {
            mantissa = mantissa &* 10 &+ UInt64(digit)
            offset += 1
        }
        var digitCount = offset - firstDigit
        guard digitCount > 0, digitCount == 1 || byte(at: firstDigit) != 0x30 else {
            if digitCount > 0 { offset = firstDigit + 1 }
            throw unexpected
        }
        var exponent = 0
        if take(0x2e) {
            let firstOfFraction = offset
            while case let digit = current &- 0x30, digit < 10 {
                mantissa = mantissa &* 10 &+ UInt64(digit)
                offset += 1
            }
            exponent = firstOfFraction - offset
            guard exponent < 0 else { throw unexpected }
            digitCount -= exponent
        }
        // Nineteen digits always fit into 64 bits.
        guard digitCount <= 19, current | 0x20 != 0x65 else {
            offset = firstDigit
            return try readLongDecimal(from: start, isNegative: isNegative)
        }
        return Decimal(
            isNegative: isNegative,
            mantissa: mantissa,
            exponent: exponent,
            isExact: true,
            start: start,
            end: offset
        )
    }

    /// Reads a number with many digits or with an exponent, from its first digit.
    ///
    /// Zeros are counted in only when another digit follows them, so the mantissa ends with a
    /// digit that is no zero, and `isExact` is false only for 20 or more such digits.
    @inline(never)
    @_lifetime(self: copy self)
    private mutating func readLongDecimal(
        from start: Int,
        isNegative: Bool
    ) throws(Fault) -> Decimal {
        var mantissa: UInt64 = 0
        var significantCount = 0
        var pendingZeroCount = 0
        var fractionCount = 0
        var lastSignificantFraction = 0
        var isAfterPoint = false
        var isExact = true
        while true {
            if current == 0x2e, !isAfterPoint {
                isAfterPoint = true
                offset += 1
                continue
            }
            let digit = current &- 0x30
            guard digit < 10 else { break }
            offset += 1
            if isAfterPoint { fractionCount += 1 }
            if digit == 0 {
                if mantissa > 0 { pendingZeroCount += 1 }
                continue
            }
            significantCount += pendingZeroCount + 1
            if significantCount <= 19 {
                for _ in 0..<pendingZeroCount { mantissa *= 10 }
                mantissa = mantissa * 10 + UInt64(digit)
            } else {
                isExact = false
            }
            lastSignificantFraction = fractionCount
            pendingZeroCount = 0
        }
        // A last digit before the point is followed by zeros on both sides of the point.
        let exponent =
            lastSignificantFraction > 0
            ? -lastSignificantFraction : pendingZeroCount - fractionCount
        let scale = try readExponent()
        return Decimal(
            isNegative: isNegative,
            mantissa: mantissa,
            exponent: exponent + scale,
            isExact: isExact,
            start: start,
            end: offset
        )
    }

    /// Reads `e+12` or the like if it is there; exponents beyond any use are cut to ten millions.
    @_lifetime(self: copy self)
    private mutating func readExponent() throws(Fault) -> Int {
        guard current | 0x20 == 0x65 else { return 0 }
        offset += 1
        let isNegative = current == 0x2d
        if current == 0x2d || current == 0x2b { offset += 1 }
        guard current &- 0x30 < 10 else { throw unexpected }
        var exponent = 0
        while case let digit = current &- 0x30, digit < 10 {
            exponent = min(exponent * 10 + Int(digit), 10_000_000)
            offset += 1
        }
        return isNegative ? -exponent : exponent
    }

    /// The binary64 number nearest to `decimal`, ties to even; nil if that would be infinite.
    ///
    /// Zero has no sign here.
    @inline(__always)
    func double(_ decimal: Decimal) -> Double? {
        if let value = decimal.quickDouble { return value }
        return slowDouble(decimal)
    }

    /// Converts the text with the standard library, which is exact and uses no locale.
    @inline(never)
    private func slowDouble(_ decimal: Decimal) -> Double? {
        var text: [UInt8] = []
        append(decimal.start..<decimal.end, to: &text)
        guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else {
            return nil
        }
        return value == 0 ? 0 : value
    }
}

/// A number as it is in the text: `mantissa` times ten to the power of `exponent`.
struct Decimal {
    let isNegative: Bool
    let mantissa: UInt64
    /// The power of ten of the mantissa's last digit; of the last digit left out, if not exact.
    let exponent: Int
    /// False if digits beyond the nineteenth were left out of the mantissa.
    let isExact: Bool
    let start: Int
    let end: Int

    /// A number as an integer, or why it is none.
    enum Integer: Equatable {
        case value(Int64)
        case fraction
        case beyond
    }

    /// The number as a 64-bit integer, if it is one: so are `1.0` and `1e3`.
    var integer: Integer {
        if exponent == 0, mantissa <= UInt64(Int64.max), isExact {
            return .value(isNegative ? -Int64(mantissa) : Int64(mantissa))
        }
        guard mantissa > 0 else { return .value(0) }
        var magnitude = mantissa
        var exponent = exponent
        while exponent < 0, isExact, magnitude.isMultiple(of: 10) {
            magnitude /= 10
            exponent += 1
        }
        guard exponent >= 0 else { return .fraction }
        guard isExact, exponent < 20 else { return .beyond }
        for _ in 0..<exponent {
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            guard !overflow else { return .beyond }
            magnitude = product
        }
        if isNegative {
            return magnitude <= Int64.min.magnitude
                ? .value(Int64(bitPattern: 0 &- magnitude)) : .beyond
        }
        return magnitude <= UInt64(Int64.max) ? .value(Int64(magnitude)) : .beyond
    }

    /// The nearest binary64 number, where a few exact operations give it.
    var quickDouble: Double? {
        guard isExact else { return nil }
        if mantissa == 0 { return 0 }
        let magnitude: Double
        if mantissa <= 1 << 53, -22...22 ~= exponent {
            // Both operands are exact, so the one rounding is that of the result.
            let value = Double(mantissa)
            magnitude = exponent < 0 ? value / powerOfTen(-exponent) : value * powerOfTen(exponent)
        } else if -19...0 ~= exponent {
            magnitude = Self.quotient(mantissa, by: integerPowerOfTen(-exponent))
        } else {
            return nil
        }
        return isNegative ? -magnitude : magnitude
    }

    /// `dividend` / `divisor`, neither of them zero, rounded once, ties to even.
    private static func quotient(_ dividend: UInt64, by divisor: UInt64) -> Double {
        let dividendShift = dividend.leadingZeroBitCount
        let divisorShift = divisor.leadingZeroBitCount
        let high = dividend << UInt64(dividendShift)
        let normalized = divisor << UInt64(divisorShift)
        var scale = divisorShift - dividendShift
        // The quotient has 64 bits, the highest set: 11 more than a significand holds.
        let quotient: UInt64
        let remainder: UInt64
        if high >= normalized {
            (quotient, remainder) = normalized.dividingFullWidth((high >> 1, high << 63))
            scale -= 63
        } else {
            (quotient, remainder) = normalized.dividingFullWidth((high, 0))
            scale -= 64
        }
        let rest = quotient & 0x7ff
        var significand = quotient >> 11
        let isAboveHalf = rest > 0x400 || rest == 0x400 && remainder > 0
        if isAboveHalf || rest == 0x400 && significand & 1 == 1 { significand += 1 }
        return Double(sign: .plus, exponent: scale + 11, significand: Double(significand))
    }
}

/// Ten to the power of 0 to 19.
func integerPowerOfTen(_ exponent: Int) -> UInt64 {
    var power: UInt64 = 1
    for _ in 0..<exponent { power *= 10 }
    return power
}

/// Ten to the power of 0 to 22, each of which binary64 holds exactly.
func powerOfTen(_ exponent: Int) -> Double {
    var power = 1.0
    for _ in 0..<exponent { power *= 10 }
    return power
}
