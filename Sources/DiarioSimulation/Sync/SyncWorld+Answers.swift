import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioSync

// Checks of answers against the promises.

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
                case .waiting: server.isWaiting
                case .epoch: Self.epoch(request) != ledger.epoch && refusal.epoch == ledger.epoch
                case .unauthorized, .unknownSpace, .lineage, .ahead, .diverged, .tooLarge,
                    .tooFast, .noPack:
                    false
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
        case (.relay(let relay), .verdicts(let verdicts)):
            counts.relays += 1
            try checkVerdicts(verdicts, relay.push)
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

    /// Pushes the lane of a device without its first batch, as a faulty program could.
    func pushWithGap(_ device: Device) throws {
        guard let store = device.machine.store, let authority = server.authority,
            !device.machine.hasFaults, device.machine.plannedCut == nil, !device.isRevoked,
            !server.isWaiting, device.seen.epoch == ledger.epoch
        else { return }
        device.machine.setClock(now)
        server.machine.setClock(now)
        let lane = try attempt("a read of \(device.name)") { () throws(LogError) in
            try readLane(of: device, store)
        }
        guard let first = lane.first?.row.envelope.origin, let last = lane.last,
            last.row.envelope.origin.replica == first.replica,
            let second = lane.first(where: { $0.row.envelope.batchFirst > first.sequence })
        else { return }
        let sequences = second.row.envelope.batchFirst...last.row.envelope.origin.sequence
        let push = try attempt("a push of \(device.name)") { () throws(LogError) in
            let events = PendingEvents(replica: first.replica, sequences: sequences)
            return Push(
                standing: Standing(
                    lineage: lineage,
                    epoch: device.seen.epoch,
                    size: store[device.space].standing().head,
                    root: try store[device.space].root()
                ),
                replica: first.replica,
                blocks: try store[device.space].pendingBlocks(events).blocks
            )
        }
        trace.add("\(now) \(device.name) pushes from \(sequences.lowerBound) on")
        let request = SyncMessage.push(push).encoded()
        notePushed(request)
        let answer = authority.answer(request, from: device.caller(of: request))
        guard try !takeCut(of: nil) else { return }
        try readLedger()
        try checkAnswer(answer, to: request, of: device, isDamaged: false)
        server.shownHead = ledger.head
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
