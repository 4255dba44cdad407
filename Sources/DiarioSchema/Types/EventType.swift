import DiarioCore

/// One version of an event type: the rules of its payloads.
///
/// Immutable, made from a schema.
package final class EventType: Sendable {
    /// The full name, `fish.report.filed`.
    package let name: String
    package let nameBytes: [UInt8]
    package let version: Int
    /// The name of the pack: the name up to its first dot.
    package let pack: String
    package let description: String?
    /// In byte order of their names.
    ///
    /// The slots of a `Payload` have the same order.
    package let fields: [Field]
    /// The indices of the fields that are not personal, ascending.
    package let publicFieldIndices: [Int]
    package let personalFieldIndices: [Int]
    /// The blobs, each of which is four of the fields, in the order of the schema.
    package let blobs: [BlobField]
    /// The field that says what the event is about, if the type names one.
    package let subjectFieldIndex: Int?
    /// The field that the writer fills with the event's origin where it is absent.
    package let newIDFieldIndex: Int?
    /// The schema in RFC 8785 form without what does not change its meaning.
    ///
    /// `init(name:canonicalSchema:)` makes an equal type of it; its hash is the fingerprint.
    package let canonicalSchema: [UInt8]

    let rules: SchemaRules
    /// The field with which the schema's own order starts, or -1.
    let firstField: Int32

    /// A type that no event has, for places where the type is still to come.
    package static let blank = unknown("", version: 0)

    /// A version of a type whose schema is not here: of its payload nothing is known.
    package static func unknown(_ name: String, version: Int) -> EventType {
        EventType(
            SchemaParts(
                name: name,
                version: version,
                description: nil,
                fields: [],
                blobs: [],
                subjectFieldIndex: nil,
                canonicalSchema: [],
                rules: SchemaRules(),
                firstField: -1
            )
        )
    }

    /// True if the schema is missing.
    package var isUnknown: Bool { canonicalSchema.isEmpty }

    init(_ parts: SchemaParts) {
        name = parts.name
        nameBytes = Array(parts.name.utf8)
        version = parts.version
        pack = String(parts.name.prefix { $0 != "." })
        description = parts.description
        fields = parts.fields
        publicFieldIndices = parts.fields.indices.filter { !parts.fields[$0].isPersonal }
        personalFieldIndices = parts.fields.indices.filter { parts.fields[$0].isPersonal }
        blobs = parts.blobs
        subjectFieldIndex = parts.subjectFieldIndex
        newIDFieldIndex = parts.fields.firstIndex { $0.isNewID }
        canonicalSchema = parts.canonicalSchema
        var rules = parts.rules
        // Lets names be read eight bytes at a time.
        rules.names.append(repeating: 0, count: 8)
        self.rules = rules
        firstField = parts.firstField
    }

    /// Reads the schema in the file `events/<name>.<version>.json` of a pack.
    ///
    /// Throws all problems at once, each with the line of the file.
    package convenience init(
        schema: [UInt8],
        file: String,
        _ named: NamedTypes = NamedTypes(),
        budget: inout PatternBudget
    ) throws(PackError) {
        var reader = SchemaReader(file: file, budget: budget, named: named)
        let parts = reader.read(schema, name: nil)
        budget = reader.budget
        let problems = reader.problems.problems
        guard let parts, problems.isEmpty else { throw PackError(problems) }
        self.init(parts)
    }

    /// Reads a schema from the form that `canonicalSchema` has, which lacks the name.
    package convenience init(name: String, canonicalSchema: [UInt8]) throws(PackError) {
        var reader = SchemaReader(file: name, budget: PatternBudget())
        let parts = reader.read(canonicalSchema, name: name)
        let problems = reader.problems.problems
        guard let parts, problems.isEmpty else { throw PackError(problems) }
        self.init(parts)
    }

    /// True if the string field `index` may hold `text`, which is valid UTF-8.
    ///
    /// For an id that is put in the place of `#3` only after the payload was checked.
    package func takes(_ text: Span<UInt8>, at index: Int) -> Bool {
        let node = rules.nodes[index]
        guard node.kind == .string else { return false }
        var scalarCount: Int64 = 0
        for index in text.indices where text[index] & 0xc0 != 0x80 { scalarCount += 1 }
        guard node.minimum...node.maximum ~= scalarCount else { return false }
        return node.pattern < 0 || rules.patterns[Int(node.pattern)].matches(text)
    }

    /// The indices of the fields in the order in which the schema has them.
    package var fieldIndicesAsWritten: [Int] {
        var indices: [Int] = []
        var next = Int(firstField)
        while next >= 0, indices.count < fields.count {
            indices.append(next)
            next = Int(rules.nodes[next].successor)
        }
        return indices
    }

    /// The fields that may hold an id that is an origin; a subject need not be marked as an id.
    package var idFieldIndices: [Int] {
        fields.indices.filter { index in
            let field = fields[index]
            return field.kind == .string
                && (field.isNewID || field.referenceKind != nil || index == subjectFieldIndex)
        }
    }

    /// The index of the field named `name`, if there is one.
    package func fieldIndex(_ name: String) -> Int? {
        fields.firstIndex { $0.name.hasBytes(of: name) }
    }
}

/// The content of a schema, before it becomes a type.
struct SchemaParts {
    var name: String
    var version: Int
    var description: String?
    var fields: [Field]
    var blobs: [BlobField]
    var subjectFieldIndex: Int?
    var canonicalSchema: [UInt8]
    var rules: SchemaRules
    var firstField: Int32
}

extension EventType {
    /// The kinds of values inside a nested field, at any depth.
    package func memberKinds(at index: Int) -> Set<Field.Kind> {
        var kinds: Set<Field.Kind> = []
        var open = Array(rules.nodes[index].children.indices)
        while let next = open.popLast() {
            let node = rules.nodes[next]
            kinds.insert(node.kind.fieldKind)
            if node.kind.fieldKind == .nested { open += Array(node.children.indices) }
        }
        return kinds
    }
}
