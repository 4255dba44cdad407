package import DiarioCore
import DiarioCrypto
import DiarioSQLite
import DiarioStorage

// Tokens: schema/format/control.md, section 5.

extension ControlFile {
    /// Makes a token for a space that has a name; it is durable then.
    ///
    /// With `replacing`, that token is revoked, and what belonged to it belongs to the new one, as
    /// do its roles if the draft has none.
    package func makeToken(
        _ draft: TokenDraft,
        replacing old: TokenID? = nil,
        drawnFrom entropy: any EntropySource = SystemEntropy(),
        at now: Timestamp = SystemClock().now
    ) throws -> (key: TokenKey, token: Token) {
        if let fault = draft.fault(at: now) { throw ControlError.invalid(fault) }
        let key = TokenKey(drawnFrom: entropy)
        let token = try writing { connection in
            try connection.checkSpace(draft.space)
            var draft = draft
            if draft.roles.isEmpty, let old {
                draft.roles = try connection.token(old)?.roles ?? []
            }
            try connection.insert(draft, key, at: now)
            guard let token = try connection.token(key.id) else {
                throw ControlError.damaged(what: "a new token is gone")
            }
            if let old { try connection.replace(old, by: token, at: now) }
            return token
        }
        return (key, token)
    }

    /// Lets a token be valid no more; false if it was revoked before.
    package func revokeToken(_ id: TokenID, at now: Timestamp = SystemClock().now) throws -> Bool {
        try writing { connection in
            guard let token = try connection.token(id) else {
                throw ControlError.unknownToken(id.text)
            }
            guard token.revoked == nil else { return false }
            try connection.run(
                "UPDATE token SET revoked = ? WHERE id = ?",
                [SQLValue(now), .text(id.text)]
            )
            return true
        }
    }

    /// Another one than before if tokens were made, revoked or removed meanwhile.
    package struct Revocations: Hashable, Sendable {
        fileprivate let row: [SQLValue]
    }

    /// Costs little unless somebody wrote since it was asked last.
    package func revocations() throws -> Revocations {
        try reading { state in
            if let known = state.revocations { return known }
            let found = try state.connection.run(
                "SELECT count(*), count(revoked), total(revoked) FROM token",
                []
            )
            let revocations = Revocations(row: found.first ?? [])
            state.revocations = revocations
            return revocations
        }
    }

    /// All tokens, or those of a space, the oldest first.
    package func tokens(of space: SpaceName? = nil) throws -> [Token] {
        try reading { state in
            try state.connection.tokens(
                (space == nil ? "" : "WHERE space = ? ") + "ORDER BY created, id",
                space.map { [.text($0.text)] } ?? []
            )
        }
    }

    /// The token that a text is, and its space; nil if it is none that is valid now.
    ///
    /// How long this takes does not depend on how much of the text is right.
    package func bearer(
        of text: some StringProtocol,
        at now: Timestamp
    ) throws -> (token: Token, space: NamedSpace?)? {
        guard let key = TokenKey(text: text) else { return nil }
        let hash = key.hash
        return try reading { state in
            let known = try state.token(key.id)
            let isRight = hash.isEqualInConstantTime(to: known?.hash ?? .zero)
            guard let known, isRight, known.isValid(at: now) else { return nil }
            return (known, try state.space(known.space))
        }
    }

    /// Writes down that a token is used, unless that was done within the hour.
    package func noteUse(of token: Token, at now: Timestamp) throws {
        let hour: Int64 = 3_600_000
        let start = now.milliseconds - (now.milliseconds % hour + hour) % hour
        guard (token.used?.milliseconds ?? .min) < start else { return }
        try writing { connection in
            try connection.run(
                "UPDATE token SET used = ? WHERE id = ? AND coalesce(used, ?) < ?",
                [.integer(start), .text(token.id.text), .integer(.min), .integer(start)]
            )
        }
    }
}

extension ControlFile.State {
    fileprivate mutating func token(_ id: TokenID) throws -> Token? {
        if let known = tokens[id] { return known }
        let found = try connection.token(id)
        // Only what is there, or guesses would fill the memory.
        if let found { tokens[id] = found }
        return found
    }
}

extension Connection {
    fileprivate func insert(_ draft: TokenDraft, _ key: TokenKey, at now: Timestamp) throws {
        try run(
            """
            INSERT INTO token (id, hash, space, rights, actor, label, created, expires,
                requestsPerSecond, eventsPerSecond, blobBytesMax, roles, queries)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(key.id.text), .blob(key.hash.bytes), .text(draft.space.text),
                .integer(Int64(draft.rights.rawValue)), SQLValue(draft.actor),
                SQLValue(draft.label),
                SQLValue(now), SQLValue(draft.expires), SQLValue(draft.requestsPerSecond),
                SQLValue(draft.eventsPerSecond), SQLValue(draft.blobBytesMax),
                SQLValue(PackWords.column(draft.roles)),
                SQLValue(PackWords.column(draft.queries.map(\.text))),
            ]
        )
    }

    fileprivate func replace(_ old: TokenID, by new: Token, at now: Timestamp) throws {
        guard let token = try token(old), token.space == new.space else {
            throw ControlError.unknownToken(old.text)
        }
        guard token.actor == nil || token.actor == new.actor else {
            throw ControlError.invalid(
                "The token \(old.text) is of another actor, to whom its replicas belong. Name that "
                    + "one, or make a token that may relay."
            )
        }
        try run(
            "UPDATE token SET revoked = coalesce(revoked, ?) WHERE id = ?",
            [SQLValue(now), .text(old.text)]
        )
        let (actor, id) = new.holder.columns
        try run(
            "UPDATE replica SET actor = ?, token = ? WHERE space = ? AND token = ?",
            [actor, id, .text(new.space.text), .text(old.text)]
        )
    }

    fileprivate func token(_ id: TokenID) throws -> Token? {
        try tokens("WHERE id = ?", [.text(id.text)]).first
    }

    /// The tokens for which a condition holds.
    func tokens(_ condition: String = "", _ values: [SQLValue] = []) throws -> [Token] {
        let newer = try columns([
            ("blobBytesMax", since: 2), ("roles", since: 3), ("queries", since: 3),
        ])
        return try run(
            """
            SELECT id, hash, space, rights, actor, label, created, expires, revoked, used,
                requestsPerSecond, eventsPerSecond, \(newer)
            FROM token
            """ + " " + condition,
            values
        ).map { try Token($0) }
    }
}

extension Token {
    fileprivate init(_ row: [SQLValue]) throws {
        guard let id = row[0].asText.flatMap({ TokenID(text: $0) }),
            case .blob(let bytes) = row[1], let hash = Hash32(bytes.span),
            let space = row[2].asText.flatMap({ SpaceName($0) }),
            let bits = row[3].asInteger.flatMap({ UInt8(exactly: $0) }), bits < 32,
            let created = row[6].asTime
        else { throw ControlError.damaged(what: "a row of `token` is none") }
        let rights = Caller.Rights(rawValue: bits)
        let roles = try PackWords.words(row[13], of: "token") { PackWords.isRole($0) ? $0 : nil }
        let queries = try PackWords.words(row[14], of: "token") { QueryPattern($0) }
        guard rights.askFault(queries) == nil else {
            throw ControlError.damaged(what: "a row of `token` is none")
        }
        var rates = TokenRates()
        if let rate = row[10].asCount { rates.requestsPerSecond = rate }
        if let rate = row[11].asCount { rates.eventsPerSecond = rate }
        if let bytes = row[12].asCount { rates.blobBytes = bytes }
        self.init(
            id: id,
            space: space,
            rights: rights,
            actor: row[4].asText,
            roles: roles,
            queries: queries,
            label: row[5].asText,
            created: created,
            expires: row[7].asTime,
            revoked: row[8].asTime,
            used: row[9].asTime,
            rates: rates,
            hash: hash
        )
    }
}

extension TokenDraft {
    /// Why no token can be like this; nil if one can.
    fileprivate func fault(at now: Timestamp) -> String? {
        if rights.isEmpty { return "A token without rights is of no use." }
        if let expires, expires <= now {
            return "The token would end before it begins. Give a later time."
        }
        if let fault = rights.askFault(queries) { return fault }
        if let fault = PackWords.fault(in: queries) ?? PackWords.fault(inRoles: roles) {
            return fault
        }
        let texts = [
            ("An actor", actor, Limits.actorSizeMax), ("A label", label, Limits.tokenLabelSizeMax),
        ]
        for case (let noun, let text?, let sizeMax) in texts {
            guard 1...sizeMax ~= text.utf8.count, !text.utf8.contains(0) else {
                return "\(noun) has 1 to \(sizeMax) bytes, none of them 0."
            }
        }
        let rates = [requestsPerSecond, eventsPerSecond].compactMap(\.self)
        return rates.contains { $0 < 1 } ? "A rate is at least 1 in a second." : nil
    }
}

extension Caller.Rights {
    /// Why no token has these rights and is for these queries; nil if one can.
    fileprivate func askFault(_ queries: [QueryPattern]) -> String? {
        if contains(.ask) != !queries.isEmpty {
            return "The right ask and patterns of queries are given together: --queries PACK.QUERY."
        }
        return contains(.ask) && self != .ask
            ? "The right ask is for named queries and nothing else. Give it alone, or the right "
                + "read, which answers all queries." : nil
    }
}
