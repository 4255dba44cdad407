// How numbers and ids are written in lines of the workload.

/// A decimal with `digits` digits after the point, zeros at its end left out.
func decimal(_ value: Int, digits: Int) -> String {
    var divisor = 1
    for _ in 0..<digits { divisor *= 10 }
    let sign = value < 0 ? "-" : ""
    let whole = value.magnitude / UInt(divisor)
    var rest = padded(Int(value.magnitude % UInt(divisor)), digits)
    while rest.utf8.last == UInt8(ascii: "0") { rest.removeLast() }
    return rest.isEmpty ? "\(sign)\(whole)" : "\(sign)\(whole).\(rest)"
}

/// The last `count` digits of a number, with zeros in front.
func padded(_ value: Int, _ count: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
}

/// The lowest `digitCount` hexadecimal digits of a value.
func hexadecimal(_ value: UInt64, digitCount: Int = 16) -> String {
    let kept = digitCount == 16 ? value : value & (1 << UInt64(4 * digitCount) - 1)
    let text = String(kept, radix: 16)
    return String(repeating: "0", count: digitCount - text.utf8.count) + text
}

/// 26 characters of Crockford's base32, as a ULID is written.
func ulid(_ high: UInt64, _ low: UInt64) -> String {
    var bytes = [digits[Int(high >> 61 & 31)]]
    for index in (0..<12).reversed() { bytes.append(digits[Int(high >> (5 * index + 1) & 31)]) }
    bytes.append(digits[Int((high << 4 | low >> 60) & 31)])
    for index in (0..<12).reversed() { bytes.append(digits[Int(low >> (5 * index) & 31)]) }
    return String(decoding: bytes, as: UTF8.self)
}

func uuid(_ high: UInt64, _ low: UInt64) -> String {
    let start = hexadecimal(high >> 32, digitCount: 8)
    let middle = hexadecimal(high >> 16, digitCount: 4)
    let version = "4" + hexadecimal(high, digitCount: 3)
    let variant = "8" + hexadecimal(low >> 48, digitCount: 3)
    return "\(start)-\(middle)-\(version)-\(variant)-\(hexadecimal(low, digitCount: 12))"
}

/// The base64 of the words' bytes, the highest byte of the first word first.
func base64(_ words: [UInt64]) -> String {
    var bits: [UInt64] = []
    for word in words { bits += (0..<64).reversed().map { word >> $0 & 1 } }
    var text = stride(from: 0, to: bits.count, by: 6).map { start in
        let index = (start..<start + 6).reduce(0) { $0 << 1 | ($1 < bits.count ? bits[$1] : 0) }
        return letters[Int(index)]
    }
    while text.count % 4 > 0 { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
}

private let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
private let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
)
