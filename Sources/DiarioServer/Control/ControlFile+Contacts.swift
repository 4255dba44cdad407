package import DiarioCore
import DiarioSQLite

// When replicas were last heard of: schema/format/control.md, section 9.

/// A replica as the server knows it.
package struct KnownReplica: Hashable, Sendable {
    package let id: ReplicaID
    /// Nil if it has no holder, because it never pushed.
    package let holder: Holder?
    package let bound: Timestamp?
    /// When it was last heard of.
    package let seen: Timestamp?
}

/// A replica and when it was heard of.
package struct Contact: Hashable, Sendable {
    package let space: SpaceName
    package let replica: ReplicaID
    package let seen: Timestamp

    package init(space: SpaceName, replica: ReplicaID, seen: Timestamp) {
        self.space = space
        self.replica = replica
        self.seen = seen
    }
}

extension ControlFile {
    /// Writes down when replicas were heard of.
    package func note(_ contacts: [Contact]) throws {
        try writing { connection in
            for contact in contacts {
                // Whoever has a token may name any replica; that must not fill the disk.
                try connection.run(
                    """
                    INSERT INTO contact (space, replica, seen) SELECT ?1, ?2, ?3
                    WHERE (SELECT count(*) FROM contact WHERE space = ?1) < ?4
                        OR EXISTS (SELECT 1 FROM contact WHERE space = ?1 AND replica = ?2)
                    ON CONFLICT DO UPDATE SET seen = max(seen, excluded.seen)
                    """,
                    [
                        .text(contact.space.text), .text(contact.replica.text),
                        SQLValue(contact.seen), SQLValue(Limits.holderReplicaCountMax),
                    ]
                )
            }
        }
    }

    /// The replicas of a space, those first that were heard of last.
    package func replicas(of space: SpaceName) throws -> [KnownReplica] {
        try reading { state in
            try state.connection.run(
                """
                SELECT coalesce(replica.replica, contact.replica), replica.actor, replica.token,
                    replica.bound, contact.seen
                FROM (SELECT * FROM replica WHERE space = ?1) AS replica
                FULL JOIN (SELECT * FROM contact WHERE space = ?1) AS contact
                    ON contact.replica = replica.replica
                ORDER BY 5 DESC, 4 DESC, 1
                """,
                [.text(space.text)]
            ).map { try KnownReplica($0) }
        }
    }
}

extension KnownReplica {
    fileprivate init(_ row: [SQLValue]) throws {
        guard let id = row[0].asText.flatMap({ ReplicaID(text: $0) }) else {
            throw ControlError.damaged(what: "a row of `replica` is none")
        }
        self.id = id
        let token = row[2].asText.flatMap { TokenID(text: $0) }
        holder = row[1].asText.map { .actor($0) } ?? token.map { .token($0) }
        (bound, seen) = (row[3].asTime, row[4].asTime)
    }
}
