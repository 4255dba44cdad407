import CCurl
import Synchronization

/// Carries requests over HTTP, on a thread of its own that ends with it.
///
/// Connections are kept and used again. Specified in schema/format/http.md.
package final class HTTPClient: Sendable {
    /// A request.
    package struct Request: Sendable {
        package var address: String
        package var headers: [(name: String, value: String)] = []
        /// Nil for GET; else a POST of these bytes, or a PUT.
        package var body: [UInt8]?
        package var isPut = false
        /// An answer with more bytes is an error, and takes no more memory than these.
        package var answerSizeMax: Int
        /// Seconds without a byte of the answer after which the request fails.
        package var stallSeconds = 30
        /// Seconds after which an idle connection is not used again: servers close idle ones, ours
        /// after 30 seconds, and a request sent at that moment is lost.
        package var idleSeconds = 25
        package var connectMilliseconds = 10_000
        /// A file with certificates to trust in place of the system's.
        package var certificates: String?
        /// False to go past every proxy that the environment names.
        package var usesProxy = true

        package init(address: String, answerSizeMax: Int) {
            self.address = address
            self.answerSizeMax = answerSizeMax
        }
    }

    /// An answer.
    package struct Answer: Sendable {
        package var status: Int
        /// By name in lower case; several of one name are one, with commas between.
        package var headers: [String: String]
        package var body: [UInt8]

        package init(status: Int, headers: [String: String], body: [UInt8]) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    /// Bytes of HTTP, headers among them.
    package struct Traffic: Sendable {
        package var sent: UInt64 = 0
        package var received: UInt64 = 0

        package init(sent: UInt64 = 0, received: UInt64 = 0) {
            self.sent = sent
            self.received = received
        }
    }

    private let state = Mutex(State())
    private let connectionCounter = Mutex(0)

    @safe fileprivate struct State: ~Copyable {
        /// Nil until something is asked.
        var client: OpaquePointer?
        var nextID: UInt64 = 0
        deinit { unsafe diario_curl_end(client) }
    }

    package init() {}

    /// The number of connections made so far.
    package var connectionCount: Int { connectionCounter.withLock { $0 } }

    /// Sends a request and returns the answer; traffic counts even without an answer.
    ///
    /// - Throws: ``HTTPFailure`` if there is no answer, `CancellationError` if the task was
    ///   cancelled, which ends the request at once.
    package func send(_ request: Request, _ traffic: inout Traffic) async throws -> Answer {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let call = HTTPCall(continuation)
                state.withLock { $0.start(id, request, call) }
            }
        } onCancel: {
            state.withLock { $0.cancel(id) }
        }
        traffic.sent += outcome.traffic.sent
        traffic.received += outcome.traffic.received
        switch outcome.result {
        case .success(let answer):
            if !outcome.isReused { connectionCounter.withLock { $0 += 1 } }
            return answer
        case .failure(let failure):
            if failure.kind == .cancelled { throw CancellationError() }
            throw failure
        }
    }
}

/// Why there was no answer.
package struct HTTPFailure: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case cancelled
        /// The server's name is not known.
        case unresolved
        /// The connection is not accepted.
        case unreachable
        case insecure
        /// The server's certificate is not one to trust.
        case untrusted
        /// The file with certificates cannot be read.
        case certificates
        case timeout
        case tooLarge
        /// The connection ended before the answer did.
        case broken
        case other
    }

    package let kind: Kind
    /// The library's message, for people who know networks.
    package let detail: String
}

/// A request in progress, and its waiting caller.
private final class HTTPCall: Sendable {
    struct Outcome: Sendable {
        let result: Result<HTTPClient.Answer, HTTPFailure>
        var traffic = HTTPClient.Traffic()
        var isReused = false
    }

    private let continuation: CheckedContinuation<Outcome, Never>

    init(_ continuation: CheckedContinuation<Outcome, Never>) {
        self.continuation = continuation
    }

    func fail(_ kind: HTTPFailure.Kind, _ detail: String) {
        continuation.resume(
            returning: Outcome(result: .failure(HTTPFailure(kind: kind, detail: detail)))
        )
    }

    func finish(_ answer: borrowing diario_curl_answer) {
        let result: Result<HTTPClient.Answer, HTTPFailure>
        if let kind = HTTPFailure.Kind(unsafe answer.outcome) {
            let detail = unsafe answer.failure.map { unsafe String(cString: $0) } ?? ""
            result = .failure(HTTPFailure(kind: kind, detail: detail))
        } else {
            let headers = unsafe Self.bytes(answer.headers, answer.header_size)
            result = .success(
                HTTPClient.Answer(
                    status: Int(unsafe answer.status),
                    headers: HTTPFields.parse(headers),
                    body: unsafe Self.bytes(answer.body, answer.body_size)
                )
            )
        }
        continuation.resume(
            returning: Outcome(
                result: result,
                traffic: HTTPClient.Traffic(
                    sent: unsafe answer.sent,
                    received: unsafe answer.received
                ),
                isReused: unsafe answer.is_reused
            )
        )
    }

    private static func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }
}

extension HTTPFailure.Kind {
    /// Nil if there is an answer.
    fileprivate init?(_ outcome: Int32) {
        switch Int(outcome) {
        case DIARIO_CURL_DONE: return nil
        case DIARIO_CURL_CANCELLED: self = .cancelled
        case DIARIO_CURL_RESOLVE: self = .unresolved
        case DIARIO_CURL_CONNECT: self = .unreachable
        case DIARIO_CURL_TLS: self = .insecure
        case DIARIO_CURL_UNTRUSTED: self = .untrusted
        case DIARIO_CURL_CERTIFICATES: self = .certificates
        case DIARIO_CURL_TIMEOUT: self = .timeout
        case DIARIO_CURL_TOO_LARGE: self = .tooLarge
        case DIARIO_CURL_BROKEN: self = .broken
        default: self = .other
        }
    }
}

extension HTTPClient.State {
    /// Begins a request, of which `call` is told the end once.
    fileprivate mutating func start(_ id: UInt64, _ request: HTTPClient.Request, _ call: HTTPCall) {
        // A task that is cancelled later finds the request under way: both hold the lock.
        guard !Task.isCancelled else { return call.fail(.cancelled, "") }
        if unsafe client == nil { unsafe client = diario_curl_make() }
        guard let client = unsafe client else {
            return call.fail(.other, "there is no memory or no thread for it")
        }
        let fields = request.headers.reduce(into: "") { $0 += "\($1.name): \($1.value)\n" }
        let context = unsafe Unmanaged.passRetained(call).toOpaque()
        unsafe request.address.withCString { address in
            unsafe fields.withCString { fields in
                unsafe Self.withText(request.certificates) { certificates in
                    unsafe Self.withBytes(request.body) { body, count in
                        var made = unsafe diario_curl_request()
                        unsafe made.url = unsafe address
                        unsafe made.headers = unsafe fields
                        unsafe made.body = unsafe body
                        unsafe made.body_size = count
                        unsafe made.is_put = request.isPut
                        unsafe made.certificates = unsafe certificates
                        unsafe made.answer_size_max = request.answerSizeMax
                        unsafe made.connect_milliseconds = UInt32(request.connectMilliseconds)
                        unsafe made.stall_seconds = UInt32(request.stallSeconds)
                        unsafe made.idle_seconds = UInt32(request.idleSeconds)
                        unsafe made.uses_proxy = request.usesProxy
                        unsafe diario_curl_start(client, id, &made, callDone, context)
                    }
                }
            }
        }
    }

    fileprivate func cancel(_ id: UInt64) {
        guard let client = unsafe client else { return }
        unsafe diario_curl_cancel(client, id)
    }

    private static func withText(
        _ text: String?,
        _ body: (UnsafePointer<CChar>?) -> Void
    ) {
        guard let text else { return body(nil) }
        unsafe text.withCString { unsafe body($0) }
    }

    /// An empty body has an address too, since none means that there is no body.
    private static func withBytes(
        _ bytes: [UInt8]?,
        _ body: (UnsafePointer<UInt8>?, Int) -> Void
    ) {
        guard let bytes else { return body(nil, 0) }
        let shown = bytes.isEmpty ? [0] : bytes
        unsafe shown.withUnsafeBufferPointer { unsafe body($0.baseAddress, bytes.count) }
    }
}

/// Called on the client's thread, once for each request.
private func callDone(
    _ context: UnsafeMutableRawPointer?,
    _ answer: UnsafePointer<diario_curl_answer>?
) {
    guard let context = unsafe context, let answer = unsafe answer else { return }
    let call = unsafe Unmanaged<HTTPCall>.fromOpaque(context).takeRetainedValue()
    unsafe call.finish(answer.pointee)
}
