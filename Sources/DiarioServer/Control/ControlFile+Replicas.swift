package import DiarioCore
import DiarioSQLite

// To whom replicas belong: schema/format/control.md, section 7.

extension ControlFile {
    /// To whom a replica belongs; nil if to nobody yet.
    package func holder(
        of replica: ReplicaID,
        in space: SpaceName
    ) throws(ControlError) -> Holder? {
        let key = Replica(space: space, id: replica)
        return try reading { (state) throws(ControlError) in
            if let known = state.holders[key] { return known }
            let found = try Self.holder(of: key, state.connection)
            if let found { state.holders[key] = found }
            return found
        }
    }

    /// Gives a replica that belongs to nobody to a holder; says to whom it belongs then.
    ///
    /// Durable when it returns. Nil if the holder has as many as one may have.
    package func bind(
        _ replica: ReplicaID,
        in space: SpaceName,
        to holder: Holder,
        at now: Timestamp
    ) throws(ControlError) -> Holder? {
        let key = Replica(space: space, id: replica)
        return try writing { (connection) throws(ControlError) in
            if let known = try Self.holder(of: key, connection) { return known }
            let (actor, token) = Self.columns(of: holder)
            let count = try connection.rows(
                "SELECT count(*) FROM replica WHERE space = ? AND actor IS ? AND token IS ?",
                [.text(space.text), actor, token]
            )
            guard let count = count.first?.first?.asInteger,
                count < Limits.holderReplicaCountMax
            else { return nil }
            try Self.insert(replica, space, holder, at: now, connection)
            return holder
        }
    }

    static func insert(
        _ replica: ReplicaID,
        _ space: SpaceName,
        _ holder: Holder,
        at now: Timestamp,
        _ connection: borrowing Connection
    ) throws(ControlError) {
        let (actor, token) = columns(of: holder)
        try connection.run(
            "INSERT INTO replica (space, replica, actor, token, bound) VALUES (?, ?, ?, ?, ?)",
            [.text(space.text), .text(replica.text), actor, token, Value(now)]
        )
    }

    private static func columns(of holder: Holder) -> (actor: Value, token: Value) {
        switch holder {
        case .actor(let actor): (.text(actor), .null)
        case .token(let id): (.null, .text(id.text))
        }
    }

    private static func holder(
        of key: Replica,
        _ connection: borrowing Connection
    ) throws(ControlError) -> Holder? {
        let rows = try connection.rows(
            "SELECT actor, token FROM replica WHERE space = ? AND replica = ?",
            [.text(key.space.text), .text(key.id.text)]
        )
        guard let row = rows.first else { return nil }
        if let actor = row[0].asText, row[1] == .null { return .actor(actor) }
        guard row[0] == .null, let token = row[1].asText.flatMap({ TokenID(text: $0) }) else {
            throw .damaged(what: "a row of `replica` is none")
        }
        return .token(token)
    }
}
