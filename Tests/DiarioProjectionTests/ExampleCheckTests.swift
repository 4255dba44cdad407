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

    private static let derived = """
        -- derived
        INSERT INTO pair (left, right, count) SELECT id, '', length(id) FROM thing WHERE id = :id
        ON CONFLICT (left, right) DO UPDATE SET count = excluded.count;
        """

    /// Rows that follow from others may be computed once, for all keys, if that gives the same.
    @Test func derivedStatementsAreProved() throws {
        #expect(try problems(Self.kept + "\n" + Self.derived) == [])
        let sum = Self.derived.replacing("= excluded.count", with: "= count + excluded.count")
        let found = try problems(Self.kept + "\n" + sum)
        #expect(found.map(\.rule) == ["example-order"], "\(found)")
        let message = found.first?.message ?? ""
        #expect(message.contains("once at the end, for all keys: the row ('a', '') of pair"))
        #expect(message.hasSuffix("lines: 11"), "\(message)")
        let failing = Self.derived.replacing("'', length(id)", with: "max('', day), 1")
            .replacing("\nON CONFLICT (left, right) DO UPDATE SET count = excluded.count", with: "")
        #expect(try problems(Self.kept + "\n" + failing).map(\.rule) == ["example-order"])
    }

    @Test(arguments: [
        ("id = :id", "id >= :id"), ("id = :id", "id = :id || ''"), ("length(id)", ":count"),
        ("id = :id", "NOT id = :id"), ("WHERE id = :id", "WHERE :id = id"),
    ])
    func aDerivedStatementReadsOnlyItsKey(old: String, new: String) throws {
        let statement = Self.derived.replacing(old, with: new)
        let found = try PackSample.problems(statement: Self.kept + "\n" + statement)
        #expect(found.map(\.rule) == ["sql-derived"], "\(new)")
        #expect(found.first?.line == 11)
    }

    @Test(arguments: [
        "UPDATE thing SET count = (SELECT max(count) FROM pair);",
        "DELETE FROM pair WHERE left = :id;", "INSERT INTO pair VALUES (:day, '', 1, 2);",
        "UPDATE pair SET any = 1;",
    ])
    func nothingElseDependsOnDerivedRows(statement: String) throws {
        let found = try PackSample.problems(
            statement: Self.kept + "\n" + Self.derived + "\n" + statement
        )
        #expect(found.map(\.rule) == ["sql-derived"], "\(found)")
        #expect(found.first?.line == 11)
        #expect(found.first?.message.contains("pair is read or changed") == true, "\(found)")
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
