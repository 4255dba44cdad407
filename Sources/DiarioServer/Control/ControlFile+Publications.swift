import DiarioCore
import DiarioLog
import DiarioSQLite
import DiarioSync

// Attempts to publish and their outcomes: schema/format/control.md, section 8.

/// An attempt to publish a space, as it is kept.
struct KnownAttempt: Equatable, Sendable {
    enum Outcome: Equatable, Sendable {
        /// This space is being filled.
        case goesOn(SpaceID)
        case adopted
        case ended(Publication.Reason)
    }

    let space: SpaceName
    let outcome: Outcome
}

extension ControlFile {
    /// The stored attempt; nil if there is none.
    func attempt(_ id: AttemptID) throws(ControlError) -> KnownAttempt? {
        try reading { (state) throws(ControlError) in try Self.attempt(id, state.connection) }
    }

    private static func attempt(
        _ id: AttemptID,
        _ connection: borrowing Connection
    ) throws(ControlError) -> KnownAttempt? {
        let rows = try connection.rows(
            "SELECT space, outcome, reason, staging FROM publication WHERE attempt = ?",
            [.text(id.text)]
        )
        guard let row = rows.first else { return nil }
        let staging = row[3].asText.flatMap { SpaceID(text: $0) }
        let reason = row[2].asInteger.flatMap { UInt8(exactly: $0) }
            .flatMap { Publication.Reason(rawValue: $0) }
        guard let space = row[0].asText.flatMap({ SpaceName($0) }) else {
            throw .damaged(what: "a row of `publication` is none")
        }
        switch (row[1], staging, reason) {
        case (.integer(1), let staging?, nil):
            return KnownAttempt(space: space, outcome: .goesOn(staging))
        case (.integer(2), _, nil): return KnownAttempt(space: space, outcome: .adopted)
        case (.integer(3), _, let reason?):
            return KnownAttempt(space: space, outcome: .ended(reason))
        default: throw .damaged(what: "a row of `publication` is none")
        }
    }

    /// Writes down that an attempt is going on, and which space it fills.
    ///
    /// One to restore a space may begin again after it was adopted.
    func begin(
        _ id: AttemptID,
        of space: SpaceName,
        filling staging: SpaceID,
        at now: Timestamp
    ) throws(ControlError) {
        try writing { (connection) throws(ControlError) in
            try connection.run(
                """
                INSERT INTO publication (attempt, space, outcome, reason, staging, began)
                VALUES (?, ?, 1, 0, ?, ?)
                ON CONFLICT (attempt) DO UPDATE SET outcome = 1, staging = excluded.staging
                WHERE outcome = 2
                """,
                [.text(id.text), .text(space.text), .text(staging.text), Value(now)]
            )
        }
    }

    /// The spaces that attempts under a name are filling.
    func stagings(of space: SpaceName) throws(ControlError) -> [SpaceID] {
        try reading { (state) throws(ControlError) in
            try state.connection.rows(
                "SELECT staging FROM publication WHERE space = ? AND outcome = 1",
                [.text(space.text)]
            ).compactMap { $0[0].asText.flatMap { SpaceID(text: $0) } }
        }
    }

    /// Writes down that an attempt has come to its end, unless it had one.
    func settle(
        _ id: AttemptID,
        of space: SpaceName,
        _ reason: Publication.Reason?,
        at now: Timestamp
    ) throws(ControlError) {
        let (outcome, code): (Int, Int) = reason.map { (3, Int($0.rawValue)) } ?? (2, 0)
        try writing { (connection) throws(ControlError) in
            try connection.run(
                """
                INSERT INTO publication (attempt, space, outcome, reason, staging, began)
                VALUES (?, ?, ?, ?, NULL, ?)
                ON CONFLICT (attempt) DO UPDATE SET outcome = excluded.outcome,
                    reason = excluded.reason, staging = NULL
                WHERE outcome = 1
                """,
                [
                    .text(id.text), .text(space.text), Value(outcome), Value(code), Value(now),
                ]
            )
        }
    }

    /// Gives a name to the space that an attempt has filled, and its replicas to a holder.
    func adopt(
        _ space: SpaceID,
        as name: SpaceName,
        by id: AttemptID,
        _ replicas: [ReplicaID],
        of holder: Holder,
        at now: Timestamp
    ) throws(ControlError) {
        try writing { (connection) throws(ControlError) in
            guard try Self.attempt(id, connection)?.outcome == .goesOn(space) else {
                throw .invalid("This attempt to publish has come to its end.")
            }
            // The rows of replicas are of the space that had the name.
            try connection.run("DELETE FROM replica WHERE space = ?", [.text(name.text)])
            for replica in replicas {
                try Self.insert(replica, name, holder, at: now, connection)
            }
            try Self.rename(space, as: name, by: id, connection)
        }
    }

    /// Gives a name to the space that an attempt to restore has filled; replicas stay with their
    /// holders, and one without a row belongs to the next holder that pushes under its id.
    func restore(
        _ space: SpaceID,
        as name: SpaceName,
        by id: AttemptID,
        _ replicas: [ReplicaID],
        at now: Timestamp
    ) throws(ControlError) {
        try writing { (connection) throws(ControlError) in
            guard try Self.attempt(id, connection)?.outcome == .goesOn(space) else {
                throw .invalid("This attempt to restore has come to its end.")
            }
            try Self.leaveOpen(replicas, in: name, at: now, connection)
            try Self.rename(space, as: name, by: id, connection)
        }
    }

    private static func rename(
        _ space: SpaceID,
        as name: SpaceName,
        by id: AttemptID,
        _ connection: borrowing Connection
    ) throws(ControlError) {
        try connection.run(
            "UPDATE space SET id = ? WHERE name = ?",
            [.text(space.text), .text(name.text)]
        )
        try connection.run(
            "UPDATE publication SET outcome = 2, staging = NULL WHERE attempt = ?",
            [.text(id.text)]
        )
    }
}
