/// Bytes as text: uuids in hexadecimal and base64 with padding (RFC 4648, section 4).
package enum TextEncodings {
    private static let base64Digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    /// Appends the 16 bytes of a uuid of either case; false if `text` is none.
    package static func appendUUID(_ text: Span<UInt8>, to output: inout [UInt8]) -> Bool {
        guard text.count == 36 else { return false }
        var index = 0
        while index < 36 {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard text[index] == 0x2d else { return false }
                index += 1
            }
            guard let high = hexDigit(text[index]), let low = hexDigit(text[index + 1]) else {
                return false
            }
            output.append(high << 4 | low)
            index += 2
        }
        return true
    }

    /// Appends a uuid of 16 bytes as lower-case text.
    package static func appendUUIDText(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        for index in bytes.indices {
            if index == 4 || index == 6 || index == 8 || index == 10 { output.append(0x2d) }
            for digit in [bytes[index] >> 4, bytes[index] & 0xf] {
                output.append(digit < 10 ? 0x30 + digit : 0x61 + digit - 10)
            }
        }
    }

    /// The base64 of `bytes`.
    package static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        appendBase64(bytes.span, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text; nil unless `base64` would write it.
    package static func base64Decoded(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        var bytes: [UInt8] = []
        return appendBase64Decoded(characters.span, to: &bytes) ? bytes : nil
    }

    /// Appends the bytes of `text`; false unless `appendBase64` would write it.
    static func appendBase64Decoded(_ text: Span<UInt8>, to output: inout [UInt8]) -> Bool {
        guard text.count.isMultiple(of: 4) else { return false }
        var index = 0
        while index < text.count {
            var group: UInt32 = 0
            var digitCount = 0
            while digitCount < 4, let digit = base64Value(text[index + digitCount]) {
                group = group << 6 | digit
                digitCount += 1
            }
            let isLast = index + 4 == text.count
            switch digitCount {
            case 4:
                output.append(UInt8(truncatingIfNeeded: group >> 16))
                output.append(UInt8(truncatingIfNeeded: group >> 8))
                output.append(UInt8(truncatingIfNeeded: group))
            case 3 where isLast && text[index + 3] == 0x3d && group & 0x3 == 0:
                output.append(UInt8(truncatingIfNeeded: group >> 10))
                output.append(UInt8(truncatingIfNeeded: group >> 2))
            case 2
            where isLast && text[index + 2] == 0x3d && text[index + 3] == 0x3d && group & 0xf == 0:
                output.append(UInt8(truncatingIfNeeded: group >> 4))
            default: return false
            }
            index += 4
        }
        return true
    }

    static func appendBase64(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        let digits = base64Digits
        var index = 0
        while index < bytes.count {
            let count = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if count > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if count > 2 { group |= UInt32(bytes[index + 2]) }
            for place in 0..<4 {
                let digit = digits[Int(group >> UInt32(18 - 6 * place) & 0x3f)]
                output.append(place <= count ? digit : 0x3d)
            }
            index += 3
        }
    }

    private static func base64Value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x41...0x5a: UInt32(byte) - 0x41
        case 0x61...0x7a: UInt32(byte) - 0x61 + 26
        case 0x30...0x39: UInt32(byte) - 0x30 + 52
        case 0x2b: 62
        case 0x2f: 63
        default: nil
        }
    }
}
