/// Crockford's base32 in lower case, for 64 bits: 13 characters, the first of which has 4 bits.
enum Base32 {
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private static let length = 13

    static func encode(_ value: UInt64) -> String {
        let characters = (0..<length).map { index in
            digits[Int(value >> UInt64(5 * (length - 1 - index)) & 31)]
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Nil unless `characters` are exactly what `encode` writes: no upper case, no look-alikes.
    static func decode(_ characters: some Collection<UInt8>) -> UInt64? {
        guard characters.count == length else { return nil }
        var value: UInt64 = 0
        for (index, character) in characters.enumerated() {
            guard let digit = digits.firstIndex(of: character) else { return nil }
            guard index > 0 || digit < 16 else { return nil }
            value = value << 5 | UInt64(digit)
        }
        return value
    }
}
