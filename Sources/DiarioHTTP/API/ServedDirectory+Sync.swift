import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioSchema
import DiarioServer

extension ServedDirectory {
    /// Whether the log can be read and written, and how many spaces do not answer.
    func health() throws -> HTTPAnswer {
        switch served.health() {
        case .good(let counts):
            return .object { json in
                json.add("status", measured().isSlow ? "slow" : "ok")
                json.add("waiting", counts.waiting)
                json.add("damaged", counts.damaged)
            }
        case .silent(let counts):
            var problem = Problem(
                counts.waiting > 0 ? .waiting : .unavailable,
                "No space answers: of \(counts.all), \(counts.waiting) wait and "
                    + "\(counts.damaged) are damaged.",
                remedy: counts.waiting > 0
                    ? nil : "Tell the server's operator: diario verify says what is damaged.",
                retryAfter: 30
            )
            problem.spaces = counts
            throw problem
        case .unreadable(let error):
            var problem = Problem(error)
            problem.kind = .unavailable
            problem.retryAfter = 5
            throw problem
        case .readOnly:
            throw Problem(
                .unavailable,
                "Nothing can be written to the disk.",
                remedy: "Look at the space on the disk and the rights of the folder.",
                retryAfter: 30
            )
        case .stuck(let standstill):
            throw Problem(
                .unavailable,
                "The disk has written nothing for \(standstill.components.seconds) s.",
                remedy: "Look at the disk, and at the messages of the system.",
                retryAfter: 5
            )
        }
    }

    /// One message of a replica.
    func sync(_ question: Question) throws -> HTTPAnswer {
        let takesMessages =
            MediaType.best(of: [.message], for: question.request.headers["accept"]) != nil
        // By what it says of itself.
        if let text = question.request.headers["diario-replica"], let id = ReplicaID(text: text) {
            contacts.note(id, in: question.space.name, at: now)
        }
        let body = question.request.body
        // A space that is published into gets no packs of ours, and another id in the end.
        let space = ServedSpaces.publishes(body) ? nil : try? space(question.space)
        // Programs before the second format do not name it.
        let packFormat = question.request.headers["diario-packs"].map { Int($0) ?? 1 } ?? 1
        let answer = served.answer(
            body,
            to: question.space,
            with: question.token,
            packFormat: packFormat,
            at: now
        )
        if answer.isPublication { forget(question.space.id) }
        if answer.hasVerdicts { space?.ringIfGrown() }
        var problem = answer.refusal.map { Problem($0) }
        problem?.cause = answer.error.flatMap { Problem($0).cause }
        guard takesMessages else {
            throw problem
                ?? Problem(
                    .notAcceptable,
                    "The answer is a message of a replica.",
                    remedy: "Accept \(MediaType.message.rawValue), or read events at /events."
                )
        }
        var reply = HTTPAnswer.fresh(
            problem?.kind.status ?? 200,
            .message,
            headers: Self.permissionHeaders(question.token) + lossHeaders
                + (problem?.standardHeaders ?? []),
            .bytes(answer.bytes)
        )
        reply.cause = problem?.cause
        return reply
    }

    /// What the bearer of a token may do, for replicas that ask that before they record.
    private static func permissionHeaders(_ token: Token) -> [(name: String, value: String)] {
        var headers = [
            (name: "Diario-Rights", value: token.rights.words.joined(separator: ","))
        ]
        // No header can be empty.
        if !token.roles.isEmpty {
            headers.append((name: "Diario-Roles", value: token.roles.joined(separator: ",")))
        }
        if let actor = token.actor {
            headers.append((name: "Diario-Actor", value: PercentSigns.encoded(actor)))
        }
        return headers
    }

    /// How far the log goes; with `after`, when it goes further.
    func head(_ question: Question) throws -> HTTPReply {
        let after = try question.number("after", in: 0...UInt64(Int64.max))
        let wait = try question.number("wait", in: 0...UInt64(Limits.newsWaitSecondsMax))
        let space = try space(question.space)
        let head = space.head
        if let after, head <= after {
            if question.turn != .last, wait != 0 {
                let seconds = Int64(wait ?? UInt64(Limits.newsWaitSecondsMax))
                return .wait(for: space.bell, until: .now + .seconds(seconds))
            }
            return .answer(.fresh(204, nil, headers: lossHeaders))
        }
        var answer = HTTPAnswer.json(try outline(question))
        answer.headers += lossHeaders
        return .answer(answer)
    }

    /// Says that a replica has to ask again about blobs that were here.
    private var lossHeaders: [(name: String, value: String)] {
        // What cannot be read now is said with the next answer.
        guard let mark = try? served.blobs.lossMark() else { return [] }
        return [(name: "Diario-Blobs-Lost", value: mark)]
    }

    /// What a space is, as an object.
    func outline(_ question: Question) throws -> [UInt8] {
        let space = try space(question.space)
        let facts = try served.facts(of: space.space.id)
        return JSONObjectWriter.object { json in
            json.add("space", question.space.name.text)
            json.add("lineage", facts.lineage.text)
            json.add("epoch", facts.epoch)
            json.add("head", facts.head)
            if let root = facts.root { json.add("root", root.text) }
            if let actor = question.token.actor { json.add("actor", actor) }
            json.add("rights", list: question.token.rights.words.map { JSONText.string($0) })
            json.add("roles", list: question.token.roles.map { JSONText.string($0) })
            json.add(
                "packs",
                list: space.space.packs.map { pack in
                    JSONObjectWriter.object { json in
                        json.add("name", pack.name)
                        json.add("version", pack.version)
                    }
                }
            )
        }
    }
}
