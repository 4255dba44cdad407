import CMicrohttpd

/// The library's side of one request: what it asks, and how it is answered.
///
/// Valid until its exchange ends. CMicrohttpd.h says which thread may call what.
@safe struct ExchangeHandle: Sendable {
    // Sendable because the pointer is set once, and threads take turns with what it leads to: the
    // library's until it suspends, then the one that answers or resumes.
    private nonisolated(unsafe) let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    // MARK: The request

    var method: String { unsafe String(cString: diario_http_method(pointer)) }
    /// As it was sent, without the query.
    var path: String { unsafe String(cString: diario_http_path(pointer)) }
    /// As `HTTP/1.1`.
    var version: String { unsafe String(cString: diario_http_version(pointer)) }
    /// Bytes of the first line and the headers.
    var headSize: Int { unsafe diario_http_head_size(pointer) }

    /// The address of the client; nil if the library does not know it.
    var peer: HTTPRequest.Peer? {
        var network: UInt64 = 0
        let kind = unsafe diario_http_peer(pointer, &network)
        return kind < 0 ? nil : HTTPRequest.Peer(network: network, isLoopback: kind == 1)
    }

    /// Names and values of the headers as they were sent.
    var headers: [(name: String, value: String)] {
        unsafe fields(diario_http_headers).map { ($0.name, $0.value ?? "") }
    }

    /// Names and values of the query, with percent signs as they were sent.
    var parameters: [(name: String, value: String?)] { unsafe fields(diario_http_parameters) }

    private func fields(
        _ list: (OpaquePointer, UnsafeMutablePointer<diario_http_field>?, Int) -> Int
    ) -> [(name: String, value: String?)] {
        let count = unsafe list(pointer, nil, 0)
        var found: [(name: String, value: String?)] = []
        // Safe: the texts are copied while the exchange lives, and no more of them is read than
        // the library says there is.
        unsafe withUnsafeTemporaryAllocation(of: diario_http_field.self, capacity: count) {
            let written = unsafe min(count, list(pointer, $0.baseAddress, count))
            for index in 0..<written {
                let field = unsafe $0[index]
                guard let name = unsafe Self.text(field.name, field.name_size) else { continue }
                unsafe found.append((name, Self.text(field.value, field.value_size)))
            }
        }
        return found
    }

    private static func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String? {
        guard let bytes = unsafe bytes else { return nil }
        let raw = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        return unsafe String(decoding: raw, as: UTF8.self)
    }

    // MARK: The answer

    /// Breaks the connection off if this step takes longer; nil: it may.
    func allow(_ time: Duration?) { unsafe diario_http_allow(pointer, Self.milliseconds(time)) }

    func suspend() { unsafe diario_http_suspend(pointer) }

    func resume() { unsafe diario_http_resume(pointer) }

    /// Has the client watched until the exchange ends.
    func watch(as number: UInt64) { unsafe diario_http_watch(pointer, number) }

    /// Answers, and resumes the exchange if it was suspended.
    ///
    /// - Throws: what came in the way; then it is not answered yet.
    func answer(
        _ answer: HTTPAnswer,
        within time: Duration?
    ) throws(AnswerFault) {
        let response = try unsafe makeResponse(answer.body)
        for (name, value) in answer.headers {
            // A header that the library refuses would break the answer: it is left out.
            _ = unsafe diario_http_add_header(response, name, value)
        }
        unsafe diario_http_answer(
            pointer,
            UInt32(answer.status),
            response,
            Self.milliseconds(time)
        )
    }

    /// Leaves an exchange that is suspended without an answer: its connection is closed.
    func giveUp() { unsafe diario_http_give_up(pointer) }

    private func makeResponse(_ body: HTTPAnswer.Body) throws(AnswerFault) -> OpaquePointer {
        switch body {
        case .bytes(let bytes):
            // Safe: the library copies the bytes before it returns.
            let response = unsafe bytes.withUnsafeBufferPointer {
                unsafe diario_http_make_bytes($0.baseAddress, $0.count)
            }
            guard let response = unsafe response else { throw .memory }
            return unsafe response
        case .file(let file):
            var code: Int32 = 0
            let response = unsafe diario_http_make_file(
                file.path,
                UInt64(file.offset),
                UInt64(file.count),
                &code
            )
            if let response = unsafe response { return unsafe response }
            throw code == diario_http_error_not_found ? .fileIsGone : .file
        case .stream:
            guard let response = unsafe diario_http_make_live(pointer) else { throw .memory }
            return unsafe response
        }
    }

    /// A time that is over still needs a moment: 0 would mean no bound.
    private static func milliseconds(_ time: Duration?) -> Int64 {
        guard let time else { return 0 }
        let (seconds, attoseconds) = time.components
        return max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}

/// Why an answer cannot be sent.
enum AnswerFault: Error {
    case memory
    /// It was removed since the answer was made.
    case fileIsGone
    /// It cannot be opened, or is shorter than the answer says.
    case file
}
