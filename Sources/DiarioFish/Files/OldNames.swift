import DiarioCore

// What the old app shows in its lists and sends as it is shown. Here they are codes.

extension Fish.Origin {
    /// The origin that a text of the old app names, or a code.
    package init?(named text: String) {
        let found = Self.allCases.first { isNamed(text, $0.oldName, $0.rawValue) }
        guard let found else { return nil }
        self = found
    }

    /// As the old app names it.
    package var oldName: String {
        switch self {
        case .mediterranean: "Mar Mediterraneo"
        case .other: "Altro"
        }
    }
}

extension Fish.Production {
    /// The production that a text of the old app names, or a code.
    package init?(named text: String) {
        let found = Self.allCases.first { isNamed(text, $0.oldName, $0.rawValue) }
        guard let found else { return nil }
        self = found
    }

    /// As the old app names it.
    package var oldName: String {
        switch self {
        case .farmed: "allevamento"
        case .wildFresh: "pescato fresco"
        case .unknown: "sconosciuto"
        }
    }
}

/// True if people take a text for a name or a code: case and accents do not count.
private func isNamed(_ text: String, _ name: String, _ code: String) -> Bool {
    let key = TextKey.of(text, .search)
    return key.hasBytes(of: TextKey.of(name, .search)) || key.hasBytes(of: code)
}

/// The fields of a form as the old app sends it: names and values that need not be encoded.
package struct OldForm: Sendable {
    package struct Field: Equatable, Sendable {
        package let name: String
        package let value: String
    }

    package let fields: [Field]

    /// Far more than any report has.
    package static let sizeMax = 8 * 1024

    /// Reads `name=value&name=value`; nil if a text is not UTF-8.
    ///
    /// A plus is a blank, and a percent sign with two digits a byte, as in PHP. All else, blanks,
    /// apostrophes and other percent signs too, stands for itself. What has no name is left out.
    package init?(_ body: [UInt8]) {
        var fields: [Field] = []
        var body = body
        while body.last == 0x0a || body.last == 0x0d { body.removeLast() }
        for part in body.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = Self.text(part[..<equals]),
                let value = Self.text(part[equals...].dropFirst())
            else { return nil }
            if !name.isEmpty { fields.append(Field(name: name, value: value)) }
        }
        self.fields = fields
    }

    /// The value of a field; nil if it is not there.
    ///
    /// Of several, the last one counts, as in PHP.
    package subscript(name: String) -> String? {
        fields.last { $0.name.hasBytes(of: name) }?.value
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        var plain: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let high = digit(rest[rest.startIndex]), let low = digit(rest[rest.startIndex + 1])
            {
                plain.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                plain.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(validating: plain, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
