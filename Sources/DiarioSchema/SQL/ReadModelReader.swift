/// Reads a file of `readmodel/`.
struct ReadModelReader {
    private let file: PackFile
    /// The pack's types; the newest version of each counts.
    private let types: [EventType]
    /// Types whose schemas are there and cannot be read, which is said of them.
    private let unread: Set<String>
    private(set) var problems: ProblemList

    /// The first words of the statements that may make tables.
    private static let definitions: [[String]] = [
        ["CREATE", "TABLE"], ["CREATE", "VIRTUAL", "TABLE"], ["CREATE", "INDEX"],
        ["CREATE", "UNIQUE", "INDEX"], ["CREATE", "TRIGGER"], ["CREATE", "VIEW"],
    ]
    private static let changes = ["INSERT", "UPDATE", "DELETE", "REPLACE"]

    init(_ file: PackFile, types: [EventType], unread: Set<String>) {
        self.file = file
        self.types = types
        self.unread = unread
        problems = ProblemList(file: file.path)
    }

    /// Of use only if there are no problems.
    mutating func read() -> ReadModel? {
        var reader = SQLSectionReader(file.bytes, file: file.path)
        let sections = reader.read { $0.hasPrefix("on ") || $0.hasPrefix("readmodel ") }
        problems = reader.problems
        guard let first = sections.first, let (name, version, title) = readHeading(first) else {
            return nil
        }
        for definition in first.statements { check(definition: definition) }
        var blocks: [ReadModel.Block] = []
        for section in sections.dropFirst() {
            if let block = readBlock(section) { blocks.append(block) }
        }
        if sections.count == 1 {
            problems.add(
                first.line,
                "readmodel-blocks",
                "the read model listens to nothing; add a block that begins with -- on TYPE"
            )
        }
        return ReadModel(
            name: name,
            version: version,
            title: title,
            file: file.path,
            definitions: first.statements,
            blocks: blocks
        )
    }

    /// Reads `readmodel NAME version N: what it shows`.
    private mutating func readHeading(
        _ section: SQLSection
    ) -> (name: String, version: Int, title: String)? {
        let parts = section.heading.split(separator: ":", maxSplits: 1)
        let words = parts.first?.split(whereSeparator: { $0.isWhitespace }) ?? []
        guard words.count == 4, words[0] == "readmodel", words[2] == "version",
            SQLNames.isName(words[1]), let version = Int(words[3]), 1...Int(Int32.max) ~= version,
            let title = parts.dropFirst().first.map({ SQLSectionReader.trimmed($0) }),
            !title.isEmpty
        else {
            problems.add(
                section.line,
                "readmodel-heading",
                "a read model begins with -- readmodel NAME version N: what it shows; the name is "
                    + SQLNames.rule
            )
            return nil
        }
        let expected = file.path.dropFirst("readmodel/".count).dropLast(".sql".count)
        guard words[1] == expected else {
            problems.add(
                section.line,
                "readmodel-name",
                "the name \(words[1]) disagrees with the file name; write \(expected), or rename "
                    + "the file"
            )
            return nil
        }
        return (String(words[1]), version, title)
    }

    private mutating func check(definition: SQLStatement) {
        if !Self.definitions.contains(where: { definition.head.starts(with: $0) }) {
            problems.add(
                definition.line,
                "readmodel-definition",
                "only tables, virtual tables, indexes, triggers and views are made here; a change "
                    + "of rows belongs below a line -- on TYPE"
            )
        }
        if definition.isDerived {
            problems.add(
                definition.line,
                "sql-derived",
                "only a statement for events is derived; remove the line -- derived"
            )
        }
        if let parameter = definition.parameters.first {
            problems.add(
                parameter.line,
                "readmodel-definition",
                "a table is made without an event, so :\(parameter.name) has no value here"
            )
        }
    }

    private mutating func readBlock(_ section: SQLSection) -> ReadModel.Block? {
        guard section.heading.hasPrefix("on ") else {
            problems.add(
                section.line,
                "readmodel-heading",
                "a file holds one read model; move this one to a file of its own"
            )
            return nil
        }
        let names = section.heading.dropFirst(3).split(
            separator: ",",
            omittingEmptySubsequences: false
        ).map { SQLSectionReader.trimmed($0) }
        var listened: [EventType] = []
        for name in names where !unread.contains(name) {
            guard let type = types.last(where: { $0.name == name }) else {
                problems.add(
                    section.line,
                    "readmodel-type",
                    "there is no type \(name) in this pack",
                    misspelt: name,
                    among: types.map { $0.name },
                    remedy: "add its schema to events/, or remove it here"
                )
                continue
            }
            if listened.contains(where: { $0.name == name }) {
                problems.add(section.line, "readmodel-type", "\(name) is there twice; remove one")
            }
            listened.append(type)
        }
        guard listened.count == names.count else { return nil }
        if section.statements.isEmpty {
            problems.add(
                section.line,
                "readmodel-blocks",
                "nothing is done for \(names.joined(separator: ", ")); add a statement"
            )
        }
        for statement in section.statements { check(statement, listened) }
        return ReadModel.Block(types: names, line: section.line, statements: section.statements)
    }

    private mutating func check(_ statement: SQLStatement, _ types: [EventType]) {
        if let first = statement.head.first, !Self.changes.contains(first) {
            problems.add(
                statement.line,
                "readmodel-statement",
                "an event changes rows: INSERT, UPDATE, DELETE or REPLACE; \(first) does not"
            )
        }
        for parameter in statement.parameters {
            check(parameter, of: types, &problems)
        }
    }

    /// A parameter is a field of each of the types, or one of those with an underscore.
    private func check(
        _ parameter: SQLStatement.Parameter,
        of types: [EventType],
        _ problems: inout ProblemList
    ) {
        let name = parameter.name
        guard !name.hasPrefix("_") else {
            if EnvelopeParameter(rawValue: name) == nil {
                problems.add(
                    parameter.line,
                    "unknown-field",
                    ":\(name) is not known",
                    misspelt: name,
                    among: EnvelopeParameter.allCases.map { $0.rawValue },
                    remedy: "an underscore begins what is known beside the payload, as in :_at"
                )
            }
            return
        }
        for type in types where !type.fields.contains(where: { $0.name == name }) {
            problems.add(
                parameter.line,
                "unknown-field",
                "\(type.name) version \(type.version) has no field \(name)",
                misspelt: name,
                among: type.fields.map { $0.name },
                remedy: types.count > 1 ? "write a block of its own for it" : "remove :\(name)"
            )
        }
    }
}
