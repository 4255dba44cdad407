import Diario
import DiarioCore
import DiarioHost
import DiarioServer

extension Command {
    static let tokenCreate = Command(
        "token create",
        "make a token for a space that is served",
        on: .folder,
        details: """
            Makes a token for the space NAME and prints it, this once: only its hash is kept. With
            --output it is in FILE instead, which nobody else can read. Works beside a running
            server, which knows the token at the next request. `diario space create` makes a space.

            Rights, with commas between: read, append, relay (events of other actors and for
            replicas of others), admin (all of these, and publishing). With --actor, events that are
            pushed with it may name that actor only, unless it may relay. --role says what its
            bearer is in a pack, which decides who may record some events there.

            With --queries it is for those named queries and nothing else, the right ask: PATTERN is
            PACK.QUERY, of which QUERY may end with *.

            A replica belongs to the actor of the token with which it was first pushed, or to the
            token if it names none. --replaces gives what belongs to an old token to the new one,
            and revokes the old one; it has the roles of the old one unless --role is given.
            """,
        options: [
            .data,
            .value("space NAME", "the space that it is for"),
            .value("rights LIST", "the rights it gives: read,append if this is left out"),
            .value("actor ID", "its bearer: an opaque id, never a name"),
            .values("role NAME", "a role of its bearer, as plants.keeper; repeatable"),
            .values("queries PATTERN", "only these queries, as 'plants.public-*'; repeatable"),
            .value("label TEXT", "its name for people"),
            .value("expires TIME", "when it ends: RFC 3339, a date, or milliseconds"),
            .value("replaces TOKEN", "the id of the token whose place it takes"),
            .value("output FILE", "write the token to FILE, which must not be there yet", .file),
            .value("requests-per-second N", "how many requests may come with it"),
            .value("events-per-second N", "how many events may be pushed with it"),
            .value("blob-bytes N", "how many bytes of blobs may be sent with it in all"),
            .json,
        ],
        examples: [
            "diario token create --data ./served --space home --output home.token": "for a device",
            "diario token create --space home --rights admin --label laptop --json":
                "for the one who looks after the space",
            "diario token create --space home --queries 'plants.public-*' --output page.token":
                "for a page that shows sums",
        ],
        run: { try TokenCommand.create($0) }
    )

    static let tokenList = Command(
        "token list",
        "list the tokens of a server",
        on: .folder,
        details: """
            Lists tokens by their ids, revoked and expired ones among them; the tokens themselves
            are kept nowhere. When one was used is known to the hour.
            """,
        options: [.data, .value("space NAME", "only those of one space"), .json],
        examples: ["diario token list --data ./served": "all of them"],
        run: { try TokenCommand.list($0) }
    )

    static let tokenRevoke = Command(
        "token revoke",
        "make a token invalid",
        on: .folder,
        takes: [.one("TOKEN")],
        details: """
            TOKEN is its id, as `token list` shows it. A running server refuses it from the next
            request on. Events that were pushed with it stay.
            """,
        options: [.data, .json],
        examples: ["diario token revoke 7zk3m9q2c1f4a --data ./served": "one that was lost"],
        run: { try TokenCommand.revoke($0) }
    )
}

/// The commands `diario token create`, `list` and `revoke`.
enum TokenCommand {
    static func create(_ call: Invocation) throws {
        let draft = try draft(call)
        if !draft.roles.isEmpty {
            try call.withData { try draft.checkRoles(of: $0.packs(of: draft.space)) }
        }
        let old = try call.value("replaces").map { try id($0, call) }
        let control = try call.withData { try $0.control(for: .writing) }
        // First: a token that nobody got to see would be valid all the same.
        let file = try call.value("output").map { try NewFile(secret: $0) }
        let (key, token): (TokenKey, Token)
        do {
            (key, token) = try call.withData { _ in try control.makeToken(draft, replacing: old) }
            try file?.output.line(key.text)
            try file?.finish()
        } catch {
            file?.remove()
            throw error
        }
        try call.answer(
            file.map { "the token \(token.id.text) is in \($0.shown)" } ?? key.text,
            ["token": ifKnown(file == nil ? key.text : nil)] + fields(token)
        )
        if file == nil, !call.isJSON { call.remark("keep the token: it is not shown again") }
        call.remarkUnmatched(token.queries, in: token.space)
        call.remarkUnnamed(token)
    }

    private static func draft(_ call: Invocation) throws -> TokenDraft {
        let arguments = call.arguments
        guard let space = try call.wantedSpace() else {
            throw Failure.usage("token create needs --space NAME", in: arguments.command)
        }
        let queries = try call.queryPatterns()
        let words = arguments.value("rights") ?? (queries.isEmpty ? "read,append" : "ask")
        guard let rights = Caller.Rights(text: words) else {
            throw Failure.usage(
                "--rights \(CellText.oneLine(words)) is not right; give some of read, append, "
                    + "relay, admin, with commas between"
            )
        }
        let roles = arguments.all("role")
        if let wrong = roles.first(where: { !PackWords.isRole($0) }) {
            throw Failure.usage(
                "--role \(CellText.oneLine(wrong)) is not right; give PACK.ROLE, such as "
                    + "plants.keeper",
                in: arguments.command
            )
        }
        var draft = TokenDraft(space: space, rights: rights)
        draft.actor = arguments.value("actor")
        draft.roles = roles
        draft.queries = queries
        draft.label = arguments.value("label")
        draft.expires = try arguments.time("expires")
        func rate(_ name: String) throws -> Int? {
            try arguments.count(name, from: 1).map { Int(clamping: $0) }
        }
        draft.requestsPerSecond = try rate("requests-per-second")
        draft.eventsPerSecond = try rate("events-per-second")
        draft.blobBytesMax = try arguments.count("blob-bytes", from: 0).map { Int(clamping: $0) }
        return draft
    }

    private static func id(_ text: String, _ call: Invocation) throws -> TokenID {
        try call.id(text, of: "token", TokenID.init(text:))
    }

    static func list(_ call: Invocation) throws {
        let space = try call.wantedSpace()
        let tokens = try call.withData { folder in
            let control = try folder.control()
            if let space, try control.space(space) == nil {
                throw ControlError.unknownSpace(space.text)
            }
            return try control.tokens(of: space)
        }
        let now = Timestamp.now
        let columns = [
            Table.Column("token", widthMin: 13), Table.Column("space"), Table.Column("rights"),
            Table.Column("actor"), Table.Column("label"), Table.Column("created"),
            Table.Column("used"), Table.Column("state"),
        ]
        // Few have these.
        let roles = tokens.contains { !$0.roles.isEmpty } ? [Table.Column("roles")] : []
        let queries = tokens.contains { !$0.queries.isEmpty } ? [Table.Column("queries")] : []
        try call.answer(tokens, none: "no tokens", columns + roles + queries, fields) { token in
            [
                token.id.text, token.space.text, token.rights.words.joined(separator: ","),
                CellText.oneLine(token.actor ?? "-"), CellText.oneLine(token.label ?? "-"),
                Show.day(token.created), token.used.map { Show.day($0) } ?? "-",
                state(token, now),
            ] + roles.map { _ in cell(token.roles) }
                + queries.map { _ in cell(token.queries.map(\.text)) }
        }
    }

    private static func cell(_ words: [String]) -> String {
        words.isEmpty ? "-" : words.joined(separator: " ")
    }

    private static func state(_ token: Token, _ now: Timestamp) -> String {
        if token.revoked != nil { return "revoked" }
        guard let expires = token.expires else { return "valid" }
        return expires <= now ? "expired" : "until \(Show.day(expires))"
    }

    static func revoke(_ call: Invocation) throws {
        let id = try id(call.operands[0], call)
        let isNew = try call.withData { try $0.control(for: .writing).revokeToken(id) }
        try call.answer(
            "the token \(id.text) \(isNew ? "is revoked" : "was revoked before")",
            ["id": id.text, "revoked": true, "changed": isNew]
        )
    }

    private static func fields(_ token: Token) -> Fields {
        [
            "id": token.id.text, "space": token.space.text, "rights": token.rights.words,
            "actor": token.actor, "roles": token.roles, "queries": token.queries.map(\.text),
            "label": token.label, "created": Show.time(token.created),
            "expires": token.expires.map { Show.time($0) },
            "revoked": token.revoked.map { Show.time($0) },
            "used": token.used.map { Show.time($0) },
            "requestsPerSecond": token.rates.requestsPerSecond,
            "eventsPerSecond": token.rates.eventsPerSecond,
            "blobBytesMax": token.rates.blobBytes,
        ]
    }
}
