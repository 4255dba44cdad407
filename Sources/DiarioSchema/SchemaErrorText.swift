import DiarioCore

/// Puts a fault into words: what is wrong, then what to do.
struct SchemaErrorText {
    let fault: Fault
    let value: String
    /// The rules that were broken, if they are those of a schema.
    var node: SchemaNode?
    let rules: SchemaRules?
    /// The names that would have been right, where a name is wrong.
    let names: [String]

    var message: String {
        switch fault.kind {
        case .unexpectedByte, .unexpectedEnd, .trailingBytes, .invalidUTF8, .controlCharacter,
            .zeroCharacter, .loneSurrogate, .invalidEscape, .tooDeep, .tooLarge, .duplicateKey,
            .explicitNull:
            textMessage
        case .wrongType, .unknownField, .missingField, .belowMinimum, .aboveMaximum,
            .beyondInteger, .beyondNumber, .tooShort, .tooLong, .tooFewItems, .tooManyItems,
            .patternMismatch, .notInEnumeration, .invalidDate, .invalidDateTime, .invalidUUID,
            .invalidBase64, .notHash, .invalidSubject, .invalidReference, .beyondEvent:
            fieldMessage
        case .unknownKey, .missingKey, .unknownType, .unknownVersion, .subjectNotAllowed,
            .invalidKey:
            keyMessage
        }
    }

    /// It cannot be seen, so it has to be named.
    private var isByteOrderMark: Bool { value.unicodeScalars.first == "\u{feff}" }

    private var byte: String { "byte \(Int(fault.offset) + 1)" }

    private var textMessage: String {
        switch fault.kind {
        case .unexpectedByte where isByteOrderMark, .trailingBytes where isByteOrderMark:
            "a byte order mark at \(byte); it may stand only at the start of a file, so remove it"
        case .unexpectedEnd: "the JSON ends too early; complete it"
        case .trailingBytes:
            "\(value) follows the JSON at \(byte); write one value, and nothing after it"
        case .invalidUTF8: "\(byte) is not UTF-8; save the text as UTF-8"
        case .controlCharacter:
            "\(byte) is a control character inside a string; write it as an escape, such as \\n"
        case .zeroCharacter: "U+0000 at \(byte) cannot be kept; remove it"
        case .loneSurrogate:
            "\(byte) is half of a surrogate pair; write both halves, or the character itself"
        case .invalidEscape: "\(value) at \(byte) is no escape of JSON; write \\\\ for a backslash"
        case .tooDeep:
            "arrays and objects are nested more than \(Limits.jsonDepthMax) deep; flatten them"
        case .tooLarge: "more than \(Limits.lineSizeMax) bytes; make it smaller"
        case .duplicateKey: "\(value) comes twice; keep one of them"
        case .explicitNull: "null is not taken; leave out what is absent"
        default: "\(value) at \(byte) is not expected in JSON; check quotes, commas and brackets"
        }
    }

    private var fieldMessage: String {
        switch fault.kind {
        case .wrongType: "\(value) is not \(form); write \(form)"
        case .unknownField:
            nearest.map { "unknown; did you mean \($0)?" }
                ?? "unknown; remove it, or add it to a new version of the type"
        case .missingField: "required, but absent; add it"
        case .belowMinimum: "\(value) is below the minimum \(bound(isLow: true)); \(rangeRemedy)"
        case .aboveMaximum: "\(value) is above the maximum \(bound(isLow: false)); \(rangeRemedy)"
        case .beyondInteger:
            "\(value) does not fit into 64 bits; use at most \(Int64.max), or a string"
        case .beyondNumber: "\(value) is too large for binary64; use less than 1.8e308"
        case .tooShort: "\(value) is shorter than \(low) characters; make it longer"
        case .beyondEvent:
            "the texts take more than the \(Limits.eventSizeMax) bytes of an event; shorten them, "
                + "or record several events"
        case .tooLong: "\(value) is longer than \(high) characters; shorten it"
        case .tooFewItems: "\(value) has fewer than \(low) items; add some"
        case .tooManyItems: "\(value) has more than \(high) items; remove some"
        case .patternMismatch: "\(value) does not match the pattern \(pattern); write it that way"
        case .notInEnumeration: enumerationMessage
        case .invalidDate: "\(value) is no date; write it like 2026-05-04"
        case .invalidDateTime: timeMessage
        case .invalidUUID:
            "\(value) is no uuid; write it like 0b8a1d1e-5c7f-4d3a-9b57-2f6c1a9e4d10"
        case .invalidBase64:
            "\(value) is not base64; use A-Z a-z 0-9 + / and = to fill up the last four"
        case .notHash: "\(value) is not 32 bytes; give the id or the key as blob put tells it"
        case .invalidSubject:
            "\(value) cannot be a subject; use 1 to \(Limits.subjectSizeMax) bytes"
        default:
            "\(value) names no event of the batch; write #1 to #\(Limits.batchCountMax)"
        }
    }

    private var timeMessage: String {
        let text = value.dropFirst()
        if text.dropFirst(17).hasPrefix("60") {
            return "\(value) has a leap second, which is not kept; write second 59"
        }
        // Close to the ends of the calendar the offset decides.
        if ["0000-", "0001-01-01", "9999-12-31"].contains(where: { text.hasPrefix($0) }) {
            return "\(value) is no time in the years 1 to 9999 of UTC; write one of them, like "
                + "2026-05-04T07:30:00Z"
        }
        return "\(value) is no time with an offset; write it like 2026-05-04T07:30:00Z"
    }

    private var keyMessage: String {
        switch fault.kind {
        case .unknownKey where names.contains(value):
            "only an export has it; remove it, or import the line"
        case .unknownKey:
            nearest.map { "unknown here; did you mean \($0)?" } ?? "unknown here; remove it"
        case .missingKey: "a line needs it; add it"
        case .unknownType:
            nearest.map { "\(value) is no known type; did you mean \($0)?" }
                ?? "\(value) is no known type; check its name, or let the space use its pack: "
                + adoptions
        case .unknownVersion: "version \(value) is not known; leave it out to use the newest"
        case .subjectNotAllowed:
            "the type has a field for its subject; remove the key, and fill in the field"
        default: "\(value) is not \(keyForm)"
        }
    }

    /// How a space adopts the pack of a type.
    private var adoptions: String {
        let text = value.drop { $0 == "\"" }
        let pack = text.prefix { $0 != "." }
        guard pack.count < text.count, SchemaNames.isPack(pack) else {
            return "diario schema adopt DIR"
        }
        return "diario schema adopt --pack \(pack), or diario schema adopt DIR with its folder"
    }

    private var nearest: String? {
        let text = value.hasPrefix("\"") ? String(value.dropFirst().dropLast()) : value
        return NearestName.find(text, in: names)
    }

    private var low: Int64 { node?.minimum ?? 0 }
    private var high: Int64 { node?.maximum ?? 0 }

    /// The form of a value of the right type.
    private var form: String {
        guard let node else { return "an object" }
        switch node.kind {
        case .integer: return "an integer"
        case .number: return "a number"
        case .boolean: return "true or false"
        case .object: return "an object"
        case .array: return "an array"
        case .string, .enumeration, .date, .dateTime, .uuid, .bytes: return "a string"
        }
    }

    /// The form of the value of a key of the line.
    private var keyForm: String {
        switch EnvelopeKey(rawValue: UInt8(truncatingIfNeeded: fault.node)) {
        case .version: "a version; write an integer from 1 to \(SchemaNames.versionMax)"
        case .subject: "a subject; use 1 to \(Limits.subjectSizeMax) bytes"
        case .actor: "an actor; use 1 to \(Limits.actorSizeMax) bytes"
        case .batch: "a batch; write a text"
        case .at, .acceptedAt:
            "a time; write it like 2026-05-04T07:30:00Z, or in milliseconds since 1970"
        case .origin: "an origin; write it like 7zk3m9q2c1f4a-17"
        case .position: "a position; positions are integers from 1 on"
        case .base: "a base; a base is a position, or 0"
        case .clock: "a clock; write milliseconds, a dash and the counter: 1763635440123-0"
        case .type: "the name of a type; write it like meals.meal.logged, in quotes"
        case .ifUnchanged: "true or false; write true, or leave it out"
        case .payload, nil: "an object; write an object"
        }
    }

    private func bound(isLow: Bool) -> String {
        guard let node else { return "" }
        if node.kind == .integer { return "\(isLow ? node.minimum : node.maximum)" }
        var bytes: [UInt8] = []
        JSONWriter.appendNumber(isLow ? node.numberMinimum : node.numberMaximum, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private var rangeRemedy: String {
        guard let node else { return "" }
        let isInteger = node.kind == .integer
        let hasLow = isInteger ? node.minimum > .min : node.numberMinimum.isFinite
        let hasHigh = isInteger ? node.maximum < .max : node.numberMaximum.isFinite
        if hasLow, hasHigh {
            return "give a value from \(bound(isLow: true)) to \(bound(isLow: false))"
        }
        return hasLow
            ? "give at least \(bound(isLow: true))" : "give at most \(bound(isLow: false))"
    }

    private var pattern: String {
        guard let node, let rules, node.pattern >= 0 else { return "" }
        return FaultPlace.shortened(rules.patterns[Int(node.pattern)].text)
    }

    private var enumerationMessage: String {
        guard let rules, fault.node >= 0 else { return "\(value) is not allowed" }
        let values = rules.values(of: Int(fault.node))
        let text = String(value.dropFirst().dropLast())
        if let nearest = NearestName.find(text, in: values) {
            return "\(value) is none of the values; did you mean \(nearest)?"
        }
        let shown = values.prefix(8).joined(separator: ", ")
        let rest = values.count > 8 ? " and \(values.count - 8) more" : ""
        return "\(value) is none of the values; use \(shown)\(rest)"
    }
}
