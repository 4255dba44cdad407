/// A type for values that are no numbers, texts or lists of these.
struct OwnType {
    let name: String
    let content: Content

    enum Content {
        case choice([String])
        case shape(Shape)
    }

    func append(to text: inout SwiftText) {
        switch content {
        case .choice(let values):
            ChoiceSource(name: name, values: values).append(to: &text)
        case .shape(let shape):
            text.block("public struct \(name): NestedValues") { text in
                shape.appendMembers(access: "public", to: &text)
                shape.appendTypes(to: &text)
            }
        }
    }

    /// Adds the type for a row of the answer to a query.
    func appendRow(of query: String, to text: inout SwiftText) {
        guard case .shape(let shape) = content else { return }
        text.block("public struct \(name): QueryRow") { text in
            for member in shape.members {
                text.line("public var \(member.swiftName): \(member.swiftType)")
            }
            text.line()
            text.block("public static var query: AskedQuery") { text in
                text.line("AskedQuery(")
                text.indented { text in
                    text.line("\(Literal.line(query)),")
                    text.line("[")
                    text.indented { text in
                        for member in shape.members { text.line("\(Literal.line(member.name)),") }
                    }
                    text.line("]")
                }
                text.line(")")
            }
            text.line()
            shape.appendInit("public", to: &text)
            text.line()
            text.block("public init(from row: RowValues) throws(RowFault)") { text in
                for (column, member) in shape.members.enumerated() {
                    let target = member.name == "row" ? "self.row" : member.swiftName
                    text.line("\(target) = try \(member.read(column: column))")
                }
            }
        }
    }
}

/// The members of a Swift type for an object.
struct Shape {
    struct Member {
        let name: String
        let type: String
        let kind: Kind
        let isOptional: Bool
    }

    enum Kind {
        case integer, number, text, boolean, day, time, bytes, choice, nested
        case list, integers, integerLists, texts, choices
    }

    var members: [Member] = []
    /// Those of its members that have no name in the pack.
    var types: [OwnType] = []

    func appendTypes(to text: inout SwiftText) {
        for type in types {
            text.line()
            type.append(to: &text)
        }
    }

    /// Adds its members; an object that is only written needs no initializer that reads.
    func appendMembers(access: String, isRead: Bool = true, to text: inout SwiftText) {
        for member in members {
            text.line("\(access) var \(member.swiftName): \(member.swiftType)")
        }
        if !members.isEmpty { text.line() }
        appendInit(access, to: &text)
        if isRead {
            text.line()
            let mayThrow = members.contains { $0.mayBeMissing } ? " throws(MissingValue)" : ""
            text.block("\(access) init(from values: CommandValues)\(mayThrow)") { text in
                for member in members {
                    let mark = member.mayBeMissing ? "try " : ""
                    text.line("\(member.target) = \(mark)\(member.read)")
                }
            }
        }
        text.line()
        text.block("\(access) func encode(into values: inout CommandValues)") { text in
            for member in members {
                text.line("values.set(\(Literal.line(member.name)), \(member.written))")
            }
        }
    }

    /// Adds the function that asks a query with these parameters.
    func appendQuestion(_ name: String, answering row: String, to text: inout SwiftText) {
        guard !members.isEmpty else {
            return text.line("public func \(name)() -> [\(row)] { \(row).asked(of: self) }")
        }
        text.line("public func \(name)(")
        text.indented { $0.parameters(parameters) }
        text.line(") -> [\(row)] {")
        text.indented { text in
            text.line("\(row).asked(")
            text.indented { text in
                text.line("of: self,")
                text.block("QueryParameters") { text in
                    for member in members {
                        let name = Literal.line(member.name)
                        switch member.kind {
                        case .nested, .list, .integers, .integerLists, .texts, .choices:
                            text.line(
                                "$0.set(\(name), json: { $0.set(\"value\", \(member.written)) })"
                            )
                        default: text.line("$0.set(\(name), \(member.written))")
                        }
                    }
                }
            }
            text.line(")")
        }
        text.line("}")
    }

    private var parameters: [SwiftText.Parameter] {
        members.map { ($0.swiftName, $0.swiftType, mayBeLeftOut: $0.isOptional) }
    }

    fileprivate func appendInit(_ access: String, to text: inout SwiftText) {
        text.initializer(access, parameters)
    }
}

extension Shape.Member {
    fileprivate var swiftName: String { SwiftNames.field(name) }

    fileprivate var target: String { name == "values" ? "self.values" : swiftName }

    fileprivate var swiftType: String {
        switch kind {
        case .list, .integers, .integerLists, .texts, .choices:
            "[\(type)]" + (isOptional ? "?" : "")
        default: type + (isOptional ? "?" : "")
        }
    }

    /// True if reading it may find that it is not there, or has another form.
    fileprivate var mayBeMissing: Bool {
        switch kind {
        case .nested, .list, .integers, .integerLists, .texts, .choices: true
        default: !isOptional
        }
    }

    /// The expression that reads the value, after `try` if that may fail.
    fileprivate var read: String {
        let field = Literal.line(name)
        let value = valueRead(field)
        return isOptional ? value : "values.required(\(field), \(value))"
    }

    private func valueRead(_ field: String) -> String {
        switch kind {
        case .integer: "values.integer(\(field))"
        case .number: "values.number(\(field))"
        case .text: "values.text(\(field))"
        case .boolean: "values.boolean(\(field))"
        case .day: "values.day(\(field))"
        case .time: "values.time(\(field))"
        case .bytes: "values.bytes(\(field))"
        case .nested: "values.nested(\(field))"
        case .list: "values.list(\(field))"
        case .integers: "values.integers(\(field))"
        case .integerLists: "values.integerLists(\(field))"
        case .texts: "values.texts(\(field))"
        case .choice: "values.text(\(field)).flatMap { \(type)(rawValue: $0) }"
        case .choices: "values.choices(\(field))"
        }
    }

    /// The expression that reads the value from a column, after `try`.
    fileprivate func read(column: Int) -> String {
        let value =
            switch kind {
            case .integer: "row.integer(\(column))"
            case .number: "row.number(\(column))"
            case .text: "row.text(\(column))"
            case .boolean: "row.boolean(\(column))"
            case .day: "row.day(\(column))"
            case .time: "row.time(\(column))"
            case .bytes: "row.bytes(\(column))"
            case .choice: "row.choice(\(column))"
            case .nested, .list, .integers, .integerLists, .texts, .choices:
                "row.json(\(column)) { values throws(MissingValue) in try "
                    + "\(valueRead("\"value\"")) }"
            }
        return isOptional ? value : "row.required(\(column), \(value))"
    }

    /// The expression that is written.
    fileprivate var written: String {
        let mark = isOptional ? "?" : ""
        return switch kind {
        case .choice: "\(swiftName)\(mark).rawValue"
        case .choices: "\(swiftName)\(mark).map { $0.rawValue }"
        default: swiftName
        }
    }
}
