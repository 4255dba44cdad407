import DiarioCore
import DiarioSchema
import Testing

@Suite struct PackSQLTests {
    private static let second = #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"test.thing.moved",
         "x-diario-version":1,"type":"object","additionalProperties":false,"required":["place"],
         "properties":{"place":{"type":"string","maxLength":9},"name":{"type":"string"}}}
        """#
    private static let model = """
        -- readmodel things version 2: every thing, with its name
        CREATE TABLE thing (id TEXT NOT NULL PRIMARY KEY, name TEXT, moves INT) STRICT;
        -- A comment that is no heading; it may hold 'quotes.
        CREATE TRIGGER moved AFTER UPDATE ON thing BEGIN
            SELECT CASE WHEN new.moves > 1 THEN 1 ELSE 2 END;
            SELECT ';';
        END;

        -- on test.thing.made
        INSERT INTO thing VALUES (:thingId, :name, 0);
        -- on test.thing.made, test.thing.moved
        UPDATE thing SET moves = moves + 1
        WHERE name = :name AND :_at > 0;
        """
    private static let head = "-- readmodel things version 1: y\n"
    private static let on = "-- on test.thing.made\n"
    private static let query = """
        -- query by-name(name TEXT, more INTEGER = -1, mark TEXT = 'a, (b)'): things of a name
        SELECT * FROM thing
        WHERE name = :name AND :more < 0 AND :mark <> '';
        """

    private func files(_ changes: [String: String] = [:]) -> [PackFile] {
        var files = [
            "pack.json": #"{"name":"test","version":1}"#,
            "events/thing.made.1.json": everyFormSchema,
            "events/thing.moved.1.json": Self.second,
            "readmodel/things.sql": Self.model,
            "queries/by-name.sql": Self.query,
        ]
        for (path, text) in changes { files[path] = text }
        return files.map { PackFile(path: $0.key, bytes: Array($0.value.utf8)) }
    }

    private func problems(_ changes: [String: String]) -> [PackProblem] {
        do throws(PackError) {
            _ = try Pack(files: files(changes))
            return []
        } catch {
            return error.problems
        }
    }

    /// A type whose schema cannot be read is there: that the model knows no such type was untrue.
    @Test func aBrokenSchemaIsToldOnce() {
        let broken = Self.second.replacing(#""required":["place"],"#, with: #""required":["place""#)
        #expect(broken != Self.second)
        let found = problems([
            "events/thing.moved.1.json": broken,
            "readmodel/things.sql": Self.head + "CREATE TABLE thing (a INT) STRICT;\n"
                + "-- on test.thing.moved\nDELETE FROM thing;",
        ])
        #expect(Set(found.map(\.file)) == ["events/thing.moved.1.json"])
    }

    @Test func aReadModelIsTakenApart() throws {
        let model = try #require(try Pack(files: files()).sql.readModels.first)
        #expect(model.name == "things")
        #expect(model.version == 2)
        #expect(model.title == "every thing, with its name")
        #expect(model.definitions.map(\.line) == [2, 4])
        #expect(
            model.definitions.map { $0.head.prefix(2) } == [
                ["CREATE", "TABLE"], ["CREATE", "TRIGGER"],
            ]
        )
        #expect(model.definitions[1].text.hasSuffix("END"))
        #expect(
            model.blocks.map(\.types) == [
                ["test.thing.made"], ["test.thing.made", "test.thing.moved"],
            ]
        )
        #expect(model.blocks.map(\.line) == [9, 11])
        let update = model.blocks[1].statements[0]
        #expect(update.parameterNames == ["name", "_at"])
        #expect(update.parameters.map(\.line) == [13, 13])
        #expect(update.line(at: update.text.utf8.count) == 13)
        #expect(model.types == ["test.thing.made", "test.thing.moved"])
    }

    @Test func aQueryIsTakenApart() throws {
        let query = try #require(try Pack(files: files()).sql.queries.first)
        #expect(query.name == "by-name")
        #expect(query.title == "things of a name")
        #expect(query.parameters.map(\.name) == ["name", "more", "mark"])
        #expect(query.parameters.map(\.values.kind) == [.text, .integer, .text])
        #expect(query.parameters.map(\.fallback) == [nil, "-1", "'a, (b)'"])
    }

    @Test func aHeadingContinuesUntilItsBracketCloses() throws {
        let text = """
            -- query by-name(name TEXT = ')',
            --     more INTEGER = 1): things of a name
            -- not the heading (
            SELECT * FROM thing WHERE name = :name -- nor this
                AND :more;
            """
        let query = try #require(
            try Pack(files: files(["queries/by-name.sql": text])).sql.queries.first
        )
        #expect(query.title == "things of a name")
        #expect(query.parameters.map(\.name) == ["name", "more"])
        let endless = "-- query by-name(\n" + String(repeating: "-- a TEXT,\n", count: 100_000)
        #expect(problems(["queries/by-name.sql": endless]).map(\.rule) == ["query-heading"])
    }

    @Test(arguments: [
        ("CREATE TABLE t (a INT);", 1, "readmodel-heading"),
        ("-- readmodel things version x: y\n", 1, "readmodel-heading"),
        ("-- readmodel things version 1:\n", 1, "readmodel-heading"),
        ("-- readmodel other version 1: y\n", 1, "readmodel-name"),
        ("\(Self.head)CREATE TABLE t (a INT);", 1, "readmodel-blocks"),
        ("\(Self.head)\(Self.on)", 2, "readmodel-blocks"),
        (
            "\(Self.head)-- on test.thing.mad\nDELETE FROM t;", 2,
            "readmodel-type"
        ),
        ("\(Self.head)DROP TABLE t;", 2, "readmodel-definition"),
        (
            "\(Self.head)CREATE TABLE t (a INT DEFAULT :a);", 2,
            "readmodel-definition"
        ),
        ("\(Self.head)CREATE TABLE t (a INT)", 2, "sql-semicolon"),
        ("\(Self.head)CREATE TABLE t (a 'x);", 2, "sql"),
        ("\(Self.head)/* never ends", 2, "sql"),
        (
            "\(Self.head)CREATE TRIGGER t AFTER DELETE ON u BEGIN SELECT 1;",
            2, "sql"
        ),
        (
            "\(Self.head)\(Self.on)SELECT 1;", 3,
            "readmodel-statement"
        ),
        (
            "\(Self.head)\(Self.on)\nDELETE FROM t\nWHERE a = :nmae;",
            5, "unknown-field"
        ),
        (
            "\(Self.head)\(Self.on)DELETE FROM t WHERE a = :_when;",
            3, "unknown-field"
        ),
        (
            "\(Self.head)\(Self.on)DELETE FROM t WHERE a = ?;",
            3, "sql-parameter"
        ),
        (
            "\(Self.head)\(Self.on)DELETE FROM t WHERE a = @name;",
            3, "sql-parameter"
        ),
    ])
    func otherReadModelsAreRefused(text: String, line: Int, rule: String) {
        let problems = problems(["readmodel/things.sql": text])
        #expect(problems.contains { $0.rule == rule && $0.line == line }, "\(problems)")
        #expect(problems.allSatisfy { $0.file == "readmodel/things.sql" })
    }

    /// What a query says that it answers, in comments after its heading.
    @Test func answersAndExamplesAreRead() throws {
        let text = """
            -- query by-name(name TEXT = 'a'): things of a name
            -- answers to nobody, which is a comment
            -- answers (id TEXT, count INTEGER?,
            --   marks INTEGER[]?)
            -- example name='a, (b)'
            -- example
            SELECT * FROM thing WHERE name = :name;
            """
        let query = try #require(
            try Pack(files: files(["queries/by-name.sql": text])).sql.queries.first
        )
        let columns = try #require(query.columns)
        #expect(columns.map(\.name) == ["id", "count", "marks"])
        #expect(columns.map(\.values.text) == ["TEXT", "INTEGER", "INTEGER[]"])
        #expect(columns.map(\.mayBeNull) == [false, true, true])
        #expect(columns.map(\.line) == [3, 3, 4])
        #expect(query.examples.map(\.values) == [["name": .text("a, (b)")], [:]])
    }

    @Test(arguments: [
        ("answers (id TEXT", "query-answers"), ("answers (id)", "query-answers"),
        ("answers (id WORD)", "query-answers"), ("answers (id TEXT, id TEXT)", "query-answers"),
        ("answers (per cent TEXT)", "query-answers"), ("answers (1a TEXT)", "query-answers"),
        ("answers (id TEXT)\n-- answers (id TEXT)", "query-answers"),
        ("answers (id TEXT)\n-- example nme='a'", "query-example"),
        ("answers (id TEXT)\n-- example name=a", "query-example"),
        ("answers (id TEXT)\n-- example name=7", "query-example"),
        ("answers (id TEXT)", "query-example"),
    ])
    func otherAnswersAreRefused(notes: String, rule: String) {
        let text = """
            -- query by-name(name TEXT): things of a name
            -- \(notes)
            SELECT id FROM thing WHERE name = :name;
            """
        let problems = problems(["queries/by-name.sql": text])
        #expect(problems.map(\.rule).contains(rule), "\(problems)")
        #expect(problems.allSatisfy { ($0.line ?? 0) >= 1 })
    }

    @Test(arguments: [
        ("SELECT 1;", 1, "sql-heading"), ("-- query by-name: x\nSELECT 1;", 1, "query-heading"),
        ("-- query by-nam(): x\nSELECT 1;", 1, "query-name"),
        ("-- query by-name():\nSELECT 1;", 1, "query-heading"),
        ("-- query by-name(a): x\nSELECT :a;", 1, "query-parameter"),
        ("-- query by-name(a WORD): x\nSELECT :a;", 1, "query-parameter"),
        ("-- query by-name(a TEXT = b): x\nSELECT :a;", 1, "query-parameter"),
        ("-- query by-name(a REAL = 1e999): x\nSELECT :a;", 1, "query-parameter"),
        ("-- query by-name(a TEXT, a TEXT): x\nSELECT :a;", 1, "query-parameter"),
        ("-- query by-name(a TEXT): x\nSELECT\n:b, :a;", 3, "query-parameter"),
        ("-- query by-name(a TEXT): x\nSELECT 1;", 2, "query-parameter"),
        ("-- query by-name(a TEXT,\nSELECT 1;", 1, "query-heading"),
        ("-- query by-name(): x\nSELECT 1; SELECT 2;", 1, "query-statement"),
        ("-- query by-name(): x\n", 1, "query-statement"),
    ])
    func otherQueriesAreRefused(text: String, line: Int, rule: String) {
        let problems = problems(["queries/by-name.sql": text])
        #expect(problems.contains { $0.rule == rule && $0.line == line }, "\(problems)")
    }

    @Test(
        arguments: [
            ("-- query all(): x\n-- answers (id TEXT)\nSELECT id FROM thing;", nil),
            (
                "-- query all(id TEXT of all = NULL): x\n-- answers (id TEXT)\nSELECT :id AS id;",
                nil
            ),
            ("-- query all(): x\nSELECT id FROM thing;", "which has to say what it answers"),
            ("-- query all(): x\n-- answers (n INTEGER)\nSELECT 1 AS n;", "with TEXT first"),
            (
                "-- query all(a TEXT): x\n-- answers (a TEXT)\n-- example a=''\nSELECT :a AS a;",
                "needs its parameter a"
            ),
            ("-- query other(): x\nSELECT 1;", "query all, and there is none"),
        ] as [(String, String?)]
    )
    func valuesComeFromAQueryThatAnswersThem(source: String, words: String?) throws {
        let name = source.contains("query other") ? "other" : "all"
        let changes = [
            "queries/by-name.sql": "-- query by-name(a TEXT of all = NULL): x\nSELECT :a;",
            "queries/\(name).sql": source,
        ]
        let problems = problems(changes)
        #expect(problems.isEmpty == (words == nil), "\(problems)")
        if let words { #expect(problems.contains { $0.message.contains(words) }, "\(problems)") }
        if words == nil { #expect(try Pack(files: files(changes)).format == 5) }
    }

    @Test func anUpcastIsOneSelect() throws {
        let newer = Self.second.replacing(#""x-diario-version":1"#, with: #""x-diario-version":2"#)
        var changes = [
            "events/thing.moved.2.json": newer,
            "events/thing.moved.1-2.sql": "-- keeps all\nSELECT :place AS place, :name AS name;",
        ]
        let upcast = try #require(try Pack(files: files(changes)).sql.upcasts.first)
        #expect(upcast.type == "test.thing.moved")
        #expect(upcast.from == 1)
        #expect(upcast.to == 2)
        for (text, rule) in [
            ("", "upcast-statement"), ("-- x\nDELETE FROM t;", "upcast-statement"),
            ("-- x\nSELECT :plaec AS place;", "unknown-field"),
        ] {
            changes["events/thing.moved.1-2.sql"] = text
            #expect(problems(changes).map(\.rule) == [rule])
        }
    }
}
