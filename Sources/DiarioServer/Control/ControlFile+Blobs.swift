package import DiarioCore
package import DiarioCrypto
import DiarioSQLite
import DiarioSync

// Blobs that were sent to spaces: schema/format/control.md, section 10.

/// A blob that was sent to a space, and of which nobody knows yet that an event refers to it.
package struct UnreferredBlob: Hashable, Sendable {
    package let id: Hash32
    package let space: SpaceName
}

extension ControlFile {
    /// Notes that a blob of `size` stored bytes comes to a space, and counts it for its quotas.
    ///
    /// Durable when it returns. One that is known already keeps its time.
    package func beginBlob(
        _ id: Hash32,
        size: Int64,
        in space: NamedSpace,
        with token: Token,
        at now: Timestamp
    ) throws {
        let name = space.name.text
        let refusal = try writing { connection -> Refusal? in
            let others = "space = ? AND id <> ?"
            let ofSpace = try connection.blobSize(others, [.text(name), .text(id.text)])
            guard size <= Int64(space.quota.blobBytes) - ofSpace else {
                return Self.full("The space", ofSpace, size, space.quota.blobBytes)
            }
            let ofToken = try connection.blobSize(
                others + " AND token = ?",
                [.text(name), .text(id.text), .text(token.id.text)]
            )
            guard size <= Int64(token.rates.blobBytes) - ofToken else {
                return Self.full("The token", ofToken, size, token.rates.blobBytes)
            }
            try connection.run(
                """
                INSERT INTO blob (space, id, token, size, began) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET token = excluded.token, size = excluded.size
                """,
                [
                    .text(name), .text(id.text), .text(token.id.text), .integer(size),
                    SQLValue(now),
                ]
            )
            return nil
        }
        if let refusal { throw refusal }
    }

    private static func full(
        _ what: String,
        _ size: Int64,
        _ more: Int64,
        _ sizeMax: Int
    ) -> Refusal {
        Refusal(
            .full,
            "\(what) has \(size) bytes of blobs and may have \(sizeMax), so \(more) more do not "
                + "fit. Ask its administrator for more."
        )
    }

    /// Those of these blobs that were sent to a space, whole or not, with their sizes as noted.
    package func sentBlobs(
        among ids: [Hash32],
        to space: SpaceName
    ) throws -> [Hash32: Int64] {
        try reading { state in
            let statement = try state.connection.prepare(
                "SELECT size FROM blob WHERE space = ? AND id = ?"
            )
            var found: [Hash32: Int64] = [:]
            for id in ids {
                try statement.bind(.text(space.text), at: 1)
                try statement.bind(.text(id.text), at: 2)
                if try statement.step() { found[id] = statement.integer(at: 0) }
                statement.reset()
            }
            return found
        }
    }

    /// The blobs that came before a time, and of which nobody knows that an event refers to them.
    package func unreferredBlobs(before time: Timestamp) throws -> [UnreferredBlob] {
        try reading { state in
            try state.connection.run(
                "SELECT id, space FROM blob WHERE isReferred = 0 AND began < ? ORDER BY space, id",
                [SQLValue(time)]
            ).compactMap { row in
                guard let id = row[0].asText.flatMap({ Hash32(text: $0) }),
                    let space = row[1].asText.flatMap({ SpaceName($0) })
                else { return nil }
                return UnreferredBlob(id: id, space: space)
            }
        }
    }

    /// Notes that an event refers to a blob: nobody has to look at it again.
    package func noteReferred(_ blob: UnreferredBlob) throws {
        try writing { connection in
            try connection.run(
                "UPDATE blob SET isReferred = 1 WHERE space = ? AND id = ?",
                [.text(blob.space.text), .text(blob.id.text)]
            )
        }
    }

    /// Forgets a blob that was sent to a space; true if another space was sent it too.
    package func forgetBlob(_ id: Hash32, in space: SpaceName) throws -> Bool {
        try writing { connection in
            try connection.run(
                "DELETE FROM blob WHERE space = ? AND id = ?",
                [.text(space.text), .text(id.text)]
            )
            return try !connection.run("SELECT 1 FROM blob WHERE id = ?", [.text(id.text)]).isEmpty
        }
    }
}

extension Connection {
    /// The stored bytes of the blobs for which a condition holds.
    fileprivate func blobSize(_ condition: String, _ values: [SQLValue]) throws -> Int64 {
        try run("SELECT sum(size) FROM blob WHERE " + condition, values)
            .first?.first?.asInteger ?? 0
    }
}

/// The ledger of a space of a server, in its control file.
package struct ControlLedger: BlobLedger {
    private let control: ControlFile
    private let space: NamedSpace
    /// Nil where nothing is sent.
    private let token: Token?
    private let now: Timestamp

    package init(_ control: ControlFile, _ space: NamedSpace, _ token: Token?, at now: Timestamp) {
        self.control = control
        self.space = space
        self.token = token
        self.now = now
    }

    package func begin(_ id: Hash32, size: Int64) throws {
        guard let token else { preconditionFailure("who sends a blob has a token") }
        try control.beginBlob(id, size: size, in: space, with: token, at: now)
    }

    package func sent(among ids: [Hash32]) throws -> [Hash32: Int64] {
        try control.sentBlobs(among: ids, to: space.name)
    }

    package func forget(_ id: Hash32) throws -> Bool {
        try control.forgetBlob(id, in: space.name)
    }
}
