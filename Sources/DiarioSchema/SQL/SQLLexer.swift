/// A word of SQL and its place.
struct SQLToken: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        /// A keyword or a name, without quotes.
        case word
        /// A name in double quotes, back quotes or brackets.
        case quotedName
        /// A text in single quotes.
        case text
        /// A blob, as in `x'00'`.
        case blob
        case number
        /// A parameter with a name, as in `:day`; its name has no sign.
        case parameter
        /// A parameter as packs may not have them: `?`, `?1`, `@day`, `$day`.
        case otherParameter
        /// One character that is none of the above, or `||`, `<=` and the like as single ones.
        case symbol
        /// From `--` to the end of its line.
        case comment
    }

    let kind: Kind
    /// In bytes of the file.
    let range: Range<Int>
    /// Counted from 1.
    let line: Int
}

/// Takes SQL apart into words, as SQLite does; gives no meaning to them.
struct SQLLexer {
    /// A text, a name or a comment that never ends.
    struct Failure: Error {
        let line: Int
        let message: String
    }

    let bytes: [UInt8]
    private var offset: Int
    private var line: Int

    /// Begins at an offset that is on `line`.
    init(_ bytes: [UInt8], at offset: Int = 0, line: Int = 1) {
        self.bytes = bytes
        self.offset = offset
        self.line = line
    }

    private func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

    /// The next word; nil at the end.
    mutating func next() throws(Failure) -> SQLToken? {
        try skipSpace()
        guard offset < bytes.count else { return nil }
        let (start, startLine) = (offset, line)
        let kind = try readToken()
        return SQLToken(kind: kind, range: start..<offset, line: startLine)
    }

    /// Skips space and comments between slashes and stars; those of one line are words.
    private mutating func skipSpace() throws(Failure) {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x0a:
                line += 1
                offset += 1
            case 0x09, 0x0c, 0x0d, 0x20: offset += 1
            case 0x2f where byte(offset + 1) == 0x2a:
                let start = line
                offset += 2
                while !(byte(offset) == 0x2a && byte(offset + 1) == 0x2f) {
                    guard offset < bytes.count else {
                        throw Failure(line: start, message: "a comment never ends; add */")
                    }
                    if bytes[offset] == 0x0a { line += 1 }
                    offset += 1
                }
                offset += 2
            default: return
            }
        }
    }

    private mutating func readToken() throws(Failure) -> SQLToken.Kind {
        let first = bytes[offset]
        switch first {
        case 0x2d where byte(offset + 1) == 0x2d:
            while offset < bytes.count, bytes[offset] != 0x0a { offset += 1 }
            return .comment
        case 0x27: return try readQuoted(0x27, as: .text)
        case 0x22: return try readQuoted(0x22, as: .quotedName)
        case 0x60: return try readQuoted(0x60, as: .quotedName)
        case 0x5b: return try readQuoted(0x5d, as: .quotedName)
        case _ where first | 0x20 == 0x78 && byte(offset + 1) == 0x27:
            offset += 1
            return try readQuoted(0x27, as: .blob)
        case 0x3a where Self.isNameStart(byte(offset + 1)):
            offset += 1
            _ = readWord()
            return .parameter
        case 0x3f, 0x40, 0x24, 0x23:
            offset += 1
            while Self.isNamePart(byte(offset)) { offset += 1 }
            return .otherParameter
        case 0x2e where Self.isDigit(byte(offset + 1)): return readNumber()
        case _ where Self.isDigit(first): return readNumber()
        case _ where Self.isNameStart(first): return readWord()
        default:
            offset += 1
            return .symbol
        }
    }

    private mutating func readWord() -> SQLToken.Kind {
        while Self.isNamePart(byte(offset)) { offset += 1 }
        return .word
    }

    private mutating func readNumber() -> SQLToken.Kind {
        while Self.isNamePart(byte(offset)) || byte(offset) == 0x2e
            || ((byte(offset) == 0x2b || byte(offset) == 0x2d)
                && (byte(offset - 1) | 0x20) == 0x65)
        {
            offset += 1
        }
        return .number
    }

    /// Reads up to the closing quote; a doubled quote is part of the text, but not a bracket.
    private mutating func readQuoted(
        _ quote: UInt8,
        as kind: SQLToken.Kind
    ) throws(Failure) -> SQLToken.Kind {
        let start = line
        offset += 1
        while offset < bytes.count {
            let found = bytes[offset]
            offset += 1
            if found == 0x0a { line += 1 }
            guard found == quote else { continue }
            guard quote != 0x5d, byte(offset) == quote else { return kind }
            offset += 1
        }
        throw Failure(line: start, message: "a quote is never closed; add it")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }

    private static func isNameStart(_ byte: UInt8) -> Bool {
        0x61...0x7a ~= byte | 0x20 || byte == 0x5f || byte >= 0x80
    }

    private static func isNamePart(_ byte: UInt8) -> Bool { isNameStart(byte) || isDigit(byte) }
}
