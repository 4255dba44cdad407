/// Takes apart a statement that SQLite has accepted.
///
/// It knows the forms that read models use. What it does not know is a fault, so that nothing gets
/// past those who look for mistakes.
package struct SQLParser {
    /// A word, or an operator of several signs.
    struct Token {
        let kind: SQLToken.Kind
        /// In capitals if it is a keyword or a name without quotes.
        let text: String
        let source: String
        let line: Int
    }

    private let tokens: [Token]
    private(set) var index = 0
    private var depth = 0
    var selectDepth = 0
    private let lastLine: Int

    /// Brackets within one another.
    private static let depthMax = 100
    /// SELECTs within one another; looking at them takes a multiple for each.
    static let selectDepthMax = 8
    private static let operators = [
        "->>", "||", "->", "<=", ">=", "<>", "!=", "==", "<<", ">>",
    ]

    private init(_ statement: SQLStatement) throws(SQLSyntaxFault) {
        let bytes = Array(statement.text.utf8)
        var lexer = SQLLexer(bytes, line: statement.line)
        var read: [SQLToken] = []
        do throws(SQLLexer.Failure) {
            while let token = try lexer.next() {
                if token.kind != .comment { read.append(token) }
            }
        } catch {
            throw SQLSyntaxFault(line: error.line, message: error.message)
        }
        var tokens: [Token] = []
        var next = 0
        while next < read.count {
            let token = read[next]
            var source = String(decoding: bytes[token.range], as: UTF8.self)
            next += 1
            if token.kind == .symbol {
                let rest = String(
                    decoding: bytes[token.range.lowerBound...].prefix(3),
                    as: UTF8.self
                )
                if let found = Self.operators.first(where: { rest.hasPrefix($0) }) {
                    source = found
                    let end = token.range.lowerBound + found.utf8.count
                    while next < read.count, read[next].range.upperBound <= end { next += 1 }
                }
            }
            let text = token.kind == .word ? source.uppercased() : source
            tokens.append(Token(kind: token.kind, text: text, source: source, line: token.line))
        }
        self.tokens = tokens
        lastLine = read.last?.line ?? statement.line
    }

    /// Takes a whole statement apart.
    package static func parse(_ statement: SQLStatement) throws(SQLSyntaxFault) -> SQLSyntax {
        var parser = try SQLParser(statement)
        let syntax = try parser.parseStatement()
        guard parser.current == nil else { throw parser.fault() }
        return syntax
    }

    // MARK: Words

    var current: Token? { index < tokens.count ? tokens[index] : nil }

    var line: Int { current?.line ?? lastLine }

    func peek(_ distance: Int) -> Token? {
        index + distance < tokens.count ? tokens[index + distance] : nil
    }

    func fault() -> SQLSyntaxFault {
        let place = current.map { "at \($0.source)" } ?? "at its end"
        return SQLSyntaxFault(
            line: line,
            message: "this form of SQL is not known here, \(place); write it in a simpler way"
        )
    }

    mutating func advance() { index += 1 }

    mutating func rewind(to start: Int) { index = start }

    /// Whether this keyword is here.
    func isAt(_ keyword: String) -> Bool {
        current.map { $0.kind == .word && $0.text == keyword } ?? false
    }

    func isAt(anyOf keywords: Set<String>) -> Bool {
        current.map { $0.kind == .word && keywords.contains($0.text) } ?? false
    }

    func isAtSymbol(_ symbol: String) -> Bool {
        current.map { $0.kind == .symbol && $0.text == symbol } ?? false
    }

    /// Goes past these keywords if they are here.
    mutating func take(_ keywords: String...) -> Bool {
        for (distance, keyword) in keywords.enumerated() {
            guard let token = peek(distance), token.kind == .word, token.text == keyword else {
                return false
            }
        }
        index += keywords.count
        return true
    }

    mutating func takeSymbol(_ symbol: String) -> Bool {
        guard isAtSymbol(symbol) else { return false }
        index += 1
        return true
    }

    mutating func expect(_ keyword: String) throws(SQLSyntaxFault) {
        guard take(keyword) else { throw fault() }
    }

    mutating func expectSymbol(_ symbol: String) throws(SQLSyntaxFault) {
        guard takeSymbol(symbol) else { throw fault() }
    }

    /// A name, whether in quotes or not; SQLite takes a text for one as well.
    mutating func parseName() throws(SQLSyntaxFault) -> String {
        guard let token = current, let name = Self.name(token) else { throw fault() }
        advance()
        return name
    }

    static func name(_ token: Token) -> String? {
        switch token.kind {
        case .word: return token.source
        case .quotedName, .text:
            let quote = token.source.prefix(1)
            let inner = token.source.dropFirst().dropLast()
            guard quote != "[" else { return String(inner) }
            return String(inner).replacing("\(quote)\(quote)", with: "\(quote)")
        default: return nil
        }
    }

    /// A name, with that of a database before it, which is left out.
    mutating func parseQualifiedName() throws(SQLSyntaxFault) -> String {
        let name = try parseName()
        return takeSymbol(".") ? try parseName() : name
    }

    /// What stands between commas.
    mutating func parseList<Item>(
        _ item: (inout SQLParser) throws(SQLSyntaxFault) -> Item
    ) throws(SQLSyntaxFault) -> [Item] {
        var items = [try item(&self)]
        while takeSymbol(",") { items.append(try item(&self)) }
        return items
    }

    /// What stands between commas, in brackets.
    mutating func parseBracketed<Item>(
        _ item: (inout SQLParser) throws(SQLSyntaxFault) -> Item
    ) throws(SQLSyntaxFault) -> [Item] {
        try expectSymbol("(")
        let items = try parseList(item)
        try expectSymbol(")")
        return items
    }

    mutating func parseNames() throws(SQLSyntaxFault) -> [String] {
        try parseBracketed { (parser) throws(SQLSyntaxFault) in try parser.parseName() }
    }

    /// Goes one level deeper, unless that is too deep.
    mutating func descend<Result>(
        _ body: (inout SQLParser) throws(SQLSyntaxFault) -> Result
    ) throws(SQLSyntaxFault) -> Result {
        guard depth < Self.depthMax else {
            throw SQLSyntaxFault(line: line, message: "the statement is nested too deeply")
        }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    /// The words up to a comma or a closing bracket of this level.
    mutating func skipArgument() -> [SQLWord] {
        var words: [SQLWord] = []
        var open = 0
        while let token = current {
            if token.kind == .symbol {
                if open == 0, token.text == "," || token.text == ")" { break }
                if token.text == "(" { open += 1 }
                if token.text == ")" { open -= 1 }
            }
            let kind: SQLWord.Kind =
                switch token.kind {
                case .word: .word
                case .quotedName: .quotedName
                case .text: .text
                case .blob: .blob
                case .number: .number
                case .parameter: .parameter
                case .otherParameter, .symbol, .comment: .symbol
                }
            words.append(SQLWord(kind: kind, text: token.source, line: token.line))
            advance()
        }
        return words
    }
}
