import DiarioSchema
import DiarioCore
import DiarioServer
import DiarioStorage

/// The commands `diario token create`, `list` and `revoke`.
enum TokenCommand {
    static func create(_ call: Invocation) throws(Failure) {
        let draft = try draft(call)
        var old: TokenID?
        if let text = call.arguments.value("replaces") { old = try id(text) }
        let folder = try ServedFolder(call)
        let control = try folder.control(for: .writing)
        // First: a token that nobody got to see would be valid all the same.
        let file = try call.arguments.value("output").map { (path) throws(Failure) in
            try SecretFile(path)
        }
        let (key, token): (TokenKey, Token)
        do throws(Failure) {
            (key, token) = try folder.reporting { () throws(ControlError) in
                try control.makeToken(
                    draft,
                    replacing: old,
                    drawnFrom: SystemEntropy(),
                    at: SystemClock().now
                )
            }
            try file?.finish(key.text + "\n")
        } catch {
            file?.remove()
            throw error
        }
        guard call.arguments.has("json") else {
            if let file {
                return try call.output.line("the token \(token.id.text) is in \(file.shown)")
            }
            try call.output.line(key.text)
            return call.remark("keep the token: it is not shown again")
        }
        try call.output.json { json in
            if file == nil { json.add("token", key.text) }
            describe(token, &json)
        }
    }

    private static func draft(_ call: Invocation) throws(Failure) -> TokenDraft {
        let arguments = call.arguments
        guard let space = arguments.value("space") else {
            throw .usage("token create needs --space NAME. Try: diario help token create")
        }
        let words = arguments.value("rights") ?? "read,append"
        guard let rights = Caller.Rights(text: words) else {
            throw .usage(
                "--rights \(CellText.oneLine(words)) is not right; give some of read, append, "
                    + "relay, admin, with commas between"
            )
        }
        var draft = TokenDraft(space: try call.spaceName(space), rights: rights)
        draft.actor = arguments.value("actor")
        draft.label = arguments.value("label")
        draft.expires = try checkingUsage { () throws(UsageError) in
            try arguments.time("expires")
        }
        draft.requestsPerSecond = try rate("requests-per-second", of: arguments)
        draft.eventsPerSecond = try rate("events-per-second", of: arguments)
        return draft
    }

    private static func rate(_ name: String, of arguments: Arguments) throws(Failure) -> Int? {
        let count = try checkingUsage { () throws(UsageError) in
            try arguments.count(name, from: 1)
        }
        return count.map { Int(clamping: $0) }
    }

    private static func id(_ text: String) throws(Failure) -> TokenID {
        guard let id = TokenID(text: text) else {
            throw .usage(
                "\(CellText.oneLine(text)) is no id of a token, as 7zk3m9q2c1f4a. They are listed "
                    + "by: diario token list"
            )
        }
        return id
    }

    static func list(_ call: Invocation) throws(Failure) {
        var space: SpaceName?
        if let text = call.arguments.value("space") { space = try call.spaceName(text) }
        let folder = try ServedFolder(call)
        let control = try folder.control()
        let tokens = try folder.reporting { () throws(ControlError) in
            if let space, try control.space(space) == nil { throw .unknownSpace(space.text) }
            return try control.tokens(of: space)
        }
        if call.arguments.has("json") {
            return try call.output.jsonList(
                tokens.map { token in JSONObjectWriter.object { describe(token, &$0) } }
            )
        }
        guard !tokens.isEmpty else { return try call.output.line("no tokens") }
        var table = Table(
            [
                Table.Column("token", widthMin: 13), Table.Column("space"),
                Table.Column("rights"), Table.Column("actor"), Table.Column("label"),
                Table.Column("created"), Table.Column("used"), Table.Column("state"),
            ],
            width: call.output.width
        )
        let now = SystemClock().now
        let rows = tokens.map { token in
            [
                token.id.text, token.space.text, token.rights.words.joined(separator: ","),
                CellText.oneLine(token.actor ?? "-"), CellText.oneLine(token.label ?? "-"),
                day(token.created), token.used.map { day($0) } ?? "-", state(token, now),
            ]
        }
        table.fit(rows)
        try call.output.line(table.heading)
        for row in rows { try call.output.line(table.line(row)) }
    }

    private static func state(_ token: Token, _ now: Timestamp) -> String {
        if token.revoked != nil { return "revoked" }
        guard let expires = token.expires else { return "valid" }
        return expires <= now ? "expired" : "until \(day(expires))"
    }

    static func revoke(_ call: Invocation) throws(Failure) {
        let id = try id(call.arguments.operands[0])
        let folder = try ServedFolder(call)
        let control = try folder.control(for: .writing)
        let isNew = try folder.reporting { () throws(ControlError) in
            try control.revokeToken(id, at: SystemClock().now)
        }
        guard call.arguments.has("json") else {
            let was = isNew ? "is revoked" : "was revoked before"
            return try call.output.line("the token \(id.text) \(was)")
        }
        try call.output.json { json in
            json.add("id", id.text)
            json.add("revoked", true)
            json.add("changed", isNew)
        }
    }

    private static func describe(_ token: Token, _ json: inout JSONObjectWriter) {
        json.add("id", token.id.text)
        json.add("space", token.space.text)
        json.add("rights", list: token.rights.words.map { JSONObjectWriter.string($0) })
        add("actor", token.actor, &json)
        add("label", token.label, &json)
        json.add("created", time(token.created))
        add("expires", token.expires.map { time($0) }, &json)
        add("revoked", token.revoked.map { time($0) }, &json)
        add("used", token.used.map { time($0) }, &json)
        json.add("requestsPerSecond", token.rates.requestsPerSecond)
        json.add("eventsPerSecond", token.rates.eventsPerSecond)
    }

    private static func add(_ key: String, _ value: String?, _ json: inout JSONObjectWriter) {
        if let value { json.add(key, value) } else { json.addNull(key) }
    }

    private static func time(_ time: Timestamp) -> String { Show.time(time.milliseconds) }

    private static func day(_ time: Timestamp) -> String { String(self.time(time).prefix(10)) }
}
