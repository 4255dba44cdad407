import DiarioCore
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import Testing

@Suite struct PackCheckTests {
    private static func schema(_ name: String, _ version: Int = 1, _ properties: String) -> String {
        #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"test.\#(name)",
         "x-diario-version":\#(version),"type":"object","additionalProperties":false,
         "required":["id","day"],"properties":{"id":{"type":"string","maxLength":40},
         "day":{"type":"string","format":"date"}\#(properties)}}
        """#
    }
    private static let files = [
        "pack.json": #"{"name":"test","version":1,"needs":{"weekday_of":1}}"#,
        "events/thing.made.1.json": schema("thing.made", 1, #","count":{"type":"integer"}"#),
        "events/thing.made.2.json": schema(
            "thing.made",
            2,
            #","count":{"type":"integer"},"note":{"type":"string","x-diario-personal":true}"#
        ),
        "events/thing.made.1-2.sql":
            "-- no notes then\nSELECT :id AS id, :day AS day, :count AS count;",
        "readmodel/other.sql": """
        -- readmodel other version 1: how many
        CREATE TABLE other (day TEXT NOT NULL PRIMARY KEY, count INT NOT NULL) STRICT;
        -- on test.thing.made
        INSERT INTO other VALUES (:day, 1) ON CONFLICT (day) DO UPDATE SET count = count + 1;
        """,
        "readmodel/things.sql": model(),
        "queries/by-day.sql": """
        -- query by-day(day TEXT): what was made on a day, and the mean of all
        SELECT t.*, (SELECT avg(count) FROM other) FROM thing AS t WHERE day = :day ORDER BY id;
        """,
    ]

    private static func model(
        definitions: String = "",
        table: String = "id TEXT NOT NULL PRIMARY KEY, day TEXT, count INT, note TEXT",
        options: String = "STRICT",
        statement: String = "INSERT INTO thing VALUES (:id, :day, :count, :note);"
    ) -> String {
        """
        -- readmodel things version 1: every thing
        CREATE TABLE thing (\(table)) \(options);
        CREATE VIRTUAL TABLE words USING fts5(note, content='');
        CREATE TRIGGER noted AFTER INSERT ON thing BEGIN
            INSERT INTO words (rowid, note) VALUES (new.rowid, new.note);
        END;
        \(definitions)
        -- on test.thing.made
        \(statement)
        """
    }

    private func problems(_ changes: [String: String] = [:]) throws -> [PackProblem] {
        let files = Self.files.merging(changes) { $1 }
        let pack = try Pack(
            files: files.map { PackFile(path: $0.key, bytes: Array($0.value.utf8)) }
        )
        return PackCheck.problems(of: pack)
    }

    @Test func aSoundPackHasNoProblems() throws {
        let found = try problems()
        #expect(found.isEmpty, "\(found)")
    }

    @Test func twoReadModelsWithOneTableAreToldWhy() throws {
        let found = try problems([
            "readmodel/more.sql": """
            -- readmodel more version 1: the same table
            CREATE TABLE other (day TEXT NOT NULL PRIMARY KEY) STRICT;
            -- on test.thing.made
            INSERT OR IGNORE INTO other VALUES (:day);
            """
        ])
        let message = "table other already exists; all read models of a pack are in one database"
        #expect(found.contains { $0.message.hasPrefix(message) }, "\(found)")
    }

    @Test(arguments: [
        ("id TEXT, day TEXT, count INT, note TEXT", "table-key"),
        (
            "id TEXT NOT NULL PRIMARY KEY, day TEXT COLLATE NOCASE, count INT, note TEXT",
            "sql-collate"
        ),
        (
            "id TEXT NOT NULL PRIMARY KEY, day TEXT, count INT DEFAULT (random()), note TEXT",
            "sql-default"
        ),
        ("id TEXT NOT NULL PRIMARY KEY, day TEXT, count WORD, note TEXT", "sql"),
        (
            "id TEXT NOT NULL PRIMARY KEY, day TEXT, count INT, note TEXT, "
                + "FOREIGN KEY (day) REFERENCES thing (id) ON DELETE CASCADE", "table-reference"
        ),
        (
            "id TEXT NOT NULL PRIMARY KEY, day TEXT, count INT, note TEXT REFERENCES thing (id) "
                + "DEFERRABLE INITIALLY DEFERRED", "table-reference"
        ),
        (
            "id TEXT NOT NULL PRIMARY KEY, day TEXT, twice INT AS (count * 2), count INT, "
                + "note TEXT", "table-generated"
        ),
        (
            "id INTEGER PRIMARY KEY AUTOINCREMENT, day TEXT, count INT, note TEXT",
            "sql-autoincrement"
        ),
    ])
    func otherTablesAreRefused(table: String, rule: String) throws {
        let found = try problems(["readmodel/things.sql": Self.model(table: table)])
        #expect(found.contains { $0.rule == rule }, "\(found)")
        #expect(
            found.allSatisfy {
                $0.file == "readmodel/things.sql" || $0.file == "queries/by-day.sql"
            }
        )
    }

    @Test(arguments: [
        "count INT, twice INT AS (count * 2)", "twice INT AS (count * 2) STORED, count INT",
    ])
    func columnsMayBeGenerated(columns: String) throws {
        let table = "id TEXT NOT NULL PRIMARY KEY, day TEXT, note TEXT, " + columns
        let names = "id, day, count, note"
        let statement = "INSERT INTO thing (\(names)) VALUES (:id, :day, :count, :note);"
        let model = Self.model(table: table, statement: statement)
        let found = try problems(["readmodel/things.sql": model])
        #expect(found.isEmpty, "\(found)")
    }

    /// A table may do without row ids, which keeps its rows in the order of its key.
    @Test func aTableMayHaveNoRowIDs() throws {
        let other = """
            -- readmodel other version 1: how many
            CREATE TABLE other (day TEXT NOT NULL PRIMARY KEY, count INT NOT NULL)
            STRICT, WITHOUT ROWID;
            -- on test.thing.made
            INSERT INTO other VALUES (:day, 1) ON CONFLICT (day) DO UPDATE SET count = count + 1;
            """
        let found = try problems(["readmodel/other.sql": other])
        #expect(found.isEmpty, "\(found)")
    }

    @Test(arguments: ["rtree", "rtree_i32"])
    func aTriggerFeedsAnIndexOfPlaces(module: String) throws {
        let definitions = """
            CREATE VIRTUAL TABLE box USING \(module)(id, low, high);
            CREATE TRIGGER placed AFTER INSERT ON thing BEGIN
                INSERT INTO box VALUES (new.rowid, new.count, new.count);
            END;
            """
        let found = try problems(["readmodel/things.sql": Self.model(definitions: definitions)])
        #expect(found.isEmpty, "\(found)")
    }

    @Test func aTableIsStrict() throws {
        let found = try problems(["readmodel/things.sql": Self.model(options: "")])
        #expect(found.contains { $0.rule == "table-strict" && $0.line == 2 }, "\(found)")
    }

    @Test(arguments: [
        (
            "CREATE TABLE log (id TEXT NOT NULL PRIMARY KEY) STRICT;\n"
                + "CREATE TRIGGER noted2 AFTER INSERT ON thing BEGIN "
                + "INSERT INTO log VALUES (new.id); END;",
            "sql-trigger"
        ),
        ("CREATE VIRTUAL TABLE v USING dbstat;", "sql-virtual"),
        ("CREATE TABLE other (id TEXT NOT NULL PRIMARY KEY) STRICT;", "sql"),
        ("CREATE INDEX by_hash ON thing (random());", "sql-function"),
        ("CREATE INDEX by_blob ON thing (zeroblob(2));", "sql-function"),
        ("CREATE TABLE copy AS SELECT 1;", "table-key"),
    ])
    func otherDefinitionsAreRefused(definitions: String, rule: String) throws {
        let found = try problems(["readmodel/things.sql": Self.model(definitions: definitions)])
        #expect(found.contains { $0.rule == rule }, "\(found)")
    }

    @Test(arguments: [
        ("UPDATE thing SET count = random();", "sql-function"),
        ("UPDATE thing SET day = date('now');", "sql-function"),
        ("UPDATE thing SET day = CURRENT_DATE;", "sql-function"),
        ("UPDATE thing SET count = (SELECT avg(count) FROM thing);", "sql-function"),
        ("UPDATE thing SET day = day_add(:day, 1);", "sql-needs"),
        ("UPDATE other SET count = 1;", "sql-table"),
        ("UPDATE thing SET count = (SELECT max(count) FROM other);", "sql-table"),
        ("UPDATE elsewhere SET count = 1;", "sql"),
        ("UPDATE thing SET cuont = 1;", "sql"),
        ("DELETE FROM thing WHERE rowid = 1;", "sql-rowid"),
        ("DELETE FROM thing WHERE id IN (SELECT id FROM thing LIMIT 1);", "sql-limit"),
        (
            "INSERT INTO thing SELECT i, '', 1, '' FROM (WITH RECURSIVE n(i) AS "
                + "(VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n);", "sql-recursive"
        ),
    ])
    func otherStatementsAreRefused(statement: String, rule: String) throws {
        let found = try problems(["readmodel/things.sql": Self.model(statement: statement)])
        #expect(found.map(\.rule) == [rule], "\(found)")
        #expect(found.first?.line == 9)
    }

    @Test(arguments: [
        ("SELECT :id AS id, :day AS day, :count AS cuont;", "unknown-field"),
        ("SELECT :id AS id, :count AS count;", "upcast-field"),
        ("SELECT :id AS id, :day AS day, :day AS day;", "upcast-field"),
        ("SELECT id, day FROM thing;", "upcast-statement"),
        ("SELECT :id AS id, date(:day) AS day;", "sql-function"),
    ])
    func otherUpcastsAreRefused(statement: String, rule: String) throws {
        let found = try problems(["events/thing.made.1-2.sql": "-- a\n\(statement)"])
        #expect(found.map(\.rule) == [rule], "\(found)")
        #expect(found.first?.line == 2)
    }

    @Test func aQueryMayAskFunctionsThatGiveTables() throws {
        let text = "-- query by-day(list TEXT): a\nSELECT value FROM json_each(:list);"
        let found = try problems(["queries/by-day.sql": text])
        #expect(found.isEmpty, "\(found)")
    }

    @Test(arguments: [
        ("DELETE FROM thing WHERE day = :day;", "sql-statement"),
        ("CREATE TABLE b AS SELECT :day AS day;", "sql-statement"),
        ("UPDATE sqlite_master SET sql = :day;", "sql"),
        ("SELECT * FROM nothing WHERE day = :day;", "sql"),
        ("SELECT load_extension(:day);", "sql-function"),
        ("ATTACH :day AS a;", "sql-attach"),
    ])
    func otherQueriesAreRefused(statement: String, rule: String) throws {
        let text = "-- query by-day(day TEXT): a\n\(statement)"
        let found = try problems(["queries/by-day.sql": text])
        #expect(found.map(\.rule) == [rule], "\(found)")
    }

    /// Where events are differs between devices, so only queries ask for it.
    @Test func onlyQueriesAskWhereEventsAre() throws {
        let query = """
            -- query places(): where each is
            SELECT id, event_state(id) AS state, i.payload FROM thing
            LEFT JOIN diario_inbox AS i ON i.subject = id;
            """
        #expect(try problems(["queries/places.sql": query]).isEmpty)
        for (statement, rule) in [
            ("INSERT INTO thing VALUES (:id, event_state(:id), :count, :note);", "sql-function"),
            (
                "INSERT INTO thing SELECT :id, max(payload), 1, NULL FROM diario_inbox;",
                "sql-table"
            ),
        ] {
            let found = try problems([
                "readmodel/things.sql": Self.model(statement: statement)
            ])
            #expect(found.map(\.rule) == [rule])
        }
    }

    @Test func neededFunctionsAreThere() throws {
        for needs in [#"{"moon_of":1}"#, #"{"day_of":2}"#] {
            let manifest = #"{"name":"test","version":1,"needs":\#(needs)}"#
            #expect(try problems(["pack.json": manifest]).map(\.rule) == ["needs"])
        }
    }

    /// Whatever a pack asks for, looking at it ends soon and takes little memory.
    @Test func aHostilePackIsRefused() throws {
        let deep = String(repeating: "(", count: 5000) + "1" + String(repeating: ")", count: 5000)
        let long = "'" + String(repeating: "a", count: 100_000) + "'"
        for expression in [deep, long] {
            let statement = "UPDATE thing SET count = \(expression);"
            #expect(
                try !problems(["readmodel/things.sql": Self.model(statement: statement)]).isEmpty
            )
        }
        let fill =
            "CREATE TABLE big AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) "
            + "SELECT i FROM n;"
        #expect(try !problems(["readmodel/things.sql": Self.model(definitions: fill)]).isEmpty)
    }

    /// A default that is none of its type would be one only where nobody gives a value.
    @Test(arguments: [
        ("n INTEGER = 5", true), ("n INTEGER = NULL", true), ("n INTEGER = 'a'", false),
        ("n INTEGER = 1.5", false), ("n REAL = 5", true), ("n REAL = -1.5", true),
        ("n TEXT = 'a'", true), ("n TEXT = 5", false), ("n DATE = '2026-05-04'", true),
        ("n DATE = 'today'", false), ("n BOOLEAN = 1", true), ("n BOOLEAN = 2", false),
        ("n BOOLEAN = true", true), ("n BOOLEAN = FALSE", true), ("n TEXT = true", false),
        ("n BLOB = NULL", true), ("n BLOB = 'ab'", false),
        ("n BLOB = x'00'", true), ("n TEXT = x'00'", false),
    ])
    func aDefaultIsOneOfItsType(parameter: String, isRight: Bool) throws {
        let text = "-- query by-day(\(parameter)): a\nSELECT id FROM thing WHERE count = :n;"
        let problems = try PackSample.problems(["queries/by-day.sql": text])
        #expect(problems.map(\.rule) == (isRight ? [] : ["query-parameter"]), "\(problems)")
    }

    @Test func bytesAreGivenInHexadecimal() {
        let cases: [(String, [UInt8]?)] = [
            ("00ff", [0, 255]), ("x'00ff'", [0, 255]), ("X'FF'", [255]), ("", []), ("x''", []),
            ("x'", nil), ("x'0'", nil), ("0", nil), ("zz", nil), ("'00'", nil),
        ]
        for (text, bytes) in cases {
            #expect(PackQuery.Kind.blob.value(text) == bytes.map { .blob($0) }, "\(text)")
        }
    }

    @Test func columnsOfAnAnswerHaveNamesOfTheirOwn() throws {
        let text = "-- query by-day(): a\nSELECT id, day AS id FROM thing;"
        let problems = try PackSample.problems(["queries/by-day.sql": text])
        #expect(problems.map(\.rule) == ["query-column"])
        #expect(problems.map(\.line) == [2])
        // One that a space uses since before this was asked of it goes on.
        let pack = try PackSample.pack(["queries/by-day.sql": text])
        #expect(PackCheck.problems(of: pack, inUse: true) == [])
    }
}
