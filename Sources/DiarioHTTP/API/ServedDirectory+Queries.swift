import Diario
import DiarioCore
import DiarioSchema
import DiarioServer

// Named queries: schema/format/http.md, section 8.

extension ServedDirectory {
    func queries(_ question: Question) throws -> HTTPAnswer {
        // Not from the read models, which a question may have in hand for long.
        let space = try space(question.space).refreshed()
        let list = space.packs.filter { !$0.sql.readModels.isEmpty }.flatMap { pack in
            pack.sql.queries.map { $0.json(in: pack) }
        }
        return .object { $0.add("queries", list: list) }
    }

    func query(
        _ name: String,
        _ question: Question
    ) throws -> Reading<HTTPAnswer> {
        var texts: [String: String] = [:]
        for parameter in question.request.query {
            texts[parameter.name] = try question.text(parameter.name)
        }
        let values = texts
        return reading(for: question) { stop in
            do {
                return try self.answer(name, values, in: question.space, until: stop)
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
        in space: NamedSpace,
        until stop: BuildStop
    ) throws -> HTTPAnswer {
        let prepared = try withModels(of: space, until: stop) { models in
            do throws(DiarioError) { return try models.ask(.named(name, texts)) } catch {
                var problem = Problem(error)
                if error.rule == "query" {
                    problem.detail = "There is no query \(name)."
                    problem.remedy = "The list of queries has those there are."
                }
                throw problem
            }
        }
        // By a connection of its own: nobody waits for an answer that takes long.
        let end = ContinuousClock.now + questionTimeMax
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
