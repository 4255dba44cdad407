package import DiarioCore
import DiarioSQLite
package import DiarioSchema

/// Where an event is on its way into the log, as `event_state(origin)` says it.
package enum EventState: String, Sendable {
    /// Recorded here, and not accepted by the authority yet.
    case pending
    /// In the log, with a position.
    case accepted
    /// Refused by the authority; it is in the inbox.
    case refused
}

/// An event of the inbox, as a row of `diario_inbox`.
package struct InboxRow: Sendable {
    fileprivate let origin: Origin
    fileprivate let type: String
    fileprivate let actor: String?
    fileprivate let subject: String?
    fileprivate let rule: String?
    fileprivate let message: String?
    /// JSON; nil if the space does not have its type.
    fileprivate let payload: String?

    /// A row for an event, with the rule that it broke; nil if it is no event of a log.
    package init?(_ line: EventLine, rule: String?, message: String?) {
        guard let origin = line.origin else { return nil }
        (self.origin, type, self.rule, self.message) = (origin, line.type.name, rule, message)
        actor = line.actor.map { String(decoding: line.arena[$0], as: UTF8.self) }
        subject = Self.subject(of: line)
        guard !line.type.isUnknown else {
            payload = nil
            return
        }
        var bytes: [UInt8] = []
        PayloadWriter.append(line.payload, of: line.type, to: &bytes)
        payload = String(decoding: bytes, as: UTF8.self)
    }

    private static func subject(of line: EventLine) -> String? {
        guard let field = line.type.subjectFieldIndex else {
            return line.subject.map { String(decoding: line.arena[$0], as: UTF8.self) }
        }
        if case .integer(let value) = line.payload.slots[field] { return "\(value)" }
        guard let bytes = line.payload.bytes(at: field) else { return nil }
        guard case .uuid = line.type.fields[field].kind else {
            return String(decoding: bytes, as: UTF8.self)
        }
        var text: [UInt8] = []
        TextEncodings.appendUUIDText(Array(bytes).span, to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}

/// Where the events of a space are, for queries that ask.
package struct EventPlaces: Sendable {
    private let pending: [ReplicaID: [ClosedRange<UInt64>]]
    fileprivate let inbox: [InboxRow]
    private let refused: Set<Origin>
    private let lastSequence: @Sendable (ReplicaID) -> UInt64

    /// The table of the inbox, which every query sees.
    package static let inboxTable = "diario_inbox"
    static let function = "event_state"

    /// True if a statement may ask for any of it.
    package static func areAsked(by sql: String) -> Bool {
        let bytes = Array(sql.utf8)
        return [inboxTable, function].contains { name in
            let name = Array(name.utf8)
            return bytes.indices.contains { start in
                // Letters in any case: the bit that tells them apart is set in all of the name.
                start + name.count <= bytes.count && bytes[start] | 0x20 == name[0]
                    && name.indices.allSatisfy {
                        bytes[start + $0] == name[$0] || bytes[start + $0] | 0x20 == name[$0]
                    }
            }
        }
    }

    package init(
        pending: [ReplicaID: [ClosedRange<UInt64>]],
        inbox: [InboxRow],
        lastSequence: @escaping @Sendable (ReplicaID) -> UInt64
    ) {
        (self.pending, self.inbox, self.lastSequence) = (pending, inbox, lastSequence)
        refused = Set(inbox.map { $0.origin })
    }

    /// Nil if the event is not known here.
    func state(of origin: Origin) -> EventState? {
        if pending[origin.replica, default: []].contains(where: { $0.contains(origin.sequence) }) {
            return .pending
        }
        if refused.contains(origin) { return .refused }
        let isKnown = 1...max(1, lastSequence(origin.replica)) ~= origin.sequence
        return isKnown && lastSequence(origin.replica) > 0 ? .accepted : nil
    }
}

/// What a connection knows of them: those of the query that runs.
final class KnownPlaces {
    private var places: EventPlaces?

    /// Lets queries call `event_state`.
    func add(to connection: borrowing Connection) throws(SQLiteError) {
        try connection.addFunction(EventPlaces.function, argumentCount: 1) {
            [self] (arguments) throws(FunctionError) in
            guard case .text(let text) = arguments[0], let origin = Origin(text: text),
                let state = places?.state(of: origin)
            else { return .null }
            return .text(state.rawValue)
        }
    }

    /// Fills the table of the inbox, and answers by these from now on.
    func set(_ new: EventPlaces, in connection: borrowing Connection) throws(SQLiteError) {
        places = new
        try connection.execute(Self.emptyTable)
        try Self.fill(new.inbox, in: connection)
    }

    /// Writes rows into the table of the inbox.
    static func fill(
        _ rows: [InboxRow],
        in connection: borrowing Connection
    ) throws(SQLiteError) {
        let statement = try connection.prepare(
            "INSERT INTO temp.\(EventPlaces.inboxTable) VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        for row in rows {
            let texts = [
                row.origin.text, row.type, row.actor, row.subject, row.rule, row.message,
                row.payload,
            ]
            for (index, text) in texts.enumerated() {
                try statement.bind(text.map { .text($0) } ?? .null, at: index + 1)
            }
            _ = try statement.step()
            statement.reset()
        }
    }

    static let emptyTable = """
        CREATE TEMP TABLE IF NOT EXISTS \(EventPlaces.inboxTable) (
            origin TEXT, type TEXT, actor TEXT, subject TEXT, rule TEXT, message TEXT, payload TEXT
        );
        DELETE FROM temp.\(EventPlaces.inboxTable)
        """
}
