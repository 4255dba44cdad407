import DiarioCrypto
import DiarioFormat
import DiarioSchema

/// The pack that the spaces of sync worlds use, in the versions in which it is adopted one after
/// the other.
enum SyncPacks {
    static let versionMax = 3

    /// The longest text of a note; longer ones are refused.
    static let textLengthMax = 60

    private static let note = schema(
        "note.made",
        version: 1,
        required: ["token", "text"],
        """
        "token": { "type": "integer" },
        "text": { "type": "string", "maxLength": \(textLengthMax) },
        "secret": { "type": "string", "minLength": 1, "x-diario-personal": true }
        """
    )
    private static let newNote = schema(
        "note.made",
        version: 2,
        required: ["token", "text", "mood"],
        """
        "token": { "type": "integer" },
        "text": { "type": "string", "maxLength": \(textLengthMax) },
        "mood": { "type": "integer", "minimum": 0, "maximum": 9 },
        "secret": { "type": "string", "minLength": 1, "x-diario-personal": true }
        """
    )
    private static let thing = schema(
        "thing.made",
        version: 1,
        subject: "thingId",
        required: ["token", "text"],
        """
        "thingId": { "type": "string", "minLength": 1, "maxLength": 64, "x-diario-id": "new" },
        "token": { "type": "integer" },
        "text": { "type": "string", "maxLength": \(textLengthMax) }
        """
    )
    private static let name = schema(
        "thing.named",
        version: 1,
        subject: "thingId",
        required: ["thingId", "token", "text"],
        """
        "thingId": { "type": "string", "minLength": 1, "maxLength": 64, "x-diario-id": "thing" },
        "token": { "type": "integer" },
        "text": { "type": "string", "maxLength": \(textLengthMax) }
        """
    )
    private static let mark = schema(
        "mark.set",
        version: 1,
        required: ["token"],
        """
        "token": { "type": "integer" }
        """
    )
    private static let spot = schema(
        "spot.seen",
        version: 1,
        subject: "spotId",
        required: ["spotId", "token"],
        """
        "spotId": { "type": "string", "minLength": 1, "maxLength": 64, "x-diario-id": "spot" },
        "token": { "type": "integer" }
        """
    )
    /// In no pack.
    private static let stray = schema(
        "stray.seen",
        version: 1,
        required: ["token"],
        """
        "token": { "type": "integer" }
        """
    )
    /// Another schema than the one that the space uses under the same name and version.
    private static let otherNote = schema(
        "note.made",
        version: 1,
        required: ["token", "text"],
        """
        "token": { "type": "integer" },
        "text": { "type": "string", "maxLength": 999 }
        """
    )

    private static func schema(
        _ name: String,
        version: Int,
        subject: String? = nil,
        required: [String],
        _ fields: String
    ) -> String {
        let names = required.map { "\"\($0)\"" }.joined(separator: ", ")
        let subject = subject.map { "\"x-diario-subject\": \"\($0)\"," } ?? ""
        return """
            { "title": "world.\(name)", "x-diario-version": \(version), "type": "object",
              "additionalProperties": false, \(subject) "required": [\(names)],
              "properties": { \(fields) } }
            """
    }

    private static func notes(version: Int, mood: String) -> String {
        """
        -- readmodel notes version \(version): notes where they stand, and sums for each actor
        CREATE TABLE note (
            token INTEGER PRIMARY KEY, text TEXT NOT NULL, secret TEXT, place INT, mood INT
        ) STRICT;
        CREATE TABLE tally (
            actor TEXT NOT NULL PRIMARY KEY, count INT NOT NULL, size INT NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- on world.note.made
        INSERT INTO note VALUES (:token, :text, :secret, :_position, \(mood));
        INSERT INTO tally VALUES (coalesce(:_actor, ''), 1, length(:text))
        ON CONFLICT (actor) DO UPDATE
        SET count = count + 1, size = size + excluded.size;
        """
    }

    /// Of some notes the second statement fails, and then there is nothing of the first.
    private static let halves = """
        -- readmodel halves version 1: notes twice, but for those that cannot be taken
        CREATE TABLE first (token INTEGER PRIMARY KEY) STRICT;
        CREATE TABLE second (token INTEGER PRIMARY KEY, CHECK (token % 5 <> 3)) STRICT;

        -- on world.note.made
        INSERT INTO first VALUES (:token);
        INSERT INTO second VALUES (:token);
        """

    private static let things = """
        -- readmodel things version 1: things, and who named them last
        CREATE TABLE thing (
            thingId TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, count INT NOT NULL,
            stamp BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX thing_name ON thing (name);
        CREATE TABLE label (thingId TEXT NOT NULL PRIMARY KEY, text TEXT) STRICT;
        CREATE VIRTUAL TABLE label_text USING fts5(text, content='label');
        CREATE TRIGGER label_added AFTER INSERT ON label BEGIN
            INSERT INTO label_text (rowid, text) VALUES (new.rowid, new.text);
        END;
        CREATE TRIGGER label_removed AFTER DELETE ON label BEGIN
            INSERT INTO label_text (label_text, rowid, text)
            VALUES ('delete', old.rowid, old.text);
        END;
        CREATE TRIGGER label_changed AFTER UPDATE ON label BEGIN
            INSERT INTO label_text (label_text, rowid, text)
            VALUES ('delete', old.rowid, old.text);
            INSERT INTO label_text (rowid, text) VALUES (new.rowid, new.text);
        END;

        -- on world.thing.made
        INSERT INTO thing VALUES (:thingId, :text, 0, :_stamp)
        ON CONFLICT (thingId) DO NOTHING;

        -- on world.thing.named
        UPDATE thing SET count = count + 1 WHERE thingId = :thingId;
        UPDATE thing SET name = :text, stamp = :_stamp
        WHERE thingId = :thingId AND :_stamp > stamp;

        -- on world.thing.made, world.thing.named
        -- derived
        INSERT INTO label SELECT thingId, name FROM thing WHERE thingId = :thingId
        ON CONFLICT (thingId) DO UPDATE SET text = excluded.text;
        """

    private static let marks = """
        -- readmodel marks version 1: marks in the order in which they stand
        CREATE TABLE mark (
            token INTEGER PRIMARY KEY, subject TEXT, isPending INT NOT NULL
        ) STRICT;

        -- on world.mark.set
        INSERT INTO mark VALUES (:token, :_subject, :_position IS NULL);
        """

    /// Who may record what, as `Makers` says once more: in version 1 nobody is asked.
    private static func rules(version: Int) -> String {
        switch version {
        case 1: ""
        case 2: #", "who": { "world.thing.named": { "author": true } }"#
        default:
            """
            , "roles": { "keeper": "Keeps things and sets marks.", "guest": "Looks on." },
              "who": { "world.thing.named": { "author": true, "roles": ["keeper"] },
                       "world.spot.seen": { "author": true },
                       "world.mark.set": { "roles": ["keeper"] } }
            """
        }
    }

    /// The files of a version; each has all that is in those before it.
    static func files(version: Int) -> [PackFile] {
        var texts = [
            "pack.json":
                "{ \"name\": \"world\", \"version\": \(version)\(rules(version: version)) }",
            "events/note.made.1.json": note,
            "events/thing.made.1.json": thing,
            "events/thing.named.1.json": name,
            "readmodel/halves.sql": halves,
            "readmodel/notes.sql": notes(version: 1, mood: "NULL"),
            "readmodel/things.sql": things,
        ]
        if version > 1 {
            texts["events/note.made.2.json"] = newNote
            texts["events/note.made.1-2.sql"] =
                "SELECT :token AS token, :text AS text, :secret AS secret, 5 AS mood;"
            texts["readmodel/notes.sql"] = notes(version: 2, mood: ":mood")
        }
        if version > 2 {
            texts["events/mark.set.1.json"] = mark
            texts["events/spot.seen.1.json"] = spot
            texts["readmodel/marks.sql"] = marks
        }
        return texts.sorted { $0.key < $1.key }.map { path, text in
            PackFile(path: path, bytes: Array(text.utf8))
        }
    }

    static func pack(version: Int) -> Pack {
        do throws(PackError) { return try Pack(files: files(version: version)) } catch {
            preconditionFailure("a pack of the simulator is wrong: \(error.problems)")
        }
    }

    /// Types that no version has.
    static let strangers = (
        stray: EventType(simulated: stray), other: EventType(simulated: otherNote)
    )
}
