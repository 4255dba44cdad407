import CMicrohttpd

/// The library's threads and sockets.
@safe final class Daemon: Sendable {
    // Sendable because the pointer is set once, and each function that is called with it may be
    // called by any thread; `stop` is called once, when nobody calls the others any more.
    private nonisolated(unsafe) let pointer: OpaquePointer
    /// Kept for the callbacks, which are given a plain pointer to it.
    private let exchanges: Exchanges

    /// Starts with a socket that listens, which is the daemon's from then on.
    init(
        _ configuration: HTTPServer.Configuration,
        _ listener: borrowing ListeningSocket,
        connectionCountMax: Int,
        _ exchanges: Exchanges
    ) throws(ServerError) {
        self.exchanges = exchanges
        var options = unsafe diario_http_options()
        unsafe options.listener = listener.descriptor
        unsafe options.thread_count = UInt32(configuration.threadCount)
        unsafe options.connection_size = configuration.connectionSize
        unsafe options.connection_count_max = UInt32(connectionCountMax)
        unsafe options.address_connection_count_max = UInt32(
            configuration.addressConnectionCountMax ?? 0
        )
        unsafe options.quiet_seconds_max = UInt32(configuration.quietSecondsMax)
        unsafe options.head_seconds_max = UInt32(configuration.headSecondsMax)
        var calls = unsafe diario_http_calls()
        // Safe: `exchanges` lives as long as the daemon does.
        unsafe calls.context = Unmanaged.passUnretained(exchanges).toOpaque()
        unsafe calls.begin = beginExchange
        unsafe calls.receive = receiveBody
        unsafe calls.ready = answerExchange
        unsafe calls.produce = produceBytes
        unsafe calls.end = endExchange
        var message = [CChar](repeating: 0, count: 256)
        let certificate = configuration.certificate?.certificate
        let key = configuration.certificate?.key
        let started = unsafe Self.withTexts(certificate, key) { certificate, key in
            unsafe options.certificate = certificate
            unsafe options.key = key
            return unsafe diario_http_start(&options, &calls, &message, message.count)
        }
        guard let started = unsafe started else {
            let text = Self.text(message)
            throw certificate == nil ? .failed(text) : .certificate(text)
        }
        unsafe pointer = started
    }

    /// Some of the library's messages end their lines.
    private static func text(_ message: [CChar]) -> String {
        String(
            decoding: message.prefix { $0 != 0 && $0 != 0x0a }.map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
    }

    /// Shows another certificate to whoever connects from now on; the one before stays if this one
    /// cannot be used.
    func use(_ certificate: HTTPServer.Certificate) throws(ServerError) {
        var message = [CChar](repeating: 0, count: 256)
        // Safe: the library keeps nothing of the texts.
        let result = unsafe diario_http_use_certificate(
            pointer,
            certificate.certificate,
            certificate.key,
            &message,
            message.count
        )
        if result < 0 { throw .certificate(Self.text(message)) }
    }

    /// Runs `body` with C's texts, which last that long.
    private static func withTexts(
        _ first: String?,
        _ second: String?,
        _ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> OpaquePointer?
    ) -> OpaquePointer? {
        guard let first, let second else { return unsafe body(nil, nil) }
        // Safe: the library copies what it is given.
        return unsafe first.withCString { first in
            unsafe second.withCString { second in unsafe body(first, second) }
        }
    }

    /// Closes new connections as soon as they are made, from now on.
    func turnAway() { unsafe diario_http_turn_away(pointer) }

    /// Breaks off all connections; a suspended exchange ends when it is resumed.
    func breakOff() { unsafe diario_http_break_off(pointer) }

    /// Breaks off those whose time is over.
    func breakOffOverdue() { unsafe diario_http_break_off_overdue(pointer) }

    /// Ends the threads.
    ///
    /// No exchange may be suspended, and the daemon must not be used afterwards.
    func stop() { unsafe diario_http_stop(pointer) }

    var connectionCount: Int { Int(unsafe diario_http_connection_count(pointer)) }

    /// Waits for clients that go, at most so long, or until `wake`; gives their numbers.
    func waitForGone(atMost time: Duration) -> [UInt64] {
        var numbers = [UInt64](repeating: 0, count: 64)
        let (seconds, attoseconds) = time.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        let count = unsafe diario_http_wait(
            pointer,
            &numbers,
            Int32(numbers.count),
            Int32(clamping: max(0, milliseconds))
        )
        return Array(numbers.prefix(Int(count)))
    }

    func wake() { unsafe diario_http_wake(pointer) }
}

/// A socket that waits for connections.
struct ListeningSocket: ~Copyable {
    let descriptor: Int32

    init(host: String, port: UInt16) throws(ServerError) {
        let result = unsafe diario_http_listen(host, port)
        guard result < 0 else {
            descriptor = result
            return
        }
        switch result {
        case diario_http_error_in_use: throw .inUse(host: host, port: port)
        case diario_http_error_access: throw .denied(host: host, port: port)
        case diario_http_error_no_address: throw .noSuchAddress(host: host)
        case diario_http_error_unknown_host: throw .unknownHost(host: host)
        case diario_http_error_files: throw .tooManyFiles
        default: throw .failed("cannot listen on \(host), error \(-result)")
        }
    }

    /// True if only this machine reaches it.
    var isLoopback: Bool { diario_http_is_loopback(descriptor) != 0 }

    /// The address and port on which it listens.
    var address: (host: String, port: Int) {
        var text = [CChar](repeating: 0, count: 46)
        let port = unsafe diario_http_address(descriptor, &text, text.count)
        let host = String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
        return (host, Int(max(0, port)))
    }

    /// The number of files that may be open at once, after raising the bound as far as possible.
    static func raiseFileLimit() -> Int { Int(diario_http_raise_file_limit()) }
}

// What the library calls. Each is given a pointer that `begin` made of a retained exchange, and
// `end` is the last call for it.

private func beginExchange(
    _ context: UnsafeMutableRawPointer?,
    _ handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context, let handle = unsafe handle else { return nil }
    // Safe: the daemon keeps what `context` leads to.
    let exchanges = unsafe Unmanaged<Exchanges>.fromOpaque(context).takeUnretainedValue()
    let exchange = unsafe exchanges.begin(ExchangeHandle(handle))
    let kept = unsafe Unmanaged.passRetained(exchange).toOpaque()
    // Only now: from an answer on, the exchange may end.
    exchange.admit()
    return unsafe kept
}

private func receiveBody(
    _ request: UnsafeMutableRawPointer?,
    _ bytes: UnsafePointer<UInt8>?,
    _ count: Int
) -> Int32 {
    guard let request = unsafe request else { return 1 }
    // Safe: the exchange is kept until `endExchange`, and the bytes last for this call.
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(request).takeUnretainedValue()
    return unsafe exchange.receive(UnsafeBufferPointer(start: bytes, count: count)) ? 0 : 1
}

private func answerExchange(_ request: UnsafeMutableRawPointer?) -> Int32 {
    guard let request = unsafe request else { return 0 }
    // Safe: the exchange is kept until `endExchange`.
    return unsafe Unmanaged<Exchange>.fromOpaque(request).takeUnretainedValue().ready() ? 1 : 0
}

private func produceBytes(
    _ request: UnsafeMutableRawPointer?,
    _ room: UnsafeMutablePointer<UInt8>?,
    _ capacity: Int
) -> Int64 {
    guard let request = unsafe request, let room = unsafe room else {
        return Int64(DIARIO_HTTP_END)
    }
    // Safe: the exchange is kept until `endExchange`, and no more than `capacity` is written.
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(request).takeUnretainedValue()
    switch exchange.produce(atMost: capacity) {
    case .end: return Int64(DIARIO_HTTP_END)
    case .waits: return 0
    case .bytes(let bytes):
        precondition(bytes.count <= capacity, "no more is produced than there is room for")
        unsafe bytes.withUnsafeBufferPointer {
            guard let start = $0.baseAddress else { return }
            unsafe room.update(from: start, count: $0.count)
        }
        return Int64(bytes.count)
    }
}

private func endExchange(_ request: UnsafeMutableRawPointer?, _ isWhole: Int32) {
    guard let request = unsafe request else { return }
    // Safe: this is the last call for the reference that `beginExchange` kept.
    unsafe Unmanaged<Exchange>.fromOpaque(request).takeRetainedValue().end(isWhole: isWhole != 0)
}
