package import DiarioCore
import DiarioSQLite
import DiarioSchema

extension ModelFile {
    func quarantine<Event: EventValues>(
        _ event: Event,
        of model: String,
        _ fault: EventFault
    ) throws(ProjectionError) {
        guard let origin = event.origin else { preconditionFailure("a stored event has an origin") }
        let section: SQLValue =
            event.position == nil ? .integer(sections.last?.number ?? 0) : .null
        let reason = fault.reason
        _ = try rows(
            "INSERT OR REPLACE INTO diario_quarantine VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .text(model), .text(origin.replica.text), .integer(Int64(origin.sequence)),
                event.position.map { .integer(Int64($0)) } ?? .null, section,
                .text(event.type.name), .integer(Int64(event.type.version)), .text(reason.rule),
                .text(reason.message),
            ]
        )
    }

    /// The sections of pending events in which a limit ended one: that depends on earlier work.
    package func endedSections() throws(ProjectionError) -> Set<Int64> {
        let found = try rows(
            "SELECT DISTINCT section FROM diario_quarantine "
                + "WHERE section IS NOT NULL AND rule = 'limit'"
        )
        return Set(
            found.compactMap { row in
                if case .integer(let number) = row[0] { number } else { nil }
            }
        )
    }

    /// The events in quarantine: those with a position in its order, then the pending ones.
    package func quarantined() throws(ProjectionError) -> [QuarantinedEvent] {
        try QuarantinedEvent.all(connection, path)
    }
}

extension QuarantinedEvent {
    static func all(
        _ connection: borrowing Connection,
        _ path: String
    ) throws(ProjectionError) -> [QuarantinedEvent] {
        let rows: [[SQLValue]]
        do throws(SQLiteError) {
            rows = try connection.rows(
                "SELECT model, replica, sequence, position, type, version, rule, message "
                    + "FROM diario_quarantine "
                    + "ORDER BY position IS NULL, position, replica, sequence, model"
            )
        } catch {
            throw .file(path: path, error)
        }
        return try rows.map { (row) throws(ProjectionError) in
            guard case .text(let model) = row[0], case .text(let replica) = row[1],
                case .integer(let sequence) = row[2], case .text(let type) = row[4],
                case .integer(let version) = row[5], case .text(let rule) = row[6],
                case .text(let message) = row[7], let id = ReplicaID(text: replica), sequence > 0
            else { throw .damaged(path: path, what: "diario_quarantine holds nonsense") }
            var position: UInt64?
            if case .integer(let value) = row[3] { position = UInt64(clamping: value) }
            return QuarantinedEvent(
                model: model,
                origin: Origin(replica: id, sequence: UInt64(sequence)),
                position: position,
                type: type,
                version: Int(clamping: version),
                rule: rule,
                message: message
            )
        }
    }
}
