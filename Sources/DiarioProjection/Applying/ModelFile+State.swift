import DiarioCore
import DiarioCrypto
import DiarioSQLite
import DiarioSchema

// The engine's own tables of a generation, beside those of the pack: schema/format/models.md,
// section 2.

extension ModelFile {
    private static let format = "1"

    private static let tables = """
        CREATE TABLE diario_state (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT;
        CREATE TABLE diario_model (
            name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, fingerprint TEXT NOT NULL,
            applied INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE diario_table (
            name TEXT NOT NULL PRIMARY KEY, model TEXT NOT NULL, kind TEXT NOT NULL
        ) STRICT;
        CREATE TABLE diario_quarantine (
            model TEXT NOT NULL, replica TEXT NOT NULL, sequence INTEGER NOT NULL,
            position INTEGER, section INTEGER, type TEXT NOT NULL, version INTEGER NOT NULL,
            rule TEXT NOT NULL, message TEXT NOT NULL,
            PRIMARY KEY (model, replica, sequence)
        ) STRICT;
        CREATE TABLE diario_section (
            number INTEGER NOT NULL PRIMARY KEY, replica TEXT NOT NULL,
            first INTEGER NOT NULL, last INTEGER NOT NULL, isClosed INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE diario_before (
            section INTEGER NOT NULL, name TEXT NOT NULL, key BLOB NOT NULL, row BLOB,
            PRIMARY KEY (section, name, key)
        ) STRICT, WITHOUT ROWID;
        """

    /// Makes missing tables of the engine and of the read models, in one transaction.
    func makeState(
        of space: SpaceID,
        _ history: String,
        isDeferring: Bool
    ) throws(ProjectionError) {
        // Tables are dropped with all that refers to them.
        try run("PRAGMA foreign_keys = OFF")
        try begin()
        do throws(ProjectionError) {
            if try rows("SELECT 1 FROM sqlite_schema WHERE name = 'diario_state'").isEmpty {
                try run(Self.tables)
                try run("INSERT INTO diario_state VALUES ('source', 'log')")
                let mark = later.isSynced ? "1" : "0"
                try run("INSERT INTO diario_state VALUES ('synced', '\(mark)')")
            }
            for (name, value) in [
                ("format", Self.format), ("space", space.text), ("pack", plan.pack.name),
                ("fingerprint", plan.fingerprint.text), ("held", "0"),
                ("history", history),
            ] {
                _ = try rows(
                    "INSERT OR REPLACE INTO diario_state VALUES (?, ?)",
                    [.text(name), .text(value)]
                )
            }
            // A copy of a live generation may have effects of pending events.
            try loadSections()
            if !sections.isEmpty {
                for shape in try tableShapes() { shapes[shape.name] = shape }
                try undoSections()
            }
            try ModelTables(file: self).makeMissing(isDeferring)
            try run("COMMIT; PRAGMA foreign_keys = ON")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    func tableShapes() throws(ProjectionError) -> [TableShape] {
        do throws(SQLiteError) {
            return try TableShape.all(connection).filter { TableShape.isOfModel($0.name) }
        } catch {
            throw .file(path: path, error)
        }
    }

    // MARK: Reading and writing the state

    /// Reads the state in the file, and checks that it is the expected one.
    func readState(of space: SpaceID, _ mode: Mode) throws(ProjectionError) {
        var state: [String: SQLValue] = [:]
        for row in try rows("SELECT name, value FROM diario_state") {
            if case .text(let name) = row[0] { state[name] = row[1] }
        }
        guard state["format"] == .text(Self.format) else {
            throw .damaged(path: path, what: "another version of Diario made it")
        }
        guard state["space"] == .text(space.text), state["pack"] == .text(plan.pack.name) else {
            throw .damaged(path: path, what: "it belongs to another space or pack")
        }
        guard state["synced"] == .text("1") || !later.isSynced else {
            throw .damaged(path: path, what: "its build was cut")
        }
        try loadState()
        try later.load(self)
        shapes = [:]
        for shape in try tableShapes() { shapes[shape.name] = shape }
        images.shapes = shapes.filter { !$0.value.isVirtual }
    }

    /// Reads how far the models are, and which pending events are applied.
    func loadState() throws(ProjectionError) {
        var found: [String: AppliedModel] = [:]
        for row in try rows("SELECT name, version, fingerprint, applied FROM diario_model") {
            guard case .text(let name) = row[0], case .integer(let version) = row[1],
                case .text(let fingerprint) = row[2], case .integer(let applied) = row[3]
            else { continue }
            found[name] = AppliedModel(
                name: name,
                version: Int(clamping: version),
                fingerprint: fingerprint,
                applied: UInt64(clamping: applied)
            )
        }
        var models: [AppliedModel] = []
        for plan in plan.models {
            guard let model = found[plan.model.name], model.fingerprint == plan.fingerprint.text
            else {
                throw .damaged(path: path, what: "the read model \(plan.model.name) is another one")
            }
            models.append(model)
            let known = self.models.first { $0.name == model.name }
            models[models.count - 1].taken = known?.taken ?? 0
        }
        self.models = models
        savedApplied = isEven ? applied : nil
        try loadSections()
    }

    private func loadSections() throws(ProjectionError) {
        sections = try rows(
            "SELECT number, replica, first, last, isClosed FROM diario_section ORDER BY number"
        ).map { (row) throws(ProjectionError) in
            guard case .integer(let number) = row[0], case .text(let text) = row[1],
                case .integer(let first) = row[2], case .integer(let last) = row[3],
                let replica = ReplicaID(text: text), 0 < first, first <= last
            else { throw .damaged(path: path, what: "diario_section holds nonsense") }
            return LaneSection(
                number: number,
                replica: replica,
                first: UInt64(first),
                last: UInt64(last),
                isClosed: row[4] == .integer(1)
            )
        }
        savedSections = Set(sections)
    }

    func saveState() throws(ProjectionError) {
        if isEven, savedApplied != applied {
            _ = try rows(
                "UPDATE diario_model SET applied = ?",
                [.integer(Int64(applied))]
            )
        } else if !isEven {
            for model in models {
                _ = try rows(
                    "UPDATE diario_model SET applied = ?1 WHERE name = ?2 AND applied <> ?1",
                    [.integer(Int64(model.applied)), .text(model.name)]
                )
            }
        }
        savedApplied = isEven ? applied : nil
        for section in sections where !savedSections.contains(section) {
            _ = try rows(
                "INSERT OR REPLACE INTO diario_section VALUES (?, ?, ?, ?, ?)",
                [
                    .integer(section.number), .text(section.replica.text),
                    .integer(Int64(section.first)), .integer(Int64(section.last)),
                    .integer(section.isClosed ? 1 : 0),
                ]
            )
        }
        savedSections = Set(sections)
    }

    /// True if the generation keeps to its pack although a newer one was adopted.
    package func isHeld() throws(ProjectionError) -> Bool {
        try rows("SELECT value FROM diario_state WHERE name = 'held'") == [[.text("1")]]
    }

    package func hold(_ isHeld: Bool) throws(ProjectionError) {
        _ = try rows(
            "INSERT OR REPLACE INTO diario_state VALUES ('held', ?)",
            [.text(isHeld ? "1" : "0")]
        )
    }

    /// Notes that the same read models are now those of another edition of the pack.
    package func adopt(_ fingerprint: String) throws(ProjectionError) {
        _ = try rows(
            "INSERT OR REPLACE INTO diario_state VALUES ('fingerprint', ?)",
            [.text(fingerprint)]
        )
    }
}

extension String {
    /// The name as SQL writes it, whatever is in it.
    var quotedName: String {
        "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            + "\""
    }

    /// The text as SQL writes it, whatever is in it.
    var quotedText: String {
        "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
