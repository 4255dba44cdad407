package import DiarioCore
import DiarioSQLite

extension ModelFile {
    /// Attaches the generation at `path`, or none, in its current state: `differences` does not see
    /// later changes.
    package func attachOther(_ path: String?) throws(ProjectionError) {
        do throws(SQLiteError) {
            connection.setLimit(.attachedCount, to: 1)
            if let path {
                try connection.attach(path, as: "other", .readOnly)
            } else {
                try connection.execute("ATTACH ':memory:' AS other")
            }
            try connection.execute("BEGIN")
            _ = try connection.count("SELECT count(*) FROM other.sqlite_schema")
        } catch {
            throw .file(path: path ?? self.path, error)
        }
    }

    /// Compares its tables and indexes with those of the generation at `path` that is attached, or
    /// with none.
    package func differences(from path: String?) throws(ProjectionError) -> [TableDifference] {
        do throws(SQLiteError) {
            defer { try? connection.execute("COMMIT; DETACH other") }
            var known: [String: [String]] = [:]
            var knownIndexes: [String: [String]] = [:]
            if let path {
                let other = try Connection(path: path, .readOnly)
                for shape in try TableShape.all(other) {
                    let columns = shape.columns.map { $0.name }
                    if shape.isVirtual {
                        knownIndexes[shape.name] = columns
                    } else {
                        known[shape.name] = columns
                    }
                }
            }
            var found: [TableDifference] = []
            for shape in try TableShape.all(connection)
            where !shape.isVirtual && !shape.name.hasPrefix("diario_") {
                found.append(
                    try connection.difference(shape, known.removeValue(forKey: shape.name))
                )
            }
            for name in known.keys.sorted() where !name.hasPrefix("diario_") {
                let table = "other.\(name.quotedName)"
                let removed = try connection.count("SELECT count(*) FROM \(table)")
                found.append(
                    TableDifference(
                        name: name,
                        added: 0,
                        removed: removed,
                        changed: 0,
                        shape: .gone
                    )
                )
            }
            for shape in try TableShape.all(connection) where shape.isVirtual {
                guard let columns = knownIndexes[shape.name] else { continue }
                found.append(try connection.indexDifference(shape, columns))
            }
            return found
        } catch {
            throw .file(path: path ?? self.path, error)
        }
    }
}

extension Connection {
    fileprivate func count(_ sql: String) throws(SQLiteError) -> Int {
        guard case .integer(let count)? = try value(sql) else { return 0 }
        return Int(clamping: count)
    }

    /// Compares an index with one of the same name by its results, whatever numbers its rows have:
    /// a restored row may have another one.
    fileprivate func indexDifference(
        _ shape: TableShape,
        _ columns: [String]
    ) throws(SQLiteError) -> TableDifference {
        let isText =
            try value(
                "SELECT count(*) FROM main.sqlite_schema WHERE name = \(shape.name.quotedText) "
                    + "AND sql LIKE '%using%fts5%'"
            ) == .integer(1)
        let isReshaped = shape.columns.map { $0.name } != columns
        var (own, other) = ("main.\(shape.name.quotedName)", "other.\(shape.name.quotedName)")
        var compared = columns.dropFirst().map { $0.quotedName }
        if isText {
            // Of each word in each column, in how many rows and how often it is.
            for schema in ["main", "other"] {
                try execute(
                    "CREATE VIRTUAL TABLE temp.diario_\(schema)_words USING "
                        + "fts5vocab(\(schema), \(shape.name.quotedName), col)"
                )
            }
            (own, other) = ("temp.diario_main_words", "temp.diario_other_words")
            compared = ["term", "col", "doc", "cnt"]
        }
        defer {
            if isText {
                try? execute(
                    "DROP TABLE temp.diario_main_words; DROP TABLE temp.diario_other_words"
                )
            }
        }
        let list = compared.joined(separator: ", ")
        func missing(_ from: String, _ there: String) throws(SQLiteError) -> Int {
            guard !isReshaped else { return 0 }
            func rows(_ table: String) -> String {
                "SELECT \(list), count(*) FROM \(table) GROUP BY \(list)"
            }
            return try count("SELECT count(*) FROM (\(rows(from)) EXCEPT \(rows(there)))")
        }
        return TableDifference(
            name: shape.name,
            added: try missing(own, other),
            removed: try missing(other, own),
            changed: 0,
            shape: isReshaped ? .changed : .same
        )
    }

    fileprivate func difference(
        _ shape: TableShape,
        _ columns: [String]?
    ) throws(SQLiteError) -> TableDifference {
        let own = "main.\(shape.name.quotedName)"
        let other = "other.\(shape.name.quotedName)"
        guard let columns, shape.primaryKey.allSatisfy({ columns.contains($0) }) else {
            return TableDifference(
                name: shape.name,
                added: try count("SELECT count(*) FROM \(own)"),
                removed: columns == nil ? 0 : try count("SELECT count(*) FROM \(other)"),
                changed: 0,
                shape: columns == nil ? .new : .changed
            )
        }
        let isSameKey = shape.primaryKey
            .map { "a.\($0.quotedName) IS b.\($0.quotedName)" }
            .joined(separator: " AND ")
        let isSameRow = shape.columns.map { $0.name }.filter { columns.contains($0) }
            .map { "a.\($0.quotedName) IS b.\($0.quotedName)" }
            .joined(separator: " AND ")
        func missing(_ from: String, _ there: String) throws(SQLiteError) -> Int {
            try count(
                "SELECT count(*) FROM \(from) AS a WHERE NOT EXISTS "
                    + "(SELECT 1 FROM \(there) AS b WHERE \(isSameKey))"
            )
        }
        return TableDifference(
            name: shape.name,
            added: try missing(own, other),
            removed: try missing(other, own),
            changed: try count(
                "SELECT count(*) FROM \(own) AS a JOIN \(other) AS b ON \(isSameKey) "
                    + "WHERE NOT (\(isSameRow))"
            ),
            shape: shape.columns.map { $0.name } == columns ? .same : .changed
        )
    }
}
