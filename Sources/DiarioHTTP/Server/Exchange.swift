import DiarioCore
import DiarioEngine
import Synchronization

// From the library's threads come, in this order: `admit`, `receive` for each part of a body,
// `ready`, `produce` while an answer is live, and `end`. Between `ready` and the answer the
// exchange is suspended, and goes from worker to worker:
//
//          ready         a worker takes it        the handler answers
// receiving ----> queued ----------------> running -------------------> answered
//                   ^                         | the handler waits
//                   +---- waiting <-----------+
//                 bell, deadline, client gone, stop
//
// A question or a scan that the handler answers with goes from `running` to `inLine`, and from
// there to `reading` when its turn comes, or to `queued` and a refusal if none came.

/// A request from its first byte to the last one of its answer.
final class Exchange: Reader, Sleeper {
    let number: UInt64
    let shared: Exchanges
    let handle: ExchangeHandle
    private let began = ContinuousClock.now
    private let state: Mutex<State>
    /// Ends a query or a scan whose client is gone.
    let stop = BuildStop()

    private enum Phase {
        case receiving
        case queued
        /// With what happened since a worker took it.
        case running(missed: WakeReason?)
        case waiting
        /// With what happened before it stood there.
        case inLine(Reading<HTTPAnswer>, missed: WakeReason?)
        case reading(Reading<HTTPAnswer>)
        case answered
    }

    private struct State {
        var phase = Phase.receiving
        var request = HTTPRequest("", "")
        var bodySizeMax = 0
        /// The announced size of the body.
        var bodySize: Int?
        var receivedCount = 0
        /// Answered when the body has come, which is thrown away.
        var refusal: HTTPAnswer?
        /// True if the connection can take no other request.
        var closes = false
        var isLast = false
        /// True if it waited for its turn in vain.
        var isTurnedAway = false
        var listening: (bell: Bell, id: UInt64)?
        /// When it stops to wait: as its first turn said, however often the bell rings.
        var waitEnd: ContinuousClock.Instant?
        var live: LiveReader?
        var countedBodies = 0
        var record = RequestRecord()
    }

    /// A body that is not wanted is read to its end up to this size, so that the connection can go
    /// on; else it is closed.
    private static let discardedSizeMax = 64 * 1024
    /// The same of one that comes in chunks.
    private static let discardedChunksSizeMax = 64 * 1024 * 1024

    init(_ shared: Exchanges, _ handle: ExchangeHandle, number: UInt64) {
        self.shared = shared
        self.handle = handle
        self.number = number
        state = Mutex(State())
    }

    // MARK: What comes in

    /// Decides by the head whether the body is read.
    func admit() {
        let head: RequestHead
        do throws(HeadFault) { head = try RequestHead(handle) } catch {
            state.withLock { state in
                state.closes = true
                state.record.method = handle.method
                state.record.path = handle.path
            }
            return send(error.problem.answer)
        }
        state.withLock { state in
            state.request = head.request
            state.record.method = head.request.method
            state.record.path = head.request.path
            if case .bytes(let count) = head.body { state.bodySize = count }
        }
        switch admission(of: head) {
        case .bytes(let max):
            state.withLock { $0.bodySizeMax = max }
            guard head.body != .none else { return handle.allow(nil) }
            keepPace(0)
        case .refused(let answer):
            refuse(answer, head)
        }
    }

    private func admission(of head: RequestHead) -> BodyAdmission {
        guard !shared.isStopping else { return .refused(ServerProblem.stopping.answer) }
        if head.body != .none {
            let coding = head.request.headers["content-encoding"]?.lowercased()
            guard coding == nil || coding == "identity" else {
                return .refused(ServerProblem.encoding.answer)
            }
        }
        let admission = shared.handler.admit(head.request)
        guard case .bytes(let max) = admission, case .bytes(let count) = head.body else {
            return admission
        }
        guard count <= max else {
            return .refused(ServerProblem.tooLarge("The body", sizeMax: max).answer)
        }
        guard shared.hasRoom(for: count) else {
            shared.counters.countRefusal()
            return .refused(ServerProblem.busy.answer)
        }
        return admission
    }

    /// Answers without the body: immediately if it is large or not yet sent, else after it.
    private func refuse(_ answer: HTTPAnswer, _ head: RequestHead) {
        let isSmall =
            switch head.body {
            case .none: true
            case .bytes(let count): count <= Self.discardedSizeMax
            case .unknown: false
            }
        if isSmall, !head.expectsContinue {
            state.withLock { $0.refusal = answer }
            return keepPace(0)
        }
        state.withLock { $0.closes = true }
        send(answer)
    }

    /// Takes a part of the body; false if the connection is to be broken off.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let hasRoom = shared.hasRoom(for: bytes.count)
        keepPace(bytes.count)
        let (isTaken, counted) = state.withLock { state -> (Bool, Int) in
            if state.refusal != nil {
                // The size of a body in chunks is known only at its end, where its answer comes.
                let discarded =
                    state.bodySize == nil ? Self.discardedChunksSizeMax : Self.discardedSizeMax
                return (state.receivedCount <= state.bodySizeMax + discarded, 0)
            }
            guard hasRoom, state.receivedCount <= state.bodySizeMax else {
                state.request.body = []
                state.closes = true
                state.refusal =
                    hasRoom
                    ? ServerProblem.tooLarge("The body", sizeMax: state.bodySizeMax).answer
                    : ServerProblem.busy.answer
                defer { state.countedBodies = 0 }
                return (true, -state.countedBodies)
            }
            let capacity = state.request.body.capacity
            if state.receivedCount > capacity {
                // Not all at once: who says much has not sent it yet.
                let wanted = max(state.receivedCount, 2 * capacity)
                let most = max(state.receivedCount, state.bodySize ?? state.bodySizeMax)
                state.request.body.reserveCapacity(min(wanted, most))
            }
            unsafe state.request.body.append(contentsOf: bytes)
            state.countedBodies += bytes.count
            return (true, bytes.count)
        }
        shared.addBodies(counted)
        return isTaken
    }

    /// Breaks a client off that sends its body too slowly, whatever length it says.
    private func keepPace(_ count: Int) {
        let received = state.withLock { state in
            state.receivedCount += count
            return state.receivedCount
        }
        handle.allow(Self.time(for: received) - (ContinuousClock.now - began))
    }

    /// Answers a request that is there whole; false if others will.
    func ready() -> Bool {
        let refusal = state.withLock { state in
            state.record.received = state.receivedCount
            return state.refusal
        }
        if let refusal {
            send(refusal)
            return true
        }
        state.withLock { $0.phase = .queued }
        handle.suspend()
        // From here on the answer may come at any moment.
        let isHealth = shared.handler.isAboutHealth(state.withLock { $0.request })
        if !(isHealth ? shared.healthQueue : shared.queue).add(self) {
            shared.counters.countRefusal()
            send(ServerProblem.busy.answer)
        }
        return false
    }

    // MARK: The handler

    func work() {
        typealias Work = (reading: Reading<HTTPAnswer>?, isTurnedAway: Bool)
        let (reading, isTurnedAway) = state.withLock { state -> Work in
            if case .reading(let reading) = state.phase { return (reading, false) }
            return (nil, state.isTurnedAway)
        }
        if let reading { return read(reading) }
        if isTurnedAway { return sendRefusal(.manyReadings) }
        let (request, isLast, isKnown) = state.withLock { state in
            state.phase = .running(missed: nil)
            return (state.request, state.isLast, state.listening != nil)
        }
        let turn: Turn = isLast || shared.isStopping ? .last : isKnown ? .again : .first
        let reply = measure { shared.handler.reply(to: request, turn) }
        switch reply {
        case .answer(let answer): send(answer)
        case .wait(let bell, let until, let note):
            if let note { state.withLock { $0.request.note = note } }
            // A handler that waits after its last turn has no answer: that is a mistake in it.
            if isLast { send(ServerProblem.failed.answer) } else { wait(for: bell, until) }
        case .reading(let reading): standInLine(with: reading)
        }
    }

    /// Adds the time of `body` to that of the request, which has several turns if it waits.
    private func measure<Value>(_ body: () -> Value) -> Value {
        let start = ContinuousClock.now
        let value = body()
        let time = ContinuousClock.now - start
        state.withLock { $0.record.handling += time }
        return value
    }

    // MARK: Questions and scans

    private func standInLine(with reading: Reading<HTTPAnswer>) {
        unlisten()
        state.withLock { state in
            var reason: WakeReason?
            if case .running(let missed?) = state.phase, missed != .bell { reason = missed }
            state.phase = .inLine(reading, missed: reason)
        }
        watchClient()
        // In this order: once it is queued it may be over at any moment.
        guard let lookout = shared.lookout,
            lookout.schedule(number, self, until: .now + shared.readingWaitMax)
        else { return send(ServerProblem.stopping.answer) }
        shared.reads.enter(self, of: reading.owner)
        let hasMissed = state.withLock { state in
            if case .inLine(_, .some) = state.phase { true } else { false }
        }
        if hasMissed { leaveLine(reading.owner) }
    }

    func comesNext() {
        state.withLock { state in
            if case .inLine(let reading, _) = state.phase { state.phase = .reading(reading) }
        }
    }

    private func leaveLine(_ owner: ReadOwner) {
        guard shared.reads.leave(number, of: owner) else { return }
        state.withLock { state in
            state.phase = .queued
            state.isTurnedAway = true
        }
        shared.queue.addAgain(self)
    }

    private func read(_ reading: Reading<HTTPAnswer>) {
        let answer = measure { reading.read(stop) }
        shared.reads.finish(of: reading.owner)
        if stop.hasBeenAsked, shared.isStopping {
            send(ServerProblem.stopping.answer)
        } else {
            send(answer)
        }
    }

    private func sendRefusal(_ problem: ServerProblem) {
        shared.counters.countRefusal()
        send((shared.isStopping ? .stopping : problem).answer)
    }

    // MARK: News

    private func wait(for bell: Bell, _ until: ContinuousClock.Instant) {
        guard state.withLock({ $0.listening?.bell === bell }) else {
            unlisten()
            guard shared.beginWaiting() else {
                shared.counters.countRefusal()
                return send(ServerProblem.busy.answer)
            }
            let id = bell.listen { [weak self] in self?.wake(.bell) }
            state.withLock { $0.listening = (bell, id) }
            watchClient()
            // Events before it listened are not reported again.
            return workAgain(isLast: false)
        }
        let end = state.withLock { state in
            let end = state.waitEnd ?? until
            state.waitEnd = end
            return end
        }
        guard let lookout = shared.lookout, lookout.schedule(number, self, until: end) else {
            return workAgain(isLast: true)
        }
        let missed = state.withLock { state -> WakeReason? in
            if case .running(let missed?) = state.phase { return missed }
            state.phase = .waiting
            return nil
        }
        if let missed { workAgain(isLast: missed != .bell) }
    }

    private func watchClient() {
        // In this order: a client that has gone already is told of once.
        shared.lookout?.add(number, self)
        handle.watch(as: number)
    }

    private func workAgain(isLast: Bool) {
        state.withLock { state in
            // Its client may have gone since it is watched, and that is told once.
            if case .running(let missed?) = state.phase, missed != .bell { state.isLast = true }
            state.phase = .queued
            state.isLast = state.isLast || isLast
        }
        shared.queue.addAgain(self)
    }

    func wake(_ reason: WakeReason) {
        if reason == .gone || reason == .stopping { stop.ask() }
        let (isWoken, live, owner) = state.withLock { state -> (Bool, LiveReader?, ReadOwner?) in
            switch state.phase {
            case .waiting:
                state.phase = .queued
                state.isLast = state.isLast || reason != .bell
                return (true, nil, nil)
            case .running(let missed):
                // That it is the last time must not be forgotten.
                if missed == nil || missed == .bell { state.phase = .running(missed: reason) }
                return (false, nil, nil)
            case .queued:
                state.isLast = state.isLast || reason != .bell
                return (false, nil, nil)
            case .inLine(let reading, _):
                guard reason != .bell else { return (false, nil, nil) }
                state.phase = .inLine(reading, missed: reason)
                return (false, nil, reading.owner)
            case .reading: return (false, nil, nil)
            case .receiving, .answered: return (false, state.live, nil)
            }
        }
        if isWoken { shared.queue.addAgain(self) }
        if let owner { leaveLine(owner) }
        live?.wake(reason)
    }

    private func unlisten() {
        let listening = state.withLock { state in
            defer { state.listening = nil }
            return state.listening
        }
        guard let (bell, id) = listening else { return }
        bell.ignore(id)
        shared.endWaiting()
    }

    // MARK: What goes out

    private func send(_ answer: HTTPAnswer) {
        unlisten()
        var answer = answer
        var time: Duration?
        let isHead = state.withLock { $0.request.method } == "HEAD"
        switch answer.body {
        case .bytes(let bytes): time = Self.time(for: bytes.count)
        case .file(let file): time = Self.time(for: isHead ? 0 : file.count)
        case .stream(let stream):
            guard shared.beginLive() else {
                shared.counters.countRefusal()
                return send(ServerProblem.busy.answer)
            }
            let live = LiveReader(self, stream)
            state.withLock { $0.live = live }
            watchClient()
        }
        let size = isHead ? 0 : answer.size
        let held = answer.heldSize
        let closes = state.withLock { state -> Bool in
            let request = state.request
            let isForeign = answer.headers.contains {
                $0.name.lowercased() == "access-control-allow-origin"
            }
            if request.headers["origin"] != nil, !isForeign {
                answer.headers.append((name: "Access-Control-Allow-Origin", value: "*"))
            }
            // Frees the request: an answer may take a long time.
            state.request = HTTPRequest(request.method, "")
            state.phase = .answered
            state.record.status = answer.status
            state.record.sent = size
            state.record.token = answer.token
            state.record.cause = answer.cause
            let counted = held - state.countedBodies
            state.countedBodies = held
            shared.addBodies(counted)
            return state.closes || state.live != nil
        }
        answer.headers.append((name: "Server", value: "diario"))
        answer.headers.append((name: "X-Content-Type-Options", value: "nosniff"))
        answer.headers.append((name: "Cross-Origin-Resource-Policy", value: "cross-origin"))
        if closes || shared.isStopping {
            answer.headers.append((name: "Connection", value: "close"))
        }
        do throws(AnswerFault) { try handle.answer(answer, within: time) } catch {
            let problem = error == .fileIsGone ? ServerProblem.fileIsGone : .failed
            let isReplaced = state.withLock { state in
                defer { state.record.isReplaced = true }
                return !state.record.isReplaced
            }
            // Not even a small answer: the connection is closed.
            if isReplaced { send(problem.answer) } else { handle.giveUp() }
        }
    }

    /// The next part of a live answer.
    func produce(atMost count: Int) -> LiveReader.Produced {
        guard let live = state.withLock({ $0.live }) else { return .end }
        let produced = live.produce(atMost: count)
        if case .bytes(let bytes) = produced {
            state.withLock { $0.record.sent += bytes.count }
        }
        return produced
    }

    /// Nothing comes any more: the answer was sent, or the client has gone.
    func end(isWhole: Bool) {
        unlisten()
        shared.lookout?.forget(number)
        let (record, live, counted) = state.withLock { state in
            defer {
                state.phase = .answered
                state.live = nil
                state.countedBodies = 0
            }
            return (state.record, state.live, state.countedBodies)
        }
        if let live {
            live.close()
            shared.endLive()
        }
        shared.addBodies(-counted)
        shared.counters.countAnswer(record, isWhole: isWhole)
        shared.log?.add(record, time: ContinuousClock.now - began, isWhole: isWhole)
        shared.ended()
    }

    /// The time that so many bytes may take: enough for a slow line, but bounded.
    static func time(for size: Int) -> Duration {
        .seconds(Limits.httpQuietSecondsMax + size / Limits.httpSlowRateSizeMax)
    }
}

extension HTTPAnswer {
    /// Bytes of the body, as far as they are known.
    fileprivate var size: Int {
        switch body {
        case .bytes(let bytes): bytes.count
        case .file(let file): file.count
        case .stream: 0
        }
    }

    /// Bytes that lie in memory until they are sent.
    fileprivate var heldSize: Int { if case .bytes(let bytes) = body { bytes.count } else { 0 } }
}
