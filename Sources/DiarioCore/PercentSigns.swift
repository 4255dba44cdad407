/// The way in which an address writes bytes that it could not hold.
package enum PercentSigns {
    /// The decoded text; nil if it is no UTF-8.
    package static func decoded(_ text: String) -> String? {
        guard text.utf8.contains(0x25) else { return text }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(),
                let first = digit(high), let second = digit(low)
            else { return nil }
            bytes.append(first << 4 | second)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The text in letters that every header and address may have.
    package static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
