import DiarioCore
import DiarioSQLite
import DiarioSchema

/// The statements that are left for the end of a build, as `diario_later` lists them:
/// schema/format/models.md, section 2.
package final class LaterWork {
    /// The number of them.
    package private(set) var count = 0
    /// The read models of which something is left.
    private(set) var models: Set<String> = []
    /// Why the generation has to be built once more, row by row; nil if it has not.
    package internal(set) var doubt: String?
    /// Ends the statement that runs.
    private(set) var isStopped: () -> Bool = { false }
    /// False while a power cut may leave anything of the file.
    var isSynced = true

    /// Notes what of a read model waits, whose tables were just made.
    func put(_ plan: ModelPlan, off file: ModelFile) throws(ProjectionError) {
        let deferral = Deferral(plan, file.connection)
        if let doubt = deferral.doubt { return try note(doubt, [plan.model.name], file) }
        guard !deferral.later.isEmpty else { return }
        try file.run(
            "CREATE TABLE IF NOT EXISTS diario_later (number INTEGER NOT NULL PRIMARY KEY, "
                + "model TEXT NOT NULL, sql TEXT NOT NULL) STRICT"
        )
        for sql in deferral.drops { try file.run(sql) }
        for sql in deferral.later {
            _ = try file.rows(
                "INSERT INTO diario_later (model, sql) VALUES (?, ?)",
                [.text(plan.model.name), .text(sql)]
            )
        }
    }

    /// Notes why all read models are built row by row.
    package func note(_ reason: String, in file: ModelFile) throws(ProjectionError) {
        try note(reason, file.models.map { $0.name }, file)
    }

    private func note(
        _ reason: String,
        _ models: [String],
        _ file: ModelFile
    ) throws(ProjectionError) {
        for model in models {
            _ = try file.rows(
                "INSERT OR REPLACE INTO diario_state VALUES (?, ?)",
                [.text("rows \(model)"), .text(reason)]
            )
        }
    }

    /// Why a read model was built row by row; nil if it was not.
    package func reason(_ model: String, in file: ModelFile) throws(ProjectionError) -> String? {
        try file.rows("SELECT value FROM diario_state WHERE name = ?", [.text("rows \(model)")])
            .first?[0].text
    }

    /// Reads what is left.
    func load(_ file: ModelFile) throws(ProjectionError) {
        var left: [String] = []
        if try !file.rows("SELECT 1 FROM sqlite_schema WHERE name = 'diario_later'").isEmpty {
            left = try file.rows("SELECT model FROM diario_later").compactMap { $0[0].text }
        }
        count = left.count
        models = Set(left)
        file.statements.putOff(models)
        file.stepLimit.countMax =
            left.isEmpty ? Limits.sqlEventStepCountMax : Limits.sqlDeferredStepCountMax
    }

    /// Does the next of it, in a transaction; false if nothing is left.
    ///
    /// `isStopped` ends it early, and it is all to be done again.
    package func step(
        in file: ModelFile,
        until isStopped: @escaping () -> Bool = { false }
    ) throws(ProjectionError) -> Bool {
        guard count > 0 else { return false }
        // The keys of an index are sorted here, which may take more memory than there is.
        try file.run("PRAGMA temp_store = DEFAULT")
        guard let row = try file.rows("SELECT min(number), sql FROM diario_later").first,
            let sql = row[1].text
        else { return false }
        try file.begin()
        do throws(ProjectionError) {
            self.isStopped = isStopped
            defer { self.isStopped = { false } }
            try attempt(sql, file)
            _ = try file.rows("DELETE FROM diario_later WHERE number = ?", [row[0]])
            if count == 1 { try file.run("DROP TABLE diario_later") }
        } catch {
            file.rollback()
            throw error
        }
        try file.commit()
        try load(file)
        return true
    }

    private func attempt(_ sql: String, _ file: ModelFile) throws(ProjectionError) {
        do throws(SQLiteError) { try file.connection.execute(sql) } catch {
            let fault = EventFault.sqlite(error, file: "", line: 0, bound: nil)
            // An event should have been refused, and nobody knows which.
            if fault.fileError(file.path) == nil, !isStopped() {
                doubt = "at the end: \(error.message)"
            }
            throw .file(path: file.path, error)
        }
    }

    /// Syncs the file and then marks it as synced, if it is not: until then nobody may use it.
    package func sync(_ file: ModelFile) throws(ProjectionError) {
        guard !isSynced else { return }
        try file.run("PRAGMA synchronous = FULL")
        // The first transaction ends with all of the file on disk.
        for isSynced in ["0", "1"] {
            _ = try file.rows(
                "INSERT OR REPLACE INTO diario_state VALUES ('synced', ?)",
                [.text(isSynced)]
            )
        }
        isSynced = true
        try file.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    }
}
