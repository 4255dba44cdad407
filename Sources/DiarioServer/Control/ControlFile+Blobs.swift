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
    /// Notes that a blob comes to a space, or has come, and counts it for its quotas.
    ///
    /// Durable when it returns. One that is known already keeps its time.
    package func noteBlob(
        _ id: Hash32,
        _ sent: SentBlob,
        in space: NamedSpace,
        with token: Token,
        at now: Timestamp
    ) throws {
        let key = [SQLValue.text(space.name.text), .text(id.text), .text(Self.coming(id))]
        let row: [SQLValue] = [
            key[0], key[sent.isWhole ? 1 : 2], .text(token.id.text), .integer(sent.size),
            SQLValue(now),
        ]
        let refusal = try writing { connection -> Refusal? in
            let (ofSpace, ofToken) = try connection.blobTotals(key + [row[2]])
            let spaceMax = (Limits.spaceBlobCountMax, Int64(space.quota.blobBytes))
            if let refusal = ofSpace.refusal("The space", adding: sent.size, spaceMax) {
                return refusal
            }
            let tokenMax = (Limits.tokenBlobCountMax, Int64(token.rates.blobBytes))
            if let refusal = ofToken.refusal("The token", adding: sent.size, tokenMax) {
                return refusal
            }
            if sent.isWhole {
                let coming = "UPDATE OR REPLACE blob SET id = ?2 WHERE space = ?1 AND id = ?3"
                try connection.run(coming, key)
            }
            try connection.run(
                """
                INSERT INTO blob (space, id, token, size, began) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET token = excluded.token, size = excluded.size
                """,
                row
            )
            return nil
        }
        if let refusal { throw refusal }
    }

    /// The id in the row of a blob of which not all bytes have come.
    private static func coming(_ id: Hash32) -> String { id.text + comingSuffix }
    private static let comingSuffix = ".part"

    /// Those of these blobs that were sent to a space, whole or not.
    package func sentBlobs(
        among ids: [Hash32],
        to space: SpaceName
    ) throws -> [Hash32: SentBlob] {
        try reading { state in
            let statement = try state.connection.prepare(
                "SELECT size FROM blob WHERE space = ? AND id = ?"
            )
            var found: [Hash32: SentBlob] = [:]
            for id in ids {
                for isWhole in [true, false] where found[id] == nil {
                    try statement.bind(.text(space.text), at: 1)
                    try statement.bind(.text(isWhole ? id.text : Self.coming(id)), at: 2)
                    if try statement.step() {
                        found[id] = SentBlob(size: statement.integer(at: 0), isWhole: isWhole)
                    }
                    statement.reset()
                }
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
                guard let id = row[0].asText.flatMap({ Hash32(text: String($0.prefix(64))) }),
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
                "UPDATE blob SET isReferred = 1 WHERE space = ? AND id IN (?, ?)",
                [.text(blob.space.text), .text(blob.id.text), .text(Self.coming(blob.id))]
            )
        }
    }

    /// Forgets that a blob comes to a space, unless it has come.
    package func giveUpBlob(_ id: Hash32, in space: SpaceName) throws {
        try writing { connection in
            try connection.run(
                "DELETE FROM blob WHERE space = ? AND id = ?",
                [.text(space.text), .text(Self.coming(id))]
            )
        }
    }

    /// Forgets a blob that was sent to a space; true if another space was sent it too.
    package func forgetBlob(_ id: Hash32, in space: SpaceName) throws -> Bool {
        try writing { connection in
            try connection.run(
                "DELETE FROM blob WHERE space = ? AND id IN (?, ?)",
                [.text(space.text), .text(id.text), .text(Self.coming(id))]
            )
            return try !connection.run("SELECT 1 FROM blob WHERE id = ?", [.text(id.text)]).isEmpty
        }
    }
}

/// How many blobs there are, and their stored bytes.
private struct BlobTotal {
    let count: Int64
    let size: Int64

    /// Why one more blob does not fit; nil if it does.
    func refusal(
        _ what: String,
        adding more: Int64,
        _ most: (count: Int64, size: Int64)
    ) -> Refusal? {
        guard count < most.count else {
            return Refusal(
                .full,
                "\(what) has \(count) blobs and may have no more. Those that no event refers to "
                    + "are removed after \(Limits.blobKeptDaysMax) days."
            )
        }
        guard more <= most.size - size else {
            return Refusal(
                .full,
                "\(what) has \(size) bytes of blobs and may have \(most.size), so \(more) more do "
                    + "not fit. Ask its administrator for more."
            )
        }
        return nil
    }
}

extension Connection {
    /// The blobs that were sent to a space, and those of them with a token, without one blob.
    ///
    /// `values` are the space, the two ids of the blob and the token. All rows of the space are
    /// read.
    fileprivate func blobTotals(
        _ values: [SQLValue]
    ) throws -> (ofSpace: BlobTotal, ofToken: BlobTotal) {
        let row = try run(
            """
            SELECT count(*), sum(size), count(*) FILTER (WHERE token = ?4),
                sum(size) FILTER (WHERE token = ?4)
            FROM blob WHERE space = ?1 AND id NOT IN (?2, ?3)
            """,
            values
        )[0].map { $0.asInteger ?? 0 }
        return (BlobTotal(count: row[0], size: row[1]), BlobTotal(count: row[2], size: row[3]))
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

    package func note(_ id: Hash32, _ sent: SentBlob) throws {
        guard let token else { preconditionFailure("who sends a blob has a token") }
        try control.noteBlob(id, sent, in: space, with: token, at: now)
    }

    package func sent(among ids: [Hash32]) throws -> [Hash32: SentBlob] {
        try control.sentBlobs(among: ids, to: space.name)
    }

    package func giveUp(_ id: Hash32) throws { try control.giveUpBlob(id, in: space.name) }

    package func forget(_ id: Hash32) throws -> Bool {
        try control.forgetBlob(id, in: space.name)
    }
}
