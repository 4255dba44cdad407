import Diario
import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioFish
import DiarioHost
import DiarioSchema
import DiarioTestSupport
import Foundation
import Testing

/// Reports of files, by the command that takes them: schema/fish/README.md.
@Suite struct FishImportTests {
    private static let header =
        "id_fish,fish_name,detectedSize,eligibilitySize,eligibilityDate,origin,production,"
        + "townReport"
    private static let rows = [
        "2,Acciuga,113,1,1,Mar Mediterraneo,pescato fresco,Porto D'Ercole (Monte Argentario)",
        "3,Sogliola,180,0,0,Altro,allevamento,Talamone (Orbetello)",
        "10,Costardella,50,1,1,Mar Mediterraneo,sconosciuto,Fonte Blanda (Orbetello)",
    ]

    private static func make(_ folder: borrowing TemporaryFolder) throws -> ReadModels {
        let pack = try #require(try PackSource.builtIn().first { $0.name == "fish" })
        return try ReadModels(try Space.create(at: folder.path, packs: [pack]))
    }

    private static func take(
        _ text: String,
        on day: String? = "2026-02-10",
        from file: String = "test",
        more: Bool = false,
        into models: ReadModels
    ) throws -> Fish.ReportImport.Result {
        var reader = ReportReader()
        reader.add(Array(text.utf8))
        reader.finish()
        var rows: [JSON] = []
        var ordinals = RowOrdinals()
        while let found = try reader.next() {
            guard case .row(let row) = found else { continue }
            let hashed = row.hashedBytes
            var hash: [UInt8] = []
            SHA256.hash(hashed.span).append(to: &hash)
            rows.append(row.values(sha256: hash, ordinal: ordinals.next(sha256: hash)))
        }
        var input = CommandValues()
        input.set("importId", file)
        if more { input.set("more", true) }
        input.set("on", day)
        input.set("rows", to: .array(of: rows))
        let answer = try models.call(Call("fish.report.import", input.json), of: [Fish.domain])
        return try Fish.ReportImport.Result(
            from: CommandValues(try JSON.parse(answer.result).value)
        )
    }

    /// All reports as a table, as an export writes them.
    private static func export(_ models: ReadModels, isOld: Bool) throws -> String {
        let prepared = try models.ask(.named("fish.export", ["most": "1000"]))
        let answer = try prepared.answer()
        let table = ReportTable(answer.columns, isOld: isOld, unit: .mm)
        let cells = CellWriter(guardsFormulas: true)
        var bytes = Array(table.columns.map(\.rawValue).joined(separator: ",").utf8)
        while let row = try answer.next() {
            bytes += [0x0d, 0x0a]
            for (index, value) in table.cells(row.values).enumerated() {
                if index > 0 { bytes.append(0x2c) }
                switch value {
                case .text(let text): cells.append(text: text.utf8, to: &bytes)
                case .integer(let number): bytes += "\(number)".utf8
                default: break
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func count(_ models: ReadModels, _ sql: String) throws -> Int64? {
        guard case .integer(let count)? = try models.ask(.sql(sql, [:])).answer().next()?.values[0]
        else { return nil }
        return count
    }

    @Test func aFileIsTakenOnceWhateverIsImportedAgain() throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        let text = ([Self.header] + Self.rows + [Self.rows[0]]).joined(separator: "\n")
        let first = try Self.take(text, into: models)
        // Two rows that are alike are two fish.
        #expect(first.imported == 4 && first.known == 0 && first.refused.isEmpty)
        let head = models.space.head
        let again = try Self.take(text, into: models)
        #expect(again.imported == 0 && again.known == 4 && models.space.head == head)
        let more =
            "\(Self.header)\n\(Self.rows[2])\n4,Merluzzo o Nasello,200,1,0,Altro,sconosciuto,"
        let third = try Self.take(more + "Albinia (Orbetello)", into: models)
        #expect(third.imported == 1 && third.known == 1)
        #expect(try Self.count(models, "SELECT count(*) FROM report WHERE source = 'import'") == 5)
        #expect(try Self.count(models, "SELECT count(*) FROM import_row") == 5)
        #expect(try Self.count(models, "SELECT count(*) FROM counted") == 5)
    }

    /// A row is known by its day, what it says, and its place among the equal rows of its file.
    @Test func rowsOfAnotherDayOrAFurtherFileAreOthers() throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        let one = "\(Self.header)\n\(Self.rows[0])"
        let two = "\(one)\n\(Self.rows[0])\n\(Self.rows[2])"
        #expect(try Self.take(one, from: "a", into: models).imported == 1)
        #expect(try Self.take(one, on: "2026-02-11", from: "a", into: models).imported == 1)
        #expect(try Self.take(two, from: "b", into: models).imported == 2)
        // Whatever comes again, by any name, is known.
        #expect(try Self.take(two, from: "c", into: models).known == 3)
        #expect(try Self.take(one, from: "c", into: models).known == 1)
        // With `more` all rows are others, but for the same file again.
        for count in [3, 0, 0] {
            let more = try Self.take(two, from: "d", more: true, into: models)
            #expect(more.imported == Int64(count) && more.known == Int64(3 - count))
        }
        #expect(try Self.take(one, from: "e", more: true, into: models).imported == 1)
        #expect(try Self.take(two, from: "d", more: true, into: models).known == 3)
        #expect(
            try Self.count(
                models,
                "SELECT max(ordinal) FROM import_row WHERE observedOn = '2026-02-10'"
            ) == 5
        )
        #expect(try Self.count(models, "SELECT count(*) FROM counted") == 8)
    }

    /// Version 1 knew a row by what it says alone: it is the first one of the day of its report.
    @Test func whatVersion1ImportedIsTheFirstOfItsDay() throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        let text = "\(Self.header)\n\(Self.rows[0])"
        let row = try Self.row(text)
        let hashed = row.hashedBytes
        let hash = Data(SHA256.hash(hashed.span).bytes).base64EncodedString()
        let filed = #"""
            {"type":"fish.report.filed","payload":{"reportId":"import-1","speciesId":"acciuga",
            "placeId":"porto_ercole","observedOn":"2026-02-10","lengthUm":113000,
            "method":"unknown","minSizeUm":90000,"minSizeKind":"legal","seasonMask":2040,
            "zoneId":"*","sizeResult":"ok","isBorderline":false,"dateResult":"in_season",
            "applicability":"full","origin":"mediterranean","production":"wild_fresh",
            "source":"import"}}
            """#.replacing("\n", with: "")
        let imported =
            #"{"type":"fish.report.imported","version":1,"payload":{"reportId":"import-1","#
            + #""importId":"old","rowSha256":"\#(hash)","line":2}}"#
        try models.space.record([filed, imported])
        #expect(try Self.take(text, into: models).known == 1)
        #expect(try Self.take("\(text)\n\(Self.rows[0])", into: models).imported == 1)
        #expect(try Self.take(text, on: "2026-02-11", into: models).imported == 1)
    }

    private static func row(_ text: String) throws -> ReportRow {
        var reader = ReportReader()
        reader.add(Array(text.utf8))
        reader.finish()
        guard case .row(let row)? = try reader.next() else { throw NoRow() }
        return row
    }

    private struct NoRow: Error {}

    @Test func goodRowsAreTakenAndOthersListed() throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        let bad = [
            "2,Acciuga,113,0,1,Mar Mediterraneo,pescato fresco,Talamone (Orbetello)",
            "2,Sardina,113,1,1,Mar Mediterraneo,pescato fresco,Talamone (Orbetello)",
            "2,Acciuga,,1,1,Mar Mediterraneo,pescato fresco,Talamone (Orbetello)",
            "2,Acciuga,113,1,1,Mar Mediterraneo,pescato fresco,Orbetello",
            "2,Acciuga,113,1,1,Marte,pescato fresco,Talamone (Orbetello)",
        ]
        let text = ([Self.header] + bad + Self.rows).joined(separator: "\n")
        let result = try Self.take(text, into: models)
        #expect(result.imported == 3)
        #expect(
            result.refused.map { "\($0.line) \($0.rule) \($0.field ?? "")" } == [
                "2 answers eligibilitySize", "3 species-name fish_name", "4 required detectedSize",
                "5 municipality townReport", "6 detail-value origin",
            ]
        )
    }

    /// The answer for the season follows from the day: the old table has none.
    @Test func theDayOfAnOldRowIsTheOneThatIsGiven() throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        let text = "\(Self.header)\n\(Self.rows[0])"
        let refused = try Self.take(text, on: "2026-05-10", into: models).refused
        #expect(refused.map(\.rule) == ["answers"] && refused[0].field == "eligibilityDate")
        #expect(try Self.take(text, on: "9999-01-01", into: models).refused[0].rule == "future")
        #expect(try Self.take(text, on: "2016-02-10", into: models).imported == 1)
        #expect(
            try Self.count(models, "SELECT count(*) FROM report WHERE observedOn = '2016-02-10'")
                == 1
        )
    }

    @Test(arguments: [true, false])
    func anExportComesBackInAnotherSpace(isOld: Bool) throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let (models, copy) = (try Self.make(folder), try Self.make(other))
        _ = try Self.take(([Self.header] + Self.rows).joined(separator: "\n"), into: models)
        let filed = #"""
            {"type":"fish.report.filed","actor":"u1","at":"2026-02-11T10:00:00Z","payload":
            {"reportId":"=r1","speciesId":"acciuga","placeId":"talamone",
            "observedOn":"2026-02-10","lengthUm":90001,"sigmaUm":500,"method":"views",
            "referenceId":"eur2","minSizeUm":90000,"minSizeKind":"legal","seasonMask":2040,
            "zoneId":"*","sizeResult":"ok","isBorderline":true,"dateResult":"in_season",
            "applicability":"full","origin":"mediterranean","production":"wild_fresh",
            "source":"app","boughtOn":"2026-02-09","boughtPlaceId":"orbetello"}}
            """#.replacing("\n", with: "")
        try models.space.record([filed])
        let text = try Self.export(models, isOld: isOld)
        let result = try Self.take(text, on: isOld ? "2026-02-10" : nil, into: copy)
        #expect(result.imported == 4 && result.refused.isEmpty)
        let back = try Self.export(copy, isOld: isOld)
        func sorted(_ text: String) -> [String] {
            text.split(separator: "\r\n").map(String.init).sorted()
        }
        if isOld {
            #expect(sorted(back) == sorted(text))
        } else {
            #expect(text.contains("'=r1,2026-02-10,acciuga,talamone,500,views,eur2,90000,legal"))
            #expect(back == text.replacing(",app,counted", with: ",import,counted"))
        }
        // Whatever goes back and forth is known by its id, or by its row.
        let known = try Self.take(back, on: isOld ? "2026-02-10" : nil, into: models)
        #expect(known.imported == (isOld ? 1 : 0) && known.refused.isEmpty)
    }

    @Test(arguments: [
        ("minSizeKind", "legal", "minimum-size"), ("seasonMask", "4096", "number"),
        ("seasonMask", "x", "number"), ("method", "guess", "number"), ("unit", "ell", "number"),
        ("observedOn", "10/02/2026", "day"), ("zoneId", "Nord!", "number"),
        ("speciesId", "tonno", "unknown-species"), ("placeId", "orbetello", "municipality"),
        ("placeId", "roma", "unknown-place"), ("boughtPlaceId", "roma", "unknown-place"),
        ("referenceId", "lira", "unknown-reference"), ("sigmaUm", "-1", "number"),
        ("isBorderline", "maybe", "truth"), ("boughtOn", "gestern", "day"),
    ])
    func aWrongCellOfAnExportNamesItsRule(column: String, value: String, rule: String) throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        let more = column == "seasonMask" ? ("minSizeKind", "none") : ("seasonMask", "2040")
        let text = "\(Self.header),\(column),\(more.0)\n\(Self.rows[0]),\(value),\(more.1)"
        let result = try Self.take(text, into: models)
        #expect(result.imported == 0 && result.refused.map(\.rule) == [rule])
    }
}
