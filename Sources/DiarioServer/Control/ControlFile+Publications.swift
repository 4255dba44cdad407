import DiarioCore
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
    func attempt(_ id: AttemptID) throws -> KnownAttempt? {
        try reading { try $0.connection.attempt(id) }
    }

    /// Writes down that an attempt is going on, and which space it fills.
    ///
    /// One to restore a space may begin again after it was adopted.
    func begin(
        _ id: AttemptID,
        of space: SpaceName,
        filling staging: SpaceID,
        at now: Timestamp
    ) throws {
        try writing { connection in
            try connection.run(
                """
                INSERT INTO publication (attempt, space, outcome, reason, staging, began)
                VALUES (?, ?, 1, 0, ?, ?)
                ON CONFLICT (attempt) DO UPDATE SET outcome = 1, staging = excluded.staging
                WHERE outcome = 2
                """,
                [.text(id.text), .text(space.text), .text(staging.text), SQLValue(now)]
            )
        }
    }

    /// The spaces that attempts under a name are filling.
    func stagings(of space: SpaceName) throws -> [SpaceID] {
        try reading { state in
            try state.connection.run(
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
    ) throws {
        let (outcome, code): (Int, Int) = reason.map { (3, Int($0.rawValue)) } ?? (2, 0)
        try writing { connection in
            try connection.run(
                """
                INSERT INTO publication (attempt, space, outcome, reason, staging, began)
                VALUES (?, ?, ?, ?, NULL, ?)
                ON CONFLICT (attempt) DO UPDATE SET outcome = excluded.outcome,
                    reason = excluded.reason, staging = NULL
                WHERE outcome = 1
                """,
                [
                    .text(id.text), .text(space.text), SQLValue(outcome), SQLValue(code),
                    SQLValue(now),
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
    ) throws {
        try writing { connection in
            guard try connection.attempt(id)?.outcome == .goesOn(space) else {
                throw ControlError.invalid("This attempt to publish has come to its end.")
            }
            // The rows of replicas are of the space that had the name.
            try connection.run("DELETE FROM replica WHERE space = ?", [.text(name.text)])
            for replica in replicas { try connection.bind(replica, name, holder, at: now) }
            try connection.replace(name, by: space, filledBy: id)
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
    ) throws {
        try writing { connection in
            guard try connection.attempt(id)?.outcome == .goesOn(space) else {
                throw ControlError.invalid("This attempt to restore has come to its end.")
            }
            try connection.leaveOpen(replicas, in: name, at: now)
            try connection.replace(name, by: space, filledBy: id)
        }
    }
}

extension Connection {
    fileprivate func attempt(_ id: AttemptID) throws -> KnownAttempt? {
        try run(
            "SELECT space, outcome, reason, staging FROM publication WHERE attempt = ?",
            [.text(id.text)]
        ).first.map { try KnownAttempt($0) }
    }

    /// Gives the name to the space that an attempt has filled.
    fileprivate func replace(
        _ name: SpaceName,
        by space: SpaceID,
        filledBy id: AttemptID
    ) throws {
        try run(
            "UPDATE space SET id = ? WHERE name = ?",
            [.text(space.text), .text(name.text)]
        )
        try run(
            "UPDATE publication SET outcome = 2, staging = NULL WHERE attempt = ?",
            [.text(id.text)]
        )
    }
}

extension KnownAttempt {
    fileprivate init(_ row: [SQLValue]) throws {
        let staging = row[3].asText.flatMap { SpaceID(text: $0) }
        let reason = row[2].asInteger.flatMap { UInt8(exactly: $0) }
            .flatMap { Publication.Reason(rawValue: $0) }
        let outcome: Outcome? =
            switch (row[1], staging, reason) {
            case (.integer(1), let staging?, nil): .goesOn(staging)
            case (.integer(2), _, nil): .adopted
            case (.integer(3), _, let reason?): .ended(reason)
            default: nil
            }
        guard let space = row[0].asText.flatMap({ SpaceName($0) }), let outcome else {
            throw ControlError.damaged(what: "a row of `publication` is none")
        }
        self.init(space: space, outcome: outcome)
    }
}
