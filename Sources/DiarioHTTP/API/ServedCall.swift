import DiarioCore
import DiarioEngine
import DiarioSchema
import DiarioServer

// Commands and views: schema/format/http.md, section 9.

/// A command or a view that a request calls.
struct ServedCall {
    let directory: ServedDirectory
    let question: Question

    /// The commands and views that the packs in use declare.
    func list() throws -> HTTPAnswer {
        let space = try directory.space(question.space).refreshed()
        let list = space.packs.flatMap(\.declarations).map(\.json)
        return .object { $0.add("commands", list: list) }
    }

    func command(_ name: String) throws -> Reading<HTTPAnswer> {
        let request = try CallRequest(question.request.body)
        var call = Call(name, request.input)
        call.at = request.at
        call.actor = try actor(request.actor)
        call.isDryRun = request.isDryRun
        call.setLanguage(of: question.request)
        let rights = question.token.rights
        call.mayRead = rights.contains(.read) || rights.contains(.admin)
        call.takesStayingBlobs = false
        return run(call, .command) { answer in
            answer.isNew ? .json(answer.json, status: 201) : .json(answer.json)
        }
    }

    func view(_ name: String) throws -> Reading<HTTPAnswer> {
        var call = Call(name, [])
        call.setLanguage(of: question.request)
        call.actor = question.token.actor
        guard question.request.method == "POST" else {
            var texts: [String: String] = [:]
            for parameter in question.request.query {
                texts[parameter.name] = try question.text(parameter.name)
            }
            return run(call, .view, texts: texts) { .json($0.result) }
        }
        let request = try CallRequest(question.request.body)
        guard request.at == nil, request.actor == nil, !request.isDryRun else {
            throw Problem(.malformed, "A view is only given an `input`.")
        }
        call.input = request.input
        return run(call, .view) { .json($0.result) }
    }

    /// The actor of a call: that of the token, or who is named by a token that may relay.
    private func actor(_ named: String?) throws -> String? {
        let token = question.token
        guard let named, named != token.actor else { return token.actor }
        guard token.rights.contains(.relay) || token.rights.contains(.admin) else {
            throw Problem(
                .forbidden,
                token.actor == nil
                    ? "The token names no actor, and may not name one in a call."
                    : "The token is that of another actor.",
                remedy: "Ask for a token with that actor, or with the right relay: diario token "
                    + "create --actor ID"
            )
        }
        return token.actor ?? named
    }

    /// Calls with read models that hold all that was recorded.
    private func run(
        _ call: Call,
        _ kind: Declaration.Kind,
        texts: [String: String]? = nil,
        _ answered: @escaping @Sendable (CallAnswer) -> HTTPAnswer
    ) -> Reading<HTTPAnswer> {
        let space = CalledSpace(
            directory: directory,
            name: question.space,
            token: question.token
        )
        return directory.reading(for: question) { stop in
            answered(try space.call(call, kind, texts: texts, until: stop))
        }
    }
}

/// A space whose commands and views are called by the bearer of a token, or by nobody.
struct CalledSpace: Sendable {
    let directory: ServedDirectory
    let name: NamedSpace
    let token: Token?

    /// Calls with read models that hold all that was recorded; `texts` are the input of a view as
    /// an address has it.
    func call(
        _ call: Call,
        _ kind: Declaration.Kind,
        texts: [String: String]? = nil,
        until stop: BuildStop
    ) throws -> CallAnswer {
        let space = try directory.space(name)
        let answer = try space.oneCallAtATime {
            try directory.withModels(of: name, until: stop) { models in
                var call = call
                let declaration = try models.declaration(of: call, kind)
                if let texts { call.input = try declaration.input(texts, call.language) }
                models.space.gate = try directory.served.gate(of: name, for: token)
                guard kind == .command, !call.isDryRun else {
                    return try models.call(call, of: directory.domains)
                }
                // What takes long is done before others have to wait.
                try models.update([String(call.name.prefix { $0 != "." })])
                return try directory.served.recording(
                    in: name,
                    with: token,
                    size: call.input.count,
                    at: directory.now
                ) { try models.call(call, of: directory.domains) }
            }
        }
        if answer.isNew { space.ringIfGrown() }
        return answer
    }
}

extension Call {
    /// Takes the language that the texts for people are wanted in, if the request names one.
    fileprivate mutating func setLanguage(of request: HTTPRequest) {
        if let wanted = request.language { language = wanted } else { isLanguageUsual = true }
    }
}

extension HTTPRequest {
    /// The language that the texts for people are wanted in, if it names one.
    var language: Language? { headers["accept-language"].flatMap { Language(accepted: $0) } }
}

/// The body of a request that calls a command or a view.
private struct CallRequest {
    var input: [UInt8] = Array("{}".utf8)
    var at: Timestamp?
    var actor: String?
    var isDryRun = false

    private static let keys = ["input", "at", "actor", "dryRun"]

    init(_ body: [UInt8]) throws {
        let root = try Self.parsed(body)
        guard case .object(let members) = root.value else {
            throw Problem(.malformed, "The body is no object; send {\"input\":{...}}.")
        }
        for member in members {
            switch (member.key, member.item.value) {
            case ("input", .object(let members)): input = JSON.object(members).asWritten
            case ("at", .string(let text)):
                guard let time = CivilTime.parseDateTime(Array(text.utf8).span) else {
                    throw Problem(
                        .malformed,
                        "`at` is no time.",
                        remedy: "Give it as 2026-03-02T07:00:00Z."
                    )
                }
                at = time
            case ("at", .integer(let milliseconds)): at = Timestamp(milliseconds: milliseconds)
            case ("actor", .string(let text)): actor = text
            case ("dryRun", .boolean(let value)): isDryRun = value
            default:
                throw Problem(
                    .malformed,
                    Self.keys.contains(member.key)
                        ? "`\(member.key)` cannot be \(member.item.value.kindName)."
                        : "The body has no `\(member.key.prefix(40))`. It has: "
                            + Self.keys.joined(separator: ", ") + "."
                )
            }
        }
    }

    private static func parsed(_ body: [UInt8]) throws -> JSON.Item {
        do throws(SchemaError) { return try JSON.parse(body) } catch { throw DiarioError(error) }
    }
}
