import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioSync

// Requests and answers on their way.

extension SyncWorld {
    /// Milliseconds for which a device waits for an answer.
    private static let patience: Int64 = 30_000
    /// Milliseconds after which it asks for news when nothing else happens.
    private static let interval: Int64 = 15_000

    // MARK: Device

    func wake(_ device: Device, _ number: Int, _ waking: Waking) throws {
        guard device.wakeNumber == number, device.machine.isOn else { return }
        guard device.session != nil else { return beginSync(device) }
        switch waking {
        case .time: break
        case .news: device.session?.heardOfNews()
        case .person: device.session?.goOn()
        }
        try drive(device)
    }

    /// Makes a session do its next step.
    func drive(_ device: Device) throws {
        guard device.machine.isOn, device.session != nil, device.request == nil else { return }
        device.machine.setClock(now)
        let action: ReplicaSession.Action?
        do throws(LogError) {
            action = try device.session?.next(at: device.machine.now)
        } catch {
            return try endSync(device, error)
        }
        guard try !takeCut(of: device) else { return }
        switch action {
        case .none: break
        case .send(let bytes):
            send(bytes, from: device)
        case .wait(let until):
            let rest = until.milliseconds - device.machine.now.milliseconds
            let why = device.session?.machine.failure ?? "nothing failed"
            trace.add("\(now) \(device.name) waits \(rest): \(why)")
            schedule(device, .time, in: rest)
        case .rest: schedule(device, .news, in: Self.interval)
        case .stop(let refusal):
            try checkPause(device, refusal)
            trace.add("\(now) \(device.name) pauses: \(refusal.reason)")
            schedule(device, .person, in: 5000 + Int64(random.below(60_000)))
        }
    }

    /// A log failed under a session: it ends, and another one begins later.
    private func endSync(_ device: Device, _ error: LogError) throws {
        try judge(error, of: device, "sync")
        guard device.machine.isOn, try findSpace(device) else { return }
        device.session = nil
        device.request = nil
        schedule(device, .person, in: 1000 + Int64(random.below(10_000)))
    }

    private func send(_ bytes: [UInt8], from device: Device) {
        lastRequest += 1
        device.request = Device.Request(number: lastRequest, bytes: bytes)
        let deliveries = device.link.carry(bytes, &random)
        trace.add(
            "\(now) \(device.name) asks \(lastRequest): \(Self.name(bytes)), "
                + "\(deliveries.count) arrive"
        )
        for delivery in deliveries {
            if delivery.isDamaged {
                device.mayBeMisread = true
                counts.damages += 1
            }
            agenda.add(
                .request(
                    device: device.number,
                    number: lastRequest,
                    bytes: delivery.bytes,
                    isDamaged: delivery.isDamaged
                ),
                at: now + delivery.delay
            )
        }
        counts.copies += max(deliveries.count - 1, 0)
        var (what, patience) = ("no answer came", Self.patience)
        if deliveries.isEmpty {
            counts.requestsLost += 1
            if random.oneIn(2) { (what, patience) = ("there is no network", 50) }
        }
        agenda.add(
            .failure(device: device.number, number: lastRequest, what: what),
            at: now + patience
        )
    }

    func fail(_ device: Device, _ number: Int, _ what: String) throws {
        guard device.machine.isOn, device.request?.number == number else { return }
        device.request = nil
        device.machine.setClock(now)
        trace.add("\(now) \(device.name) gives up \(number): \(what)")
        device.session?.failed(what, at: device.machine.now)
        try drive(device)
    }

    func receive(_ device: Device, _ number: Int, _ bytes: [UInt8]) throws {
        guard device.machine.isOn, let store = device.machine.store,
            device.request?.number == number
        else { return }
        device.request = nil
        device.machine.setClock(now)
        device.answerSizeMax = max(device.answerSizeMax, bytes.count)
        do throws(LogError) {
            try device.session?.receive(bytes, at: device.machine.now)
        } catch {
            trace.add("\(now) \(device.name) takes \(number)")
            return try endSync(device, error)
        }
        guard try !takeCut(of: device) else { return }
        if let session = device.session { device.space = session.space }
        let standing = store[device.space].standing()
        trace.add(
            "\(now) \(device.name) takes \(number): head \(standing.head), "
                + "\(standing.pending.reduce(0) { $0 + $1.sequences.count }) pending"
        )
        try checkReplica(device)
        try checkMemory(device)
        try followLog(device)
        try drive(device)
    }

    // MARK: Server

    func answer(
        _ device: Device,
        _ number: Int,
        _ request: [UInt8],
        isDamaged: Bool
    ) throws {
        server.machine.setClock(now)
        guard let authority = server.authority, server.machine.isOn else {
            let what = "the server does not listen"
            agenda.add(.failure(device: device.number, number: number, what: what), at: now + 20)
            return
        }
        notePushed(request)
        let answer = authority.answer(request, from: device.caller(of: request))
        // A server that died does not answer.
        guard try !takeCut(of: nil) else { return }
        try readLedger()
        trace.add("\(now) server answers \(number) of \(device.name): \(Self.name(answer))")
        try checkAnswer(answer, to: request, of: device, isDamaged: isDamaged)
        server.shownHead = ledger.head
        let deliveries = device.link.isHalfOpen ? [] : device.link.carry(answer, &random)
        counts.answersLost += deliveries.isEmpty ? 1 : 0
        for delivery in deliveries {
            agenda.add(
                .answer(device: device.number, number: number, bytes: delivery.bytes),
                at: now + delivery.delay
            )
        }
        // Its operator sees that the disk fails.
        if server.machine.hasFaults || server.machine.mayOweFailures, random.oneIn(4),
            Self.isUnavailable(answer)
        {
            server.machine.kill()
            try goDown(nil)
        }
    }

    /// Notes pushed events without a verdict, since a refusal names only origins.
    func notePushed(_ request: [UInt8]) {
        let push: Push
        switch try? SyncMessage(request.span) {
        case .push(let asked): push = asked
        case .relay(let relay): push = relay.push
        default: return
        }
        var unpacker = BlockUnpacker()
        for block in push.blocks {
            for row in (try? readBlock(block, &unpacker)) ?? [] {
                let origin = row.envelope.origin
                guard case .event(let event) = row.content, ledger.verdict(of: origin) == nil
                else { continue }
                book.notePushed(
                    origin,
                    Book.Known(token: event.token, event: event, base: row.envelope.base)
                )
            }
        }
    }

    private static func isUnavailable(_ answer: [UInt8]) -> Bool {
        guard case .refusal(let refusal)? = try? SyncMessage(answer.span) else { return false }
        return refusal.reason == .unavailable
    }

    /// A message in the words of the trace.
    static func name(_ bytes: [UInt8]) -> String {
        guard let message = try? SyncMessage(bytes.span) else { return "damaged" }
        switch message {
        case .push(let push): return "push of \(push.replica.text.prefix(3))"
        case .verdicts(let verdicts):
            return "verdicts "
                + verdicts.list.map { "\($0.firstSequence)+\($0.count) \($0.kind)" }
                .joined(separator: ", ")
        case .pull(let pull): return "pull behind \(pull.standing.size)"
        case .news(let news): return "news to \(news.end) of \(news.head)"
        case .compare(let compare): return "compare at \(compare.points.map(\.size))"
        case .common(let common): return "common to \(common.size) of \(common.head)"
        case .packWanted: return "pack wanted"
        case .pack: return "pack"
        case .publish: return "publish"
        case .abandon: return "abandon"
        case .publication: return "publication"
        case .restore: return "restore"
        case .relay(let relay): return "relay of \(relay.push.replica.text.prefix(3))"
        case .refusal(let refusal): return "refusal \(refusal.reason): \(refusal.message)"
        }
    }
}
