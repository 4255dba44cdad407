import DiarioCore

/// Reads a file of `queries/`.
struct QueryReader {
    private let file: PackFile
    private let named: NamedTypes
    private(set) var problems: ProblemList

    init(_ file: PackFile, _ named: NamedTypes) {
        self.file = file
        self.named = named
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
        let columns = readColumns(section)
        var examples = readExamples(section, heading.parameters)
        if columns != nil, examples.isEmpty {
            examples = [PackQuery.Example(values: [:], line: section.line)]
        }
        let needed = heading.parameters.filter { $0.fallback == nil }.map { $0.name }
        for example in columns == nil ? [] : examples {
            guard let name = needed.first(where: { example.values[$0] == nil }) else { continue }
            problems.add(
                example.line,
                "query-example",
                "a query that says what it answers is tried with values, and \(name) has none; "
                    + "write a line such as -- example \(name)='...'"
            )
        }
        return PackQuery(
            name: heading.name,
            parameters: heading.parameters,
            columns: columns,
            examples: examples,
            title: heading.title,
            file: file.path,
            statement: statement
        )
    }

    private mutating func headingProblem(_ section: SQLSection) {
        problems.add(
            section.line,
            "query-heading",
            "a query begins with -- query NAME(param TYPE [of QUERY] [= default], ...): what it "
                + "answers; the "
                + "name is \(SQLNames.rule)"
        )
    }

    /// Reads `query NAME(param TYPE [of QUERY] [= default], ...): what it answers`.
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

    /// Reads `param TYPE [of QUERY] [= default]`.
    private mutating func readParameter(_ text: String, _ line: Int) -> PackQuery.Parameter? {
        let sides = text.split(separator: "=", maxSplits: 1).map { SQLSectionReader.trimmed($0) }
        let words = sides.first?.split(whereSeparator: { $0.isWhitespace }).map(String.init) ?? []
        guard let name = words.first, words.count <= 2 || words.count == 4 && words[2] == "of",
            Self.isParameter(name)
        else {
            problems.add(
                line,
                "query-parameter",
                "\(SQLSectionReader.trimmed(text)) is no parameter; write a name and a type, and "
                    + "where another query has its values, of and the name of that query"
            )
            return nil
        }
        let place = (line: line, rule: "query-parameter")
        guard
            let (values, mayBeNull) = readValues(
                words.dropFirst().first ?? "",
                of: "the parameter \(name)",
                place
            )
        else { return nil }
        let fallback = sides.count == 2 ? sides[1] : mayBeNull ? "NULL" : nil
        if let fallback, !Self.isLiteral(fallback) {
            problems.add(
                line,
                "query-parameter",
                "the default of \(name) must be a literal of SQL: a finite number, a text in "
                    + "single quotes, bytes as in x'00', TRUE, FALSE or NULL"
            )
            return nil
        }
        return PackQuery.Parameter(
            name: name,
            values: values,
            fallback: fallback,
            source: words.count == 4 ? words[3] : nil
        )
    }

    /// Reads a type, with a question mark behind it where NULL may come.
    private mutating func readValues(
        _ text: String,
        of name: String,
        _ problem: (line: Int, rule: String)
    ) -> (QueryValues, mayBeNull: Bool)? {
        let mayBeNull = text.hasSuffix("?")
        let type = mayBeNull ? String(text.dropLast()) : text
        let values = QueryValues(type, of: name, named: named, problem, &problems)
        return values.map { ($0, mayBeNull) }
    }

    // MARK: What it answers

    private static let answers = "answers"
    private static let example = "example"

    /// Reads `answers (column TYPE, ...)`, which may go on over several comments; nil if there is
    /// no such line.
    private mutating func readColumns(_ section: SQLSection) -> [PackQuery.Column]? {
        let starts = section.notes.indices.filter {
            Self.rest(of: section.notes[$0].text, after: Self.answers)?.hasPrefix("(") == true
        }
        guard let start = starts.first else { return nil }
        if starts.count > 1 {
            let line = section.notes[starts[1]].line
            problems.add(line, "query-answers", "there is a second line with answers; remove one")
        }
        var columns: [PackQuery.Column] = []
        let next = section.notes[(start + 1)...].firstIndex {
            Self.rest(of: $0.text, after: Self.example)?.contains("=") == true
        }
        for note in section.notes[start..<(next ?? section.notes.endIndex)] {
            var text = Substring(note.text)
            if note == section.notes[start] { text = text.drop { $0 != "(" }.dropFirst() }
            let end = text.firstIndex(of: ")")
            for part in text[..<(end ?? text.endIndex)].split(separator: ",") {
                let part = SQLSectionReader.trimmed(part)
                guard !part.isEmpty else { continue }
                if let column = readColumn(part, note.line, besides: columns) {
                    columns.append(column)
                }
            }
            if end != nil { return columns }
        }
        problems.add(
            section.notes[start].line,
            "query-answers",
            "the columns never end; close the bracket: -- answers (column TYPE, ...)"
        )
        return columns
    }

    private mutating func readColumn(
        _ text: String,
        _ line: Int,
        besides known: [PackQuery.Column]
    ) -> PackQuery.Column? {
        let words = text.split(whereSeparator: { $0.isWhitespace }).map(String.init)
        guard words.count <= 2, Self.isParameter(words[0]) else {
            problems.add(
                line,
                "query-answers",
                "\(text) is no column; write a name of letters, digits and underscores, and a "
                    + "type, and name the column of the SELECT with AS"
            )
            return nil
        }
        guard !known.contains(where: { $0.name.hasBytes(of: words[0]) }) else {
            problems.add(line, "query-answers", "the column \(words[0]) is there twice")
            return nil
        }
        let values = readValues(
            words.dropFirst().first ?? "",
            of: "the column \(words[0])",
            (line, "query-answers")
        )
        return values.map { values, mayBeNull in
            PackQuery.Column(name: words[0], values: values, mayBeNull: mayBeNull, line: line)
        }
    }

    /// Reads lines such as `example day='2026-05-04', most=3`.
    private mutating func readExamples(
        _ section: SQLSection,
        _ parameters: [PackQuery.Parameter]
    ) -> [PackQuery.Example] {
        section.notes.compactMap { note in
            guard let rest = Self.rest(of: note.text, after: Self.example) else { return nil }
            let parts = Self.parts(Substring(rest))
            guard parts.allSatisfy({ $0.contains("=") }) else { return nil }
            var values: [String: SQLValue] = [:]
            for part in parts {
                let sides = part.split(separator: "=", maxSplits: 1).map {
                    SQLSectionReader.trimmed($0)
                }
                guard sides.count == 2,
                    let parameter = parameters.first(where: { $0.name.hasBytes(of: sides[0]) })
                else {
                    problems.add(
                        note.line,
                        "query-example",
                        "there is no parameter \(sides.first ?? "") to give a value",
                        misspelt: sides.first ?? "",
                        among: parameters.map { $0.name },
                        remedy: "name one of the heading"
                    )
                    return nil
                }
                guard Self.isLiteral(sides[1]),
                    let value = parameter.values.value(literal: sides[1])
                else {
                    problems.add(
                        note.line,
                        "query-example",
                        "\(sides[1]) is no value of \(parameter.name), which is "
                            + "\(parameter.values.text); write a literal of SQL"
                    )
                    return nil
                }
                values[parameter.name] = value
            }
            return PackQuery.Example(values: values, line: note.line)
        }
    }

    /// What stands after a word at the start of a text; nil if another word is there.
    private static func rest(of text: String, after word: String) -> String? {
        guard text.hasPrefix(word) else { return nil }
        let rest = text.dropFirst(word.count)
        guard rest.first.map({ $0.isWhitespace || $0 == "(" }) ?? true else { return nil }
        return SQLSectionReader.trimmed(rest)
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
