package import DiarioCore
package import DiarioSchema

extension PackQuery {
    /// The values of its parameters, made from texts as a command or an address gives them.
    package func values(
        _ texts: [String: String]
    ) throws(ProjectionError) -> [String: SQLValue] {
        if let other = texts.keys.sorted().first(where: { name in
            !parameters.contains { $0.name == name }
        }) {
            let known = parameters.map { "\($0.name) \($0.kind.rawValue)" }
            throw .query(
                .invalid,
                "\(name) has no parameter \(other); it has "
                    + (known.isEmpty ? "none" : known.joined(separator: ", "))
            )
        }
        var values: [String: SQLValue] = [:]
        for parameter in parameters {
            if let text = texts[parameter.name] {
                guard let value = parameter.kind.value(text) else {
                    throw .query(
                        .invalid,
                        "\(parameter.name) is \(parameter.kind.form), and \"\(text)\" is none"
                    )
                }
                values[parameter.name] = value
            }
        }
        return try completed(values)
    }

    /// These values, and the defaults of the parameters that have no value.
    package func completed(
        _ values: [String: SQLValue]
    ) throws(ProjectionError) -> [String: SQLValue] {
        var values = values
        for parameter in parameters where values[parameter.name] == nil {
            guard let fallback = parameter.fallback else {
                throw .query(
                    .invalid,
                    "\(name) needs the parameter \(parameter.name) (\(parameter.kind.form))"
                )
            }
            values[parameter.name] = parameter.kind.value(literal: fallback)
        }
        return values
    }
}

extension PackQuery.Kind {
    /// A description of its values, for messages.
    package var form: String {
        switch self {
        case .integer: "a whole number of 64 bits"
        case .real: "a number"
        case .text: "a text"
        case .blob: "bytes in hexadecimal"
        case .date: "a day, as in 2026-05-04"
        case .boolean: "true or false"
        }
    }

    /// The value of a text; nil if the text is none of this kind.
    package func value(_ text: String) -> SQLValue? {
        switch self {
        case .integer: Int64(text).map { .integer($0) }
        case .real: Double(text).flatMap { $0.isFinite ? .real($0) : nil }
        case .text: .text(text)
        case .date: CivilTime.parseDate(Array(text.utf8).span) == nil ? nil : .text(text)
        case .boolean:
            switch text {
            case "true", "1": .integer(1)
            case "false", "0": .integer(0)
            default: nil
            }
        case .blob: Self.bytes(text).map { .blob($0) }
        }
    }

    /// The value of a default, which is a literal of SQL; nil if it is none.
    func value(literal text: String) -> SQLValue? {
        if text.hasPrefix("'") {
            return .text(String(text.dropFirst().dropLast()).replacing("''", with: "'"))
        }
        switch text.uppercased() {
        case "NULL": return .null
        case "TRUE": return .integer(1)
        case "FALSE": return .integer(0)
        default: break
        }
        if text.lowercased().hasPrefix("x'") { return Self.bytes(text).map { .blob($0) } }
        if self != .real, let number = Int64(text) { return .integer(number) }
        return Double(text).map { .real($0) }
    }

    /// True if a parameter of this kind may have the default.
    func takes(default text: String) -> Bool {
        switch (self, value(literal: text)) {
        case (_, .null), (.integer, .integer), (.real, .real), (.text, .text),
            (.blob, .blob), (.boolean, .integer(0...1)):
            true
        case (.date, .text(let day)): value(day) != nil
        default: false
        }
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        // As SQL writes them, too.
        let isQuoted =
            text.utf8.count > 2 && text.lowercased().hasPrefix("x'") && text.hasSuffix("'")
        let digits = Array((isQuoted ? text.dropFirst(2).dropLast() : text[...]).utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index...index + 1], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16), !pair.hasPrefix("+") else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
