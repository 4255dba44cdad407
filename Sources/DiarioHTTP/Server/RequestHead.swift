import DiarioCore

/// The head of a request, read and checked.
struct RequestHead: Sendable {
    var request: HTTPRequest
    var body: BodyLength
    /// The client waits for a word before it sends the body.
    var expectsContinue: Bool

    /// The announced length of a body.
    enum BodyLength: Hashable, Sendable {
        case none
        case bytes(Int)
        /// In chunks: it is known at its end.
        case unknown
    }

    /// Reads the head of an exchange.
    ///
    /// - Throws: what is answered instead; the connection cannot be used any more then.
    init(_ handle: ExchangeHandle) throws(HeadFault) {
        let path = handle.path
        guard handle.headSize <= Limits.httpHeadSizeMax else {
            let isLong = path.utf8.count > Limits.httpHeadSizeMax / 2
            throw HeadFault(
                .tooLarge(
                    isLong ? "An address" : "What stands in front of a body",
                    sizeMax: Limits.httpHeadSizeMax,
                    status: isLong ? 414 : 431
                )
            )
        }
        var headers: [String: String] = [:]
        var hostCount = 0
        for (name, value) in handle.headers {
            // Some programs read a length from `Content-Length :`, and others do not.
            guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
                throw HeadFault(.malformed("A header's name has a byte that none may have."))
            }
            let name = name.lowercased()
            if name == "host" { hostCount += 1 }
            headers[name] = headers[name].map { $0 + ", " + value } ?? value
        }
        guard hostCount == 1 || hostCount == 0 && handle.version == "HTTP/1.0" else {
            throw HeadFault(.malformed("A request has one header Host; this one has \(hostCount)."))
        }
        body = try Self.bodyLength(headers)
        expectsContinue = headers["expect"]?.lowercased() == "100-continue"
        var query: [HTTPRequest.Parameter] = []
        for (name, value) in handle.parameters {
            guard let name = PercentSigns.decoded(name), let value = Self.decoded(value) else {
                throw HeadFault(.malformed("A percent sign of the query stands for no UTF-8."))
            }
            query.append(HTTPRequest.Parameter(name, value))
        }
        request = HTTPRequest(handle.method, Self.origin(path), query: query, headers: headers)
        request.peer = handle.peer
    }

    /// Two lengths, or a length and chunks, are read differently by different programs: they are
    /// sent to make a proxy see another request than we do.
    private static func bodyLength(_ headers: [String: String]) throws(HeadFault) -> BodyLength {
        let length = headers["content-length"]
        if let coding = headers["transfer-encoding"] {
            guard length == nil else {
                throw HeadFault(.malformed("Both Content-Length and Transfer-Encoding are there."))
            }
            guard coding.lowercased() == "chunked" else {
                throw HeadFault(.malformed("The only transfer coding that is read is chunked."))
            }
            return .unknown
        }
        guard let length else { return .none }
        guard let count = Int(length), count >= 0, length.utf8.allSatisfy({ $0 != 0x2b }) else {
            throw HeadFault(.malformed("Content-Length is no number."))
        }
        return count == 0 ? .none : .bytes(count)
    }

    /// The path of an address that names its server too, as proxies send it.
    private static func origin(_ path: String) -> String {
        let lower = path.prefix(8).lowercased()
        guard lower.hasPrefix("http://") || lower == "https://" else { return path }
        let behind = path.dropFirst(lower == "https://" ? 8 : 7)
        return behind.firstIndex(of: "/").map { String(behind[$0...]) } ?? "/"
    }

    private static func decoded(_ text: String?) -> String?? {
        guard let text else { return .some(nil) }
        guard let decoded = PercentSigns.decoded(text) else { return nil }
        return .some(decoded)
    }
}

/// A head that cannot be read or is too large.
struct HeadFault: Error {
    let problem: ServerProblem
    init(_ problem: ServerProblem) { self.problem = problem }
}
