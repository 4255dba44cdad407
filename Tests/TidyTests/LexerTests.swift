import Testing

@Suite struct LexerTests {
    private func words(_ text: String) -> [String] {
        Lexer(Array(text.utf8)).tokens.filter { $0.kind == .word }.map(\.text)
    }

    @Test func wordsAndSignsKeepTheirLines() {
        let tokens = Lexer(Array("let a\n  = b!\n".utf8)).tokens

        #expect(tokens.map(\.text) == ["let", "a", "=", "b", "!"])
        #expect(tokens.map(\.line) == [1, 1, 2, 2, 2])
        #expect(tokens.map(\.isSpaced) == [true, true, true, true, false])
    }

    @Test func stringsHideTheirText() {
        #expect(words(#"a "b \" c" d"#) == ["a", "d"])
        #expect(words(##"a #"b " \" c"# d"##) == ["a", "d"])
        #expect(words("a \"\"\"\n b \" \"\" c\n\"\"\" d") == ["a", "d"])
        #expect(words("a #/b \" c/# d") == ["a", "d"])
        #expect(words("#if a\n#expect(b)") == ["if", "a", "expect", "b"])
    }

    @Test func interpolationsAreCode() {
        #expect(words(#"a "b \(c(d) + "e \(f)") g" h"#) == ["a", "c", "d", "f", "h"])
        #expect(words(##"a #"b \(c) \#(d)"# e"##) == ["a", "d", "e"])
    }

    @Test func commentsHideTheirText() {
        #expect(words("a // b\nc /* d /* e */ f */ g") == ["a", "c", "g"])
        let comments = Lexer(Array("// a\n/// b\n/* c\nd */ /** e */".utf8)).comments
        #expect(comments.map(\.line) == [1, 2, 3, 4, 4])
        #expect(comments.map(\.isDocumentation) == [false, true, false, false, true])
    }

    @Test func tornTextEndsTheLexer() {
        for text in ["\"", "#\"\"\"", "/*", "\"\\(", "\"\\", "##", "/* \n", "\"\\(\"\\("] {
            _ = Lexer(Array(text.utf8))
        }
        // Every cut of this file, which has most of what Swift can have.
        let bytes = SourceTree.file("Tests/TidyTests/LexerTests.swift").bytes
        for length in stride(from: 0, to: bytes.count, by: 7) {
            _ = Lexer(Array(bytes.prefix(length)))
        }
        #expect(!bytes.isEmpty)
    }
}
