import DiarioCore
import DiarioFormat
import DiarioServer
import DiarioSync

// Checks of answers against the promises.

extension Records {
    /// Notes pushed events without a verdict, since a refusal names only origins.
    func notePushed(_ request: [UInt8], from caller: Caller, _ kinds: SyncKinds) {
        let push: Push
        switch try? SyncMessage(request.span) {
        case .push(let asked): push = asked
        case .relay(let relay): push = relay.push
        default: return
        }
        var unpacker = BlockUnpacker()
        var read = Book.Pushed(caller: caller)
        var open: [Origin] = []
        for block in push.blocks {
            for row in (try? kinds.rows(in: block, &unpacker)) ?? [] {
                let origin = row.envelope.origin
                guard case .event(let event) = row.content else { continue }
                read.events.append((origin, row.envelope.batchFirst, event))
                guard ledger.verdict(of: origin) == nil else { continue }
                open.append(origin)
                book.notePushed(
                    origin,
                    Book.Known(token: event.token, event: event, base: row.envelope.base)
                )
            }
        }
        book.notePush(read, open: open)
    }

    /// Checks the answer of a server that lives; its ledger is up to date.
    func checkAnswer(
        _ answer: [UInt8],
        of server: Server,
        to request: [UInt8],
        of device: Device,
        isDamaged: Bool
    ) throws {
        let reply: SyncMessage
        do throws(FormatError) { reply = try SyncMessage(answer.span) } catch {
            throw Broken(.answered, "the server says what nobody can read: \(error.message)")
        }
        if case .refusal(let refusal) = reply {
            let isFair =
                switch refusal.reason {
                case .malformed, .version: isDamaged
                case .forbidden: device.isRevoked
                case .unavailable, .full: server.mayFail
                case .waiting: server.isWaiting
                case .epoch: Self.epoch(request) != ledger.epoch && refusal.epoch == ledger.epoch
                case .unauthorized, .unknownSpace, .lineage, .ahead, .diverged, .tooLarge,
                    .tooFast, .noPack:
                    false
                }
            guard isFair else {
                throw Broken(
                    .answered,
                    "the server refuses \(SyncMessage.name(request)): \(refusal.reason), "
                        + refusal.message
                )
            }
            return
        }
        switch (try? SyncMessage(request.span), reply) {
        case (nil, _): throw Broken(.answered, "the server takes a request that nobody can read")
        case (.push(let push), .verdicts(let verdicts)): try checkVerdicts(verdicts, push)
        case (.relay(let relay), .verdicts(let verdicts)): try checkVerdicts(verdicts, relay.push)
        case (.pull(let pull), .news(let news)): try checkNews(news, pull)
        case (.packWanted, .pack), (.compare, .common): break
        default: throw Broken(.answered, "the answer is of another kind than the request")
        }
    }

    /// The epoch of the asking replica; nil if the request does not have it.
    private static func epoch(_ request: [UInt8]) -> UInt64? {
        switch try? SyncMessage(request.span) {
        case .push(let push): push.standing.epoch
        case .relay(let relay): relay.push.standing.epoch
        case .pull(let pull): pull.standing.epoch
        case .packWanted(let wanted): wanted.standing.epoch
        default: nil
        }
    }

    private func checkVerdicts(_ verdicts: Verdicts, _ push: Push) throws {
        guard verdicts.head == ledger.head, verdicts.epoch == ledger.epoch,
            push.standing.epoch == ledger.epoch
        else {
            throw Broken(
                .verdicts,
                "the head is \(ledger.head) in epoch \(ledger.epoch), and not \(verdicts.head) "
                    + "in \(verdicts.epoch)"
            )
        }
        var (first, end): (UInt64?, UInt64) = (nil, 0)
        do throws(FormatError) {
            var unpacker = BlockUnpacker()
            for block in push.blocks {
                for (_, head) in try unpacker.unpackAll(block) {
                    first = first ?? head.runs.first?.firstSequence
                    end = (head.runs.last?.lastSequence ?? 0) + 1
                }
            }
        } catch {
            throw Broken(.answered, "a push cannot be read: \(error.message)")
        }
        guard var next = first else { throw Broken(.answered, "a push of nothing") }
        for verdict in verdicts.list {
            switch verdict.kind {
            case .gap:
                let expected = ledger.last[push.replica, default: 0] + 1
                guard verdict.firstSequence == expected, next > expected else {
                    throw Broken(.verdicts, "\(push.replica.text)-\(next) is no gap")
                }
                return
            case .forked:
                guard verdict.firstSequence == next, sharedReplicas.contains(push.replica) else {
                    throw Broken(.verdicts, "\(push.replica.text) forked without a copy")
                }
                return
            case .accepted, .refused: break
            }
            guard verdict.firstSequence == next, verdict.count > 0 else {
                throw Broken(.verdicts, "verdicts leave out \(push.replica.text)-\(next)")
            }
            try check(verdict, of: push.replica)
            next += verdict.count
        }
        guard next == end else {
            throw Broken(.verdicts, "\(push.replica.text)-\(next) has no verdict")
        }
    }

    private func check(_ verdict: Verdict, of replica: ReplicaID) throws(Broken) {
        for index in 0..<verdict.count {
            let origin = Origin(replica: replica, sequence: verdict.firstSequence + index)
            switch verdict.kind {
            case .accepted(let position, let acceptedAt):
                guard ledger.positions[origin] == position + index,
                    ledger[position + index].acceptedAt == acceptedAt.milliseconds
                else {
                    throw Broken(
                        .verdicts,
                        "\(origin.text) is said to be at \(position + index)"
                    )
                }
            case .refused(let position):
                guard ledger.refusal(of: origin)?.position == position else {
                    throw Broken(.verdicts, "\(origin.text) is said to be refused at \(position)")
                }
            case .gap, .forked: break
            }
        }
    }

    private func checkNews(_ news: News, _ pull: Pull) throws(Broken) {
        guard news.head == ledger.head, news.epoch == ledger.epoch, news.end >= pull.standing.size,
            news.end > pull.standing.size || pull.standing.size == news.head
        else {
            throw Broken(
                .answered,
                "news end at \(news.end) of \(news.head), and the replica has "
                    + "\(pull.standing.size)"
            )
        }
    }

    /// Checks that a device pauses with a reason.
    func checkPause(_ device: Device, _ refusal: Refusal) throws(Broken) {
        let isFair =
            switch refusal.reason {
            case .malformed, .version: device.mayBeMisread
            case .forbidden: device.mayBeForbidden
            case .unauthorized, .unknownSpace, .lineage, .epoch, .ahead, .diverged, .tooLarge,
                .tooFast, .full, .unavailable, .noPack, .waiting:
                false
            }
        guard isFair else {
            throw Broken(.running, "\(device.name) pauses: \(refusal.reason), \(refusal.message)")
        }
    }
}

extension SyncMessage {
    /// True if a server says that it cannot answer now.
    static func isUnavailable(_ answer: [UInt8]) -> Bool {
        guard case .refusal(let refusal)? = try? SyncMessage(answer.span) else { return false }
        return refusal.reason == .unavailable
    }

    /// A message in the words of the trace.
    static func name(_ bytes: [UInt8]) -> String {
        guard let message = try? SyncMessage(bytes.span) else { return "damaged" }
        return switch message {
        case .push(let push): "push of \(push.replica.text.prefix(3))"
        case .verdicts(let verdicts):
            "verdicts "
                + verdicts.list.map { "\($0.firstSequence)+\($0.count) \($0.kind)" }
                .joined(separator: ", ")
        case .pull(let pull): "pull behind \(pull.standing.size)"
        case .news(let news): "news to \(news.end) of \(news.head)"
        case .compare(let compare): "compare at \(compare.points.map(\.size))"
        case .common(let common): "common to \(common.size) of \(common.head)"
        case .packWanted: "pack wanted"
        case .pack: "pack"
        case .publish: "publish"
        case .abandon: "abandon"
        case .publication: "publication"
        case .restore: "restore"
        case .relay(let relay): "relay of \(relay.push.replica.text.prefix(3))"
        case .refusal(let refusal): "refusal \(refusal.reason): \(refusal.message)"
        }
    }
}
