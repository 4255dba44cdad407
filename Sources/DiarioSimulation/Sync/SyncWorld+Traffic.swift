import DiarioCore
import DiarioEngine
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

    func wake(_ device: Device, _ number: Int, _ waking: Happening.Waking) throws {
        guard device.wakeNumber == number, device.isOn else { return }
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
        guard device.isOn, device.session != nil, device.request == nil else { return }
        device.setClock(now)
        let action: ReplicaSession.Action?
        do throws(LogError) {
            action = try device.session?.next(at: device.now)
        } catch {
            return try endSync(device, error)
        }
        guard !takeCut(of: device) else { return }
        switch action {
        case .none: break
        case .send(let bytes):
            send(bytes, from: device)
        case .wait(let until):
            let rest = until.milliseconds - device.now.milliseconds
            let why = device.session?.machine.failure ?? "nothing failed"
            trace.add("\(device.name) waits \(rest): \(why)")
            schedule(device, .time, in: rest)
        case .rest: schedule(device, .news, in: Self.interval)
        case .stop(let refusal):
            try records.checkPause(device, refusal)
            trace.add("\(device.name) pauses: \(refusal.reason)")
            schedule(device, .person, in: 5000 + Int64(random.below(60_000)))
        }
    }

    /// A log failed under a session: it ends, and another one begins later.
    private func endSync(_ device: Device, _ error: LogError) throws {
        try judge(error, of: device, "sync")
        guard device.isOn, try findSpace(device) else { return }
        device.session = nil
        device.request = nil
        schedule(device, .person, in: 1000 + Int64(random.below(10_000)))
    }

    private func send(_ bytes: [UInt8], from device: Device) {
        lastRequest += 1
        device.request = lastRequest
        let deliveries = device.link.carry(bytes, &random)
        trace.add(
            "\(device.name) asks \(lastRequest): \(SyncMessage.name(bytes)), "
                + "\(deliveries.count) arrive"
        )
        for delivery in deliveries {
            if delivery.isDamaged {
                device.mayBeMisread = true
                trace.counts.damages += 1
            }
            agenda.add(
                .request(
                    device,
                    number: lastRequest,
                    bytes: delivery.bytes,
                    isDamaged: delivery.isDamaged
                ),
                at: now + delivery.delay
            )
        }
        trace.counts.copies += max(deliveries.count - 1, 0)
        var (what, patience) = ("no answer came", Self.patience)
        if deliveries.isEmpty {
            trace.counts.requestsLost += 1
            if random.oneIn(2) { (what, patience) = ("there is no network", 50) }
        }
        agenda.add(.failure(device, number: lastRequest, what: what), at: now + patience)
    }

    func fail(_ device: Device, _ number: Int, _ what: String) throws {
        guard device.isOn, device.request == number else { return }
        device.request = nil
        device.setClock(now)
        trace.add("\(device.name) gives up \(number): \(what)")
        device.session?.failed(what, at: device.now)
        try drive(device)
    }

    func receive(_ device: Device, _ number: Int, _ bytes: [UInt8]) throws {
        guard let store = device.store, device.request == number else { return }
        device.request = nil
        device.setClock(now)
        device.answerSizeMax = max(device.answerSizeMax, bytes.count)
        do throws(LogError) {
            try device.session?.receive(bytes, at: device.now)
        } catch {
            trace.add("\(device.name) takes \(number)")
            return try endSync(device, error)
        }
        guard !takeCut(of: device) else { return }
        if let session = device.session { device.space = session.space }
        let standing = store[device.space].standing()
        trace.add(
            "\(device.name) takes \(number): head \(standing.head), "
                + "\(standing.pending.reduce(0) { $0 + $1.sequences.count }) pending"
        )
        try records.checkReplica(device)
        try device.checkMemory()
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
        guard server.authority != nil else {
            let what = "the server does not listen"
            return agenda.add(.failure(device, number: number, what: what), at: now + 20)
        }
        guard let answer = try answer(request, of: device) else { return }
        trace.add("server answers \(number) of \(device.name): \(SyncMessage.name(answer))")
        try records.checkAnswer(answer, of: server, to: request, of: device, isDamaged: isDamaged)
        let deliveries = device.link.isHalfOpen ? [] : device.link.carry(answer, &random)
        trace.counts.answersLost += deliveries.isEmpty ? 1 : 0
        for delivery in deliveries {
            agenda.add(
                .answer(device, number: number, bytes: delivery.bytes),
                at: now + delivery.delay
            )
        }
        // Its operator sees that the disk fails.
        if server.mayFail, random.oneIn(4), SyncMessage.isUnavailable(answer) {
            server.kill()
            goDown(server)
        }
    }

    /// The answer of the server to a device; nil if it does not live, or dies of it.
    private func answer(_ request: [UInt8], of device: Device) throws -> [UInt8]? {
        let caller = device.caller(of: request)
        records.notePushed(request, from: caller, kinds)
        return try answer(request, caller)
    }

    func answer(_ request: [UInt8], _ caller: Caller) throws -> [UInt8]? {
        guard let authority = server.authority else { return nil }
        server.setClock(now)
        let answer = authority.answer(request, from: caller)
        // A server that died does not answer.
        guard !takeCut(of: server) else { return nil }
        try records.readLedger(server)
        server.shownHead = records.ledger.head
        return answer
    }

    /// Pushes the lane of a device without its first batch, as a faulty program could.
    func pushWithGap(_ device: Device) throws {
        guard device.isOn, server.authority != nil, !device.hasFaults, device.plannedCut == nil,
            !device.isRevoked, !server.isWaiting, device.contents.epoch == records.ledger.epoch
        else { return }
        device.setClock(now)
        guard let (start, push) = try device.pushWithGap(lineage) else { return }
        trace.add("\(device.name) pushes from \(start) on")
        let request = SyncMessage.push(push).encoded()
        guard let answer = try answer(request, of: device) else { return }
        try records.checkAnswer(answer, of: server, to: request, of: device, isDamaged: false)
    }
}
