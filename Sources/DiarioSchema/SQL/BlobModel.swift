/// The read model that the engine adds to each pack whose types have blobs: which event refers to
/// which blob (schema/format/models.md, section 2).
///
/// It is applied, undone and rebuilt as those of the pack are.
package enum BlobModel {
    /// Of the read model and of its table.
    package static let name = "diario_blob"
    /// The user of events without an actor.
    package static let nobody = "-"
    static let file = "readmodel/\(name).sql"

    /// Nil if no type has a blob; of each type the newest version counts.
    static func make(for types: [EventType], stays: Set<String>) -> ReadModel? {
        var blocks = ""
        for (index, type) in types.enumerated() where !type.blobs.isEmpty {
            guard index + 1 == types.count || types[index + 1].name != type.name else { continue }
            blocks += "-- on \(type.name)\n"
            for blob in type.blobs {
                let size = ":\(blob.name)Size"
                // The bytes that are stored of so many (schema/format/blobs.md, section 3).
                let storedSize =
                    blob.isPublic
                    ? size : "8 + \(size) + 16 * max(1, (\(size) + 65535) / 65536)"
                // An id of another size came from a program that does not keep to the schema.
                blocks += """
                    INSERT INTO \(name) SELECT :_origin, '\(blob.name)', :\(blob.name)Id, \
                    \(storedSize), coalesce(:_actor, '-'), \
                    \(blob.isPublic ? "0" : ":\(blob.name)Key IS NULL"), \
                    \(blob.isPublic ? 1 : 0), \
                    \(stays.contains("\(type.name).\(blob.name)") ? 1 : 0), :_position
                    WHERE length(:\(blob.name)Id) = 32;

                    """
            }
        }
        guard !blocks.isEmpty else { return nil }
        let text = """
            -- readmodel \(name) version 3: which event refers to which blob
            CREATE TABLE \(name) (
                origin TEXT NOT NULL, field TEXT NOT NULL, id BLOB NOT NULL, storedSize INTEGER,
                actor TEXT NOT NULL, isErased INTEGER NOT NULL, isPublic INTEGER NOT NULL,
                stays INTEGER NOT NULL, position INTEGER, PRIMARY KEY (origin, field)
            ) STRICT;
            CREATE INDEX \(name)_id ON \(name) (id);
            \(blocks)
            """
        let file = PackFile(path: file, bytes: Array(text.utf8))
        var reader = ReadModelReader(file, types: types, unread: [])
        return reader.read()
    }
}
