import DiarioCore

/// Reads the JSON Schema of an event type and tells all that is wrong with it.
struct SchemaReader {
    var problems: ProblemList
    var budget: PatternBudget
    var rules = SchemaRules()
    /// True for a form of a command or a view, whose titles may be there in several languages.
    private(set) var isForm = false

    static let dialect = "https://json-schema.org/draft/2020-12/schema"

    private static let keywords = [
        "$schema", "title", "description", "x-diario-version", "x-diario-subject", "type",
        "additionalProperties", "required", "properties",
    ]
    private static let formKeywords = ["type", "additionalProperties", "required", "properties"]

    private let named: NamedTypes

    /// `named` are the types of the pack that have names.
    init(file: String, budget: PatternBudget, named: NamedTypes = NamedTypes()) {
        problems = ProblemList(file: file)
        self.budget = budget
        self.named = named
    }

    mutating func problem(_ line: Int?, _ rule: String, _ message: String) {
        problems.add(line, rule, message)
    }

    /// Reads the schema; with `name` one that has no title, whose name is known from elsewhere.
    ///
    /// The parts are valid only if there are no problems; nil if too little could be read.
    mutating func read(_ text: [UInt8], name: String?) -> SchemaParts? {
        let written: JSON.Item
        do {
            written = try JSON.parse(text)
        } catch {
            problem(error.line, error.rule, error.message)
            return nil
        }
        return read(written, Self.keywords, name: name, version: nil)
    }

    /// Reads the form of what a command or a view is given, or answers.
    mutating func readForm(_ item: JSON.Item, _ name: String, version: Int) -> SchemaParts? {
        isForm = true
        return read(item, Self.formKeywords, name: name, version: version)
    }

    private mutating func read(
        _ written: JSON.Item,
        _ keywords: [String],
        name: String?,
        version known: Int?
    ) -> SchemaParts? {
        guard case .object(let members) = written.value else {
            problem(written.line, "schema-object", "a schema is an object; write { ... }")
            return nil
        }
        let written = named.expand(written, &problems)
        let (root, blobs) = expandingBlobs(written)
        for member in members where !keywords.contains(member.key) {
            unknownKeyword(member, known: keywords)
        }
        if let dialect = readText(root, "$schema"), dialect != Self.dialect {
            problem(
                root.value.member("$schema")?.line,
                "dialect",
                "$schema is \(dialect); write \(Self.dialect)"
            )
        }
        let typeName = readTitle(root, name: name)
        let version = known ?? readVersion(root)
        let top = readObject(root, path: "")
        let fields = readFields(root, count: top.range.indices.count)
        let subject = readSubject(root, fields: fields)
        if let subject { rules.nodes[subject].isSubject = true }
        guard let typeName, let version else { return nil }
        var canonicalSchema: [UInt8] = []
        written.value.withoutAnnotations.appendCanonical(to: &canonicalSchema)
        return SchemaParts(
            name: typeName,
            version: version,
            description: readText(root, "description"),
            fields: fields,
            blobs: resolveBlobs(blobs, fields: fields),
            subjectFieldIndex: subject,
            canonicalSchema: canonicalSchema,
            rules: rules,
            firstField: top.first
        )
    }

    private mutating func readTitle(_ root: JSON.Item, name: String?) -> String? {
        if let name { return name }
        guard let title = readText(root, "title") else {
            if root.value.member("title") == nil {
                problem(
                    root.line,
                    "title-missing",
                    "the schema has no title; write the full name of the type, as in "
                        + "\"title\": \"plants.plant.watered\""
                )
            }
            return nil
        }
        guard SchemaNames.isType(title), title.contains(".") else {
            problem(
                root.value.member("title")?.line,
                "type-name",
                "\(title) is no name of a type; a name is the pack, a dot and "
                    + SchemaNames.typeRule
            )
            return nil
        }
        return title
    }

    private mutating func readVersion(_ root: JSON.Item) -> Int? {
        guard let member = root.value.member("x-diario-version") else {
            problem(
                root.line,
                "version-missing",
                "the schema has no x-diario-version; write the one in the file name"
            )
            return nil
        }
        guard case .integer(let version) = member.item.value,
            1...SchemaNames.versionMax ~= version
        else {
            problem(
                member.line,
                "version",
                "x-diario-version must be an integer from 1 to \(SchemaNames.versionMax)"
            )
            return nil
        }
        return Int(version)
    }

    /// The index of the field that `x-diario-subject` names.
    private mutating func readSubject(_ root: JSON.Item, fields: [Field]) -> Int? {
        guard let name = readText(root, "x-diario-subject") else { return nil }
        let line = root.value.member("x-diario-subject")?.line
        guard let index = fields.firstIndex(where: { $0.name == name }) else {
            problems.add(
                line,
                "subject-unknown",
                "x-diario-subject names no field: \(name)",
                misspelt: name,
                among: fields.map({ $0.name }),
                remedy: "name one of its properties"
            )
            return nil
        }
        let field = fields[index]
        if field.isPersonal {
            problem(
                line,
                "subject-personal",
                "the subject \(name) is personal, but a subject stays for ever; use an id that "
                    + "says nothing about a person"
            )
        }
        switch field.kind {
        case .string, .uuid, .integer: break
        case .number, .boolean, .enumeration, .date, .dateTime, .bytes, .nested:
            problem(
                line,
                "subject-kind",
                "the subject \(name) must be a string, a uuid or an integer"
            )
        }
        if !field.isRequired, !field.isNewID {
            problem(
                line,
                "subject-optional",
                "the subject \(name) may be absent; add it to required, or make it a new id"
            )
        }
        return index
    }
}
