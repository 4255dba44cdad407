import DiarioCore

/// The names of attributes, and the references in them: schema/format/cloudevents.md, section 3.
enum CloudEventName {
    /// The beginning of all our references, and of no attribute of others.
    static let scheme = "diario:"
    static let sourceStart = "diario:replica/"
    static let schemaStart = "diario:schema/"
    /// The beginning of the names of our extension attributes.
    static let extensionStart = "diario"

    static let version = "diarioversion"
    static let actor = "diarioactor"
    /// An actor with characters that a CloudEvent may not hold, those escaped with percent signs.
    static let escapedActor = "diarioactorpct"
    /// The same for a subject.
    static let escapedSubject = "diariosubjectpct"
    static let ifUnchanged = "diarioifunchanged"
    static let position = "diarioposition"
    static let base = "diariobase"
    static let clock = "diarioclock"
    static let acceptedAt = "diarioacceptedat"
    static let batch = "diariobatch"

    /// Attributes that only an event of Diario has.
    static let exported = [position, base, clock, acceptedAt, batch, escapedActor, escapedSubject]
    static let extensions = [version, actor, ifUnchanged] + exported

    /// The attribute that tells what the key of a line does.
    static func attribute(ofKey key: String) -> String? {
        switch key {
        case "type", "subject": key
        case "version": version
        case "payload": "data"
        case "actor": actor
        case "at": "time"
        case "ifUnchanged": ifUnchanged
        case "origin": "id"
        case "position": position
        case "base": base
        case "clock": clock
        case "acceptedAt": acceptedAt
        case "batch": batch
        default: nil
        }
    }

    /// True if CloudEvents allow a text as it is: no controls and no noncharacters.
    static func isAllowed(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isAllowed) }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0xfdd0...0xfdef: false
        default: scalar.value & 0xfffe != 0xfffe
        }
    }

    /// The text with `%XX` for each byte of what is not allowed, and of percent signs.
    static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isAllowed(scalar), scalar != "%" {
                result.append(scalar)
                continue
            }
            for byte in Unicode.UTF8.encode(scalar) ?? .init() {
                let digits = String(byte, radix: 16, uppercase: true)
                result.append(contentsOf: "%\(byte < 16 ? "0" : "")\(digits)".unicodeScalars)
            }
        }
        return String(result)
    }

    /// The text that `escaped` made this of; nil if it made none.
    static func unescaped(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ $0 != UInt8(ascii: "+") }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
