import DiarioProjection
import DiarioSchema
import Testing

/// What statements and definitions of a read model may not do, though SQLite would do it.
@Suite struct StatementTests {
    @Test func aSoundPackHasNoProblems() throws {
        #expect(try PackSample.problems([:]) == [])
    }

    @Test(arguments: [
        ("UPDATE thing SET count = (SELECT count(*) OVER () FROM pair);", "sql-window"),
        ("UPDATE thing SET count = (SELECT count FROM pair ORDER BY left LIMIT 1);", "sql-limit"),
        ("INSERT OR ROLLBACK INTO thing (id, day) VALUES (:id, :day);", "sql-conflict"),
        ("UPDATE OR FAIL thing SET day = :day;", "sql-conflict"),
        ("DELETE FROM thing RETURNING id;", "sql-returning"),
        ("DELETE FROM thing WHERE day = 'a' COLLATE NOCASE;", "sql-collate"),
        // Row ids.
        ("DELETE FROM thing WHERE \"rowid\" = 1;", "sql-rowid"),
        ("DELETE FROM thing WHERE [_rowid_] = 1;", "sql-rowid"),
        ("DELETE FROM thing WHERE `OID` = 1;", "sql-rowid"),
        ("UPDATE thing SET rowid = 1;", "sql-rowid"),
        // Other tables.
        ("INSERT INTO words (note) VALUES (:id);", "sql-table"),
        ("INSERT INTO words (words) VALUES ('delete-all');", "sql-table"),
        ("DELETE FROM thing WHERE id IN (SELECT note FROM words);", "sql-table"),
        ("DELETE FROM thing WHERE count IN (SELECT id FROM words_docsize);", "sql-table"),
        ("DELETE FROM thing WHERE id IN (SELECT name FROM sqlite_schema);", "sql-table"),
        ("DELETE FROM thing WHERE id IN (SELECT value FROM json_each(:marks));", "sql-table"),
        ("DELETE FROM thing WHERE id IN (SELECT name FROM pragma_table_list);", "sql-table"),
        ("DELETE FROM thing WHERE count IN words_docsize_;", "sql"),
    ])
    func aStatementIsRefused(statement: String, rule: String) throws {
        let found = try PackSample.problems(statement: statement)
        #expect(found.contains { $0.rule == rule }, "\(found)")
        #expect(found.allSatisfy { $0.file == "readmodel/things.sql" && $0.line == 8 }, "\(found)")
    }

    @Test(arguments: [
        "UPDATE thing SET note = :note, size = :size WHERE id = :id;",
        "INSERT INTO pair SELECT left, 'all', sum(count), NULL FROM pair WHERE left = :id "
            + "GROUP BY left "
            + "ON CONFLICT (left, right) DO UPDATE SET count = excluded.count;",
        "INSERT INTO pair (left, right) SELECT :id, column1 FROM (VALUES ('a'), ('b')) WHERE true "
            + "ON CONFLICT (left, right) DO NOTHING;",
        "INSERT INTO numbered VALUES (json_array_length(:marks) IS NULL, :id);",
        "UPDATE thing SET day = (WITH last AS (SELECT max(day) AS d FROM thing) SELECT d FROM "
            + "last);",
        "UPDATE thing SET note = 'rowid is a word', day = :day || '; LIMIT' WHERE id = :id;",
    ])
    func aStatementIsTaken(statement: String) throws {
        #expect(try PackSample.problems(statement: statement) == [])
    }

    @Test(arguments: [
        ("CREATE INDEX i ON thing (round(size));", "sql-function"),
        ("CREATE INDEX \"a b\" ON thing (day);", "sql-name"),
        ("CREATE TABLE diario_state (a TEXT NOT NULL PRIMARY KEY) STRICT;", "sql-name"),
        ("CREATE TABLE \"a\"\"b\" (a TEXT NOT NULL PRIMARY KEY) STRICT;", "sql-name"),
        ("CREATE TABLE a (\"x;y\" TEXT NOT NULL PRIMARY KEY) STRICT;", "sql-name"),
        (
            "CREATE TABLE a (b TEXT NOT NULL PRIMARY KEY ON CONFLICT ROLLBACK) STRICT;",
            "sql-conflict"
        ),
        ("CREATE TABLE a AS SELECT 1 AS b;", "table-key"),
        ("CREATE VIRTUAL TABLE \"v'w\" USING fts5(a);", "sql-name"),
        (
            "CREATE TRIGGER t AFTER INSERT ON thing BEGIN "
                + "INSERT INTO words (note) SELECT text FROM numbered; END;", "sql-trigger"
        ),
        (
            "CREATE TRIGGER t BEFORE INSERT ON thing BEGIN SELECT RAISE(IGNORE); END;",
            "sql-raise"
        ),
        (
            "CREATE TRIGGER t AFTER INSERT ON thing WHEN new.day = date('now') BEGIN "
                + "INSERT INTO words (note) VALUES (new.note); END;", "sql-function"
        ),
        ("CREATE TRIGGER t AFTER INSERT ON thing BEGIN DELETE FROM numbered; END;", "sql-trigger"),
        ("CREATE VIEW v AS SELECT random() AS a FROM thing;", "sql-function"),
        ("CREATE VIEW v AS SELECT note FROM words;", "sql-table"),
        ("CREATE VIEW v AS SELECT rowid AS a FROM thing;", "sql-rowid"),
        ("CREATE VIEW v AS SELECT id FROM thing LIMIT 1;", "sql-limit"),
        ("CREATE VIEW v AS SELECT a FROM nothing;", "sql"),
        ("CREATE VIEW diario_v AS SELECT id FROM thing;", "sql-name"),
        (
            "CREATE VIEW v AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) "
                + "SELECT i FROM n;", "sql-recursive"
        ),
    ])
    func aDefinitionIsRefused(definition: String, rule: String) throws {
        let found = try PackSample.problems(
            definitions: definition,
            statement: "INSERT INTO thing (id, day, note) VALUES (:id, :day, :note);"
        )
        #expect(found.contains { $0.rule == rule && $0.line == 6 }, "\(found)")
    }

    @Test(arguments: [
        (", CHECK (round(size) > 1)", "sql-function"),
        (", now TEXT AS (date('now'))", "sql-function"),
        (", other INT DEFAULT (random())", "sql-default"),
        (", other TEXT DEFAULT CURRENT_DATE", "sql-default"),
    ])
    func aColumnIsRefused(column: String, rule: String) throws {
        let found = try PackSample.problems(columns: column)
        #expect(found.contains { $0.rule == rule }, "\(found)")
    }

    @Test(arguments: [
        "CREATE INDEX i ON thing (note, day DESC) WHERE count IS NOT NULL;",
        "CREATE VIRTUAL TABLE v USING fts5(note, content='thing', detail=none, prefix='2 3');",
        "CREATE VIRTUAL TABLE v USING fts5(a, tokenize=\"porter unicode61 tokenchars '-_'\");",
        "CREATE VIRTUAL TABLE v USING rtree(id, a, b, +c TEXT);",
        "CREATE TABLE a (b TEXT NOT NULL PRIMARY KEY, c INT DEFAULT -1, d TEXT DEFAULT 'x') "
            + "STRICT;",
        "CREATE TRIGGER t AFTER UPDATE OF note ON thing WHEN new.note IS NOT old.note BEGIN "
            + "INSERT INTO words (words, rowid, note) VALUES ('delete', old.rowid, old.note); "
            + "INSERT INTO words (rowid, note) SELECT new.rowid, new.note WHERE new.count > "
            + "0; END;",
        "CREATE VIEW total AS SELECT day, count(*) AS things FROM thing GROUP BY day; "
            + "CREATE VIEW most AS SELECT max(things) AS things FROM total;",
    ])
    func aDefinitionIsTaken(definition: String) throws {
        let found = try PackSample.problems(
            definitions: definition,
            statement: "INSERT INTO thing (id, day, note) VALUES (:id, :day, :note);"
        )
        #expect(found == [])
    }

    /// Statements and queries read a view as they read a table; nothing is written to one.
    @Test func aViewIsReadAndNotWritten() throws {
        let view = "CREATE VIEW total AS SELECT day, count(*) AS things FROM thing GROUP BY day;"
        let taken = try PackSample.problems(
            definitions: view,
            statement: "UPDATE thing SET count = (SELECT things FROM total WHERE day = :day);"
        )
        #expect(taken == [])
        let trigger =
            "CREATE TRIGGER t INSTEAD OF INSERT ON total BEGIN "
            + "INSERT INTO words (note) VALUES (new.day); END;"
        let refused = try PackSample.problems(definitions: view + trigger)
        #expect(refused.map(\.rule) == ["sql-trigger"])
        let written = try PackSample.problems(
            definitions: view,
            statement: "DELETE FROM total;"
        )
        #expect(written.count == 1)
    }
}
