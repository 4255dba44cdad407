import DiarioSchema

/// A small pack that needs all that read models have: keys that are swapped, references, counters,
/// an index of texts, one of places, and what depends on a position.
enum TasksPack {
    /// The same with another read model, in which each task has another place.
    static func makeShifted() throws -> Pack {
        try make(
            model: model.replacing(
                "VALUES (:place, :id, :list, :place, :title);",
                with: "VALUES (:place, :id, :list, :place + 100, :title);"
            )
        )
    }

    /// The payload of a task that is added.
    static func added(_ id: Int, _ place: Int, _ title: String = "a title") -> String {
        #"{"id":"t\#(id)","title":"\#(title)","list":"l\#(id % 3)","place":\#(place)}"#
    }

    /// An event of a type of this pack, as a line.
    static func line(_ type: String, _ payload: String) -> String {
        #"{"type":"tasks.task.\#(type)","payload":\#(payload)}"#
    }

    static func make(
        model: String = TasksPack.model,
        extra: [String: String] = [:]
    ) throws -> Pack {
        var files = [
            "pack.json": #"{"name":"tasks","version":1,"needs":{"day_of":1}}"#,
            "events/task.added.1.json": schema(
                "task.added",
                #""id":{"type":"string","maxLength":40},"title":{"type":"string","maxLength":40},"#
                    + #""list":{"type":"string","maxLength":9},"#
                    + #""place":{"type":"integer","minimum":0,"maximum":99}"#,
                required: ["id", "title", "list", "place"]
            ),
            "events/task.renamed.1.json": schema(
                "task.renamed",
                #""id":{"type":"string","maxLength":40},"title":{"type":"string","maxLength":40}"#,
                required: ["id", "title"]
            ),
            "events/task.swapped.1.json": schema(
                "task.swapped",
                #""id":{"type":"string","maxLength":40},"other":{"type":"string","maxLength":40}"#,
                required: ["id", "other"]
            ),
            "events/task.removed.1.json": schema(
                "task.removed",
                #""id":{"type":"string","maxLength":40}"#,
                required: ["id"]
            ),
            "readmodel/tasks.sql": model,
            "readmodel/places.sql": places,
        ]
        for (path, text) in extra { files[path] = text }
        return try Pack(
            files: files.sorted { $0.key < $1.key }.map { path, text in
                PackFile(path: path, bytes: Array(text.utf8))
            }
        )
    }

    private static func schema(_ name: String, _ fields: String, required: [String]) -> String {
        let names = required.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"$schema":"https://json-schema.org/draft/2020-12/schema","#
            + #""title":"tasks.\#(name)","x-diario-version":1,"x-diario-subject":"id","#
            + #""type":"object","additionalProperties":false,"#
            + #""required":[\#(names)],"properties":{\#(fields)}}"#
    }

    static let model = """
        -- readmodel tasks version 1: tasks of lists, in an order without doubles
        CREATE TABLE list (name TEXT NOT NULL PRIMARY KEY, count INT NOT NULL) STRICT;
        CREATE TABLE task (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            list TEXT NOT NULL REFERENCES list (name),
            place INT NOT NULL UNIQUE,
            title TEXT NOT NULL CHECK (title <> 'refused'),
            size INT GENERATED ALWAYS AS (length(title)) STORED
        ) STRICT;
        CREATE VIRTUAL TABLE task_text USING fts5(title, content='task', content_rowid='number');
        CREATE TRIGGER task_in AFTER INSERT ON task BEGIN
            INSERT INTO task_text (rowid, title) VALUES (new.number, new.title);
        END;
        CREATE TRIGGER task_out AFTER DELETE ON task BEGIN
            INSERT INTO task_text (task_text, rowid, title)
            VALUES ('delete', old.number, old.title);
        END;
        CREATE TRIGGER task_change AFTER UPDATE ON task BEGIN
            INSERT INTO task_text (task_text, rowid, title)
            VALUES ('delete', old.number, old.title);
            INSERT INTO task_text (rowid, title) VALUES (new.number, new.title);
        END;

        -- on tasks.task.added
        INSERT INTO list VALUES (:list, 1) ON CONFLICT (name) DO UPDATE SET count = count + 1;
        INSERT INTO task (number, id, list, place, title)
        VALUES (:place, :id, :list, :place, :title);

        -- on tasks.task.renamed
        UPDATE task SET title = :title WHERE id = :id;

        -- on tasks.task.swapped
        UPDATE task SET place = place + 1000 WHERE id IN (:id, :other);
        UPDATE task SET place = (SELECT o.place - 1000 FROM task AS o WHERE o.id = :other)
        WHERE id = :id AND EXISTS (SELECT 1 FROM task AS o WHERE o.id = :other);
        UPDATE task SET place = number WHERE id = :other
            AND NOT EXISTS (SELECT 1 FROM task AS o WHERE o.place = task.number);
        UPDATE task SET place = place - 1000 WHERE place >= 1000
            AND NOT EXISTS (SELECT 1 FROM task AS o WHERE o.place = task.place - 1000);

        -- on tasks.task.removed
        UPDATE list SET count = count - 1 WHERE name = (SELECT list FROM task WHERE id = :id);
        DELETE FROM task WHERE id = :id;
        DELETE FROM list WHERE count = 0;
        """

    static let places = """
        -- readmodel places version 1: where each event stands, and boxes to find them in
        CREATE TABLE seen (
            replica TEXT NOT NULL, sequence INT NOT NULL, position INT, day TEXT NOT NULL,
            PRIMARY KEY (replica, sequence)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE box (number INTEGER PRIMARY KEY, count INT NOT NULL) STRICT;
        CREATE VIRTUAL TABLE box_place USING rtree_i32(number, low, high);
        CREATE TRIGGER box_in AFTER INSERT ON box BEGIN
            INSERT INTO box_place VALUES (new.number, new.number, new.number + new.count);
        END;
        CREATE TRIGGER box_out AFTER DELETE ON box BEGIN
            DELETE FROM box_place WHERE number = old.number;
        END;
        CREATE TRIGGER box_change AFTER UPDATE ON box BEGIN
            DELETE FROM box_place WHERE number = old.number;
            INSERT INTO box_place VALUES (new.number, new.number, new.number + new.count);
        END;

        -- on tasks.task.added
        INSERT INTO box VALUES (:place / 10, 1)
        ON CONFLICT (number) DO UPDATE SET count = count + 1;

        -- on tasks.task.added, tasks.task.removed
        INSERT INTO seen VALUES (:_replica, :_sequence, :_position, day_of(:_at, 0));
        """
}
