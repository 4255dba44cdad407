import DiarioSchema

/// The Swift file of a domain: types for what the commands and views of its pack are given, answer
/// and record.
struct DomainSource {
    private let pack: Pack
    /// The Swift enum that everything is inside of, such as `Fish`.
    private let name: String

    init(_ pack: Pack) {
        self.pack = pack
        name = SwiftNames.type(pack.name, suffix: "Pack")
    }

    /// The source.
    func text() throws(Failure) -> String {
        var body = SwiftText()
        for declaration in pack.declarations {
            body.line()
            try append(declaration, to: &body)
        }
        if !recordedTypes.isEmpty {
            var shapes: [(EventType, Shape)] = []
            for type in recordedTypes { shapes.append((type, try shape(of: type))) }
            body.line()
            body.block("extension \(name)") { text in
                text.comment(["The events that its commands record."])
                text.block("package enum Recorded") { text in
                    for (index, (type, shape)) in shapes.enumerated() {
                        if index > 0 { text.line() }
                        append(type, shape, to: &text)
                    }
                }
            }
        }
        try appendRows(to: &body)
        for named in pack.named.types {
            guard let type = try ownType(named.name, named.schema) else { continue }
            body.line()
            body.block("extension \(name)") { text in
                if let description = named.description {
                    text.comment(Comment.paragraphs(nil, description))
                }
                type.append(to: &text)
            }
        }
        TextSource(pack, name: name).append(to: &body)
        var text = SwiftText()
        text.line("// Made from schema/\(pack.name) by DiarioPackTool.")
        guard !pack.declarations.isEmpty else { return text.text }
        text.line()
        if let access = coreAccess(in: body.text) { text.line("\(access) import DiarioCore") }
        text.line("public import DiarioSchema")
        return text.text + body.text
    }

    /// How the source imports the module with days and times; nil if it needs none of them.
    private func coreAccess(in source: String) -> String? {
        let lines = source.split(separator: "\n").filter {
            $0.contains("CivilDay") || $0.contains("Timestamp")
        }
        guard !lines.isEmpty else { return nil }
        return lines.contains { $0.contains("public ") } ? "public" : "package"
    }

    /// The newest versions of the types that commands record.
    private var recordedTypes: [EventType] {
        let names = Set(pack.declarations.flatMap(\.events))
        return pack.types.enumerated().filter { index, type in
            let isNewest =
                index + 1 == pack.types.count || pack.types[index + 1].name != type.name
            return isNewest && names.contains(type.name)
        }.map(\.element)
    }

    private func append(
        _ declaration: Declaration,
        to text: inout SwiftText
    ) throws(Failure) {
        let type = SwiftNames.type(declaration.shortName, suffix: "Call")
        let schemas = pack.writtenForms(of: declaration)
        let input = try shape(declaration.inputFields, schemas.input, type)
        let result = try shape(
            declaration.result.fieldIndicesAsWritten.map { declaration.result.fields[$0] },
            schemas.result,
            "\(type).Result"
        )
        let (name, canonical) = (name, String(decoding: declaration.canonicalText, as: UTF8.self))
        text.block("extension \(name)") { text in
            text.comment(
                Comment.paragraphs(
                    nil,
                    declaration.description.english,
                    "The \(declaration.kind.rawValue) `\(declaration.name)`, version "
                        + "\(declaration.version)."
                )
            )
            text.block("public struct \(type): CommandInput") { text in
                input.appendMembers(access: "public", to: &text)
                text.line()
                text.comment(["The answer to it."])
                text.block("public struct Result: NestedValues") { text in
                    result.appendMembers(access: "public", to: &text)
                    result.appendTypes(to: &text)
                }
                text.line()
                text.block("public static var declaration: DeclaredCall") { text in
                    text.line("DeclaredCall(")
                    text.indented { text in
                        text.line("name: \(Literal.line(declaration.name)),")
                        text.line("version: \(declaration.version),")
                        text.literal(canonical, after: "text: ")
                    }
                    text.line(")")
                }
                text.line()
                text.line("public static var domain: Domain { \(name).domain }")
                input.appendTypes(to: &text)
            }
        }
    }

    // MARK: Queries

    /// The rows of queries that say what they answer, and how a rule asks for them.
    private func appendRows(to body: inout SwiftText) throws(Failure) {
        var rows: [(query: PackQuery, type: OwnType, parameters: Shape)] = []
        for query in pack.sql.queries {
            guard let schema = query.answerSchema() else { continue }
            let type = SwiftNames.type(query.name, suffix: "Row")
            guard let row = try ownType(type, schema, in: "Rows.\(type)") else { continue }
            rows.append((query, row, try parameters(of: query)))
        }
        guard !rows.isEmpty else { return }
        body.line()
        body.block("extension \(name)") { text in
            text.comment(["The rows of the answers to queries."])
            text.block("public enum Rows") { text in
                for (index, (query, type, _)) in rows.enumerated() {
                    if index > 0 { text.line() }
                    text.comment(
                        Comment.paragraphs(nil, query.title, "The query `\(query.name)`.")
                    )
                    type.appendRow(of: query.name, to: &text)
                }
            }
        }
        body.line()
        body.block("extension CommandSpace") { text in
            for (index, (query, type, parameters)) in rows.enumerated() {
                if index > 0 { text.line() }
                text.comment(Comment.paragraphs(nil, query.title))
                parameters.appendQuestion(
                    SwiftNames.question(query.name),
                    answering: "\(name).Rows.\(type.name)",
                    to: &text
                )
            }
        }
    }

    private func parameters(of query: PackQuery) throws(Failure) -> Shape {
        var shape = Shape()
        for parameter in query.parameters {
            let schema = parameter.values.schema
            let (kind, type) = try value(
                Self.kind(schema),
                parameter.name,
                schema,
                query.name,
                &shape
            )
            shape.members.append(
                Shape.Member(
                    name: parameter.name,
                    type: type,
                    kind: kind,
                    isOptional: parameter.fallback != nil
                )
            )
        }
        return shape
    }

    private func shape(of type: EventType) throws(Failure) -> Shape {
        try shape(
            type.fieldIndicesAsWritten.map { type.fields[$0] },
            pack.writtenSchema(of: type),
            "Recorded.\(Self.swiftName(type))"
        )
    }

    private static func swiftName(_ type: EventType) -> String {
        SwiftNames.type(type.name.dropFirst(type.pack.count + 1), suffix: "Event")
    }

    private func append(_ type: EventType, _ shape: Shape, to text: inout SwiftText) {
        text.comment(["The event type `\(type.name)`, version \(type.version)."])
        text.block("package struct \(Self.swiftName(type)): NewEvent") { text in
            text.line("package static var type: (name: String, version: Int) {")
            text.indented { $0.line("(\(Literal.line(type.name)), \(type.version))") }
            text.line("}")
            text.line()
            shape.appendMembers(access: "package", isRead: false, to: &text)
            shape.appendTypes(to: &text)
        }
    }

    private func shape(
        _ fields: [Field],
        _ schema: JSON,
        _ owner: String
    ) throws(Failure) -> Shape {
        var shape = Shape()
        for field in fields {
            // The parts of a blob are no properties of their own.
            let values: JSON = .array(of: field.bounds.values.map { .string($0) })
            let property =
                schema.member("properties")?.item.value.member(field.name)?.item.value
                ?? (field.kind == .enumeration ? .object(of: [("enum", values)]) : nil)
            let (kind, swiftType) = try value(field.kind, field.name, property, owner, &shape)
            shape.members.append(
                Shape.Member(
                    name: field.name,
                    type: swiftType,
                    kind: kind,
                    isOptional: !field.isRequired
                )
            )
        }
        return shape
    }

    /// How a value is read, and its Swift type, which becomes one of `shape` if it has no name.
    private func value(
        _ kind: Field.Kind,
        _ name: String,
        _ schema: JSON?,
        _ owner: String,
        _ shape: inout Shape
    ) throws(Failure) -> (Shape.Kind, String) {
        switch kind {
        case .integer: return (.integer, "Int64")
        case .number: return (.number, "Double")
        case .string, .uuid: return (.text, "String")
        case .boolean: return (.boolean, "Bool")
        case .date: return (.day, "CivilDay")
        case .dateTime: return (.time, "Timestamp")
        case .bytes: return (.bytes, "[UInt8]")
        case .enumeration, .nested: break
        }
        guard let schema else { throw unknown(name, owner) }
        // Any JSON, as a text.
        if case .object(let members) = schema, members.isEmpty { return (.text, "String") }
        if schema.member("enum") != nil {
            return (.choice, try typeName(name, schema, owner, &shape))
        }
        switch schema.member("type")?.item.value {
        case .string("object"): return (.nested, try typeName(name, schema, owner, &shape))
        case .string("array"): break
        default: throw unknown(name, owner)
        }
        guard let items = schema.member("items")?.item.value else { throw unknown(name, owner) }
        if items.member("enum") != nil {
            return (.choices, try typeName(name, items, owner, &shape))
        }
        switch items.member("type")?.item.value {
        case .string("integer"): return (.integers, "Int64")
        case .string("string"): return (.texts, "String")
        case .string("object"): return (.list, try typeName(name, items, owner, &shape))
        case .string("array"):
            guard
                case .string("integer")? = items.member("items")?.item.value.member("type")?.item
                    .value
            else { throw unknown(name, owner) }
            return (.integerLists, "[Int64]")
        default: throw unknown(name, owner)
        }
    }

    /// The name of the type for a schema: the one that the pack gives it, or that of the field.
    private func typeName(
        _ field: String,
        _ schema: JSON,
        _ owner: String,
        _ shape: inout Shape
    ) throws(Failure) -> String {
        if let named = NamedTypes.name(in: schema) { return "\(name).\(named)" }
        var type = SwiftNames.type(field, suffix: "Value")
        if NamedTypes.reserved.contains(type) { type += "Value" }
        guard let own = try ownType(type, schema, in: owner) else { throw unknown(field, owner) }
        shape.types.append(own)
        return type
    }

    /// The type for an enumeration, or for objects, whose members are in the order of the schema;
    /// nil for other schemas, which need none.
    private func ownType(
        _ name: String,
        _ schema: JSON,
        in owner: String = ""
    ) throws(Failure) -> OwnType? {
        if case .array(let items)? = schema.member("enum")?.item.value {
            var values: [String] = []
            for item in items { if case .string(let text) = item.value { values.append(text) } }
            return OwnType(name: name, content: .choice(values))
        }
        guard case .object(let properties)? = schema.member("properties")?.item.value else {
            return nil
        }
        var required: Set<String> = []
        if case .array(let names)? = schema.member("required")?.item.value {
            for item in names { if case .string(let name) = item.value { required.insert(name) } }
        }
        let path = owner.isEmpty ? name : "\(owner).\(name)"
        var shape = Shape()
        for property in properties {
            let (kind, type) = try value(
                Self.kind(property.item.value),
                property.key,
                property.item.value,
                path,
                &shape
            )
            shape.members.append(
                Shape.Member(
                    name: property.key,
                    type: type,
                    kind: kind,
                    isOptional: !required.contains(property.key)
                )
            )
        }
        return OwnType(name: name, content: .shape(shape))
    }

    private static func kind(_ schema: JSON) -> Field.Kind {
        if schema.member("enum") != nil { return .enumeration }
        switch schema.member("type")?.item.value {
        case .string("integer"): return .integer
        case .string("number"): return .number
        case .string("boolean"): return .boolean
        case .string("string"):
            if schema.member("contentEncoding") != nil { return .bytes }
            switch schema.member("format")?.item.value {
            case .string("date"): return .date
            case .string("date-time"): return .dateTime
            default: return .string
            }
        default: return .nested
        }
    }

    private func unknown(_ field: String, _ owner: String) -> Failure {
        Failure(
            lines: [
                "error: \(pack.name): \(owner): no Swift type is made for the form of \(field); "
                    + "use an object, or a list of integers, texts or objects"
            ]
        )
    }
}
