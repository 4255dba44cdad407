import DiarioCore

/// Bytes of lines under construction; texts that go in are escaped already.
struct LineBuffer {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func put(_ text: StaticString) {
        precondition(text.hasPointerRepresentation, "texts of the workload are not single scalars")
        // Safe: a static string's bytes stay for as long as the program runs.
        unsafe bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        )
    }

    mutating func put(_ table: TextTable, _ index: Int) {
        bytes.append(contentsOf: table[index])
    }

    mutating func put(byte: UInt8) { bytes.append(byte) }

    mutating func put(number: Int) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        put(digits: number.magnitude)
    }

    /// A decimal with `digits` digits after the point, zeros at its end left out.
    mutating func put(scaled value: Int, digits: Int) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var divisor: UInt = 1
        for _ in 0..<digits { divisor *= 10 }
        put(digits: value.magnitude / divisor)
        var rest = value.magnitude % divisor
        guard rest > 0 else { return }
        bytes.append(UInt8(ascii: "."))
        while rest > 0 {
            divisor /= 10
            bytes.append(UInt8(ascii: "0") + UInt8(rest / divisor))
            rest %= divisor
        }
    }

    private mutating func put(digits value: UInt) {
        var divisor: UInt = 1
        while value / divisor >= 10 { divisor *= 10 }
        var rest = value
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
            rest %= divisor
            divisor /= 10
        }
    }

    /// `count` digits, with zeros in front.
    mutating func put(padded value: Int, count: Int) {
        var divisor = 1
        for _ in 1..<count { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
    }

    /// The lowest `digitCount` hexadecimal digits of `value`.
    mutating func put(hexadecimal value: UInt64, digitCount: Int = 16) {
        for index in (0..<digitCount).reversed() {
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(4 * index) & 15)
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    /// 26 characters of Crockford's base32 in upper case, as a ULID is written.
    mutating func put(ulid high: UInt64, _ low: UInt64) {
        put(byte: Self.digit(high >> 61))
        for index in (0..<12).reversed() { put(byte: Self.digit(high >> UInt64(5 * index + 1))) }
        put(byte: Self.digit(high << 4 | low >> 60))
        for index in (0..<12).reversed() { put(byte: Self.digit(low >> UInt64(5 * index))) }
    }

    /// The base64 of the words' bytes, the highest byte of the first word first.
    mutating func put(base64 words: [UInt64]) {
        var (rest, bitCount) = (UInt64(0), 0)
        for word in words {
            for byte in (0..<8).reversed() {
                rest = (rest << 8 | word >> UInt64(8 * byte) & 255) & 0xffff
                bitCount += 8
                while bitCount >= 6 {
                    bitCount -= 6
                    bytes.append(Self.base64[Int(rest >> UInt64(bitCount) & 63)])
                }
            }
        }
        guard bitCount > 0 else { return }
        bytes.append(Self.base64[Int(rest << UInt64(6 - bitCount) & 63)])
        for _ in 0..<(bitCount == 4 ? 1 : 2) { bytes.append(UInt8(ascii: "=")) }
    }

    private static let base64 = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    mutating func put(uuid high: UInt64, _ low: UInt64) {
        put(hexadecimal: high >> 32, digitCount: 8)
        put("-")
        put(hexadecimal: high >> 16, digitCount: 4)
        put("-4")
        put(hexadecimal: high, digitCount: 3)
        put("-8")
        put(hexadecimal: low >> 48, digitCount: 3)
        put("-")
        put(hexadecimal: low, digitCount: 12)
    }

    private static func digit(_ value: UInt64) -> UInt8 {
        let digit = UInt8(truncatingIfNeeded: value & 31)
        return switch digit {
        case 0...9: UInt8(ascii: "0") + digit
        case 10...17: UInt8(ascii: "A") + digit - 10
        case 18, 19: UInt8(ascii: "J") + digit - 18
        case 20, 21: UInt8(ascii: "M") + digit - 20
        case 22...26: UInt8(ascii: "P") + digit - 22
        default: UInt8(ascii: "V") + digit - 27
        }
    }
}

/// Texts one after the other in one piece of memory.
struct TextTable: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    init() {}

    init(_ texts: [String]) { for text in texts { append(text) } }

    var count: Int { ends.count }

    mutating func append(_ text: String) {
        bytes += Array(text.utf8)
        ends.append(bytes.count)
    }

    subscript(index: Int) -> ArraySlice<UInt8> {
        bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
    }
}
