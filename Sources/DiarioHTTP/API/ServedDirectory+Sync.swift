import Diario
import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioSync

extension ServedDirectory {
    /// Whether the log can be read and written, and how many spaces cannot be served.
    func health() throws -> HTTPAnswer {
        let broken: Int
        do { broken = try store.brokenSpaces().count } catch {
            throw Problem(.unavailable, DiarioError(error).message, retryAfter: 5)
        }
        guard store.access == .readWrite else {
            throw Problem(
                .unavailable,
                "Nothing can be written to the disk.",
                remedy: "Look at the space on the disk and the rights of the folder.",
                retryAfter: 30
            )
        }
        let standstill = store.standstill(at: .now)
        guard standstill < .seconds(Limits.standstillSecondsMax) else {
            throw Problem(
                .unavailable,
                "The disk has written nothing for \(standstill.components.seconds) s.",
                remedy: "Look at the disk, and at the messages of the system.",
                retryAfter: 5
            )
        }
        return .object { json in
            json.add("status", measured().isSlow ? "slow" : "ok")
            if broken > 0 { json.add("damagedSpaces", broken) }
        }
    }

    /// One message of a replica.
    func sync(_ question: Question) throws -> HTTPAnswer {
        let takesMessages =
            MediaType.best(of: [.message], for: question.request.headers["accept"]) != nil
        let message: SyncMessage
        var status = 200
        var headers: [(name: String, value: String)] = []
        do {
            if let replica = question.request.headers["diario-replica"] {
                noteContact(replica, question)
            }
            message = try reply(question)
        } catch {
            let refusal = Refusal(error)
            let problem = Problem(refusal)
            guard takesMessages else { throw problem }
            status = problem.kind.status
            headers = problem.standardHeaders
            message = .refusal(refusal)
        }
        guard takesMessages else {
            throw Problem(
                .notAcceptable,
                "The answer is a message of a replica.",
                remedy: "Accept \(MediaType.message.rawValue), or read events at /events."
            )
        }
        headers.append((name: "Content-Type", value: MediaType.message.rawValue))
        headers.append((name: "Cache-Control", value: "no-store"))
        return HTTPAnswer(status, headers: headers, .bytes(message.encoded()))
    }

    private func reply(_ question: Question) throws -> SyncMessage {
        let body = question.request.body
        // A space that is published into gets no packs of ours, and another id in the end.
        let space = SyncMessage.publishes(body) ? nil : try? space(question.space)
        let reply = try served.reply(
            to: body,
            to: question.space,
            with: question.token,
            at: now
        )
        if case .publication = reply { forget(question.space.id) }
        if case .verdicts = reply { space?.ringIfGrown() }
        return reply
    }

    /// Remembers when a replica was heard of, by what it says of itself.
    private func noteContact(_ text: String, _ question: Question) {
        guard let replica = ReplicaID(text: text) else { return }
        contacts.note(replica, in: question.space.name, at: now)
    }

    /// How far the log goes; with `after`, when it goes further.
    func head(_ question: Question) throws -> HTTPReply {
        try question.allow(["after", "wait"])
        try question.require(.read, "read")
        let after = try question.number("after", in: 0...UInt64(Int64.max))
        let wait = try question.number("wait", in: 0...UInt64(Limits.newsWaitSecondsMax))
        let space = try space(question.space)
        let head = space.head
        if let after, head <= after {
            if question.turn != .last, wait != 0 {
                let seconds = Int64(wait ?? UInt64(Limits.newsWaitSecondsMax))
                return .wait(for: space.bell, until: .now + .seconds(seconds))
            }
            return .answer(
                HTTPAnswer(204, headers: [(name: "Cache-Control", value: "no-store")])
            )
        }
        return .answer(.json(try outline(question)))
    }

    /// What a space is, as an object.
    func outline(_ question: Question) throws -> [UInt8] {
        try question.require(.read, "read")
        let space = try space(question.space)
        let outline = try store.outline(of: space.space.id)
        let root = try store[space.space.id].proofs.root(size: outline.head)
        return JSONObjectWriter.object { json in
            json.add("space", question.space.name.text)
            json.add("lineage", outline.manifest.lineage.text)
            json.add("epoch", outline.manifest.epoch)
            json.add("head", outline.head)
            if let root { json.add("root", root.text) }
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
