import DiarioCore

/// Writes JSON in the canonical form of RFC 8785.
///
/// Integers beyond 2^53, which that form does not know, are written with all their digits.
enum JSONWriter {
    /// Appends a string in quotes with the fewest escapes; `text` is valid UTF-8.
    static func appendString(_ text: Span<UInt8>, to output: inout [UInt8]) {
        output.append(0x22)
        var start = 0
        for index in text.indices {
            let byte = text[index]
            guard byte < 0x20 || byte == 0x22 || byte == 0x5c else { continue }
            append(text.extracting(start..<index), to: &output)
            appendEscape(byte, to: &output)
            start = index + 1
        }
        append(text.extracting(start..<text.count), to: &output)
        output.append(0x22)
    }

    static func appendString(_ text: String, to output: inout [UInt8]) {
        output.append(0x22)
        for byte in text.utf8 {
            if byte < 0x20 || byte == 0x22 || byte == 0x5c {
                appendEscape(byte, to: &output)
            } else {
                output.append(byte)
            }
        }
        output.append(0x22)
    }

    /// Appends bytes without escaping them.
    static func append(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        // Safe: the buffer is copied from inside the closure and not kept.
        unsafe bytes.withUnsafeBufferPointer { unsafe output.append(contentsOf: $0) }
    }

    static func appendInteger(_ value: Int64, to output: inout [UInt8]) {
        if value < 0 { output.append(0x2d) }
        appendDigits(value.magnitude, to: &output)
    }

    /// Appends the digits of `value` in decimal.
    static func appendDigits(_ value: UInt64, to output: inout [UInt8]) {
        var rest = value
        let start = output.count
        repeat {
            output.append(0x30 + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        var (low, high) = (start, output.count - 1)
        while low < high {
            output.swapAt(low, high)
            low += 1
            high -= 1
        }
    }

    /// Appends a finite number as ECMAScript's `Number.prototype.toString` does.
    static func appendNumber(_ value: Double, to output: inout [UInt8]) {
        precondition(value.isFinite, "JSON has neither infinity nor NaN")
        // Without `Int64(exactly:)` and `rounded()`, which would need the C library for numbers.
        if value.magnitude < 0x1p53, Double(Int64(value)) == value {
            appendInteger(Int64(value), to: &output)
            return
        }
        if appendShortDecimal(value, to: &output) { return }
        let shortest = ShortestDigits(value.magnitude)
        if value < 0 { output.append(0x2d) }
        append(shortest, to: &output)
    }

    /// Appends a number that has few digits after the point; false if it is none of these.
    ///
    /// Digits that number at most 15 and convert back to `value` are its shortest ones, because no
    /// two such decimals share a binary64 number.
    private static func appendShortDecimal(_ value: Double, to output: inout [UInt8]) -> Bool {
        let magnitude = value.magnitude
        guard 1e-3..<1e12 ~= magnitude else { return false }
        var scale = 1.0
        for fractionCount in 1...7 {
            scale *= 10
            guard magnitude * scale < 1e15 else { return false }
            let digits = UInt64(magnitude * scale + 0.5)
            guard Double(digits) / scale == magnitude else { continue }
            if value < 0 { output.append(0x2d) }
            let divisor = integerPowerOfTen(fractionCount)
            appendDigits(digits / divisor, to: &output)
            output.append(0x2e)
            // A one in front keeps the zeros after the point; then it goes.
            let start = output.count - 1
            appendDigits(divisor + digits % divisor, to: &output)
            output.remove(at: start + 1)
            return true
        }
        return false
    }

    /// Appends digits as ECMAScript lays them out (Number::toString, steps 6 to 12).
    private static func append(_ number: ShortestDigits, to output: inout [UInt8]) {
        let digits = number.digits
        let count = digits.count
        let point = number.point
        switch point {
        case count...21:
            output += digits
            output.append(repeating: 0x30, count: point - count)
        case 1..<22:
            output += digits[..<point]
            output.append(0x2e)
            output += digits[point...]
        case -5...0:
            output += [0x30, 0x2e]
            output.append(repeating: 0x30, count: -point)
            output += digits
        default:
            output.append(digits[0])
            if count > 1 {
                output.append(0x2e)
                output += digits[1...]
            }
            output += [0x65, point > 0 ? 0x2b : 0x2d]
            appendDigits(UInt64((point - 1).magnitude), to: &output)
        }
    }

    private static func appendEscape(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(0x5c)
        switch byte {
        case 0x08: output.append(0x62)
        case 0x09: output.append(0x74)
        case 0x0a: output.append(0x6e)
        case 0x0c: output.append(0x66)
        case 0x0d: output.append(0x72)
        case 0x22, 0x5c: output.append(byte)
        default:
            output += [0x75, 0x30, 0x30, 0x30 + byte >> 4]
            let low = byte & 0xf
            output.append(low < 10 ? 0x30 + low : 0x61 + low - 10)
        }
    }
}

/// The shortest decimal digits that convert back to a positive number, and where its point is.
private struct ShortestDigits {
    /// No zero at either end.
    private(set) var digits: [UInt8] = []
    /// The value is 0.DIGITS times ten to this power.
    private(set) var point = 0

    /// Takes the digits from the standard library, which gives the shortest, and of these the
    /// nearest, in a layout of its own: `5e-324`, `0.001`, `1.2345678901234567e+19`.
    init(_ value: Double) {
        var exponent = 0
        var isAfterPoint = false
        var text = value.description.utf8[...]
        while let byte = text.popFirst() {
            switch byte {
            case 0x2e: isAfterPoint = true
            case 0x65, 0x45:
                exponent = Int(Substring(text)) ?? 0
                text = text[text.endIndex...]
            default:
                if !isAfterPoint, byte != 0x30 || !digits.isEmpty { point += 1 }
                if isAfterPoint, byte == 0x30, digits.isEmpty { point -= 1 }
                if byte != 0x30 || !digits.isEmpty { digits.append(byte) }
            }
        }
        while digits.last == 0x30 { digits.removeLast() }
        point += exponent
    }
}
