import DiarioProjection
import DiarioSchema
import Testing

/// Effects of pending events are taken back; what indexes rows has to follow.
@Suite struct UndoCheckTests {
    private static let examples = """
        {"type":"test.thing.made","payload":{"id":"a","day":"2026-01-01","note":"a red thing"}}
        {"type":"test.thing.made","payload":{"id":"b","day":"2026-01-02","note":"a blue one"}}
        {"type":"test.thing.made","payload":{"id":"a","day":"2026-01-03","note":"now green"}}
        """

    private static let statement = """
        INSERT INTO item (id, note, x) VALUES (:id, :note, length(:note))
        ON CONFLICT (id) DO UPDATE SET note = excluded.note, x = excluded.x;
        """

    private static let inserted = """
        CREATE TRIGGER i AFTER INSERT ON item BEGIN
        INSERT INTO found (rowid, note) VALUES (new.rowid, new.note);
        INSERT INTO place (id, low, high) VALUES (new.rowid, new.x, new.x);
        END;
        """
    private static let deleted = """
        CREATE TRIGGER d AFTER DELETE ON item BEGIN
        INSERT INTO found (found, rowid, note) VALUES ('delete', old.rowid, old.note);
        DELETE FROM place WHERE id = old.rowid;
        END;
        """
    private static let updated = """
        CREATE TRIGGER u AFTER UPDATE ON item BEGIN
        INSERT INTO found (found, rowid, note) VALUES ('delete', old.rowid, old.note);
        INSERT INTO found (rowid, note) VALUES (new.rowid, new.note);
        DELETE FROM place WHERE id = old.rowid;
        INSERT INTO place (id, low, high) VALUES (new.rowid, new.x, new.x);
        END;
        """

    private func problems(
        _ triggers: [String],
        examples: String = UndoCheckTests.examples
    ) throws -> [PackProblem] {
        let model = """
            -- readmodel things version 1: things that can be looked for
            CREATE TABLE item (id TEXT NOT NULL PRIMARY KEY, note TEXT, \
            x INT) STRICT;
            CREATE VIRTUAL TABLE found USING fts5(note, content='item');
            CREATE VIRTUAL TABLE place USING rtree_i32(id, low, high);
            \(triggers.joined(separator: "\n"))
            -- on test.thing.made
            \(Self.statement)
            """
        let pack = try PackSample.pack([
            "readmodel/things.sql": model, "examples/things.jsonl": examples,
        ])
        #expect(PackCheck.problems(of: pack) == [])
        return ExampleCheck.problems(of: pack)
    }

    @Test func indexesThatFollowAreTaken() throws {
        #expect(try problems([Self.inserted, Self.updated, Self.deleted]) == [])
    }

    @Test func indexesThatDoNotFollowADeleteAreTold() throws {
        let found = try problems([Self.inserted, Self.updated])
        #expect(found.map(\.rule) == found.map { _ in "example-undo" })
        #expect(found.first?.line == 1)
        #expect(found.contains { $0.message.contains("index place") })
    }

    /// After an example without a text, the index was no more that of its table, and what later
    /// ones did to it was not seen.
    @Test func anExampleWithoutATextHidesNothing() throws {
        let first = #"{"type":"test.thing.made","payload":{"id":"z","day":"2026-01-01"}}"#
        let texts = Self.inserted.replacing(/INSERT INTO place.*/, with: "")
        let found = try problems([texts, Self.updated], examples: first + "\n" + Self.examples)
        #expect(found.contains { $0.message.contains("index found") }, "\(found)")
    }

    @Test func indexesThatDoNotFollowAnUpdateAreTold() throws {
        let found = try problems([Self.inserted, Self.deleted])
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { $0.rule == "example-undo" }, "\(found)")
        #expect(found.first?.line == 3, "\(found)")
    }
}
