import DiarioSchema

/// The Swift type for one version of an event type.
struct EventTypeSource {
    private let type: EventType
    /// The name of the Swift type.
    private let name: String
    /// In byte order of their names, as the type has them.
    private let fields: [FieldSource]
    /// The same in the order in which the schema has them.
    private var fieldsAsWritten: [FieldSource] { type.fieldIndicesAsWritten.map { fields[$0] } }

    /// The file below the folder of the pack.
    var path: String {
        "events/\(type.name.dropFirst(type.pack.count + 1)).\(type.version).json"
    }

    /// Those of a pack: the newest version of a type has the plain name.
    static func all(of pack: Pack) -> [EventTypeSource] {
        let types = pack.types
        let names = types.enumerated().map { index, type in
            let plain = SwiftNames.type(type.name.dropFirst(pack.name.count + 1), suffix: "Event")
            let isNewest = index + 1 == types.count || types[index + 1].name != type.name
            return isNewest ? plain : "\(plain)V\(type.version)"
        }
        return zip(types, SwiftNames.distinct(names)).map {
            EventTypeSource($0, name: $1, of: pack)
        }
    }

    private init(_ type: EventType, name: String, of pack: Pack) {
        self.type = type
        self.name = name
        let properties = pack.writtenSchema(of: type).member("properties")?.item.value
        func named(_ field: Field) -> String? {
            properties?.member(field.name).flatMap { NamedTypes.name(in: $0.item.value) }
        }
        let choices = type.fields.filter { $0.kind == .enumeration && named($0) == nil }
        let names = SwiftNames.distinct(
            choices.map { SwiftNames.type($0.name, suffix: "Value") }
        )
        fields = type.fields.enumerated().map { index, field in
            let own = choices.firstIndex { $0.name == field.name }.map { names[$0] }
            let known = field.kind == .enumeration ? named(field) : nil
            return FieldSource(field, index: index, choice: known ?? own, isNamed: known != nil)
        }
    }

    func append(to text: inout SwiftText) {
        text.comment(
            Comment.paragraphs(
                nil,
                type.description ?? "An event of the type \(type.name)",
                "The event type `\(type.name)`, version \(type.version)."
            )
        )
        text.block("public struct \(name): TypedEvent") { text in
            for field in fieldsAsWritten {
                text.comment(field.comment)
                text.line("public var \(field.name): \(field.swiftType)")
            }
            if !fields.isEmpty { text.line() }
            text.initializer(
                "public",
                fieldsAsWritten.map { ($0.name, $0.swiftType, mayBeLeftOut: !$0.isRequired) }
            )
            appendSubject(to: &text)
            text.line()
            text.line("public static var schema: EventSchema {")
            text.indented { text in
                text.line("EventSchema(")
                text.indented { text in
                    text.line("name: \(Literal.line(type.name)),")
                    text.line("version: \(type.version),")
                    let schema = String(decoding: type.canonicalSchema, as: UTF8.self)
                    text.literal(schema, after: "text: ")
                }
                text.line(")")
            }
            text.line("}")
            text.line()
            appendCoding(to: &text)
            for field in fieldsAsWritten { field.appendChoice(to: &text) }
        }
    }

    private func appendSubject(to text: inout SwiftText) {
        guard let index = type.subjectFieldIndex, type.fieldIndex("subject") == nil else { return }
        text.line()
        text.line("/// What the event is about.")
        text.line("public var subject: String? { \(fields[index].asText) }")
    }

    private func appendCoding(to text: inout SwiftText) {
        guard !fields.isEmpty else {
            text.line("public func encode(into fields: inout EventFields) {}")
            text.line()
            text.line("public init(from fields: EventFields) {}")
            return
        }
        let mayThrow = fields.contains(where: \.setMayThrow) ? " throws" : ""
        text.block("public func encode(into fields: inout EventFields)\(mayThrow)") { text in
            for field in fields { text.line(field.set) }
        }
        text.line()
        let isThrowing = fields.contains { !$0.isOptional } ? " throws" : ""
        text.block("public init(from fields: EventFields)\(isThrowing)") { text in
            for field in fields { field.appendRead(to: &text) }
        }
    }
}
