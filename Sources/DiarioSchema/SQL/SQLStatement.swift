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
    /// True if a line `-- derived` is before it: it computes rows of others, for one key.
    package let isDerived: Bool

    /// The line of the file on which a byte of the text is.
    package func line(at offset: Int) -> Int {
        line + text.utf8.prefix(max(0, offset)).reduce(0) { $0 + ($1 == 0x0a ? 1 : 0) }
    }

    /// The places of these words, which are given in capitals, where no quotes are around them.
    package func places(of keywords: Set<String>) -> [(word: String, line: Int)] {
        zip(tokens, words).compactMap { token, word in
            let word = word.uppercased()
            return token.kind == .word && keywords.contains(word) ? (word, token.line) : nil
        }
    }

    /// Its words and signs in order, without comments: words in lower case, names without quotes.
    package var words: [String] {
        tokens.map { token in
            let text = String(
                decoding: text.utf8.dropFirst(token.range.lowerBound)
                    .prefix(token.range.count),
                as: UTF8.self
            )
            return switch token.kind {
            case .word: text.lowercased()
            case .quotedName: text.dropFirst().dropLast().lowercased()
            default: text
            }
        }
    }

    private var tokens: [SQLToken] {
        var lexer = SQLLexer(Array(text.utf8), line: line)
        var tokens: [SQLToken] = []
        // A statement was read once without a fault, so it is read again without one.
        while let token = try? lexer.next() { if token.kind != .comment { tokens.append(token) } }
        return tokens
    }

    /// The same statement for all keys at once; nil if it uses the event for more than its key.
    ///
    /// Each `column = :field` of a condition is true then.
    package var forAllKeys: String? {
        let (tokens, words, bytes) = (tokens, words, Array(text.utf8))
        var parts: [UInt8] = []
        var (end, depth) = (0, 0)
        for (place, token) in tokens.enumerated() {
            if words[place] == "(" { depth += 1 }
            if words[place] == ")" { depth -= 1 }
            guard token.kind == .parameter else { continue }
            guard place >= 3, words[place - 1] == "=", Self.isName(tokens[place - 2]) else {
                return nil
            }
            var first = place - 2
            if words[first - 1] == ".", first >= 3, Self.isName(tokens[first - 2]) { first -= 2 }
            let next = place + 1 < words.count ? words[place + 1] : ")"
            guard ["where", "and", "or", "on"].contains(words[first - 1]),
                [")", "and", "or", "on", "group"].contains(next)
            else { return nil }
            parts += bytes[end..<tokens[first].range.lowerBound] + Array("true".utf8)
            end = token.range.upperBound
            // All rows are chosen already, whatever else may choose one.
            if next == "or", depth == 0, words[first - 1] == "where",
                !words[place...].contains(where: { ["group", "order", "on"].contains($0) })
            {
                end = bytes.count
                break
            }
        }
        return String(decoding: parts + bytes[end...], as: UTF8.self)
    }

    private static func isName(_ token: SQLToken) -> Bool {
        token.kind == .word || token.kind == .quotedName
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
    /// Comments between the heading and the first statement.
    var notes: [Note] = []

    struct Note: Equatable {
        let text: String
        let line: Int
    }

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
    /// True after a line `-- derived`.
    private var isDerived = false

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
        if start == nil, text == "derived" { isDerived = true }
        guard sections.isEmpty || isHeading(text) else {
            let last = sections.count - 1
            if start == nil, sections[last].statements.isEmpty {
                sections[last].notes.append(SQLSection.Note(text: text, line: token.line))
            }
            return
        }
        isDerived = false
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
            isDerived = false
        }
        guard let start else { return }
        sections[sections.count - 1].statements.append(
            SQLStatement(
                text: String(decoding: bytes[start.range.lowerBound..<end], as: UTF8.self),
                line: start.line,
                head: head,
                parameters: parameters,
                isDerived: isDerived
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
