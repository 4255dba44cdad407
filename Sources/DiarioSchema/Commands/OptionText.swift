/// How a field of a command or a view is given as text: on the command line, or in an address.
///
/// Numbers are in the unit that people use. An object of numbers is `x,y`, and a list of such
/// objects is `x,y x,y`; whatever has no such form is JSON.
package struct OptionText: Sendable {
    /// The name of the field.
    package let field: String
    private let form: Form

    fileprivate indirect enum Form: Sendable {
        case integer(HumanUnit?)
        case number
        case boolean
        case text
        case choice([String])
        case date
        case time
        /// Numbers by their names, in the order of the schema.
        case tuple([(name: String, form: Form)])
        case list(Form)
        case json
    }

    /// The form of the field by its schema.
    package init(_ field: String, _ schema: JSON) {
        self.field = field
        form = Self.form(field, schema)
    }

    private static func form(_ name: String, _ schema: JSON) -> Form {
        if case .array(let values)? = schema.member("enum")?.item.value {
            return .choice(
                values.compactMap { if case .string(let text) = $0.value { text } else { nil } }
            )
        }
        guard case .string(let type)? = schema.member("type")?.item.value else { return .json }
        switch type {
        case "integer": return .integer(HumanUnit(of: name))
        case "number": return .number
        case "boolean": return .boolean
        case "string":
            guard case .string(let format)? = schema.member("format")?.item.value else {
                return .text
            }
            return format == "date" ? .date : format == "date-time" ? .time : .text
        case "object":
            guard case .object(let members)? = schema.member("properties")?.item.value else {
                return .json
            }
            let forms = members.map { (name: $0.key, form: form($0.key, $0.item.value)) }
            return forms.allSatisfy { $0.form.isNumeric } ? .tuple(forms) : .json
        case "array":
            guard let items = schema.member("items")?.item.value else { return .json }
            let item = form(name, items)
            switch item {
            case .list, .json: return .json
            default: return .list(item)
            }
        default: return .json
        }
    }

    // MARK: Names

    /// The name of its option without the dashes: `length-mm` for `lengthUm`.
    package var name: String {
        let unit = unit
        let stem = unit.map { field.dropLast($0.suffix.count) } ?? field[...]
        let words = Self.dashed(stem)
        return unit.map { "\(words)-\($0.symbol)" } ?? words
    }

    /// The same without the unit, which may be left out.
    package var shortName: String {
        Self.dashed(unit.map { field.dropLast($0.suffix.count) } ?? field[...])
    }

    private var unit: HumanUnit? {
        switch form {
        case .integer(let unit): unit
        case .list(.integer(let unit)): unit
        default: nil
        }
    }

    /// Small letters, with dashes where the words of a name begin.
    package static func dashed(_ name: Substring) -> String {
        var text = ""
        for letter in name.unicodeScalars {
            if 65...90 ~= letter.value, let small = Unicode.Scalar(letter.value + 32) {
                if !text.isEmpty { text += "-" }
                text.unicodeScalars.append(small)
            } else {
                text.unicodeScalars.append(letter)
            }
        }
        return text
    }

    /// True if the option stands alone for yes.
    package var isFlag: Bool { if case .boolean = form { true } else { false } }

    /// What stands for the value in help texts.
    package var placeholder: String { form.placeholder }

    /// The values there are, if there are few.
    package var choices: [String] { if case .choice(let values) = form { values } else { [] } }

    // MARK: Values

    /// The value of a text in the units that people use; nil if it has not the form.
    package func value(_ text: String) -> JSON? { form.value(text[...], isHuman: true) }

    /// The value of a text in the units of the schema.
    package func plainValue(_ text: String) -> JSON? { form.value(text[...], isHuman: false) }

    /// The form of its values, in words.
    package var wanted: Texts { form.wanted }

    /// A value, for an example; without blanks, or in quotes.
    package var sample: String { form.sample }
}

extension OptionText.Form {
    fileprivate var isNumeric: Bool {
        switch self {
        case .integer, .number: true
        default: false
        }
    }

    fileprivate var placeholder: String {
        switch self {
        case .integer(let unit): unit.map { $0.symbol.uppercased() } ?? "N"
        case .number: "N"
        case .boolean: "true|false"
        case .text: "TEXT"
        case .choice(let values) where values.count <= 4: values.joined(separator: "|")
        case .choice: "VALUE"
        case .date: "YYYY-MM-DD"
        case .time: "TIME"
        case .tuple(let forms):
            forms.map { $0.name.prefix { !($0.isASCII && $0.isUppercase) } }.joined(separator: ",")
        case .list(.integer(let unit)): unit.map { "\($0.symbol.uppercased()),..." } ?? "N,..."
        case .list(.tuple(let forms)):
            "\"\(OptionText.Form.tuple(forms).placeholder) ...\""
        case .list: "A,B,..."
        case .json: "JSON"
        }
    }

    fileprivate var sample: String {
        switch self {
        case .integer, .number: "100"
        case .boolean: "true"
        case .text: "a1"
        case .choice(let values): values.first ?? ""
        case .date: "2026-05-04"
        case .time: "2026-05-04T08:30:00Z"
        case .tuple(let forms):
            forms.indices.map { "\(100 * ($0 + 1))" }.joined(separator: ",")
        case .list(.tuple(let forms)):
            "\""
                + (0..<2).map { place in
                    forms.indices.map { "\(100 * ($0 + 1) + 300 * place)" }.joined(separator: ",")
                }.joined(separator: " ") + "\""
        case .list(let item): item.sample
        case .json: "'{}'"
        }
    }

    fileprivate func value(_ text: Substring, isHuman: Bool) -> JSON? {
        switch self {
        case .integer(let unit?) where isHuman: unit.integer(String(text)).map { .integer($0) }
        case .integer: Int64(text).map { .integer($0) }
        case .number: Double(text).flatMap { $0.isFinite ? .number($0) : nil }
        case .boolean:
            switch text {
            case "true", "1": .boolean(true)
            case "false", "0": .boolean(false)
            default: nil
            }
        case .text, .choice, .date, .time: .string(String(text))
        case .tuple(let forms): tuple(text, forms, isHuman)
        case .list(let item): list(text, of: item, isHuman)
        case .json: (try? JSON.parse(Array(text.utf8)))?.value
        }
    }

    private func tuple(
        _ text: Substring,
        _ forms: [(name: String, form: OptionText.Form)],
        _ isHuman: Bool
    ) -> JSON? {
        var parts = text.split(separator: ",", omittingEmptySubsequences: false)
        // A size is written 4032x3024.
        if parts.count == 1, forms.count == 2 { parts = text.split(separator: "x") }
        guard parts.count == forms.count else { return nil }
        var values = CommandValues()
        for (part, member) in zip(parts, forms) {
            guard let value = member.form.value(part, isHuman: isHuman) else { return nil }
            values.set(member.name, to: value)
        }
        return .object(values.members)
    }

    private func list(
        _ text: Substring,
        of item: OptionText.Form,
        _ isHuman: Bool
    ) -> JSON? {
        let separator: Character = if case .tuple = item { " " } else { "," }
        var items: [JSON] = []
        for part in text.split(separator: separator) {
            guard let value = item.value(part, isHuman: isHuman) else { return nil }
            items.append(value)
        }
        return .array(of: items)
    }

    fileprivate var wanted: Texts {
        switch self {
        case .integer(let unit?):
            Texts(
                "a number in \(unit.symbol), with a comma or a point",
                it: "un numero in \(unit.symbol), con la virgola o il punto"
            )
        case .integer(nil): Texts("a whole number", it: "un numero intero")
        case .number: Texts("a number", it: "un numero")
        case .boolean: Texts("true or false", it: "true o false")
        case .text, .choice: Texts("a text", it: "un testo")
        case .date:
            Texts("a day, as in 2026-05-04", it: "un giorno, come 2026-05-04")
        case .time:
            Texts("a time, as in 2026-05-04T10:00:00Z", it: "un'ora, come 2026-05-04T10:00:00Z")
        case .tuple, .list:
            Texts("written as \(placeholder)", it: "da scrivere come \(placeholder)")
        case .json: Texts("JSON", it: "JSON")
        }
    }
}
