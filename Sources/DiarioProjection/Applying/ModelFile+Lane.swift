package import DiarioCore
import DiarioSQLite
import DiarioSchema

// Effects of pending events: applied in sections, and undone by before-images.

extension ModelFile {
    /// Opens a section from this pending event on, or continues the newest one if it follows.
    package func beginLane(of replica: ReplicaID, at sequence: UInt64) throws(ProjectionError) {
        if let last = sections.last, !last.isClosed, last.replica == replica,
            last.last + 1 == sequence
        {
            images.begin(connection)
            return
        }
        try saveImages()
        // Its last number is set by the first event that is taken in.
        sections.append(
            LaneSection(
                number: (sections.last?.number ?? 0) + 1,
                replica: replica,
                first: sequence,
                last: sequence - 1,
                isClosed: false
            )
        )
        images.begin(connection)
    }

    /// Notes that the pending events up to this one have had their effects.
    package func settleLane(through sequence: UInt64) {
        guard var section = sections.last else { return }
        section.last = sequence
        sections[sections.count - 1] = section
    }

    /// Ends the lane for now: changes after this are no effects of pending events.
    package func endLane() throws(ProjectionError) {
        try saveImages()
        images.end(connection)
        if let last = sections.last, last.last < last.first { sections.removeLast() }
    }

    /// Closes the newest section, so that it can become canonical as a whole.
    package func closeSection() {
        guard !sections.isEmpty else { return }
        sections[sections.count - 1].isClosed = true
    }

    /// Writes the before-images of the newest section.
    func saveImages() throws(ProjectionError) {
        guard !images.order.isEmpty, let section = sections.last else { return }
        // A key and a row, each as large as a value may be, are more than one.
        connection.setLimit(.length, to: 4 * Limits.sqlValueSizeMax)
        defer { connection.setLimit(.length, to: Limits.sqlValueSizeMax) }
        do throws(SQLiteError) {
            let statement = try connection.prepare(
                "INSERT OR IGNORE INTO diario_before VALUES (?, ?, ?, ?)",
                isKept: false
            )
            for key in images.order {
                try statement.bind(section.number, at: 1)
                try statement.bind(.text(key.table), at: 2)
                try statement.bind(blob: key.key.span, at: 3)
                if let image = images.rows[key] ?? nil {
                    try statement.bind(blob: image.span, at: 4)
                } else {
                    try statement.bindNull(at: 4)
                }
                try statement.run()
            }
        } catch {
            throw .file(path: path, error)
        }
        images.forget()
    }

    /// Makes the oldest sections canonical without running anything again: their events have the
    /// positions after `applied`, in order.
    package func promoteSections(_ count: Int) throws(ProjectionError) {
        for section in sections.prefix(count) {
            let position = applied + 1
            _ = try rows(
                "DELETE FROM diario_before WHERE section = ?",
                [.integer(section.number)]
            )
            _ = try rows(
                "UPDATE diario_quarantine SET section = NULL, position = sequence - ? + ? "
                    + "WHERE section = ?",
                [
                    .integer(Int64(section.first)), .integer(Int64(position)),
                    .integer(section.number),
                ]
            )
            _ = try rows(
                "DELETE FROM diario_section WHERE number = ?",
                [.integer(section.number)]
            )
            settle(through: applied + section.count)
        }
        sections.removeFirst(count)
    }

    /// Takes back all effects of sections, the newest first.
    package func undoSections() throws(ProjectionError) {
        guard !sections.isEmpty else { return }
        try saveImages()
        images.end(connection)
        try run("PRAGMA defer_foreign_keys = ON")
        connection.setLimit(.length, to: 4 * Limits.sqlValueSizeMax)
        defer { connection.setLimit(.length, to: Limits.sqlValueSizeMax) }
        // The oldest section that touched a row has its value before all of them.
        let touched = try rows(
            "SELECT name, key, row, min(section) FROM diario_before GROUP BY name, key"
        )
        for table in Set(touched.compactMap { $0[0].text }).sorted() {
            guard let shape = shapes[table] else {
                throw .damaged(path: path, what: "diario_before names the table \(table)")
            }
            let own = touched.filter { $0[0] == .text(table) }
            changed.insert(table)
            try delete(own.compactMap { $0[1].blob?.values() }, from: shape)
            try insert(own.compactMap { $0[2].blob?.values() }, into: shape)
        }
        // For the rest of the transaction foreign keys are checked after each event, as elsewhere.
        // Switching this off forgets violations until then.
        guard connection.keepsForeignKeys else {
            throw .damaged(path: path, what: "what pending events did cannot be taken back")
        }
        try run("PRAGMA defer_foreign_keys = OFF")
        try run("DELETE FROM diario_before; DELETE FROM diario_section")
        try run("DELETE FROM diario_quarantine WHERE section IS NOT NULL")
        sections = []
        savedSections = []
    }

    private func delete(_ keys: [[SQLValue]], from shape: TableShape) throws(ProjectionError) {
        let conditions = shape.primaryKey.map { "\($0.quotedName) IS ?" }
        try change(
            "DELETE FROM \(shape.name.quotedName) WHERE \(conditions.joined(separator: " AND "))",
            keys,
            count: conditions.count
        )
    }

    private func insert(_ rows: [[SQLValue]], into shape: TableShape) throws(ProjectionError) {
        let columns = shape.columns.filter { !$0.isGenerated }.map { $0.name.quotedName }
        let values = columns.map { _ in "?" }.joined(separator: ", ")
        try change(
            "INSERT INTO \(shape.name.quotedName) (\(columns.joined(separator: ", "))) "
                + "VALUES (\(values))",
            rows,
            count: columns.count
        )
    }

    private func change(
        _ sql: String,
        _ rows: [[SQLValue]],
        count: Int
    ) throws(ProjectionError) {
        guard rows.allSatisfy({ $0.count == count }) else {
            throw .damaged(path: path, what: "diario_before holds another number of columns")
        }
        do throws(SQLiteError) {
            let statement = try connection.prepare(sql)
            for row in rows {
                for (index, value) in row.enumerated() {
                    try statement.bind(value, at: index + 1)
                }
                try statement.run()
            }
        } catch {
            throw .file(path: path, error)
        }
    }
}

extension SQLValue {
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var blob: [UInt8]? { if case .blob(let bytes) = self { bytes } else { nil } }
}
