/// Crockford's base32 in lower case, for 64 bits: 13 characters, the first of which has 4 bits.
package enum Base32 {
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    /// By character: the digit it stands for, or `noDigit`.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: noDigit, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()
    private static let noDigit: UInt8 = 32
    private static let length = 13

    package static func encode(_ value: UInt64) -> String {
        // In place, since tests, which are not optimized, write thousands of ids.
        unsafe String(unsafeUninitializedCapacity: length) { target in
            let digits = digits.span
            var rest = value
            for index in (0..<length).reversed() {
                // Safe: there is room for `length` characters, and a digit for each five bits.
                unsafe target[index] = digits[unchecked: Int(truncatingIfNeeded: rest & 31)]
                rest >>= 5
            }
            return length
        }
    }

    /// Nil unless `characters` are exactly what `encode` writes: no upper case, no look-alikes.
    package static func decode(_ characters: Span<UInt8>) -> UInt64? {
        guard characters.count == length else { return nil }
        let values = values.span
        var value: UInt64 = 0
        for index in characters.indices {
            let digit = values[Int(characters[index])]
            guard digit < (index == 0 ? 16 : noDigit) else { return nil }
            value = value << 5 | UInt64(digit)
        }
        return value
    }

    package static func decode(text: some StringProtocol) -> UInt64? {
        let characters = Array(text.utf8)
        return decode(characters.span)
    }
}
