import DiarioCore
import DiarioCrypto
import DiarioSQLite
import DiarioSchema

/// Makes and drops the tables of the read models of a generation.
struct ModelTables {
    let file: ModelFile

    /// Makes missing tables, and drops those of other read models.
    func makeMissing(_ isDeferring: Bool) throws(ProjectionError) {
        var known: [String: String] = [:]
        for row in try file.rows("SELECT name, fingerprint FROM diario_model") {
            guard case .text(let name) = row[0], case .text(let fingerprint) = row[1] else {
                continue
            }
            known[name] = fingerprint
        }
        let wanted = Dictionary(
            uniqueKeysWithValues: file.plan.models.map { ($0.model.name, $0.fingerprint.text) }
        )
        for (name, fingerprint) in known.sorted(by: { $0.key < $1.key })
        where wanted[name] != fingerprint {
            try drop(name)
        }
        let watch = Watch()
        watch.needs = Set(file.plan.pack.needs.map { $0.name })
        for model in file.plan.models where known[model.model.name] != model.fingerprint.text {
            try make(model, watch)
            if isDeferring { try file.later.put(model, off: file) }
        }
    }

    private func make(_ plan: ModelPlan, _ watch: Watch) throws(ProjectionError) {
        let model = plan.model
        let before = Set(try tableNames().map { $0.name })
        file.connection.setAuthorizer { watch.answer($0) }
        defer { file.connection.setAuthorizer(nil) }
        for definition in model.definitions {
            watch.begin(.definition)
            do throws(SQLiteError) { try file.connection.execute(definition.text) } catch {
                throw .pack(
                    name: file.plan.pack.name,
                    file: model.file,
                    line: definition.line,
                    message: watch.refusal?.message ?? error.message
                )
            }
        }
        watch.begin(.ourOwn)
        for (name, kind) in try tableNames() where !before.contains(name) {
            _ = try file.rows(
                "INSERT INTO diario_table VALUES (?, ?, ?)",
                [.text(name), .text(model.name), .text(kind)]
            )
        }
        _ = try file.rows(
            "INSERT INTO diario_model VALUES (?, ?, ?, 0)",
            [.text(model.name), .integer(Int64(model.version)), .text(plan.fingerprint.text)]
        )
    }

    /// Removes a read model with its tables.
    private func drop(_ model: String) throws(ProjectionError) {
        let tables = try file.rows(
            "SELECT name, kind FROM diario_table WHERE model = ? ORDER BY kind DESC",
            [.text(model)]
        )
        // Triggers first: those of a plain table would feed a virtual one that was dropped.
        for row in tables where row[1] == .text("table") {
            for trigger in try file.rows(
                "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?",
                [row[0]]
            ) {
                if case .text(let name) = trigger[0] {
                    try file.run("DROP TRIGGER \(name.quotedName)")
                }
            }
        }
        for row in tables {
            guard case .text(let name) = row[0] else { continue }
            let kind = row[1] == .text("view") ? "VIEW" : "TABLE"
            try file.run("DROP \(kind) \(name.quotedName)")
        }
        for table in ["diario_table", "diario_quarantine"] {
            _ = try file.rows("DELETE FROM \(table) WHERE model = ?", [.text(model)])
        }
        _ = try file.rows("DELETE FROM diario_model WHERE name = ?", [.text(model)])
    }

    private func tableNames() throws(ProjectionError) -> [(name: String, kind: String)] {
        do throws(SQLiteError) {
            return try TableShape.names(file.connection).filter { TableShape.isOfModel($0.name) }
        } catch {
            throw .file(path: file.path, error)
        }
    }
}
