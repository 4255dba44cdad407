import DiarioCore
import DiarioFormat
import DiarioSync

// Whether answers are what was promised.

extension SyncWorld {
    /// Checks the answer of a server that lives; its ledger is up to date.
    func checkAnswer(
        _ answer: [UInt8],
        to request: [UInt8],
        of device: Device,
        isDamaged: Bool
    ) throws {
        let reply: SyncMessage
        do throws(FormatError) { reply = try SyncMessage(answer.span) } catch {
            throw Broken(.answered, "the server says what nobody can read: \(error.message)")
        }
        if case .refusal(let refusal) = reply {
            let isFailing = server.machine.hasFaults || server.machine.mayOweFailures
            let isFair =
                switch refusal.reason {
                case .malformed, .version: isDamaged
                case .forbidden: device.isRevoked
                case .unavailable, .full: isFailing
                case .epoch, .ahead, .diverged: plan.traits.contains(.restoredServer)
                case .unauthorized, .unknownSpace, .lineage, .tooLarge, .tooFast, .noPack: false
                }
            guard isFair else {
                throw Broken(
                    .answered,
                    "the server refuses \(Self.name(request)): \(refusal.reason), "
                        + refusal.message
                )
            }
            return
        }
        let asked: SyncMessage
        do throws(FormatError) { asked = try SyncMessage(request.span) } catch {
            throw Broken(.answered, "the server takes a request that nobody can read")
        }
        switch (asked, reply) {
        case (.push(let push), .verdicts(let verdicts)):
            counts.pushes += 1
            try checkVerdicts(verdicts, push)
        case (.pull(let pull), .news(let news)): try checkNews(news, pull)
        case (.packWanted, .pack): break
        default: throw Broken(.answered, "the answer is of another kind than the request")
        }
    }

    private func checkVerdicts(_ verdicts: Verdicts, _ push: Push) throws {
        guard verdicts.head == ledger.head else {
            throw Broken(.verdicts, "the head is \(ledger.head), and not \(verdicts.head)")
        }
        var (first, end): (UInt64?, UInt64) = (nil, 0)
        do throws(FormatError) {
            var unpacker = try BlockUnpacker()
            for block in push.blocks {
                let (_, head) = try unpacker.unpack(block)
                first = first ?? head.runs.first?.firstSequence
                end = (head.runs.last?.lastSequence ?? 0) + 1
            }
        } catch {
            throw Broken(.answered, "a push cannot be read: \(error.message)")
        }
        guard var next = first else { throw Broken(.answered, "a push of nothing") }
        for verdict in verdicts.list {
            switch verdict.kind {
            case .gap, .forked:
                guard !plan.traits.isDisjoint(with: [.clones, .restoredServer]) else {
                    throw Broken(.verdicts, "\(push.replica.text): \(verdict.kind) without a copy")
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
                        "\(origin.text) is said to stand at \(position + index)"
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
        guard news.head == ledger.head, news.end >= pull.standing.size,
            news.end > pull.standing.size || pull.standing.size == news.head
        else {
            throw Broken(
                .answered,
                "news end at \(news.end) of \(news.head), and the replica has "
                    + "\(pull.standing.size)"
            )
        }
    }

    /// Checks that somebody pauses with a reason.
    func checkPause(_ device: Device, _ refusal: Refusal) throws(Broken) {
        let isFair =
            switch refusal.reason {
            case .malformed, .version: device.mayBeMisread
            case .forbidden: device.mayBeForbidden
            case .epoch, .ahead: plan.traits.contains(.restoredServer)
            case .diverged: !plan.traits.isDisjoint(with: [.restoredServer, .clones])
            case .unauthorized, .unknownSpace, .lineage, .tooLarge, .tooFast, .full, .unavailable,
                .noPack:
                false
            }
        guard isFair else {
            throw Broken(.running, "\(device.name) pauses: \(refusal.reason), \(refusal.message)")
        }
    }
}
