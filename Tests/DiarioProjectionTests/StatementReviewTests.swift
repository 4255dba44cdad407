import DiarioProjection
import DiarioSchema
import Testing

/// What SQLite itself finds nothing wrong with.
@Suite struct StatementReviewTests {
    @Test func aSoundPackHasNoProblems() throws {
        #expect(try PackSample.problems([:]) == [])
    }

    @Test(arguments: [
        // What may come from a field that can be erased.
        ("INSERT INTO thing (id, day) SELECT :note, :day;", "personal-key"),
        (
            "INSERT INTO thing (day, id) SELECT d, n FROM (SELECT :day AS d, :note AS n);",
            "personal-key"
        ),
        (
            "INSERT INTO thing (id, day) WITH n(a) AS (SELECT :note) SELECT a, :day FROM n;",
            "personal-key"
        ),
        ("INSERT INTO thing (id, day) VALUES (:id, coalesce(:note, ''));", "personal-needed"),
        ("INSERT INTO thing (id, day) SELECT :id, :day WHERE :note <> '';", "personal-condition"),
        (
            "INSERT INTO thing (id, day) VALUES (:id, :day) ON CONFLICT (id) DO UPDATE "
                + "SET count = 1 WHERE :note IS NULL;", "personal-condition"
        ),
        ("UPDATE thing SET count = 1 WHERE id IN (SELECT :note);", "personal-condition"),
        ("DELETE FROM thing WHERE EXISTS (SELECT 1 WHERE :note = '');", "personal-condition"),
        // Fractions.
        ("UPDATE thing SET count = (SELECT sum(size) FROM thing);", "sql-sum"),
        ("UPDATE thing SET count = (SELECT sum(day) FROM thing);", "sql-sum"),
        ("UPDATE thing SET count = (SELECT sum(count * 1.5) FROM thing);", "sql-sum"),
        ("UPDATE thing SET day = CAST(size AS TEXT);", "sql-real"),
        ("UPDATE thing SET day = 'a' || size;", "sql-real"),
        ("UPDATE thing SET day = :size;", "sql-real"),
        ("UPDATE thing SET size = :day;", "sql-real"),
        ("UPDATE thing SET size = CAST(:day AS REAL);", "sql-real"),
        ("UPDATE thing SET count = length(size);", "sql-real"),
        ("UPDATE thing SET day = hex(:size + 1);", "sql-real"),
        ("UPDATE thing SET count = 1 WHERE day = 1.5;", "sql-real"),
        ("UPDATE thing SET count = json_extract(:sizes, '$[0]');", "sql-real"),
        ("UPDATE thing SET count = CAST(:day AS NUMERIC);", "sql-cast"),
        // JSON.
        ("UPDATE thing SET count = json_array_length(:day);", "sql-json"),
        ("UPDATE thing SET count = json_extract(:marks, :day);", "sql-json"),
        ("UPDATE thing SET count = :marks -> -1;", "sql-json"),
        // Rows in no order.
        ("UPDATE thing SET count = (SELECT count FROM pair);", "sql-rows"),
        ("UPDATE thing SET count = (SELECT count FROM pair WHERE left = :id);", "sql-rows"),
        ("UPDATE thing SET count = (SELECT 1 UNION ALL SELECT 2);", "sql-rows"),
        (
            "UPDATE thing SET count = (SELECT t.count FROM pair AS t WHERE t.left NOTNULL "
                + "AND t.right NOTNULL);", "sql-rows"
        ),
        ("UPDATE thing SET count = p.count FROM pair AS p WHERE p.left = id;", "sql-rows"),
        (
            "INSERT INTO thing (id, day) SELECT left, right FROM pair WHERE true ON CONFLICT "
                + "DO NOTHING;",
            "sql-rows"
        ),
        ("INSERT OR REPLACE INTO thing (id, day) SELECT left, right FROM pair;", "sql-rows"),
        ("UPDATE OR REPLACE thing SET id = day;", "sql-conflict"),
        ("INSERT OR ROLLBACK INTO thing (id, day) VALUES (:id, :day);", "sql-conflict"),
        (
            "INSERT INTO thing (id, day) VALUES (:id, :day) ON CONFLICT DO UPDATE SET count = 1;",
            "sql-conflict"
        ),
        (
            "UPDATE thing SET count = (SELECT p.count FROM pair AS p GROUP BY p.left HAVING "
                + "max(1) LIMIT 1);",
            "sql-limit"
        ),
        (
            "INSERT INTO pair SELECT left, min(right), count, 1 FROM pair GROUP BY left;",
            "sql-group"
        ),
        ("UPDATE thing SET count = (SELECT p.count + max(p.right) FROM pair AS p);", "sql-group"),
        (
            "UPDATE thing SET count = (SELECT count(*) OVER () FROM pair WHERE left = '');",
            "sql-window"
        ),
        // Row ids.
        ("DELETE FROM thing WHERE \"rowid\" = 1;", "sql-rowid"),
        ("DELETE FROM thing WHERE [_rowid_] = 1;", "sql-rowid"),
        ("DELETE FROM thing WHERE `OID` = 1;", "sql-rowid"),
        ("INSERT INTO numbered (text) VALUES (:id);", "sql-rowid"),
        ("INSERT INTO numbered VALUES (NULL, :id);", "sql-rowid"),
        ("INSERT INTO numbered VALUES (:count, :id);", "sql-rowid"),
        // Other tables.
        ("INSERT INTO words (note) VALUES (:id);", "sql-table"),
        ("INSERT INTO words (words) VALUES ('delete-all');", "sql-table"),
        ("DELETE FROM thing WHERE count IN (SELECT c FROM words_docsize AS d(c));", "sql"),
        ("DELETE FROM thing WHERE count IN (SELECT id FROM words_docsize);", "sql-table"),
        ("DELETE FROM thing WHERE id IN (SELECT name FROM sqlite_schema);", "sql-table"),
        ("DELETE FROM thing WHERE id IN (SELECT value FROM json_each(:marks));", "sql-table"),
        ("DELETE FROM thing WHERE id IN (SELECT name FROM pragma_table_list);", "sql-table"),
        ("DELETE FROM thing WHERE count IN words_docsize_;", "sql"),
        (
            "DELETE FROM thing WHERE id IN (SELECT left FROM pair NATURAL JOIN thing);",
            "sql-natural"
        ),
        ("DELETE FROM thing INDEXED BY sqlite_autoindex_thing_1 WHERE id = :id;", "sql-form"),
        ("UPDATE thing SET count = iif(:id = '', 1);", "sql"),
    ])
    func aStatementIsRefused(statement: String, rule: String) throws {
        let found = try PackSample.problems(statement: statement)
        #expect(found.contains { $0.rule == rule }, "\(found)")
        #expect(found.allSatisfy { $0.file == "readmodel/things.sql" && $0.line == 8 }, "\(found)")
    }

    @Test(arguments: [
        "UPDATE thing SET note = :note, size = :size WHERE id = :id;",
        "UPDATE thing SET count = (SELECT count FROM pair WHERE left = :id AND right = :day);",
        "UPDATE thing SET count = (SELECT p.count FROM pair AS p WHERE (p.left, p.right) = "
            + "(id, day));",
        "UPDATE thing SET count = (SELECT max(count) FROM pair WHERE left = :id);",
        "UPDATE thing SET count = (SELECT sum(count) FROM pair), size = size * 2 WHERE size > 1.5;",
        "UPDATE thing SET count = p.count FROM pair AS p WHERE p.left = id AND p.right = :day;",
        "INSERT INTO pair SELECT left, 'all', sum(count), NULL FROM pair WHERE left = :id "
            + "GROUP BY left "
            + "ON CONFLICT (left, right) DO UPDATE SET count = excluded.count;",
        "INSERT INTO pair (left, right) SELECT t.id, p.right FROM thing AS t JOIN pair AS p "
            + "ON p.left = t.id WHERE true ON CONFLICT (left, right) DO NOTHING;",
        "INSERT INTO pair (left, right) SELECT :id, column1 FROM (VALUES ('a'), ('b')) WHERE true "
            + "ON CONFLICT (left, right) DO NOTHING;",
        "INSERT INTO pair (left, right) VALUES (:id, 'a'), (:id, 'b') "
            + "ON CONFLICT (left, right) DO NOTHING;",
        "INSERT INTO numbered VALUES (json_array_length(:marks) IS NULL, :id);",
        "UPDATE thing SET count = json_extract(:marks, '$[0]') + CASE day WHEN :day THEN 1 "
            + "ELSE 2 END;",
        "UPDATE thing SET count = weekday_of(:day) WHERE day BETWEEN :day AND '2030-01-01' OR "
            + "count NOT IN (1, 2);",
        "UPDATE thing SET day = (WITH last AS (SELECT max(day) AS d FROM thing) SELECT d FROM "
            + "last);",
        "DELETE FROM thing WHERE id NOT IN (SELECT left FROM pair UNION SELECT right FROM pair);",
    ])
    func aStatementIsTaken(statement: String) throws {
        #expect(try PackSample.problems(statement: statement) == [])
    }

    /// A personal value is known by where it came from, through whichever statements.
    @Test(arguments: [
        (
            "UPDATE thing SET count = length(note); DELETE FROM thing WHERE count > 3;",
            "personal-condition"
        ),
        (
            "UPDATE pair SET any = :note; UPDATE thing SET id = (SELECT max(any) FROM pair);",
            "personal-key"
        ),
        ("UPDATE thing SET day = (SELECT max(note) FROM thing);", "personal-needed"),
        ("INSERT INTO thing (id, day) SELECT note, day FROM thing;", "personal-key"),
        (
            "INSERT INTO pair (left, right) SELECT min(id), day FROM thing GROUP BY day, note;",
            "personal-condition"
        ),
        (
            "INSERT INTO pair (left, right) SELECT id, day FROM thing JOIN numbered ON text = "
                + "note;",
            "personal-condition"
        ),
    ])
    func aPersonalValueIsFollowed(statements: String, rule: String) throws {
        let both = "UPDATE thing SET note = :note; " + statements
        let found = try PackSample.problems(statement: both)
        #expect(found.contains { $0.rule == rule && $0.line == 8 }, "\(found)")
    }

    @Test(arguments: [
        ("CREATE UNIQUE INDEX i ON thing (substr(note, 1, 3));", "personal-key"),
        ("CREATE UNIQUE INDEX i ON thing (day) WHERE note IS NULL;", "personal-condition"),
        ("CREATE INDEX i ON thing (round(size));", "sql-function"),
        ("CREATE INDEX i ON thing (hex(size));", "sql-real"),
        ("CREATE INDEX \"a b\" ON thing (day);", "sql-name"),
        ("CREATE TABLE diario_state (a TEXT NOT NULL PRIMARY KEY) STRICT;", "sql-name"),
        ("CREATE TABLE \"a\"\"b\" (a TEXT NOT NULL PRIMARY KEY) STRICT;", "sql-name"),
        ("CREATE TABLE a (\"x;y\" TEXT NOT NULL PRIMARY KEY) STRICT;", "sql-name"),
        (
            "CREATE TABLE a (b TEXT NOT NULL PRIMARY KEY ON CONFLICT ROLLBACK) STRICT;",
            "sql-conflict"
        ),
        ("CREATE TABLE a AS SELECT 1 AS b;", "table-key"),
        ("CREATE VIRTUAL TABLE v USING fts5(a, content='sqlite_master');", "sql-virtual"),
        ("CREATE VIRTUAL TABLE v USING fts5(a, content=words);", "sql-virtual"),
        ("CREATE VIRTUAL TABLE v USING fts5(a, content='elsewhere');", "sql-virtual"),
        ("CREATE VIRTUAL TABLE v USING fts5(a, tokenize='trigram remove_diacritics 1');", "sql"),
        ("CREATE VIRTUAL TABLE \"v'w\" USING fts5(a);", "sql-name"),
        (
            "CREATE TRIGGER t AFTER INSERT ON thing BEGIN "
                + "INSERT INTO words (words) VALUES ('rebuild'); END;", "sql-virtual"
        ),
        (
            "CREATE TRIGGER t AFTER INSERT ON thing BEGIN "
                + "INSERT INTO words (words, rank) VALUES ('hashsize', 100); END;", "sql-virtual"
        ),
        (
            "CREATE TRIGGER t AFTER INSERT ON thing BEGIN "
                + "INSERT INTO words (\"words\") SELECT new.note; END;", "sql-virtual"
        ),
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
    ])
    func aDefinitionIsRefused(definition: String, rule: String) throws {
        let found = try PackSample.problems(
            definitions: definition,
            statement: "INSERT INTO thing (id, day, note) VALUES (:id, :day, :note);"
        )
        #expect(found.contains { $0.rule == rule && $0.line == 6 }, "\(found)")
    }

    @Test(arguments: [
        (", key TEXT UNIQUE AS (note)", "personal-key"),
        (", copy TEXT AS (note) CHECK (copy <> '')", "personal-condition"),
        (", CHECK (note <> 'a')", "personal-condition"),
        (", CHECK (round(size) > 1)", "sql-function"),
        (", length INT NOT NULL AS (length(note)) STORED", "personal-needed"),
        (", other TEXT AS (CAST(size AS TEXT))", "sql-real"),
        (", now TEXT AS (date('now'))", "sql-function"),
        (", FOREIGN KEY (note) REFERENCES thing (id)", "personal-key"),
    ])
    func aColumnIsRefused(column: String, rule: String) throws {
        let found = try PackSample.problems(
            columns: column,
            statement: "INSERT INTO thing (id, day, note) VALUES (:id, :day, :note);"
        )
        #expect(found.contains { $0.rule == rule }, "\(found)")
    }

    @Test(arguments: [
        "CREATE INDEX i ON thing (note, day DESC) WHERE count IS NOT NULL;",
        "CREATE UNIQUE INDEX i ON thing (day, substr(id, 1, 2));",
        "CREATE VIRTUAL TABLE v USING fts5(note, content='thing', detail=none, prefix='2 3');",
        "CREATE VIRTUAL TABLE v USING fts5(a, tokenize=\"porter unicode61 tokenchars '-_'\");",
        "CREATE VIRTUAL TABLE v USING rtree(id, a, b, +c TEXT);",
        "CREATE TRIGGER t AFTER UPDATE OF note ON thing WHEN new.note IS NOT old.note BEGIN "
            + "INSERT INTO words (words, rowid, note) VALUES ('delete', old.rowid, old.note); "
            + "INSERT INTO words (rowid, note) SELECT new.rowid, new.note WHERE new.count > "
            + "0; END;",
    ])
    func aDefinitionIsTaken(definition: String) throws {
        let found = try PackSample.problems(
            definitions: definition,
            statement: "INSERT INTO thing (id, day, note) VALUES (:id, :day, :note);"
        )
        #expect(found == [])
    }
}
