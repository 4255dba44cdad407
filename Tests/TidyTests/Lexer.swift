/// One word, number, string or sign of Swift code.
struct Token {
    enum Kind { case word, string, sign }

    let kind: Kind
    /// A word as it stands, a string's content without its quotes, or one sign.
    let text: String
    /// Counted from 1.
    let line: Int
    /// True if a blank, a line break or a comment stands before it.
    let isSpaced: Bool

    func isSign(_ sign: String) -> Bool { kind == .sign && text == sign }
    func isWord(_ word: String) -> Bool { kind == .word && text == word }
}

/// A comment that begins in `line`; a block comment has one for each of its lines.
struct Comment {
    let line: Int
    let text: String
    /// True for `///` and `/**`: it documents, so it proves nothing.
    let isDocumentation: Bool
}

/// Splits Swift into tokens and comments, as far as the rules need it.
///
/// Strings and comments come out whole, so that no rule mistakes their text for code. Code inside
/// an interpolation comes out as tokens. Regex literals without `#` are not known: write `#/.../#`.
struct Lexer {
    private(set) var tokens: [Token] = []
    private(set) var comments: [Comment] = []
    private let bytes: [UInt8]
    private var offset = 0
    private var line = 1
    private var isSpaced = true

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        readCode(untilParenthesis: false)
    }

    /// Reads to the end, or to the parenthesis that closes an interpolation.
    private mutating func readCode(untilParenthesis: Bool) {
        var depth = 0
        while let byte = peek() {
            if byte == Self.newline || byte == Self.blank || byte == Self.tab || byte == Self.return
            {
                advance()
                isSpaced = true
            } else if byte == Self.slash, peek(1) == Self.slash {
                readLineComment()
            } else if byte == Self.slash, peek(1) == Self.star {
                readBlockComment()
            } else if byte == Self.quote || byte == Self.hash && startsRawLiteral() {
                readLiteral()
            } else if Self.isWordByte(byte) {
                readWord()
            } else {
                depth += byte == Self.open ? 1 : byte == Self.close ? -1 : 0
                if untilParenthesis, depth < 0 { return advance() }
                add(.sign, from: offset, to: offset + 1)
                advance()
            }
        }
    }

    private mutating func readWord() {
        let start = offset
        while let byte = peek(), Self.isWordByte(byte) { offset += 1 }
        add(.word, from: start, to: offset)
    }

    private mutating func readLineComment() {
        let start = offset
        while let byte = peek(), byte != Self.newline { offset += 1 }
        addComment(
            from: start,
            to: offset,
            isDocumentation: bytes[start...].starts(with: "///".utf8)
        )
    }

    private mutating func readBlockComment() {
        let isDocumentation = bytes[offset...].starts(with: "/**".utf8)
        var start = offset
        var depth = 0
        repeat {
            if peek() == Self.slash, peek(1) == Self.star {
                depth += 1
                offset += 2
            } else if peek() == Self.star, peek(1) == Self.slash {
                depth -= 1
                offset += 2
            } else {
                if peek() == Self.newline {
                    addComment(from: start, to: offset, isDocumentation: isDocumentation)
                    start = offset + 1
                }
                advance()
            }
        } while depth > 0 && offset < bytes.count
        addComment(from: start, to: offset, isDocumentation: isDocumentation)
    }

    /// Reads a string or a `#/regex/#`, with the tokens of its interpolations.
    private mutating func readLiteral() {
        let hashCount = bytes[offset...].prefix { $0 == Self.hash }.count
        let firstLine = line
        let spaced = isSpaced
        offset += hashCount
        let quote = bytes[offset]
        let isLong = quote == Self.quote && peek(1) == quote && peek(2) == quote
        let end = Array(repeating: quote, count: isLong ? 3 : 1) + hashes(hashCount)
        offset += isLong ? 3 : 1
        let escape = [Self.backslash] + hashes(hashCount)
        var content: [UInt8] = []
        while let byte = peek(), !bytes[offset...].starts(with: end) {
            if byte == Self.backslash, bytes[offset...].starts(with: escape), quote == Self.quote {
                offset += escape.count
                if peek() == Self.open {
                    advance()
                    isSpaced = true
                    readCode(untilParenthesis: true)
                } else {
                    content.append(byte)
                    content.append(peek() ?? byte)
                    advance()
                }
            } else {
                content.append(byte)
                advance()
            }
        }
        offset += end.count
        let text = String(decoding: content, as: UTF8.self)
        tokens.append(Token(kind: .string, text: text, line: firstLine, isSpaced: spaced))
        isSpaced = false
    }

    /// True for `#"`, `##"` and `#/`, false for `#if` and `#expect`.
    private func startsRawLiteral() -> Bool {
        let next = bytes[offset...].first { $0 != Self.hash }
        return next == Self.quote || next == Self.slash
    }

    private func hashes(_ count: Int) -> [UInt8] { Array(repeating: Self.hash, count: count) }

    private func peek(_ distance: Int = 0) -> UInt8? {
        offset + distance < bytes.count ? bytes[offset + distance] : nil
    }

    private mutating func advance() {
        if peek() == Self.newline { line += 1 }
        offset += 1
    }

    private mutating func add(_ kind: Token.Kind, from start: Int, to end: Int) {
        let text = String(decoding: bytes[start..<end], as: UTF8.self)
        tokens.append(Token(kind: kind, text: text, line: line, isSpaced: isSpaced))
        isSpaced = false
    }

    private mutating func addComment(from start: Int, to end: Int, isDocumentation: Bool) {
        let text = String(decoding: bytes[start..<min(end, bytes.count)], as: UTF8.self)
        comments.append(Comment(line: line, text: text, isDocumentation: isDocumentation))
        isSpaced = true
    }

    private static let newline = UInt8(ascii: "\n")
    private static let `return` = UInt8(ascii: "\r")
    private static let tab = UInt8(ascii: "\t")
    private static let blank = UInt8(ascii: " ")
    private static let slash = UInt8(ascii: "/")
    private static let star = UInt8(ascii: "*")
    private static let quote = UInt8(ascii: "\"")
    private static let hash = UInt8(ascii: "#")
    private static let backslash = UInt8(ascii: "\\")
    private static let open = UInt8(ascii: "(")
    private static let close = UInt8(ascii: ")")

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
