package import DiarioCore
import DiarioSQLite

// To whom replicas belong: schema/format/control.md, section 7.

extension ControlFile {
    /// The holder of a replica; nil if it has none yet.
    package func holder(
        of replica: ReplicaID,
        in space: SpaceName
    ) throws(ControlError) -> Holder? {
        try binding(of: replica, in: space)?.holder
    }

    /// The holder of a replica, and how its events come.
    package struct Binding: Hashable, Sendable {
        package let holder: Holder
        /// True if its events come by `POST /events`, so that the server draws its salts.
        package let isNamed: Bool
    }

    /// The binding of a replica; nil if it has none yet.
    func binding(
        of replica: ReplicaID,
        in space: SpaceName
    ) throws(ControlError) -> Binding? {
        let key = Replica(space: space, id: replica)
        return try reading { (state) throws(ControlError) in
            if let known = state.bindings[key] { return known }
            guard case .holder(let found) = try Self.owner(of: key, state.connection) else {
                return nil
            }
            state.bindings[key] = found
            return found
        }
    }

    /// Binds a replica without a holder to one; gives its holder after that.
    ///
    /// Durable when it returns. Nil if the holder has as many replicas as allowed.
    package func bind(
        _ replica: ReplicaID,
        in space: SpaceName,
        to holder: Holder,
        isNamed: Bool = false,
        at now: Timestamp
    ) throws(ControlError) -> Holder? {
        let key = Replica(space: space, id: replica)
        return try writing { (connection) throws(ControlError) in
            let owner = try Self.owner(of: key, connection)
            if case .holder(let known) = owner { return known.holder }
            let (actor, token) = Self.columns(of: holder)
            let count = try connection.rows(
                "SELECT count(*) FROM replica WHERE space = ? AND actor IS ? AND token IS ?",
                [.text(space.text), actor, token]
            )
            guard let count = count.first?.first?.asInteger,
                count < Limits.holderReplicaCountMax
            else { return nil }
            // A row without a holder is replaced.
            try connection.run(
                "DELETE FROM replica WHERE space = ? AND replica = ?",
                [.text(space.text), .text(replica.text)]
            )
            try Self.insert(replica, space, holder, isNamed: isNamed, at: now, connection)
            return holder
        }
    }

    /// True if a replica will belong to the next that pushes under its id, after a restore.
    package func isOpen(
        _ replica: ReplicaID,
        in space: SpaceName
    ) throws(ControlError) -> Bool {
        let key = Replica(space: space, id: replica)
        return try reading { (state) throws(ControlError) in
            try Self.owner(of: key, state.connection) == .anybody
        }
    }

    /// Adds rows for unknown replicas, which the next pushes under their ids will bind.
    package func leaveOpen(
        _ replicas: [ReplicaID],
        in space: SpaceName,
        at now: Timestamp
    ) throws(ControlError) {
        try writing { (connection) throws(ControlError) in
            try Self.leaveOpen(replicas, in: space, at: now, connection)
        }
    }

    static func leaveOpen(
        _ replicas: [ReplicaID],
        in space: SpaceName,
        at now: Timestamp,
        _ connection: borrowing Connection
    ) throws(ControlError) {
        for replica in replicas {
            try connection.run(
                """
                INSERT INTO replica (space, replica, actor, token, bound)
                VALUES (?, ?, NULL, NULL, ?) ON CONFLICT DO NOTHING
                """,
                [.text(space.text), .text(replica.text), Value(now)]
            )
        }
    }

    static func insert(
        _ replica: ReplicaID,
        _ space: SpaceName,
        _ holder: Holder,
        isNamed: Bool = false,
        at now: Timestamp,
        _ connection: borrowing Connection
    ) throws(ControlError) {
        let (actor, token) = columns(of: holder)
        try connection.run(
            """
            INSERT INTO replica (space, replica, actor, token, bound, named)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                .text(space.text), .text(replica.text), actor, token, Value(now),
                .integer(isNamed ? 1 : 0),
            ]
        )
    }

    private static func columns(of holder: Holder) -> (actor: Value, token: Value) {
        switch holder {
        case .actor(let actor): (.text(actor), .null)
        case .token(let id): (.null, .text(id.text))
        }
    }

    /// The owner in the row of a replica.
    private enum Owner: Equatable {
        case holder(Binding)
        /// Whoever pushes next under its id.
        case anybody
        /// There is no row.
        case nobody
    }

    private static func owner(
        of key: Replica,
        _ connection: borrowing Connection
    ) throws(ControlError) -> Owner {
        let rows = try connection.rows(
            "SELECT actor, token, named FROM replica WHERE space = ? AND replica = ?",
            [.text(key.space.text), .text(key.id.text)]
        )
        guard let row = rows.first else { return .nobody }
        if row[0] == .null, row[1] == .null { return .anybody }
        let isNamed = row[2] != .integer(0)
        if let actor = row[0].asText, row[1] == .null {
            return .holder(Binding(holder: .actor(actor), isNamed: isNamed))
        }
        guard row[0] == .null, let token = row[1].asText.flatMap({ TokenID(text: $0) }) else {
            throw .damaged(what: "a row of `replica` is none")
        }
        return .holder(Binding(holder: .token(token), isNamed: isNamed))
    }
}
