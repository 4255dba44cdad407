import DiarioProjection
import DiarioSchema

/// A pack for tests that put a mistake into it: things with a personal note, a fraction and a
/// nested field.
enum PackSample {
    static let files = [
        "pack.json": #"{"name":"test","version":1,"needs":{"weekday_of":1}}"#,
        "events/thing.made.1.json": schema(#""count":{"type":"integer"}"#),
        "readmodel/things.sql": model(),
    ]

    static func schema(_ properties: String, version: Int = 1) -> String {
        #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"test.thing.made",
         "x-diario-version":\#(version),"type":"object","additionalProperties":false,
         "required":["id","day"],"properties":{"id":{"type":"string","maxLength":40},
         "day":{"type":"string","format":"date"},"size":{"type":"number"},
         "note":{"type":"string","x-diario-personal":true},
         "marks":{"type":"array","items":{"type":"integer"}},
         "sizes":{"type":"array","items":{"type":"number"}},\#(properties)}}
        """#
    }

    /// Definitions stand on line 6, statements from line 8 on.
    static func model(
        definitions: String = "",
        columns: String = "",
        statement: String = "INSERT INTO thing (id, day) VALUES (:id, :day);"
    ) -> String {
        """
        -- readmodel things version 1: every thing
        CREATE TABLE thing (id TEXT NOT NULL PRIMARY KEY, day TEXT NOT NULL, count INT, note TEXT, \
        size REAL\(columns)) STRICT;
        CREATE TABLE pair (left TEXT NOT NULL, right TEXT NOT NULL, count INT, any ANY, \
        PRIMARY KEY (left, right)) STRICT, WITHOUT ROWID;
        CREATE TABLE numbered (number INTEGER PRIMARY KEY, text TEXT) STRICT;
        CREATE VIRTUAL TABLE words USING fts5(note, content='');
        \(definitions)
        -- on test.thing.made
        \(statement)
        """
    }

    static func pack(_ changes: [String: String] = [:]) throws -> Pack {
        let files = files.merging(changes) { $1 }
        return try Pack(
            files: files.map { PackFile(path: $0.key, bytes: Array($0.value.utf8)) }
        )
    }

    static func problems(_ changes: [String: String] = [:]) throws -> [PackProblem] {
        PackCheck.problems(of: try pack(changes))
    }

    static func problems(
        definitions: String = "",
        columns: String = "",
        statement: String = "INSERT INTO thing (id, day) VALUES (:id, :day);"
    ) throws -> [PackProblem] {
        let text = model(definitions: definitions, columns: columns, statement: statement)
        return try problems(["readmodel/things.sql": text])
    }
}
