package import DiarioCore

/// The text of an origin, as bytes and without a `String`: `7zk3m9q2c1f4a-17`.
package enum OriginText {
    /// Bytes of the longest one: 13 characters, a dash, 20 digits.
    package static let sizeMax = 34
    /// The index of the dash.
    static let lineIndex = 13

    /// Bytes of the text of an origin with this sequence.
    package static func size(_ sequence: UInt64) -> Int {
        var size = 15
        var rest = sequence / 10
        while rest > 0 {
            size += 1
            rest /= 10
        }
        return size
    }

    /// Hands over the characters with their indices, in no particular order.
    package static func write(_ origin: Origin, put: (Int, UInt8) -> Void) {
        var value = origin.replica.rawValue
        for index in (0..<13).reversed() {
            let digit = UInt8(truncatingIfNeeded: value & 31)
            put(index, character(digit))
            value >>= 5
        }
        put(13, UInt8(ascii: "-"))
        var rest = origin.sequence
        for index in (14..<size(origin.sequence)).reversed() {
            put(index, UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
    }

    /// The bytes of the text.
    package static func bytes(_ origin: Origin) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(textOf: origin)
        return bytes
    }

    /// True if `bytes` in `range` are the text of `origin`.
    package static func matches(_ origin: Origin, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool
    {
        guard range.count == size(origin.sequence) else { return false }
        var isEqual = true
        write(origin) { index, character in
            if bytes[range.lowerBound + index] != character { isEqual = false }
        }
        return isEqual
    }

    /// Crockford's base32 in lower case leaves out i, l, o and u.
    private static func character(_ digit: UInt8) -> UInt8 {
        switch digit {
        case 0...9: UInt8(ascii: "0") + digit
        case 10...17: UInt8(ascii: "a") + digit - 10
        case 18, 19: UInt8(ascii: "j") + digit - 18
        case 20, 21: UInt8(ascii: "m") + digit - 20
        case 22...26: UInt8(ascii: "p") + digit - 22
        default: UInt8(ascii: "v") + digit - 27
        }
    }
}

extension [UInt8] {
    /// The text of an origin, without its length.
    package mutating func append(textOf origin: Origin) {
        append(addingCapacity: OriginText.sizeMax) { $0.append(textOf: origin) }
    }
}
