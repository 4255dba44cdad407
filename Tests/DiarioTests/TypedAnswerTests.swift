import Diario
import DiarioCore
import DiarioEngine
import DiarioHost
import DiarioSchema
import DiarioTestSupport
import Testing

/// Answers of queries that say what they answer, and parameters with the same types.
@Suite struct TypedAnswerTests {
    private static let types = #"{"Size":{"type":"integer","minimum":1,"maximum":12}}"#

    private static func models(
        _ query: String,
        in folder: borrowing TemporaryFolder
    ) throws -> ReadModels {
        let pack = try TillPack.make(["queries/typed.sql": query, "types.json": types])
        let space = try Space.create(at: folder.path, packs: [pack])
        return try ReadModels(space)
    }

    private static func rows(_ models: ReadModels, _ texts: [String: String]) throws -> [String] {
        let answer = try models.ask(.named("typed", texts)).answer()
        var rows: [String] = []
        while let row = try answer.next() { rows.append(String(decoding: row.json, as: UTF8.self)) }
        return rows
    }

    @Test func valuesAreWhatThePackSays() throws {
        let folder = try TemporaryFolder()
        let query = """
            -- query typed(): one of each
            -- answers (yes BOOLEAN, share REAL, at TIME, day DATE, sizes Size[], any JSON,
            --   none TEXT?, bytes BLOB)
            SELECT 1 AS yes, 3 AS share, 0 AS at, '2026-05-04' AS day, '[1,12]' AS sizes,
                '{"a":[null]}' AS any, NULL AS none, x'00ff' AS bytes;
            """
        let rows = try Self.rows(try Self.models(query, in: folder), [:])
        #expect(
            rows == [
                #"{"yes":true,"share":3,"at":"1970-01-01T00:00:00.000Z","day":"2026-05-04","#
                    + #""sizes":[1,12],"any":{"a":[null]},"none":null,"bytes":"AP8="}"#
            ]
        )
    }

    /// What an answer has otherwise than it says ends it, with the query and the column.
    @Test(arguments: [
        ("TEXT", "NULL", "has NULL"), ("INTEGER", "1.5", "the number 1.5"),
        ("BOOLEAN", "2", "the integer 2"), ("DATE", "'today'", "the text \"today\""),
        ("Size", "13", "Size"), ("Size[]", "'[13]'", "Size[]"), ("JSON", "'{'", "JSON"),
        ("TEXT", "7", "the integer 7"), ("TIME", "'1970-01-01'", "the text"),
    ])
    func otherValuesAreTold(type: String, value: String, what: String) throws {
        let folder = try TemporaryFolder()
        let query = """
            -- query typed(): one
            -- answers (only \(type))
            SELECT \(value) AS only;
            """
        let models = try Self.models(query, in: folder)
        let error = #expect(throws: DiarioError.self) { try Self.rows(models, [:]) }
        #expect(error?.rule == "query-answers" && error?.field == "typed.only")
        #expect(error?.message.contains(what) == true, "\(error?.message ?? "")")
    }

    /// A bound of a type holds for a parameter, whatever asks.
    @Test func parametersHaveTheBoundsOfTheirTypes() throws {
        let folder = try TemporaryFolder()
        let query = """
            -- query typed(size Size, sizes Size[]?, since TIME = '2026-05-04T00:00:00Z'): asked
            SELECT :size AS size, :sizes AS sizes, :since AS since;
            """
        let models = try Self.models(query, in: folder)
        #expect(
            try Self.rows(models, ["size": "12", "sizes": "[1,2]"])
                == [#"{"size":12,"sizes":"[1,2]","since":1777852800000}"#]
        )
        for wrong in [["size": "13"], ["size": "a"], ["size": "1", "sizes": "[0]"], [:]] {
            let error = #expect(throws: DiarioError.self) { try Self.rows(models, wrong) }
            #expect(error?.rule == "parameter", "\(wrong)")
        }
    }
}
