package import DiarioCore

/// The values that a parameter of a query, or a column of its answer, has: schema/README.md,
/// "Queries".
package struct QueryValues: Sendable {
    /// How SQL has them.
    package let kind: PackQuery.Kind
    /// As the pack writes them: `INTEGER`, `Month`, `Point[]`.
    package let text: String
    /// As a schema of JSON, with the names of types beside what they stand for.
    package let schema: JSON
    /// An object with such a value in its one member; nil if the kind says all.
    private let form: EventType?
    /// The values of an enumeration, which are looked up without the form.
    package let choices: [String]

    /// What comes after the name of a type for a list.
    private static let listMark = "[]"
    private static let member = "value"

    /// True if the kind says all.
    var isPlain: Bool { form == nil }

    private init(_ kind: PackQuery.Kind, _ text: String, _ schema: JSON, form: EventType? = nil) {
        self.kind = kind
        self.text = text
        self.schema = schema
        self.form = form
        choices = form?.fields[0].bounds.values ?? []
    }

    // MARK: Reading packs

    /// The values that a text of a pack names; nil if it names none, which is a problem then.
    init?(
        _ text: String,
        of name: String,
        named: NamedTypes,
        _ problem: (line: Int, rule: String),
        _ problems: inout ProblemList
    ) {
        let (line, rule) = problem
        let isList = text.hasSuffix(Self.listMark)
        let single = isList ? String(text.dropLast(Self.listMark.count)) : text
        let type = named.types.first { $0.name.hasBytes(of: single) }
        let word = PackQuery.Kind(rawValue: single.uppercased())
        guard type != nil || word != nil else {
            let words = PackQuery.Kind.allCases.map { $0.rawValue }
            problems.add(
                line,
                rule,
                "\(name) needs a type, and \(single.isEmpty ? "it has none" : "\(single) is none")",
                misspelt: single,
                among: words + named.types.map { $0.name },
                remedy: "write one of \(words.joined(separator: ", ")), or a name of types.json"
            )
            return nil
        }
        if type == nil, !isList, let word {
            self.init(word, word.rawValue, word.schema)
            return
        }
        var schema = word?.schema ?? .object([])
        if let type { schema = .object(of: [("$ref", .string("../types.json#/\(type.name)"))]) }
        if isList { schema = .object(of: [("type", .string("array")), ("items", schema)]) }
        let whole: JSON = .object(of: [
            ("type", .string("object")), ("additionalProperties", .boolean(false)),
            ("required", .array(of: [.string(Self.member)])),
            ("properties", .object(of: [(Self.member, schema)])),
        ])
        var reader = SchemaReader(file: "", budget: PatternBudget(), named: named)
        let parts = reader.readForm(JSON.Item(value: whole, line: line), name, version: 1)
        guard let parts, reader.problems.problems.isEmpty else {
            let reason = reader.problems.problems.first?.message ?? "it is too large"
            problems.add(line, rule, "\(name) cannot be \(text): \(reason)")
            return nil
        }
        let form = EventType(parts)
        self.init(
            isList ? .json : PackQuery.Kind(form.fields[0].kind),
            (type?.name ?? single.uppercased()) + (isList ? Self.listMark : ""),
            named.withNames(JSON.Item(value: schema, line: line)),
            form: form
        )
    }

    // MARK: Values

    /// The value for SQL of a text, as a command or an address gives it.
    package func value(_ text: String) throws(ValueFault) -> SQLValue {
        guard let value = kind.value(text) else {
            throw ValueFault(words: "is \(kind.form), and \"\(text)\" is none")
        }
        if let words = fault(value) { throw ValueFault(words: words) }
        return value
    }

    /// The value of a literal of SQL; nil if it is none of these.
    package func value(literal text: String) -> SQLValue? {
        guard let value = kind.value(literal: text) else { return nil }
        return value == .null || fault(value) == nil ? value : nil
    }

    /// What is wrong with a value that is not NULL; nil if nothing is.
    package func fault(_ value: SQLValue) -> String? {
        guard kind.has(value) else { return "has \(value.told), which is not \(kind.form)" }
        guard let form else { return nil }
        var bytes: [UInt8] = []
        JSON.object(of: [(Self.member, json(value) ?? .null)]).appendCanonical(to: &bytes)
        var (payload, reader) = (Payload(), PayloadReader())
        do throws(SchemaError) {
            try reader.read(bytes.span, as: form, into: &payload)
            return nil
        } catch {
            // Without the names of the form, which are in front.
            let reason = error.message.split(separator: ":", maxSplits: 2).last ?? ""
            return "is no \(text):\(reason)"
        }
    }

    /// A value that is not NULL, as JSON has it; nil if it is of another kind.
    package func json(_ value: SQLValue) -> JSON? {
        switch (kind, value) {
        case (.integer, .integer(let value)): return .integer(value)
        case (.real, .integer(let value)): return .number(Double(value))
        case (.real, .real(let value)): return value.isFinite ? .number(value) : nil
        case (.text, .text(let text)): return .string(text)
        case (.boolean, .integer(let value)) where 0...1 ~= value: return .boolean(value == 1)
        case (.date, .text(let text)): return CivilDay(text: text).map { .string($0.text) }
        case (.time, .integer(let value)):
            let time = Timestamp(milliseconds: value)
            guard CivilTime.contains(time) else { return nil }
            var text: [UInt8] = []
            CivilTime.appendDateTime(time, to: &text)
            return .string(String(decoding: text, as: UTF8.self))
        case (.blob, .blob(let bytes)):
            var text: [UInt8] = []
            TextEncodings.appendBase64(bytes.span, to: &text)
            return .string(String(decoding: text, as: UTF8.self))
        case (.json, .text(let text)): return try? JSON.parse(Array(text.utf8)).value
        default: return nil
        }
    }
}

/// Why a value is not one that a query declares.
package struct ValueFault: Error, Equatable, Sendable {
    /// After the name of the parameter or of the column.
    package let words: String
}

extension QueryValues: Equatable {
    package static func == (left: QueryValues, right: QueryValues) -> Bool {
        left.kind == right.kind && left.text.hasBytes(of: right.text)
            && left.canonicalSchema == right.canonicalSchema
    }

    private var canonicalSchema: [UInt8] {
        var bytes: [UInt8] = []
        schema.appendCanonical(to: &bytes)
        return bytes
    }
}

extension PackQuery.Kind {
    /// How SQL has the values of a field.
    fileprivate init(_ kind: Field.Kind) {
        switch kind {
        case .integer: self = .integer
        case .number: self = .real
        case .string, .enumeration, .uuid: self = .text
        case .boolean: self = .boolean
        case .date: self = .date
        case .dateTime: self = .time
        case .bytes: self = .blob
        case .nested: self = .json
        }
    }

    /// True for a value of the kind.
    func has(_ value: SQLValue) -> Bool {
        switch (self, value) {
        case (.integer, .integer), (.real, .integer), (.text, .text), (.blob, .blob): true
        case (.real, .real(let value)): value.isFinite
        case (.boolean, .integer(let value)): 0...1 ~= value
        case (.time, .integer(let value)): CivilTime.contains(value)
        case (.date, .text(let text)): CivilTime.parseDate(Array(text.utf8).span) != nil
        case (.json, .text(let text)): (try? JSON.parse(Array(text.utf8))) != nil
        default: false
        }
    }

    fileprivate var schema: JSON {
        func schema(_ type: String, _ more: (String, String)...) -> JSON {
            .object(of: [("type", .string(type))] + more.map { ($0.0, .string($0.1)) })
        }
        return switch self {
        case .integer: schema("integer")
        case .real: schema("number")
        case .text: schema("string")
        case .boolean: schema("boolean")
        case .date: schema("string", ("format", "date"))
        case .time: schema("string", ("format", "date-time"))
        case .blob: schema("string", ("contentEncoding", "base64"))
        case .json: .object([])
        }
    }

    /// A description of its values, for messages.
    package var form: String {
        switch self {
        case .integer: "a whole number of 64 bits"
        case .real: "a number"
        case .text: "a text"
        case .blob: "bytes in hexadecimal"
        case .date: "a day, as in 2026-05-04"
        case .time: "a time, as in 2026-05-04T08:30:00Z"
        case .boolean: "true or false"
        case .json: "JSON"
        }
    }

    /// The value of a text; nil if the text is none of this kind.
    package func value(_ text: String) -> SQLValue? {
        switch self {
        case .integer: Int64(text).map { .integer($0) }
        case .real: Double(text).flatMap { $0.isFinite ? .real($0) : nil }
        case .text: .text(text)
        case .date: CivilTime.parseDate(Array(text.utf8).span) == nil ? nil : .text(text)
        case .time:
            CivilTime.parseDateTime(Array(text.utf8).span).map { .integer($0.milliseconds) }
        case .boolean:
            switch text {
            case "true", "1": .integer(1)
            case "false", "0": .integer(0)
            default: nil
            }
        case .blob: Self.bytes(text).map { .blob($0) }
        case .json: (try? JSON.parse(Array(text.utf8))).map { _ in .text(text) }
        }
    }

    /// The value of a literal of SQL; nil if it is none.
    fileprivate func value(literal text: String) -> SQLValue? {
        if text.hasPrefix("'") {
            let plain = String(text.dropFirst().dropLast()).replacing("''", with: "'")
            if self == .time { return value(plain) ?? .text(plain) }
            return .text(plain)
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

extension SQLValue {
    /// What it is, in messages; long texts only by their start.
    fileprivate var told: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "the integer \(value)"
        case .real(let value): "the number \(value)"
        case .text(let text): "the text \"\(SchemaNames.told(text))\""
        case .blob(let bytes): "\(bytes.count) bytes"
        }
    }
}
