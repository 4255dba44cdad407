import DiarioCore
import DiarioSchema

/// Writes the cells of comma-separated values (RFC 4180).
package struct CellWriter {
    /// True if texts that a spreadsheet would run as a formula get an apostrophe in front.
    private let guardsFormulas: Bool

    package init(guardsFormulas: Bool) { self.guardsFormulas = guardsFormulas }

    /// The first characters of formulas; some programs skip blanks before them.
    private static let formulaStarts = Set("=+-@\t\r\n".utf8)
    private static let base64Digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    /// Appends a text that may hold anything.
    package func append(text: some Collection<UInt8>, to output: inout [UInt8]) {
        // What begins with apostrophes before it gets one more, so that it can be taken off again.
        let first = guardsFormulas ? text.first { $0 != UInt8(ascii: "'") } : nil
        let isFormula = first.map(Self.formulaStarts.contains) ?? false
        // An empty text has quotes, so that it differs from what is absent.
        let isQuoted =
            text.isEmpty
            || text.contains { $0 == 0x22 || $0 == 0x2c || $0 == 0x0a || $0 == 0x0d }
        if isQuoted { output.append(0x22) }
        if isFormula { output.append(UInt8(ascii: "'")) }
        if isQuoted {
            for byte in text {
                if byte == 0x22 { output.append(0x22) }
                output.append(byte)
            }
            output.append(0x22)
        } else {
            output.append(contentsOf: text)
        }
    }

    /// Appends the value of a field; nothing if it is absent.
    func append(_ payload: Payload, _ index: Int, _ field: Field, to output: inout [UInt8]) {
        switch payload.slots[index] {
        case .absent: break
        case .integer(let value): append(value, field, to: &output)
        case .number(let value): JSON.number(value).appendCanonical(to: &output)
        case .bytes:
            guard let bytes = payload.bytes(at: index) else { return }
            switch field.kind {
            case .uuid: output += Self.uuid(bytes).utf8
            case .bytes: append(text: Self.base64(bytes), to: &output)
            case .string, .nested, .integer, .number, .boolean, .enumeration, .date, .dateTime:
                append(text: bytes, to: &output)
            }
        }
    }

    private func append(_ value: Int64, _ field: Field, to output: inout [UInt8]) {
        switch field.kind {
        case .boolean: output += (value != 0 ? "true" : "false").utf8
        case .enumeration: append(text: field.bounds.values[Int(value)].utf8, to: &output)
        case .date: CivilTime.appendDate(value, to: &output)
        case .dateTime:
            CivilTime.appendDateTime(Timestamp(milliseconds: value), to: &output)
        case .integer, .number, .string, .uuid, .bytes, .nested: output += "\(value)".utf8
        }
    }

    /// The text of a uuid of 16 bytes.
    static func uuid(_ bytes: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { text.append(0x2d) }
            for digit in [byte >> 4, byte & 0xf] {
                text.append(digit < 10 ? 0x30 + digit : 0x61 + digit - 10)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Base64 with padding, as in JSON.
    package static func base64(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        var rest = bytes
        while !rest.isEmpty {
            let part = Array(rest.prefix(3))
            rest = rest.dropFirst(3)
            var group: UInt32 = 0
            for place in 0..<3 {
                group = group << 8 | (place < part.count ? UInt32(part[place]) : 0)
            }
            for place in 0..<4 {
                let digit = base64Digits[Int(group >> UInt32(18 - 6 * place) & 0x3f)]
                text.append(place <= part.count ? digit : 0x3d)
            }
        }
        return text
    }
}
