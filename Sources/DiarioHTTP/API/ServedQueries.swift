import DiarioCore
import DiarioEngine
import DiarioHost
import DiarioSchema
import DiarioServer

/// Named queries, for the bearer of a token or for anybody: schema/format/http.md, section 8.
struct ServedQueries {
    let directory: ServedDirectory
    let request: HTTPRequest
    let space: NamedSpace
    /// Nil for those without one.
    private let token: Token?
    /// Those that may be asked; nil for all.
    private let patterns: [QueryPattern]?

    init(directory: ServedDirectory, question: Question) {
        self.directory = directory
        request = question.request
        space = question.space
        token = question.token
        patterns = question.token.rights == .ask ? question.token.queries : nil
    }

    /// Those that anybody may ask; nil if there are none, or no space of that name.
    init?(directory: ServedDirectory, request: HTTPRequest, ofAnybodyIn name: String) throws {
        guard let name = SpaceName(name), let space = try directory.served.control.space(name),
            !space.publicQueries.isEmpty
        else { return nil }
        self.directory = directory
        self.request = request
        self.space = space
        token = nil
        patterns = space.publicQueries
    }

    /// Those who have no token take turns as one who has.
    private var owner: ReadOwner {
        ReadOwner(space: space.name.text, token: token?.id.text ?? "anybody")
    }

    /// The queries that may be asked, by their whole names.
    private func known() throws -> [(name: String, json: [UInt8])] {
        // Not from the read models, which a question may have in hand for long.
        let packs = try directory.space(space).refreshed().packs
        return packs.filter { !$0.sql.readModels.isEmpty }.flatMap { pack in
            pack.sql.queries.map { ("\(pack.name).\($0.name)", $0.json(in: pack)) }
        }.filter { isOpen($0.0) }
    }

    private func isOpen(_ name: String) -> Bool {
        patterns?.contains { $0.matches(name) } ?? true
    }

    func list() throws -> HTTPAnswer {
        let list = try known().map(\.json)
        return .object { $0.add("queries", list: list) }
    }

    /// The whole name of a query that may be asked: whoever may not ask it is not told whether it
    /// is there.
    private func opened(_ name: String) throws -> String {
        if patterns == nil || isOpen(name) { return name }
        let found = try known().filter { $0.name.hasSuffix("." + name) }
        if found.count == 1 { return found[0].name }
        guard let token else { throw Problem.noToken }
        let words = token.queries.map(\.text).joined(separator: ", ")
        throw Problem(
            .forbidden,
            "The token is for other queries: \(words).",
            remedy: "Ask one of those, or for a token with the right read."
        )
    }

    func answer(_ name: String) throws -> Reading<HTTPAnswer> {
        let name = try opened(name)
        var texts: [String: String] = [:]
        for parameter in request.query {
            texts[parameter.name] = try request.text(parameter.name)
        }
        let values = texts
        return directory.reading(request, as: owner, token: token) { stop in
            do {
                return try self.answer(name, values, until: stop)
            } catch {
                // However that shows: nobody is told of it but a client that sends no more.
                guard !stop.hasBeenAsked else {
                    throw Problem(.unavailable, "The question was ended.", retryAfter: 5)
                }
                throw error
            }
        }
    }

    private func answer(
        _ name: String,
        _ texts: [String: String],
        until stop: BuildStop
    ) throws -> HTTPAnswer {
        let prepared = try directory.withModels(of: space, until: stop) { models in
            do throws(DiarioError) {
                return try models.ask(.named(name, texts), in: request.language)
            } catch {
                var problem = Problem(error)
                if error.rule == "query" {
                    problem.detail = "There is no query \(name)."
                    problem.remedy = "The list of queries has those there are."
                }
                throw problem
            }
        }
        // By a connection of its own: nobody waits for an answer that takes long.
        let end = ContinuousClock.now + directory.questionTimeMax
        do {
            return try answer(prepared) { stop.hasBeenAsked || ContinuousClock.now > end }
        } catch {
            guard ContinuousClock.now > end, DiarioError(error).kind == .tooLarge else {
                throw error
            }
            throw Problem(.tooLong, "The question took longer than it may.")
        }
    }

    private func answer(
        _ prepared: PreparedQuestion,
        isOver: @escaping () -> Bool
    ) throws -> HTTPAnswer {
        let answer = try prepared.answer(isOver: isOver)
        try answer.checkNames()
        var bytes = Array("[".utf8)
        var isFirst = true
        while let row = try answer.next() {
            if !isFirst { bytes += [0x2c, 0x0a] }
            isFirst = false
            bytes += row.json
            guard bytes.count <= Limits.queryMemorySizeMax else {
                throw DiarioError(.tooLarge, "the answer is too large; ask for less")
            }
        }
        bytes.append(0x5d)
        return .json(bytes)
    }
}
