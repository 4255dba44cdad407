import DiarioCore
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import Testing

/// Whatever functions the library has, packs may call those of the list alone.
@Suite struct AllowListTests {
    /// A call of a function with as many arguments as it takes.
    private static func calls() throws -> [String] {
        let connection = try Connection(path: ":memory:", .create)
        var calls: Set<String> = []
        for row in try connection.rows("SELECT name, narg FROM pragma_function_list") {
            guard case .text(let name) = row[0], case .integer(let count) = row[1],
                !AllowList.functions.contains(name)
            else { continue }
            for count in count < 0 ? 0...3 : Int(count)...Int(count) {
                let arguments = (0..<count).map { _ in "count" }.joined(separator: ", ")
                calls.insert("\"\(name)\"(\(arguments))")
            }
        }
        return calls.sorted()
    }

    private static let operators = [
        "day LIKE 'a'", "day NOT LIKE 'a' ESCAPE 'b'", "day MATCH 'a'", "day REGEXP 'a'",
        "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "count(*) OVER ()",
        "if(count, 1, 2)", "iif(count, 1)", "string_agg(day, '')", "nowhere(count)",
        "load_extension(day)", "count(DISTINCT round(count))",
    ]

    private static func all() throws -> [String] { try calls() + operators }

    @Test func thereAreMany() throws {
        #expect(try Self.calls().count > 80)
    }

    @Test func statementsAreRefused() throws {
        for call in try Self.all() {
            for statement in [
                "UPDATE thing SET count = \(call);",
                "UPDATE thing SET count = (SELECT \(call) FROM thing);",
                "DELETE FROM thing WHERE \(call);",
                "INSERT INTO thing (id, day) SELECT id, day FROM thing GROUP BY \(call);",
                "INSERT INTO thing (id, day) VALUES (:id, :day) ON CONFLICT (id) DO UPDATE "
                    + "SET count = 1 WHERE \(call);",
            ] {
                let found = try PackSample.problems(statement: statement)
                #expect(!found.isEmpty, "\(statement)")
                #expect(
                    found.allSatisfy { $0.file == "readmodel/things.sql" && $0.line == 8 },
                    "\(statement): \(found)"
                )
            }
        }
    }

    @Test func definitionsAreRefused() throws {
        for call in try Self.all() {
            for definition in [
                "CREATE INDEX i ON thing (\(call));",
                "CREATE INDEX i ON thing (day) WHERE \(call);",
                "CREATE TABLE a (day TEXT NOT NULL PRIMARY KEY, count INT CHECK (\(call))) STRICT;",
                "CREATE TABLE a (day TEXT NOT NULL PRIMARY KEY, count INT, b ANY AS "
                    + "(\(call))) STRICT;",
                "CREATE TABLE a (day TEXT NOT NULL PRIMARY KEY, count INT DEFAULT (\(call))) "
                    + "STRICT;",
                "CREATE TRIGGER t AFTER INSERT ON thing WHEN \(call.ofNew) BEGIN "
                    + "INSERT INTO words (note) VALUES (new.note); END;",
                "CREATE TRIGGER t AFTER INSERT ON thing BEGIN "
                    + "INSERT INTO words (note) VALUES (\(call.ofNew)); END;",
            ] {
                let found = try PackSample.problems(definitions: definition)
                #expect(!found.isEmpty, "\(definition)")
                #expect(found.allSatisfy { $0.file == "readmodel/things.sql" }, "\(definition)")
                #expect(found.contains { $0.line == 6 || $0.line == 2 }, "\(definition): \(found)")
            }
        }
    }

    @Test func upcastsAreRefused() throws {
        for call in try Self.all() {
            let text = call.replacing("count", with: ":count").replacing("day", with: ":day")
            let found = try PackSample.problems([
                "events/thing.made.2.json": PackSample.schema(
                    #""count":{"type":"integer"}"#,
                    version: 2
                ),
                "events/thing.made.1-2.sql":
                    "-- a\nSELECT :id AS id, :day AS day, \(text) AS count;",
            ])
            #expect(
                found.contains { $0.file == "events/thing.made.1-2.sql" && $0.line == 2 },
                "\(text): \(found)"
            )
        }
    }
}

extension String {
    /// The call with the columns of the row that a trigger sees.
    fileprivate var ofNew: String {
        replacing("count)", with: "new.count)").replacing("count,", with: "new.count,")
            .replacing("day", with: "new.day")
    }
}
