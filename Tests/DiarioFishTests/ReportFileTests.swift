import DiarioCore
import DiarioFish
import DiarioSchema
import Testing

/// Files of reports as they are read: schema/fish/README.md.
@Suite struct ReportFileTests {
    private static let header =
        "id_fish,fish_name,detectedSize,eligibilitySize,eligibilityDate,origin,production,"
        + "townReport"
    private static let row =
        "2,Acciuga,113,1,1,Mar Mediterraneo,pescato fresco,Porto D'Ercole (Monte Argentario)"

    /// All that a file has, given in parts of a size.
    private static func read(
        _ bytes: [UInt8],
        by size: Int = 4096
    ) throws -> [ReportReader.Found] {
        var reader = ReportReader()
        var found: [ReportReader.Found] = []
        var rest = bytes[...]
        repeat {
            reader.add(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
            if rest.isEmpty { reader.finish() }
            while let next = try reader.next() { found.append(next) }
        } while !rest.isEmpty
        return found
    }

    private static func read(_ text: String, by size: Int = 4096) throws -> [ReportReader.Found] {
        try read(Array(text.utf8), by: size)
    }

    private static func row(_ found: ReportReader.Found?) throws -> ReportRow {
        guard case .row(let row)? = found else { throw Unexpected() }
        return row
    }

    private struct Unexpected: Error {}

    private static func refusals(_ found: [ReportReader.Found]) -> [String] {
        found.compactMap { next in
            guard case .refused(let line, let broken) = next else { return nil }
            return "\(line) \(broken.rule)"
        }
    }

    @Test(arguments: [1, 2, 7, 4096])
    func aTableIsReadInPartsOfAnySize(size: Int) throws {
        let text = "\u{feff}\(Self.header)\r\n\(Self.row)\r\n\r\n\(Self.row)"
        let found = try Self.read(text, by: size)
        #expect(found.count == 2 && Self.refusals(found).isEmpty)
        let (first, last) = (try Self.row(found.first), try Self.row(found.last))
        #expect(first.line == 2 && last.line == 4)
        #expect(first[.townReport] == "Porto D'Ercole (Monte Argentario)")
        #expect(first[.detectedSize] == "113" && first.hashedBytes == last.hashedBytes)
    }

    @Test(arguments: [1, 5, 4096])
    func objectsAreReadAsRows(size: Int) throws {
        let text = #"""
            [{"id_fish":"2","fish_name":"Acciuga","detectedSize":113.25,"eligibilitySize":1,
              "eligibilityDate":true,"origin":null,"production":"a \"}\" in a text","x":1},
             {"id_fish":{}}]
            """#
        let found = try Self.read(text, by: size)
        let row = try Self.row(found.first)
        #expect(row[.detectedSize] == "113.25" && row[.eligibilityDate] == "1")
        #expect(row[.origin] == nil && row[.production] == "a \"}\" in a text")
        #expect(Self.refusals(found) == ["3 row"])
    }

    /// Spreadsheets in Italy write semicolons.
    @Test func semicolonsAndTabsStandForCommas() throws {
        for separator in [";", "\t"] {
            let text = [Self.header, Self.row].map { $0.replacing(",", with: separator) }
                .joined(separator: "\n")
            #expect(try Self.row(Self.read(text).first)[.idFish] == "2")
        }
    }

    /// The hash of a row does not depend on the form of the file, nor on the order of its columns.
    @Test func oneRowHasOneHash() throws {
        let names = Self.header.split(separator: ",").map(String.init)
        let cells = Self.row.split(separator: ",").map(String.init)
        let turned =
            names.reversed().joined(separator: ",") + ",more\n"
            + cells.reversed().joined(separator: ",") + ",x\n"
        let object = JSON.object(of: zip(names, cells).map { ($0, .string($1)) }).asWritten
        let first = try Self.row(Self.read("\(Self.header)\n\(Self.row)").first).hashedBytes
        #expect(try Self.row(Self.read(turned).first).hashedBytes == first)
        #expect(try Self.row(Self.read(object).first).hashedBytes == first)
        let shown = String(decoding: first, as: UTF8.self)
        #expect(shown.hasPrefix(#"{"detectedSize":"113","eligibilityDate":"1","#))
    }

    @Test(arguments: [
        ("'=1+1", "=1+1"), ("''=1+1", "'=1+1"), ("'-5", "-5"), ("'@x", "@x"), ("'plain", "'plain"),
        ("'", "'"), ("\"'\tx\"", "\tx"), ("D'Ercole", "D'Ercole"),
    ])
    func anApostropheBeforeAFormulaIsTakenOff(cell: String, text: String) throws {
        let row = Self.row.replacing("Acciuga", with: cell)
        #expect(try Self.row(Self.read("\(Self.header)\n\(row)").first)[.fishName] == text)
    }

    @Test func oneBadRowLeavesTheOthers() throws {
        let long = String(repeating: "x", count: ReportReader.rowSizeMax)
        let town = String(repeating: "x", count: 161)
        let lines = [
            Self.header, Self.row, "2,Acc\"iuga,1", Self.row, "\"never closed,1", Self.row,
            long + ",1",
            Self.row, "2,A,1,1,1,a,b,c,d", "2,A,1,1,1,a,b,\(town)", Self.row,
        ]
        // Far more than a row follows the quote, so that its end is not looked for any more.
        let text =
            lines.joined(separator: "\n") + "\n"
            + String(repeating: Self.row + "\n", count: 1000)
        let found = try Self.read(text)
        #expect(Self.refusals(found) == ["3 row", "5 row", "7 row", "9 row", "10 cell"])
        #expect(found.count == 1010)
        let latin = Array("\(Self.header)\n\(Self.row)\n2,".utf8) + [0xe8, 0x2c, 0x31]
        #expect(Self.refusals(try Self.read(latin)) == ["3 encoding"])
        let zero = "\(Self.header)\n" + Self.row.replacing("Acciuga", with: "Acc\0iuga")
        #expect(Self.refusals(try Self.read(zero)) == ["2 encoding"])
    }

    @Test func aLongObjectLeavesTheOthers() throws {
        let long = String(repeating: "{", count: ReportReader.rowSizeMax)
        let text = #"[{"id_fish":"1"},{"x":"\#(long)"},{"id_fish":"2"}]"#
        let found = try Self.read(text, by: 1000)
        #expect(Self.refusals(found) == ["1 row"] && found.count == 3)
    }

    @Test(arguments: [
        "", "  \n", "id_fish,fish_name\n1,x", "hello", "id_fish,id_fish\n", "\"never closed",
    ])
    func aFileWithoutTheColumnsIsRefused(text: String) {
        let error = #expect(throws: BrokenRule.self) { try Self.read(text) }
        #expect(error?.rule.hasPrefix("column") == true)
    }

    @Test(arguments: [#"[{"a":1} x]"#, #"[{"a":1"#, #"[{"a":1}"x"]"#])
    func jsonThatIsNoListOfObjectsIsRefused(text: String) {
        let error = #expect(throws: BrokenRule.self) { try Self.read(text) }
        #expect(error?.rule == "file")
    }

    @Test func anExportHasTheColumnsOfTheOldAppFirst() {
        let values: [(String, SQLValue)] = [
            ("idFish", .integer(4)), ("fishName", .text("Merluzzo o Nasello")),
            ("lengthUm", .integer(113_250)), ("eligibilitySize", .null),
            ("eligibilityDate", .integer(0)), ("origin", .text("mediterranean")),
            ("production", .text("wild_fresh")), ("townReport", .text("Talamone (Orbetello)")),
            ("reportId", .text("r1")), ("sigmaUm", .null),
        ]
        let table = ReportTable(values.map(\.0), isOld: true, unit: .cm)
        #expect(table.columns.map(\.rawValue).joined(separator: ",") == Self.header)
        #expect(
            table.cells(values.map(\.1)) == [
                .text("4"), .text("Merluzzo o Nasello"), .text("11.325"), .text(""), .text("0"),
                .text("Mar Mediterraneo"), .text("pescato fresco"), .text("Talamone (Orbetello)"),
            ]
        )
        let all = ReportTable(values.map(\.0), isOld: false, unit: .mm)
        let cells = all.cells(values.map(\.1))
        #expect(all.columns.count == 32 && cells[2] == .text("113.25") && cells[8] == .text("mm"))
        #expect(cells[9] == .text("r1") && cells[13] == .null)
    }

    @Test(arguments: [
        (113_000, Fish.Unit.mm, "113"), (113_250, .mm, "113.25"),
        (113_250, .cm, "11.325"), (20_001, .mm, "20.001"),
        (1_000_000, .cm, "100"), (5_000_000, .cm, "500"),
    ])
    func aLengthIsABareNumberThatIsReadAgain(um: Int64, unit: Fish.Unit, text: String) {
        #expect(unit.text(um: um) == text && unit.um(text) == um)
    }

    @Test(arguments: [
        ("11,5", Int64(115_000)), ("11,5 cm", 115_000), ("115 mm", 115_000), ("115mm ", 115_000),
        ("0.115 m", 115_000), ("11,", 110_000), (" 11", 110_000), ("0,1", 1000), ("500", 5_000_000),
        ("0.0999", nil), ("500.01", nil), ("-11", nil), ("", nil), ("cm", nil), ("1.234,5", nil),
        ("1e2", nil), ("nan", nil), ("11 in", nil), ("99999999999999999999", nil),
    ])
    func aLengthIsReadInItsUnitOrThatOfTheFile(text: String, um: Int64?) {
        #expect(Fish.Unit.cm.um(text) == um)
    }
}
