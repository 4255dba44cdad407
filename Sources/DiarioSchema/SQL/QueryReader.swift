/// Reads a file of `queries/`.
struct QueryReader {
    private let file: PackFile
    private(set) var problems: ProblemList

    init(_ file: PackFile) {
        self.file = file
        problems = ProblemList(file: file.path)
    }

    /// Of use only if there are no problems.
    mutating func read() -> PackQuery? {
        var reader = SQLSectionReader(file.bytes, file: file.path)
        let sections = reader.read { $0.hasPrefix("query ") }
        problems = reader.problems
        guard let section = sections.first, let heading = readHeading(section) else { return nil }
        guard sections.count == 1, let statement = section.statements.first,
            section.statements.count == 1
        else {
            problems.add(
                section.line,
                "query-statement",
                "a file holds one query, and a query is one statement that ends with a semicolon"
            )
            return nil
        }
        check(statement, heading.parameters)
        return PackQuery(
            name: heading.name,
            parameters: heading.parameters,
            title: heading.title,
            file: file.path,
            statement: statement
        )
    }

    private mutating func headingProblem(_ section: SQLSection) {
        problems.add(
            section.line,
            "query-heading",
            "a query begins with -- query NAME(param TYPE [= default], ...): what it answers; the "
                + "name is \(SQLNames.rule)"
        )
    }

    /// Reads `query NAME(param TYPE [= default], ...): what it answers`.
    private mutating func readHeading(
        _ section: SQLSection
    ) -> (name: String, parameters: [PackQuery.Parameter], title: String)? {
        let heading = section.heading
        guard heading.hasPrefix("query "), let open = heading.firstIndex(of: "("),
            let close = Self.closing(heading, after: open)
        else {
            headingProblem(section)
            return nil
        }
        let name = SQLSectionReader.trimmed(heading[..<open].dropFirst("query ".count))
        let rest = SQLSectionReader.trimmed(heading[heading.index(after: close)...])
        let title = SQLSectionReader.trimmed(rest.dropFirst())
        guard SQLNames.isName(name), rest.hasPrefix(":"), !title.isEmpty else {
            headingProblem(section)
            return nil
        }
        let expected = file.path.dropFirst("queries/".count).dropLast(".sql".count)
        guard name == expected else {
            problems.add(
                section.line,
                "query-name",
                "the name \(name) disagrees with the file name; write \(expected), or rename the "
                    + "file"
            )
            return nil
        }
        var parameters: [PackQuery.Parameter] = []
        for part in Self.parts(heading[heading.index(after: open)..<close]) {
            guard let parameter = readParameter(part, section.line) else { return nil }
            if parameters.contains(where: { $0.name == parameter.name }) {
                problems.add(
                    section.line,
                    "query-parameter",
                    "the parameter \(parameter.name) is there twice; remove one"
                )
                return nil
            }
            parameters.append(parameter)
        }
        return (name, parameters, title)
    }

    /// The bracket that closes, outside of texts.
    static func closing(_ heading: String, after open: String.Index) -> String.Index? {
        var isInText = false
        for index in heading.indices[heading.index(after: open)...] {
            if heading[index] == "'" { isInText.toggle() }
            if heading[index] == ")", !isInText { return index }
        }
        return nil
    }

    /// The parts between commas, outside of texts.
    private static func parts(_ list: Substring) -> [String] {
        guard !list.allSatisfy({ $0.isWhitespace }) else { return [] }
        var parts = [""]
        var isInText = false
        for character in list {
            if character == "'" { isInText.toggle() }
            if character == ",", !isInText {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts
    }

    /// Reads `param TYPE [= default]`.
    private mutating func readParameter(_ text: String, _ line: Int) -> PackQuery.Parameter? {
        let sides = text.split(separator: "=", maxSplits: 1).map { SQLSectionReader.trimmed($0) }
        let words = sides.first?.split(whereSeparator: { $0.isWhitespace }).map(String.init) ?? []
        guard let name = words.first, words.count <= 2, Self.isParameter(name) else {
            problems.add(
                line,
                "query-parameter",
                "\(SQLSectionReader.trimmed(text)) is no parameter; write a name and a type"
            )
            return nil
        }
        let kinds = PackQuery.Kind.allCases.map { $0.rawValue }
        guard words.count == 2, let kind = PackQuery.Kind(rawValue: words[1].uppercased()) else {
            let found = words.count == 2 ? "\(words[1]) is none" : "it has none"
            problems.add(
                line,
                "query-parameter",
                "the parameter \(name) needs a type, and \(found); write one of "
                    + kinds.joined(separator: ", ")
            )
            return nil
        }
        let fallback = sides.count == 2 ? sides[1] : nil
        if let fallback, !Self.isLiteral(fallback) {
            problems.add(
                line,
                "query-parameter",
                "the default of \(name) must be a literal of SQL: a finite number, a text in "
                    + "single quotes, bytes as in x'00', TRUE, FALSE or NULL"
            )
            return nil
        }
        return PackQuery.Parameter(name: name, kind: kind, fallback: fallback)
    }

    private static func isParameter(_ name: String) -> Bool {
        name.utf8.allSatisfy { byte in
            0x61...0x7a ~= byte | 0x20 || 0x30...0x39 ~= byte || byte == 0x5f
        } && name.utf8.first.map { !(0x30...0x39 ~= $0) && $0 != 0x5f } ?? false
    }

    private static func isLiteral(_ text: String) -> Bool {
        let unsigned = text.hasPrefix("-") ? String(text.dropFirst()) : text
        var lexer = SQLLexer(Array(unsigned.utf8))
        guard let token = try? lexer.next(), (try? lexer.next()) == .some(nil) else { return false }
        switch token.kind {
        // One that is too large would be infinite, which no parameter can be given.
        case .number: return Double(unsigned)?.isFinite ?? true
        case .text, .blob: return unsigned == text
        case .word: return ["NULL", "TRUE", "FALSE"].contains(text.uppercased())
        default: return false
        }
    }

    private mutating func check(_ statement: SQLStatement, _ parameters: [PackQuery.Parameter]) {
        let names = parameters.map { $0.name }
        for parameter in statement.parameters where !names.contains(parameter.name) {
            problems.add(
                parameter.line,
                "query-parameter",
                ":\(parameter.name) is not in the heading",
                misspelt: parameter.name,
                among: names,
                remedy: "add it there with its type"
            )
        }
        for name in names where !statement.parameters.contains(where: { $0.name == name }) {
            problems.add(
                statement.line,
                "query-parameter",
                "the parameter \(name) is never used; remove it from the heading"
            )
        }
    }
}
