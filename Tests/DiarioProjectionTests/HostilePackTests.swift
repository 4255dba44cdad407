import DiarioCore
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioTestSupport
import Testing

/// A pack comes from others: what it asks for is refused, or stopped, and harms nothing else.
@Suite struct HostilePackTests {
    @Test(arguments: [
        "ATTACH 'other.sqlite' AS other;", "DETACH main;", "PRAGMA user_version = 1;", "VACUUM;",
        "SELECT load_extension('x');", "CREATE TEMP VIEW v AS SELECT 1;", "DROP TABLE thing;",
        "ALTER TABLE thing ADD COLUMN x INT;", "REINDEX;", "ANALYZE;", "BEGIN;", "COMMIT;",
        "ROLLBACK;", "SAVEPOINT a;", "RELEASE a;", "EXPLAIN SELECT 1;",
        "CREATE TEMP TABLE t (a TEXT PRIMARY KEY);",
        "CREATE TEMP TRIGGER t AFTER INSERT ON thing "
            + "BEGIN INSERT INTO words (note) VALUES (''); END;",
        "CREATE VIRTUAL TABLE v USING dbstat;", "CREATE VIRTUAL TABLE v USING fts4(a);",
        "CREATE VIRTUAL TABLE temp.v USING fts5(a);",
        "CREATE VIRTUAL TABLE v USING fts5vocab(words, row);",
    ])
    func itsStatementsAreRefusedEverywhere(statement: String) throws {
        #expect(!isTaken(["readmodel/things.sql": PackSample.model(definitions: statement)]))
        #expect(!isTaken(["readmodel/things.sql": PackSample.model(statement: statement)]))
        let isQuestion = statement.hasPrefix("EXPLAIN")
        let query = "-- query q(): a\n\(statement)"
        if !isQuestion { #expect(!isTaken(["queries/q.sql": query])) }
        #expect(
            !isTaken([
                "events/thing.made.2.json": PackSample.schema(
                    #""count":{"type":"integer"}"#,
                    version: 2
                ),
                "events/thing.made.1-2.sql": statement,
            ])
        )
    }

    private func isTaken(_ files: [String: String]) -> Bool {
        (try? PackSample.problems(files))?.isEmpty ?? false
    }

    /// Each view reads the one before it twice: the last one would take years.
    @Test func viewsThatGrowAreToldSoon() async {
        await #expect(processExitsWith: .success) {
            Connection.countMemoryByThread()
            for column in ["a.id", "max(a.id) AS id"] {
                let views = (1...40).map {
                    "CREATE VIEW v\($0) AS SELECT \(column) FROM v\($0 - 1) AS a, v\($0 - 1) AS b;"
                }
                let all = "CREATE VIEW v0 AS SELECT id FROM thing;" + views.joined()
                let problems = try PackSample.problems(definitions: all)
                precondition(problems.count > 20, "\(problems)")
                precondition(problems.allSatisfy { $0.line == 6 }, "\(problems)")
            }
        }
    }

    @Test(arguments: [
        "UPDATE diario_state SET value = '2';", "DELETE FROM diario_model;",
        "INSERT INTO diario_quarantine SELECT * FROM diario_quarantine;",
        "DELETE FROM sqlite_master;", "UPDATE sqlite_schema SET sql = '';",
        "INSERT INTO words_data VALUES (1, x'00');", "DELETE FROM words_config;",
    ])
    func whatTheEngineKeepsIsOutOfReach(statement: String) throws {
        #expect(!isTaken(["readmodel/things.sql": PackSample.model(statement: statement)]))
    }

    @Test(arguments: [
        "\"a\0b\"", "\"sqlite_x\"", "diario_model", "DIARIO_x", "\"\"", "\" \"", "'a''b'", "[a]]",
        "\"a\nb\"", "citt\u{e0}",
    ])
    func namesAreTheEnginesOrPlain(name: String) throws {
        for definition in [
            "CREATE TABLE \(name) (a TEXT NOT NULL PRIMARY KEY) STRICT;",
            "CREATE TABLE t (a TEXT NOT NULL PRIMARY KEY, \(name) INT) STRICT;",
            "CREATE INDEX \(name) ON thing (day);",
            "CREATE VIRTUAL TABLE \(name) USING fts5(a);",
        ] {
            let isColumn = definition.hasPrefix("CREATE TABLE t")
            // SQLite keeps its prefix to itself for tables alone.
            guard !isColumn || !name.contains("sqlite") else { continue }
            #expect(!isTaken(["readmodel/things.sql": PackSample.model(definitions: definition)]))
        }
    }

    /// Looking at a pack ends soon and takes little memory, whatever is in it.
    @Test func lookingAtItEndsSoon() throws {
        // This one may be taken: it takes long only when it runs, and is ended then.
        let join = (0..<60).map { "(SELECT 1 AS a UNION SELECT 2) AS t\($0)" }
        _ = isTaken([
            "readmodel/things.sql": PackSample.model(
                statement: "UPDATE thing SET count = (SELECT 1 FROM "
                    + join.joined(separator: ", ") + ");"
            )
        ])
        var lists = [
            String(repeating: "(SELECT max(", count: 40) + "1"
                + String(repeating: ") FROM thing)", count: 40),
            String(repeating: "-", count: 3000) + "1", String(repeating: "NOT ", count: 3000) + "1",
            String(repeating: "(", count: 20_000) + "1" + String(repeating: ")", count: 20_000),
            (0..<3000).map { "\($0)" }.joined(separator: " + "),
            "CASE " + String(repeating: "WHEN 1 THEN ", count: 2000) + "1 END",
        ]
        lists.append("1 IN (" + (0..<9000).map { "\($0)" }.joined(separator: ",") + ", random())")
        for expression in lists {
            #expect(
                !isTaken([
                    "readmodel/things.sql": PackSample.model(
                        statement: "UPDATE thing SET count = (\(expression));"
                    )
                ])
            )
            #expect(
                !isTaken([
                    "readmodel/things.sql": PackSample.model(
                        definitions: "CREATE TABLE big AS \(expression);"
                    )
                ])
            )
        }
        let many = (0..<2500).map { "CREATE INDEX i\($0) ON thing (day);" }.joined(separator: "\n")
        let found = try PackSample.problems(definitions: many)
        #expect(found.map(\.rule) == ["limit"])
        let wide = (0..<600).map { ", c\($0) INT" }.joined()
        #expect(try !PackSample.problems(columns: wide).isEmpty)
    }

    /// What only an event shows sets that event aside; others go on, and so do other read models.
    @Test(arguments: [
        // A value that grows beyond all bounds.
        "INSERT INTO thing (id, day) VALUES (:id, replace(replace(replace(:id, 'a', "
            + "hex(hex(:id))), '6', hex(hex(:id))), '3', hex(hex(:id))));",
        // A number that does not fit.
        "INSERT INTO thing (id, day, count) VALUES (:id, :day, 9223372036854775807 + length(:id));",
        // More rows than there is time for.
        "INSERT INTO pair (left, right) SELECT :id, a.column1 || b.column1 || c.column1 || "
            + "d.column1 || e.column1 || f.column1 || g.column1 || h.column1 FROM "
            + ["a", "b", "c", "d", "e", "f", "g", "h"].map {
                "(VALUES ('0'), ('1'), ('2'), ('3'), ('4'), ('5'), ('6'), ('7')) AS \($0)"
            }.joined(separator: ", ") + " WHERE length(:id) > 20;",
    ])
    func anEventThatAsksForTooMuchIsSetAside(statement: String) throws {
        let other = """
            -- readmodel other version 1: how many
            CREATE TABLE other (id TEXT NOT NULL PRIMARY KEY) STRICT;
            -- on test.thing.made
            INSERT INTO other VALUES (:id);
            """
        let pack = try PackSample.pack([
            "readmodel/things.sql": PackSample.model(statement: statement),
            "readmodel/other.sql": other,
        ])
        #expect(PackCheck.problems(of: pack) == [])
        let run = try ModelRun(pack)
        let long = String(repeating: "a", count: 40)
        try run.apply(#"{"id":"\#(long)","day":"2026-01-01"}"#)
        #expect(try run.quarantined().count == 1)
        try run.apply(#"{"id":"b","day":"2026-01-01"}"#)
        #expect(try run.file.digest(of: "other").rows == 2)
        #expect(try run.file.digest(of: "things").rows <= 1)
    }

    private static let digits = ["a", "b", "c"].map { name in
        "(VALUES (0), (1), (2), (3), (4), (5), (6)) AS \(name)"
    }.joined(separator: ", ")

    private static func event(_ count: Int, note size: Int = 0) -> String {
        let note = String(repeating: "a", count: size)
        return #"{"id":"e\#(count)","day":"2026-01-01","count":\#(count),"note":"\#(note)"}"#
    }

    /// What rows were before is kept in memory, so one pending event may not change too many.
    @Test func aPendingEventThatChangesTooMuchIsSetAside() throws {
        let pack = try PackSample.pack([
            "readmodel/things.sql": PackSample.model(
                statement: """
                    INSERT INTO pair (left, right, any)
                    SELECT :id, a.column1 || b.column1 || c.column1, hex(hex(:note))
                    FROM \(Self.digits) WHERE :count = 1;
                    UPDATE pair SET count = 2 WHERE :count = 2;
                    UPDATE pair SET count = 3 WHERE :count = 3 AND left = 'e1' AND right = '000';
                    """
            )
        ])
        #expect(PackCheck.problems(of: pack) == [])
        let run = try ModelRun(pack)
        try run.apply(Self.event(1, note: 25_000))
        let digest = try run.file.digest(of: "things")
        #expect(digest.rows == 343)
        try run.applyPending(Self.event(2))
        #expect(try run.quarantined() == ["things limit"])
        #expect(try run.file.digest(of: "things") == digest)
        try run.applyPending(Self.event(3))
        #expect(try run.file.digest(of: "things") != digest)
        try run.undo()
        #expect(try run.file.digest(of: "things") == digest)
    }

    /// A row as large as one may be is a little larger as an image of itself.
    @Test func theLargestRowIsTakenBack() throws {
        let pack = try PackSample.pack([
            "readmodel/things.sql": PackSample.model(
                statement: """
                    INSERT INTO pair (left, right, any) VALUES ('a', 'b', hex(hex(hex(hex(:note)))))
                    ON CONFLICT (left, right) DO UPDATE SET count = :count;
                    """
            )
        ])
        #expect(PackCheck.problems(of: pack) == [])
        let run = try ModelRun(pack)
        try run.apply(Self.event(1, note: Limits.sqlValueSizeMax / 16 - 3))
        #expect(try run.quarantined() == [])
        let digest = try run.file.digest(of: "things")
        #expect(digest.rows == 1)
        try run.applyPending(Self.event(2))
        #expect(try run.file.digest(of: "things") != digest)
        try run.undo()
        #expect(try run.file.digest(of: "things") == digest)
    }

    /// A query may use all functions, and some of them gather what they are given.
    @Test func aQueryThatGathersTooMuchIsEnded() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/test.sqlite"
        let space = try #require(SpaceID(rawValue: 1))
        let pack = try PackSample.pack()
        _ = try ModelFile(path: path, plan: PackPlan(pack), space: space, .building)
        let reader = try ModelReader(
            ModelReader.Source(pack: "test", path: path, isImmutable: false)
        )
        let text = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000),
                t AS MATERIALIZED (SELECT hex(zeroblob(500000)) AS z)
            SELECT length(json_group_array(z)) FROM n, t
            """
        let answer = try reader.answer(text)
        let error = #expect(throws: ProjectionError.self) { _ = try answer.next() }
        guard case .query(let fault) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(fault.kind == .limit && fault.message.contains("memory"))
        // The next one begins with all that it may take.
        #expect(try reader.answer("SELECT 1").next() == [.integer(1)])
    }
}
