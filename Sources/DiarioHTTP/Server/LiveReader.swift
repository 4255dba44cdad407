import Synchronization

/// A live stream on its way to one client.
///
/// The library's thread takes what there is; when nothing is left it suspends the exchange, and a
/// worker asks the stream for more. It has the next word when the bell rings or its time comes.
final class LiveReader: Reader, BriefItem {
    /// It releases this one at its end.
    private let exchange: Exchange
    private let stream: any LiveStream
    private let state = Mutex(State())

    /// The result for the library's thread.
    enum Produced {
        case bytes(ArraySlice<UInt8>)
        case waits
        case end
    }

    private enum Phase {
        /// The library's thread has the word; with what happened since the stream was asked.
        case taking(isRung: Bool)
        /// A worker has it, or will; with what happened since it asked.
        case asking(isRung: Bool)
        /// Nobody has it before the bell rings or the time comes.
        case sleeping
    }

    private struct State {
        var phase = Phase.taking(isRung: false)
        var pending: ArraySlice<UInt8> = []
        /// When the stream is asked again; nil for immediately.
        var quietUntil: ContinuousClock.Instant?
        var isEnding = false
        var isAtEnd = false
        var listener: UInt64?
        /// The queued reading.
        var reading: Reading<LivePiece>?
        /// True if the turn of that has come.
        var isNext = false

        /// True if the bell rang since the stream was asked.
        var isRung: Bool {
            switch phase {
            case .taking(let isRung), .asking(let isRung): isRung
            case .sleeping: false
            }
        }

        mutating func takePending(atMost count: Int) -> ArraySlice<UInt8>? {
            guard !pending.isEmpty else { return nil }
            let piece = pending.prefix(count)
            pending = pending.dropFirst(count)
            if pending.isEmpty { pending = [] }
            return piece
        }
    }

    init(_ exchange: Exchange, _ stream: any LiveStream) {
        self.exchange = exchange
        self.stream = stream
        let id = stream.bell.listen { [weak self] in self?.wake(.bell) }
        state.withLock { $0.listener = id }
    }

    /// Takes what there is, or suspends the exchange until there is something.
    func produce(atMost count: Int) -> Produced {
        typealias Step = (produced: Produced, quietUntil: ContinuousClock.Instant?)
        let (produced, quietUntil) = state.withLock { state -> Step in
            if let piece = state.takePending(atMost: count) { return (.bytes(piece), nil) }
            if state.isAtEnd { return (.end, nil) }
            let isRung = state.isRung
            state.phase = .asking(isRung: isRung)
            return (.waits, isRung ? nil : state.quietUntil)
        }
        guard case .waits = produced else { return produced }
        exchange.handle.suspend()
        // The worker is spared the way if the stream has said that there is nothing.
        guard let quietUntil else {
            exchange.shared.queue.addAgain(self)
            return .waits
        }
        if sleep(until: quietUntil) { handOver() }
        return .waits
    }

    var number: UInt64 { exchange.number }

    func work() {
        let reading = state.withLock { state -> Reading<LivePiece>? in
            guard state.isNext else { return nil }
            state.isNext = false
            defer { state.reading = nil }
            return state.reading
        }
        guard let reading else {
            if prepare() { handOver() }
            return
        }
        let piece = reading.read(exchange.stop)
        exchange.shared.reads.finish(of: reading.owner)
        if take(piece) { handOver() }
    }

    func comesNext() { state.withLock { $0.isNext = true } }

    /// A scan runs when its turn comes, for which a live answer waits as long as it takes.
    private func standInLine(with reading: Reading<LivePiece>) {
        state.withLock { $0.reading = reading }
        exchange.shared.reads.enter(self, of: reading.owner)
        // Its client may have gone before it stood there.
        if state.withLock({ $0.isEnding }) { leaveLine() }
    }

    private func leaveLine() {
        guard let owner = state.withLock({ $0.reading?.owner }),
            exchange.shared.reads.leave(number, of: owner)
        else { return }
        exchange.shared.queue.addAgain(self)
    }

    func prepare() -> Bool {
        let isEnding = state.withLock { state in
            state.phase = .asking(isRung: false)
            return state.isEnding
        }
        guard !isEnding, !exchange.shared.isStopping else { return give([], isAtEnd: true) }
        return take(stream.next(at: ContinuousClock.now))
    }

    /// True if there is something to hand over.
    private func take(_ piece: LivePiece) -> Bool {
        switch piece {
        case .bytes(let bytes, let quietUntil) where !bytes.isEmpty:
            return give(bytes[...], quietUntil: quietUntil)
        // An empty piece would end the chunks; a stream without data must give a time instead.
        case .bytes: return sleep(until: ContinuousClock.now + .seconds(1))
        case .end: return give([], isAtEnd: true)
        case .nothing(let until): return sleep(until: until)
        case .reading(let reading):
            standInLine(with: reading)
            return false
        }
    }

    func handOver() {
        // A client that does not take it is broken off.
        exchange.handle.allow(Exchange.time(for: state.withLock { $0.pending.count }))
        exchange.handle.resume()
    }

    /// Puts down what is to be handed over; always true.
    private func give(
        _ bytes: ArraySlice<UInt8>,
        quietUntil: ContinuousClock.Instant? = nil,
        isAtEnd: Bool = false
    ) -> Bool {
        state.withLock { state in
            state.pending = bytes
            state.quietUntil = quietUntil
            state.isAtEnd = isAtEnd
            state.phase = .taking(isRung: state.isRung)
        }
        return true
    }

    /// True if there is no sleeping any more, and the end is to be handed over.
    private func sleep(until: ContinuousClock.Instant) -> Bool {
        let shared = exchange.shared
        guard let lookout = shared.lookout,
            lookout.schedule(exchange.number, exchange, until: until)
        else { return give([], isAtEnd: true) }
        let isRung = state.withLock { state in
            if state.isRung { return true }
            state.phase = .sleeping
            return false
        }
        if isRung { shared.queue.addAgain(self) }
        return false
    }

    func wake(_ reason: WakeReason) {
        let isOver = reason == .gone || reason == .stopping
        let isWoken = state.withLock { state in
            if isOver { state.isEnding = true }
            switch state.phase {
            case .taking:
                state.phase = .taking(isRung: true)
                return false
            case .asking:
                state.phase = .asking(isRung: true)
                return false
            case .sleeping:
                state.phase = .asking(isRung: false)
                return true
            }
        }
        // Whoever sleeps has all that there was, so the news are few.
        if isWoken { exchange.shared.queue.addBrief(self) }
        if isOver { leaveLine() }
    }

    /// The client has gone or has got everything.
    func close() {
        let listener = state.withLock { state in
            defer { state.listener = nil }
            return state.listener
        }
        if let listener { stream.bell.ignore(listener) }
    }
}
