/// A word of a statement, for those who look at how it is made.
package struct SQLWord: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case word, quotedName, text, blob, number, parameter, symbol
    }

    package let kind: Kind
    /// As it was written; a parameter without its colon.
    package let text: String
    package let line: Int

    /// Whether it is this keyword, which is given in capitals.
    package func isKeyword(_ keyword: String) -> Bool {
        kind == .word && text.uppercased() == keyword
    }

    /// The name that it is, without quotes; nil if it cannot be one.
    package var name: String? {
        switch kind {
        case .word: text
        case .quotedName: String(text.dropFirst().dropLast())
        default: nil
        }
    }
}

extension SQLStatement {
    /// The words of the statement, comments left out.
    package var words: [SQLWord] {
        let bytes = Array(text.utf8)
        var lexer = SQLLexer(bytes, line: line)
        var words: [SQLWord] = []
        // What was read once without a fault is read again without one.
        while let token = try? lexer.next() {
            let kind: SQLWord.Kind
            var start = token.range.lowerBound
            switch token.kind {
            case .comment: continue
            case .word: kind = .word
            case .quotedName: kind = .quotedName
            case .text: kind = .text
            case .blob: kind = .blob
            case .number: kind = .number
            case .parameter:
                kind = .parameter
                start += 1
            case .otherParameter, .symbol: kind = .symbol
            }
            words.append(
                SQLWord(
                    kind: kind,
                    text: String(decoding: bytes[start..<token.range.upperBound], as: UTF8.self),
                    line: token.line
                )
            )
        }
        return words
    }
}
