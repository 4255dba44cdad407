import DiarioProjection
import DiarioSchema
import Testing

@Suite struct UpcastTests {
    private static let fields = #"""
        "grams":{"type":"integer","minimum":1,"maximum":500},"kind":{"enum":["a","b"]},
        "key":{"type":"string","format":"uuid"},"at":{"type":"string","format":"date-time"},
        "share":{"type":"number","maximum":1},"yes":{"type":"boolean"},
        "short":{"type":"string","maxLength":3,"pattern":"^[a-z]*$"},
        "data":{"type":"string","contentEncoding":"base64","maxLength":8}
        """#

    private static func files(
        _ columns: String,
        examples: String = #"{"type":"test.thing.made","version":1,"payload":"#
            + #"{"id":"x","day":"2026-01-01","count":7}}"#
    ) -> [String: String] {
        [
            "events/thing.made.2.json": PackSample.schema(fields, version: 2),
            "events/thing.made.1-2.sql": "SELECT :id AS id, :day AS day, \(columns);",
            "readmodel/things.sql": """
            -- readmodel things version 1: every thing
            CREATE TABLE thing (id TEXT NOT NULL PRIMARY KEY, grams INT, kind TEXT, key TEXT, \
            at INT, share REAL, yes INT, short TEXT, data BLOB, marks TEXT) STRICT;
            -- on test.thing.made
            INSERT INTO thing VALUES
                (:id, :grams, :kind, :key, :at, :share, :yes, :short, :data, :marks);
            """,
            "examples/a.jsonl": examples,
        ]
    }

    @Test(arguments: [
        ":count * 100 AS grams", "'c' AS kind", "'a-b' AS key", "1e20 AS at",
        "253402300800000 AS at", "1.5 AS share", "2 AS yes", "'long' AS short", "'A' AS short",
        "x'00112233445566778899' AS data", "'{}' AS marks", "'[1] ,2' AS marks",
        "'[1],\"day\":\"\"' AS marks", "'[1.5]' AS marks",
        "nullif(:day, :day) AS short, '' AS kind", "'x' AS yes", "x'00' AS short",
        ":count AS grams WHERE :count > 9", ":count AS grams UNION ALL SELECT 'a', 'b', 1",
    ])
    func aValueThatTheNewerSchemaDoesNotTakeSetsTheEventAside(column: String) throws {
        let pack = try PackSample.pack(Self.files(column))
        let found = PackCheck.problems(of: pack)
        guard found.isEmpty else {
            #expect(found.allSatisfy { $0.file == "events/thing.made.1-2.sql" && $0.line == 1 })
            return
        }
        let problems = ExampleCheck.problems(of: pack)
        #expect(problems.contains { $0.rule == "upcast-example" && $0.line == 1 }, "\(problems)")
        let run = try ModelRun(pack)
        try run.apply(#"{"id":"x","day":"2026-01-01","count":7}"#)
        #expect(try run.quarantined() == ["things upcast"])
        // Others go on.
        try run.apply(#"{"id":"y","day":"2026-01-01","grams":7}"#, version: 2)
        #expect(try run.file.digest(of: "things").rows == 1)
    }

    /// Its events would all be set aside.
    @Test func aVersionWithoutAnUpcastIsTold() throws {
        var files = Self.files("1 AS grams")
        #expect(try ExampleCheck.problems(of: PackSample.pack(files)) == [])
        files["events/thing.made.1-2.sql"] = nil
        files["examples/a.jsonl"] = ""
        let problems = try ExampleCheck.problems(of: PackSample.pack(files))
        #expect(problems.map(\.rule) == ["upcast-missing"])
        #expect(problems.first?.file == "events/thing.made.1.json")
        #expect(problems.first?.line == 1)
        #expect(problems.first?.message.contains("events/thing.made.1-2.sql") == true)
    }

    @Test(arguments: [
        "nothing(:count) AS grams", "count(*) OVER () AS grams", ":count AS grams LIMIT 1",
        "(SELECT count(*) FROM thing) AS grams", "random() AS grams", ":count AS nothing",
    ])
    func anUpcastIsRefused(column: String) throws {
        let found = try PackSample.problems(Self.files(column))
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { $0.file == "events/thing.made.1-2.sql" && $0.line == 1 })
    }

    /// The values are those that an event of the newer version would have.
    @Test func aGoodUpcastGivesWhatTheNewerVersionWouldHold() throws {
        let columns = """
            :count AS grams, iif(:count > 5, 'b', 'a') AS kind, 1 AS share,
            '0F0E0D0C-0B0A-0908-0706-050403020100' AS key, 0 AS at, 1 AS yes, '' AS short,
            x'00' AS data, '[ 1, 2 ]' AS marks
            """
        let pack = try PackSample.pack(Self.files(columns))
        #expect(PackCheck.problems(of: pack) == [])
        #expect(ExampleCheck.problems(of: pack) == [])
        let (old, new) = (try ModelRun(pack), try ModelRun(pack))
        try old.apply(#"{"id":"x","day":"2026-01-01","count":7}"#)
        let same = #"""
            {"id":"x","day":"2026-01-01","grams":7,"kind":"b","share":1,
             "key":"0f0e0d0c-0b0a-0908-0706-050403020100","at":"1970-01-01T00:00:00Z","yes":true,
             "short":"","data":"AA==","marks":[1,2]}
            """#
        try new.apply(same, version: 2)
        #expect(try old.quarantined() == [])
        #expect(try old.file.digest(of: "things") == new.file.digest(of: "things"))
    }
}
