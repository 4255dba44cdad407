package import DiarioCore
import DiarioSQLite

// To whom replicas belong: schema/format/control.md, section 7.

extension ControlFile {
    struct Replica: Hashable, Sendable {
        let space: SpaceName
        let id: ReplicaID
    }

    /// To whom a replica belongs.
    package enum Owner: Hashable, Sendable {
        /// `isNamed` if its events come by `POST /events`, so that the server draws its salts.
        case holder(Holder, isNamed: Bool)
        /// Whoever pushes next under its id, after a restore.
        case anybody
        /// It is not known.
        case nobody
    }

    package func owner(of replica: ReplicaID, in space: SpaceName) throws -> Owner {
        let key = Replica(space: space, id: replica)
        return try reading { state in
            if let known = state.owners[key] { return known }
            let found = try state.connection.owner(of: replica, in: space)
            if case .holder = found { state.owners[key] = found }
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
    ) throws -> Holder? {
        try writing { connection in
            let owner = try connection.owner(of: replica, in: space)
            if case .holder(let known, _) = owner { return known }
            let (actor, token) = holder.columns
            let count = try connection.run(
                "SELECT count(*) FROM replica WHERE space = ? AND actor IS ? AND token IS ?",
                [.text(space.text), actor, token]
            )
            guard let count = count.first?.first?.asInteger, count < Limits.holderReplicaCountMax
            else { return nil }
            // A row without a holder is replaced.
            try connection.run(
                "DELETE FROM replica WHERE space = ? AND replica = ?",
                [.text(space.text), .text(replica.text)]
            )
            try connection.bind(replica, space, holder, isNamed: isNamed, at: now)
            return holder
        }
    }

    /// Adds rows for unknown replicas, which the next pushes under their ids will bind.
    package func leaveOpen(
        _ replicas: [ReplicaID],
        in space: SpaceName,
        at now: Timestamp
    ) throws {
        try writing { try $0.leaveOpen(replicas, in: space, at: now) }
    }
}

extension Connection {
    func leaveOpen(_ replicas: [ReplicaID], in space: SpaceName, at now: Timestamp) throws {
        for replica in replicas {
            try run(
                """
                INSERT INTO replica (space, replica, actor, token, bound)
                VALUES (?, ?, NULL, NULL, ?) ON CONFLICT DO NOTHING
                """,
                [.text(space.text), .text(replica.text), SQLValue(now)]
            )
        }
    }

    func bind(
        _ replica: ReplicaID,
        _ space: SpaceName,
        _ holder: Holder,
        isNamed: Bool = false,
        at now: Timestamp
    ) throws {
        let (actor, token) = holder.columns
        try run(
            """
            INSERT INTO replica (space, replica, actor, token, bound, named)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                .text(space.text), .text(replica.text), actor, token, SQLValue(now),
                .integer(isNamed ? 1 : 0),
            ]
        )
    }

    fileprivate func owner(
        of replica: ReplicaID,
        in space: SpaceName
    ) throws -> ControlFile.Owner {
        let rows = try run(
            "SELECT actor, token, named FROM replica WHERE space = ? AND replica = ?",
            [.text(space.text), .text(replica.text)]
        )
        guard let row = rows.first else { return .nobody }
        let isNamed = row[2] != .integer(0)
        switch (row[0], row[1]) {
        case (.null, .null): return .anybody
        case (.text(let actor), .null): return .holder(.actor(actor), isNamed: isNamed)
        case (.null, .text(let text)):
            if let token = TokenID(text: text) { return .holder(.token(token), isNamed: isNamed) }
        default: break
        }
        throw ControlError.damaged(what: "a row of `replica` is none")
    }
}

extension Holder {
    /// The columns `actor` and `token` of its replicas.
    var columns: (actor: SQLValue, token: SQLValue) {
        switch self {
        case .actor(let actor): (.text(actor), .null)
        case .token(let id): (.null, .text(id.text))
        }
    }
}
