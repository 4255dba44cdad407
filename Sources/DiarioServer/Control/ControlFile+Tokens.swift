package import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioSQLite
import DiarioStorage

// Tokens: schema/format/control.md, section 5.

extension ControlFile {
    /// Makes a token for a space that has a name; it is durable then.
    ///
    /// With `replacing`, that token is revoked, and what belonged to it belongs to the new one.
    package func makeToken(
        _ draft: TokenDraft,
        replacing old: TokenID? = nil,
        drawnFrom entropy: any EntropySource = SystemEntropy(),
        at now: Timestamp = SystemClock().now
    ) throws(ControlError) -> (key: TokenKey, token: Token) {
        try Self.check(draft, at: now)
        let key = TokenKey(drawnFrom: entropy)
        let token = try writing { (connection) throws(ControlError) in
            _ = try Self.space(draft.space, connection)
            try Self.insert(draft, key, at: now, connection)
            let made = try Self.tokens(connection, "WHERE id = ?", [.text(key.id.text)])
            guard let token = made.first else { throw .damaged(what: "a new token is gone") }
            if let old { try Self.replace(old, by: token, at: now, connection) }
            return token
        }
        return (key, token)
    }

    private static func check(
        _ draft: TokenDraft,
        at now: Timestamp
    ) throws(ControlError) {
        guard !draft.rights.isEmpty else { throw .invalid("A token without rights is of no use.") }
        if let expires = draft.expires, expires <= now {
            throw .invalid("The token would end before it begins. Give a later time.")
        }
        if let actor = draft.actor {
            guard 1...Limits.actorSizeMax ~= actor.utf8.count, !actor.utf8.contains(0) else {
                throw .invalid("An actor has 1 to \(Limits.actorSizeMax) bytes, none of them 0.")
            }
        }
        if let label = draft.label {
            guard 1...Limits.tokenLabelSizeMax ~= label.utf8.count, !label.utf8.contains(0) else {
                throw .invalid(
                    "A label has 1 to \(Limits.tokenLabelSizeMax) bytes, none of them 0."
                )
            }
        }
        for rate in [draft.requestsPerSecond, draft.eventsPerSecond] {
            guard (rate ?? 1) > 0 else { throw .invalid("A rate is at least 1 in a second.") }
        }
    }

    private static func insert(
        _ draft: TokenDraft,
        _ key: TokenKey,
        at now: Timestamp,
        _ connection: borrowing Connection
    ) throws(ControlError) {
        try connection.run(
            """
            INSERT INTO token (id, hash, space, rights, actor, label, created, expires,
                requestsPerSecond, eventsPerSecond)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(key.id.text), .blob(key.hash.bytes), .text(draft.space.text),
                .integer(Int64(draft.rights.rawValue)), Value(draft.actor), Value(draft.label),
                Value(now), Value(draft.expires), Value(draft.requestsPerSecond),
                Value(draft.eventsPerSecond),
            ]
        )
    }

    private static func replace(
        _ old: TokenID,
        by new: Token,
        at now: Timestamp,
        _ connection: borrowing Connection
    ) throws(ControlError) {
        let found = try tokens(connection, "WHERE id = ?", [.text(old.text)])
        guard let token = found.first, token.space == new.space else {
            throw .unknownToken(old.text)
        }
        guard token.actor == nil || token.actor == new.actor else {
            throw .invalid(
                "The token \(old.text) is of another actor, to whom its replicas belong. Name that "
                    + "one, or make a token that may relay."
            )
        }
        try connection.run(
            "UPDATE token SET revoked = coalesce(revoked, ?) WHERE id = ?",
            [Value(now), .text(old.text)]
        )
        let isActor = new.actor != nil
        try connection.run(
            "UPDATE replica SET actor = ?, token = ? WHERE space = ? AND token = ?",
            [
                Value(new.actor), isActor ? .null : .text(new.id.text), .text(new.space.text),
                .text(old.text),
            ]
        )
    }

    /// Lets a token be valid no more; false if it was revoked before.
    package func revokeToken(
        _ id: TokenID,
        at now: Timestamp = SystemClock().now
    ) throws(ControlError) -> Bool {
        try writing { (connection) throws(ControlError) in
            let found = try Self.tokens(connection, "WHERE id = ?", [.text(id.text)])
            guard let token = found.first else { throw .unknownToken(id.text) }
            guard token.revoked == nil else { return false }
            try connection.run(
                "UPDATE token SET revoked = ? WHERE id = ?",
                [Value(now), .text(id.text)]
            )
            return true
        }
    }

    /// All tokens, or those of a space, the oldest first.
    package func tokens(of space: SpaceName? = nil) throws(ControlError) -> [Token] {
        try reading { (state) throws(ControlError) in
            guard let space else {
                return try Self.tokens(state.connection, "ORDER BY created, id", [])
            }
            return try Self.tokens(
                state.connection,
                "WHERE space = ? ORDER BY created, id",
                [.text(space.text)]
            )
        }
    }

    /// The token that a text is; nil if it is none that is valid now.
    package func token(
        _ text: some StringProtocol,
        at now: Timestamp
    ) throws(ControlError) -> Token? {
        try bearer(of: text, at: now)?.token
    }

    /// The token that a text is, and its space; nil if it is none that is valid now.
    ///
    /// How long this takes does not depend on how much of the text is right.
    package func bearer(
        of text: some StringProtocol,
        at now: Timestamp
    ) throws(ControlError) -> (token: Token, space: NamedSpace?)? {
        guard let key = TokenKey(text: text) else { return nil }
        let hash = key.hash
        return try reading { (state) throws(ControlError) in
            let known = try Self.token(key.id, in: &state)
            let isRight = hash.isEqualInConstantTime(to: known?.hash ?? .zero)
            guard let known, isRight, known.isValid(at: now) else { return nil }
            return (known, try Self.space(known.space, in: &state))
        }
    }

    private static func token(
        _ id: TokenID,
        in state: inout State
    ) throws(ControlError) -> Token? {
        if let known = state.tokens[id] { return known }
        let found = try tokens(state.connection, "WHERE id = ?", [.text(id.text)]).first
        // Only what is there, or guesses would fill the memory.
        if let found { state.tokens[id] = found }
        return found
    }

    /// Writes down that a token is used, unless that was done within the hour.
    package func noteUse(of token: Token, at now: Timestamp) throws(ControlError) {
        let hour: Int64 = 3_600_000
        let start = now.milliseconds - (now.milliseconds % hour + hour) % hour
        guard (token.used?.milliseconds ?? .min) < start else { return }
        try writing { (connection) throws(ControlError) in
            try connection.run(
                "UPDATE token SET used = ? WHERE id = ? AND coalesce(used, ?) < ?",
                [.integer(start), .text(token.id.text), .integer(.min), .integer(start)]
            )
        }
    }

    static func tokens(
        _ connection: borrowing Connection,
        _ condition: String,
        _ values: [Value]
    ) throws(ControlError) -> [Token] {
        let rows = try connection.rows(
            """
            SELECT id, hash, space, rights, actor, label, created, expires, revoked, used,
                requestsPerSecond, eventsPerSecond
            FROM token
            """ + " " + condition,
            values
        )
        var tokens: [Token] = []
        for row in rows {
            guard let id = row[0].asText.flatMap({ TokenID(text: $0) }),
                case .blob(let bytes) = row[1], let hash = Hash32(bytes.span),
                let space = row[2].asText.flatMap({ SpaceName($0) }),
                let bits = row[3].asInteger.flatMap({ UInt8(exactly: $0) }), bits < 16,
                let created = row[6].asTime
            else { throw .damaged(what: "a row of `token` is none") }
            var rates = TokenRates()
            if let rate = row[10].asCount { rates.requestsPerSecond = rate }
            if let rate = row[11].asCount { rates.eventsPerSecond = rate }
            tokens.append(
                Token(
                    id: id,
                    space: space,
                    rights: Caller.Rights(rawValue: bits),
                    actor: row[4].asText,
                    label: row[5].asText,
                    created: created,
                    expires: row[7].asTime,
                    revoked: row[8].asTime,
                    used: row[9].asTime,
                    rates: rates,
                    hash: hash
                )
            )
        }
        return tokens
    }
}
