import DiarioProjection
import DiarioSchema
import Testing

/// What only a trial with examples shows.
@Suite struct ExampleCheckTests {
    private static let examples = """
        {"type":"test.thing.made","payload":{"id":"a","day":"2026-01-01","note":"red","count":1}}
        {"type":"test.thing.made","payload":{"id":"b","day":"2026-01-02","note":"blue","count":2}}
        {"type":"test.thing.made","payload":{"id":"a","day":"2026-01-03","count":3}}
        """
    private static let kept = """
        INSERT INTO thing (id, day, note) VALUES (:id, :day, :note)
        ON CONFLICT (id) DO UPDATE SET day = excluded.day, note = excluded.note;
        """

    private func problems(columns: String = "", _ statement: String) throws -> [PackProblem] {
        let pack = try PackSample.pack([
            "readmodel/things.sql": PackSample.model(columns: columns, statement: statement),
            "examples/things.jsonl": Self.examples,
        ])
        #expect(PackCheck.problems(of: pack) == [])
        return ExampleCheck.problems(of: pack)
    }

    @Test func whatComesOutTheSameIsTaken() throws {
        #expect(try problems(Self.kept) == [])
        // A condition may be personal: where the value is erased, the tables are built again.
        #expect(try problems(Self.kept + "DELETE FROM thing WHERE note = 'blue';") == [])
    }

    @Test(arguments: [
        "UPDATE thing SET count = (SELECT count FROM pair);",
        "UPDATE thing SET count = p.count FROM pair AS p;",
        "INSERT OR REPLACE INTO thing (id, day, count) SELECT 'all', right, count FROM pair;",
        "INSERT INTO numbered (text) SELECT right FROM pair;",
        "UPDATE thing SET count = (SELECT p.count + 0 * sum(p.count) FROM pair AS p);",
    ])
    func whatDependsOnTheOrderOfRowsIsTold(statement: String) throws {
        let found = try problems(
            Self.kept + "\nINSERT OR IGNORE INTO pair (left, right, count) "
                + "VALUES ('x', :day, :count);\n" + statement
        )
        #expect(found.map(\.rule) == ["example-order"], "\(found)")
        let table = statement.contains("numbered") ? "of numbered" : "of thing"
        #expect(found.first?.file == "readmodel/things.sql")
        #expect(found.first?.message.contains(table) == true, "\(found)")
        #expect(found.first?.message.contains("11") == true, "\(found)")
    }

    /// SQLite draws a number where the highest one is taken.
    @Test func whatDependsOnChanceIsTold() throws {
        let found = try problems(
            "INSERT OR IGNORE INTO numbered VALUES (9223372036854775807, '');\n"
                + "INSERT INTO numbered (text) VALUES (:day);"
        )
        #expect(found.map(\.rule) == ["example-order"], "\(found)")
        #expect(found.first?.message.contains("lines: 8, 9") == true, "\(found)")
    }

    @Test(arguments: [
        ("", "INSERT INTO thing (id, day) VALUES (:note, :day);"),
        (", words TEXT NOT NULL", "INSERT INTO thing (id, day, words) VALUES (:id, '', :note);"),
        (
            ", CHECK (note IS NOT NULL)",
            "INSERT INTO thing (id, day, note) VALUES (:id, '', :note);"
        ),
    ])
    func whatFailsOnceItIsErasedIsTold(columns: String, statement: String) throws {
        let statement = statement.dropLast() + " ON CONFLICT (id) DO NOTHING;"
        let found = try problems(columns: columns, String(statement))
        #expect(found.map(\.rule) == ["example-personal"], "\(found)")
        #expect(found.first?.file == "examples/things.jsonl")
        #expect(found.first?.line == 1)
        #expect(found.first?.message.contains("readmodel/things.sql, line 8") == true, "\(found)")
    }
}
