import DiarioCore
import DiarioEngine
import DiarioSchema
import DiarioServer
import DiarioStorage

// Tokens and replicas of a space, for its administrators: schema/format/control.md.

extension ServedDirectory {
    func replicas(_ question: Question) throws -> HTTPAnswer {
        writeContacts()
        let replicas = try served.control.replicas(of: question.space.name)
        return .object { json in
            json.add("replicas", list: replicas.map(\.description))
        }
    }

    func tokens(_ question: Question) throws -> HTTPAnswer {
        let tokens = try served.control.tokens(of: question.space.name)
        return .object { json in
            json.add("tokens", list: tokens.map(\.description))
        }
    }

    /// Makes a token for the space of the one that asks.
    func makeToken(_ question: Question) throws -> HTTPAnswer {
        let draft = try TokenDraft(question.request.body, space: question.space.name)
        if !draft.roles.isEmpty {
            try draft.checkRoles(of: space(question.space).refreshed().packs)
        }
        let (key, token) = try served.control.makeToken(
            draft,
            replacing: nil,
            drawnFrom: SystemEntropy(),
            at: now
        )
        return .object(status: 201) { json in
            json.add("token", key.text)
            token.describe(&json)
        }
    }

    func revokeToken(_ text: String, _ question: Question) throws -> HTTPAnswer {
        let tokens = try served.control.tokens(of: question.space.name)
        guard let id = TokenID(text: text), tokens.contains(where: { $0.id == id }) else {
            throw Problem(
                .notFound,
                "The space has no token with this id.",
                remedy: "The list of tokens has those there are."
            )
        }
        let isNew = try served.control.revokeToken(id, at: now)
        return .object { json in
            json.add("id", id.text)
            json.add("revoked", true)
            json.add("changed", isNew)
        }
    }
}

extension TokenDraft {
    /// Reads what a token is to be from the body of a request.
    fileprivate init(_ body: [UInt8], space: SpaceName) throws {
        guard case .object(let members) = try JSON.parse(body).value else {
            throw Problem(.malformed, "The body is not an object.")
        }
        self.init(space: space, rights: [.read, .append])
        for member in members {
            let words = Self.words(member.item.value)
            switch (member.key, member.item.value) {
            case ("rights", _):
                let read = words.flatMap { Caller.Rights(text: $0.joined(separator: ",")) }
                guard let read else { throw Self.wrong(member) }
                rights = read
            case ("roles", _):
                guard let words else { throw Self.wrong(member) }
                roles = words
            case ("queries", _):
                guard let words else { throw Self.wrong(member) }
                queries = words.compactMap { QueryPattern($0) }
                guard queries.count == words.count else { throw Self.wrong(member) }
            case ("actor", .string(let text)) where (1...Limits.actorSizeMax) ~= text.utf8.count:
                actor = text
            case ("label", .string(let text)) where text.utf8.count <= Limits.actorSizeMax:
                label = text
            case ("actor", _), ("label", _):
                throw Self.wrong(member)
            default:
                throw Problem(
                    .malformed,
                    "line \(member.line): there is no key `\(member.key)` here.",
                    remedy: "There is: rights, actor, roles, queries, label."
                )
            }
        }
        if !queries.isEmpty, !members.contains(where: { $0.key == "rights" }) { rights = .ask }
    }

    /// The texts that a list holds; nil if it is none, or holds something else.
    private static func words(_ value: JSON) -> [String]? {
        guard case .array(let items) = value else { return nil }
        let words = items.compactMap { item -> String? in
            if case .string(let word) = item.value { word } else { nil }
        }
        return words.count == items.count ? words : nil
    }

    private static func wrong(_ member: JSON.Member) -> Problem {
        Problem(
            .malformed,
            "line \(member.line): `\(member.key)` is not what it should be.",
            remedy:
                "`rights` is a list of read, append, relay, admin and ask, `roles` of texts such "
                + "as plants.keeper, `queries` of texts such as plants.public-*; `actor` and "
                + "`label` are texts of at most \(Limits.actorSizeMax) bytes."
        )
    }
}

extension Token {
    fileprivate var description: [UInt8] { JSONObjectWriter.object { describe(&$0) } }

    /// All but the text that it is.
    fileprivate func describe(_ json: inout JSONObjectWriter) {
        json.add("id", id.text)
        json.add("rights", list: rights.words.map { JSONText.string($0) })
        json.add("actor", ifKnown: actor)
        if !roles.isEmpty { json.add("roles", list: roles.map { JSONText.string($0) }) }
        if !queries.isEmpty {
            json.add("queries", list: queries.map { JSONText.string($0.text) })
        }
        json.add("label", ifKnown: label)
        json.add("created", ifKnown: created)
        json.add("expires", ifKnown: expires)
        json.add("revoked", ifKnown: revoked)
        json.add("used", ifKnown: used)
    }
}

extension KnownReplica {
    fileprivate var description: [UInt8] {
        JSONObjectWriter.object { json in
            json.add("replica", id.text)
            switch holder {
            case .actor(let actor): json.add("actor", actor)
            case .token(let token): json.add("token", token.text)
            case nil: break
            }
            json.add("bound", ifKnown: bound)
            json.add("seen", ifKnown: seen)
        }
    }
}

extension JSONObjectWriter {
    fileprivate mutating func add(_ key: String, ifKnown text: String?) {
        if let text { add(key, text) }
    }

    fileprivate mutating func add(_ key: String, ifKnown time: Timestamp?) {
        guard let time else { return }
        var bytes: [UInt8] = []
        CivilTime.appendDateTime(CivilTime.clamped(time), to: &bytes)
        add(key, String(decoding: bytes, as: UTF8.self))
    }
}
