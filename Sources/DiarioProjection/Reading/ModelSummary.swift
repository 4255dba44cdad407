package import DiarioCore
import DiarioCrypto
import DiarioSQLite
import DiarioSchema

/// The engine's own rows of a generation, read without knowing its pack.
package struct ModelSummary: Hashable, Sendable {
    package let space: String
    /// Of the pack.
    package let fingerprint: String
    package let isHeld: Bool
    /// Which events had positions when it was begun; see `LogStore.history`.
    package let history: String
    /// Fingerprints of the read models, by name.
    package let models: [String: String]
    /// The tables of all of them.
    package let tables: Set<String>
    /// True if it was begun as a copy of another one, and not with an empty file.
    package let isCopy: Bool
    /// False if its build was cut, so that it may hold anything.
    package let isSynced: Bool
    /// True if nothing of a build is left to do.
    package let isWhole: Bool

    /// `isImmutable` if nothing can be made beside the file.
    package init(path: String, isImmutable: Bool) throws(ProjectionError) {
        do throws(SQLiteError) {
            let connection = try Connection(path: path, isImmutable ? .immutable : .readOnly)
            var state: [String: String] = [:]
            for row in try connection.rows("SELECT name, value FROM diario_state") {
                if let name = row[0].text { state[name] = row[1].text }
            }
            var models: [String: String] = [:]
            for row in try connection.rows("SELECT name, fingerprint FROM diario_model") {
                if let name = row[0].text { models[name] = row[1].text }
            }
            tables = Set(
                try connection.rows("SELECT name FROM diario_table").compactMap { $0[0].text }
            )
            space = state["space"] ?? ""
            fingerprint = state["fingerprint"] ?? ""
            isHeld = state["held"] == "1"
            history = state["history"] ?? ""
            isCopy = state["source"] != "log"
            isSynced = state["synced"] == "1"
            let later = "SELECT 1 FROM sqlite_schema WHERE name = 'diario_later'"
            let isDone = try connection.value(later) == nil
            isWhole = isDone && isSynced
            self.models = models
        } catch {
            throw .file(path: path, error)
        }
    }

    /// The events in quarantine in the generation at `path`.
    package static func quarantined(
        path: String,
        isImmutable: Bool
    ) throws(ProjectionError) -> [QuarantinedEvent] {
        let connection: Connection
        do throws(SQLiteError) {
            connection = try Connection(path: path, isImmutable ? .immutable : .readOnly)
        } catch {
            throw .file(path: path, error)
        }
        return try QuarantinedEvent.all(connection, path)
    }
}

extension PackPlan {
    /// Fingerprints of the read models, by name.
    package var fingerprints: [String: String] {
        Dictionary(uniqueKeysWithValues: models.map { ($0.model.name, $0.fingerprint.text) })
    }
}
