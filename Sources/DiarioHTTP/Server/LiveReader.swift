import Synchronization

/// A live stream on its way to one client.
///
/// The library's thread takes what there is; when nothing is left it suspends the exchange, and a
/// worker asks the stream for more. It has the next word when the bell rings or its time comes.
final class LiveReader: WorkItem {
    /// Which lets go of this one at its end.
    private let exchange: Exchange
    private let stream: any LiveStream
    private let state = Mutex(State())

    /// What the library's thread is told.
    enum Produced {
        case bytes(ArraySlice<UInt8>)
        case waits
        case end
    }

    private enum Phase {
        /// The library's thread has the word.
        case taking
        /// A worker has it, or will; with what happened since it asked.
        case asking(isRung: Bool)
        /// Nobody has it before the bell rings or the time comes.
        case sleeping
    }

    private struct State {
        var phase = Phase.taking
        var pending: ArraySlice<UInt8> = []
        var isEnding = false
        var isAtEnd = false
        var listener: UInt64?

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
        let produced = state.withLock { state -> Produced in
            if let piece = state.takePending(atMost: count) { return .bytes(piece) }
            if state.isAtEnd { return .end }
            state.phase = .asking(isRung: false)
            return .waits
        }
        guard case .waits = produced else { return produced }
        exchange.handle.suspend()
        exchange.shared.queue.addAgain(self)
        return .waits
    }

    func work() {
        let isEnding = state.withLock { state in
            state.phase = .asking(isRung: false)
            return state.isEnding
        }
        guard !isEnding, !exchange.shared.isStopping else { return give([], isAtEnd: true) }
        switch stream.next(at: ContinuousClock.now) {
        case .bytes(let bytes) where !bytes.isEmpty: give(bytes[...], isAtEnd: false)
        // An empty piece would end the chunks; whoever has nothing says until when.
        case .bytes: sleep(until: ContinuousClock.now + .seconds(1))
        case .end: give([], isAtEnd: true)
        case .nothing(let until): sleep(until: until)
        }
    }

    private func give(_ bytes: ArraySlice<UInt8>, isAtEnd: Bool) {
        state.withLock { state in
            state.pending = bytes
            state.isAtEnd = isAtEnd
            state.phase = .taking
        }
        // A client that does not take it is broken off.
        exchange.handle.allow(Exchange.time(for: bytes.count))
        exchange.handle.resume()
    }

    private func sleep(until: ContinuousClock.Instant) {
        let shared = exchange.shared
        guard let lookout = shared.lookout,
            lookout.schedule(exchange.number, exchange, until: until)
        else { return give([], isAtEnd: true) }
        let isRung = state.withLock { state in
            if case .asking(isRung: true) = state.phase { return true }
            state.phase = .sleeping
            return false
        }
        if isRung { shared.queue.addAgain(self) }
    }

    func wake(_ reason: WakeReason) {
        let isWoken = state.withLock { state in
            if reason == .gone || reason == .stopping { state.isEnding = true }
            switch state.phase {
            case .taking: return false
            case .asking:
                state.phase = .asking(isRung: true)
                return false
            case .sleeping:
                state.phase = .asking(isRung: false)
                return true
            }
        }
        if isWoken { exchange.shared.queue.addAgain(self) }
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
