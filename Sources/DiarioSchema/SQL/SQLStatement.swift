/// A statement of a file of a pack, as it was written.
package struct SQLStatement: Equatable, Sendable {
    /// A parameter and its place.
    package struct Parameter: Equatable, Sendable {
        /// Without the colon.
        package let name: String
        package let line: Int
    }

    /// The text for SQLite, without the semicolon at its end.
    package let text: String
    /// The line of its first word, counted from 1.
    package let line: Int
    /// Its first words in capitals, at most six: `CREATE UNIQUE INDEX`.
    package let head: [String]
    /// Every parameter, as often as it is there.
    package let parameters: [Parameter]

    /// The line of the file on which a byte of the text is.
    package func line(at offset: Int) -> Int {
        line + text.utf8.prefix(max(0, offset)).reduce(0) { $0 + ($1 == 0x0a ? 1 : 0) }
    }

    /// The places of these words, which are given in capitals, where no quotes are around them.
    package func places(of keywords: Set<String>) -> [(word: String, line: Int)] {
        let bytes = Array(text.utf8)
        var lexer = SQLLexer(bytes, line: line)
        var found: [(word: String, line: Int)] = []
        // A statement was read once without a fault, so it is read again without one.
        while let token = try? lexer.next() {
            guard token.kind == .word else { continue }
            let word = String(decoding: bytes[token.range], as: UTF8.self).uppercased()
            if keywords.contains(word) { found.append((word, token.line)) }
        }
        return found
    }

    /// The names of the parameters, each once, in order of first mention.
    package var parameterNames: [String] {
        var names: [String] = []
        for parameter in parameters where !names.contains(parameter.name) {
            names.append(parameter.name)
        }
        return names
    }
}

/// A part of a file: a heading, and the statements up to the next one.
struct SQLSection: Equatable {
    /// The text of the comment, without its dashes and the space around.
    var heading: String
    var line: Int
    var statements: [SQLStatement] = []

    /// The bytes after which a heading is not continued, since it is read again for each line.
    private static let openSizeMax = 4096

    /// True while the parameters of a query continue in the next comment.
    var isOpen: Bool {
        guard statements.isEmpty, heading.utf8.count < Self.openSizeMax,
            heading.hasPrefix("query "), let open = heading.firstIndex(of: "(")
        else { return false }
        return QueryReader.closing(heading, after: open) == nil
    }
}

/// Takes a file of SQL apart into sections and statements.
struct SQLSectionReader {
    /// Bytes of the file; a pack is small.
    private let bytes: [UInt8]
    private(set) var problems: ProblemList
    private(set) var sections: [SQLSection] = []

    // The statement that is being read.
    private var start: SQLToken?
    private var end = 0
    private var head: [String] = []
    /// True if its head says that it makes a trigger.
    private var isTrigger = false
    private var parameters: [SQLStatement.Parameter] = []
    /// The number of open blocks of a trigger's body, or `CASE`s in it.
    private var depth = 0

    /// The most words of a head.
    private static let headCount = 6

    init(_ bytes: [UInt8], file: String) {
        self.bytes = bytes
        problems = ProblemList(file: file)
    }

    /// Gives the sections; the first one begins with the file's first comment.
    ///
    /// A comment for which `isHeading` is true begins a section; others are left out. Unless
    /// `needsHeading`, statements may come before any comment.
    mutating func read(
        needsHeading: Bool = true,
        isHeading: (String) -> Bool
    ) -> [SQLSection] {
        if !needsHeading { sections.append(SQLSection(heading: "", line: 1)) }
        guard Self.isText(bytes) else {
            problems.add(
                1,
                "utf-8",
                "the file is not valid UTF-8 or holds U+0000; save it as UTF-8"
            )
            return []
        }
        var lexer = SQLLexer(bytes)
        do throws(SQLLexer.Failure) {
            while let token = try lexer.next() { take(token, isHeading) }
        } catch {
            problems.add(error.line, "sql", error.message)
            return sections
        }
        if let start, depth > 0 {
            problems.add(start.line, "sql", "a trigger never ends; add END;")
        } else if let start {
            problems.add(start.line, "sql-semicolon", "a statement has no semicolon; add it")
            finish()
        }
        return sections
    }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
    }

    private mutating func take(_ token: SQLToken, _ isHeading: (String) -> Bool) {
        if token.kind == .comment { return takeComment(token, isHeading) }
        if token.kind == .symbol, bytes[token.range.lowerBound] == 0x3b, depth == 0 {
            return finish()
        }
        if start == nil {
            start = token
            if sections.isEmpty {
                problems.add(token.line, "sql-heading", "there is a statement before the heading")
                sections.append(SQLSection(heading: "", line: token.line))
            }
        }
        end = token.range.upperBound
        switch token.kind {
        case .parameter:
            let name = String(text(token).dropFirst())
            parameters.append(SQLStatement.Parameter(name: name, line: token.line))
        case .otherParameter:
            problems.add(
                token.line,
                "sql-parameter",
                "\(text(token)) is no parameter here; write a colon and a name, as in :day"
            )
        // Of most words it is enough that they are there.
        case .word where head.count < Self.headCount || isTrigger:
            takeWord(text(token).uppercased())
        default: break
        }
    }

    private func text(_ token: SQLToken) -> String {
        String(decoding: bytes[token.range], as: UTF8.self)
    }

    private mutating func takeWord(_ word: String) {
        if head.count < Self.headCount {
            head.append(word)
            isTrigger = head.first == "CREATE" && head.prefix(3).contains("TRIGGER")
        }
        guard isTrigger else { return }
        switch word {
        case "BEGIN", "CASE": depth += 1
        case "END" where depth > 0: depth -= 1
        default: break
        }
    }

    private mutating func takeComment(_ token: SQLToken, _ isHeading: (String) -> Bool) {
        let text = Self.trimmed(
            String(decoding: bytes[token.range], as: UTF8.self).drop { $0 == "-" }
        )
        if start == nil, sections.last?.isOpen == true {
            sections[sections.count - 1].heading += " " + text
            return
        }
        guard sections.isEmpty || isHeading(text) else { return }
        if let start, depth > 0 {
            problems.add(start.line, "sql", "a trigger never ends; add END;")
            depth = 0
            finish()
        } else if let start {
            problems.add(start.line, "sql-semicolon", "a statement has no semicolon; add it")
            finish()
        }
        sections.append(SQLSection(heading: text, line: token.line))
    }

    private mutating func finish() {
        defer {
            start = nil
            head = []
            isTrigger = false
            parameters = []
        }
        guard let start else { return }
        sections[sections.count - 1].statements.append(
            SQLStatement(
                text: String(decoding: bytes[start.range.lowerBound..<end], as: UTF8.self),
                line: start.line,
                head: head,
                parameters: parameters
            )
        )
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        var rest = Substring(String(text)).unicodeScalars
        while rest.first?.properties.isWhitespace ?? false { rest.removeFirst() }
        while rest.last?.properties.isWhitespace ?? false { rest.removeLast() }
        return String(Substring(rest))
    }
}
