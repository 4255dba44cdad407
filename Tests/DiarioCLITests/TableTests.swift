import DiarioCLI
import Testing

@Suite struct TableTests {
    private let columns = [
        Table.Column("N", isRight: true, widthMin: 2), Table.Column("NAME", widthMin: 4),
        Table.Column("TEXT", widthMin: 5),
    ]

    @Test func columnsAreAsWideAsTheirWidestCell() {
        var table = Table(columns, width: 40)
        table.fit([["1", "abcdef", "x"], ["1000", "b", "yy"]])
        #expect(table.heading == "   N  NAME    TEXT")
        #expect(table.line(["1", "abcdef", "x"]) == "   1  abcdef  x")
        #expect(table.line(["1000", "b", "yy"]) == "1000  b       yy")
    }

    @Test(arguments: 15...60)
    func noLineIsWiderThanTheTable(width: Int) {
        let rows = [["1", "a name of some length", "text that goes on and on, for ever and ever"]]
        var table = Table(columns, width: width)
        table.fit(rows)
        for row in rows { #expect(CellText.width(table.line(row)) <= width) }
        #expect(CellText.width(table.heading) <= width)
    }

    @Test func theWidestColumnGivesWayFirst() {
        var table = Table(columns, width: 24)
        table.fit([["1", "abcdef", "a text that is too long"]])
        #expect(
            table.line(["1", "abcdef", "a text that is too long"]) == "1  abcdef  a text tha..."
        )
    }

    @Test func nothingIsCutWithoutAWidth() {
        var table = Table(columns, width: .max)
        table.fit([["1", "abcd", "x"]])
        #expect(table.line(["12345", "abcdefgh", "12345678"]) == "12345  abcdefgh  12345678")
    }

    @Test func laterRowsAreCutToTheColumns() {
        var table = Table(columns, width: 40)
        table.fit([["1", "abcd", "x"]])
        #expect(table.line(["12345", "abcdefgh", "12345678"]) == ".  a...  1...")
    }

    @Test(arguments: [
        ("", 9, []), ("one", 9, ["one"]), ("one two three", 9, ["one two", "three"]),
        ("one two three", 3, ["one", "two", "three"]), ("a longer b", 4, ["a", "longer", "b"]),
        ("  \u{e8} di  l\u{ec} ", 4, ["\u{e8} di", "l\u{ec}"]),
    ])
    func textsAreBrokenBetweenWords(text: String, width: Int, lines: [String]) {
        #expect(CellText.lines(text, width: width) == lines)
    }

    @Test func controlCharactersCannotSteerATerminal() {
        let text = CellText.oneLine("a\u{1b}[31mb\n\t\u{7f}\u{9b}\u{202e}z")
        #expect(text == "a\\u{1b}[31mb\\n\\t\\u{7f}\\u{9b}\\u{202e}z")
        #expect(CellText.oneLine("plain \u{e8}") == "plain \u{e8}")
        // In JSON it stays JSON.
        #expect(CellText.json(#"{"a":"\#u{9b}\#u{202e}z"}"#) == #"{"a":"\u009b\u202ez"}"#)
    }

    @Test(arguments: [
        ("abc", 3), ("\u{e8}", 1), ("e\u{300}", 1), ("\u{65e5}\u{672c}", 4), ("\u{1f41f}", 2),
        ("", 0),
    ])
    func widthsAreThoseOfATerminal(text: String, width: Int) {
        #expect(CellText.width(text) == width)
    }

    @Test(arguments: 0...8)
    func whatIsCutFits(width: Int) {
        for text in ["abcdefgh", "\u{65e5}\u{672c}\u{65e5}\u{672c}", "abc"] {
            #expect(CellText.width(CellText.cut(text, to: width)) <= width)
        }
        #expect(CellText.cut("abcdefgh", to: 6) == "abc...")
    }
}
