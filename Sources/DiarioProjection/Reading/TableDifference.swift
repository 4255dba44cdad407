import DiarioSQLite

/// How a table differs from the same one of another generation.
package struct TableDifference: Hashable, Sendable {
    package let name: String
    /// Rows whose keys the other one does not have.
    package let added: Int
    /// Rows of the other one whose keys are not there any more.
    package let removed: Int
    /// Rows with the same key and other values.
    package let changed: Int
    /// Whether the columns are others.
    package let isReshaped: Bool

    /// Whether there is no difference.
    package var isEmpty: Bool { added + removed + changed == 0 && !isReshaped }
}

extension ModelFile {
    /// Compares its plain tables with those of the generation at `path`, or with none.
    package func differences(from path: String?) throws(ProjectionError) -> [TableDifference] {
        do throws(SQLiteError) {
            connection.setLimit(.attachedCount, to: 1)
            if let path {
                try connection.attach(path, as: "other", .readOnly)
            } else {
                try connection.execute("ATTACH ':memory:' AS other")
            }
            defer { try? connection.execute("DETACH other") }
            var known: [String: [String]] = [:]
            if path != nil {
                let other = try Connection(path: path ?? "", .readOnly)
                for shape in try TableShape.all(other) where !shape.isVirtual {
                    known[shape.name] = shape.columns.map(\.name)
                }
            }
            var found: [TableDifference] = []
            for shape in try TableShape.all(connection)
            where !shape.isVirtual && !shape.name.hasPrefix("diario_") {
                found.append(try difference(shape, known.removeValue(forKey: shape.name)))
            }
            for name in known.keys.sorted() where !name.hasPrefix("diario_") {
                let table = "other.\(name.quotedName)"
                let removed = try count("SELECT count(*) FROM \(table)")
                found.append(
                    TableDifference(
                        name: name,
                        added: 0,
                        removed: removed,
                        changed: 0,
                        isReshaped: true
                    )
                )
            }
            return found
        } catch {
            throw .file(path: path ?? self.path, error)
        }
    }

    private func count(_ sql: String) throws(SQLiteError) -> Int {
        guard case .integer(let count)? = try connection.value(sql) else { return 0 }
        return Int(clamping: count)
    }

    private func difference(
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
                isReshaped: true
            )
        }
        let isSameKey = shape.primaryKey
            .map { "a.\($0.quotedName) IS b.\($0.quotedName)" }
            .joined(separator: " AND ")
        let isSameRow = shape.columns.map(\.name).filter { columns.contains($0) }
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
            isReshaped: shape.columns.map(\.name) != columns
        )
    }
}
