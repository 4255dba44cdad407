package import DiarioCore
import DiarioSchema
import DiarioSync
public import DiarioTransport
import Synchronization

/// Carries messages to a server over HTTP: schema/format/http.md.
///
/// ```swift
/// let server = try HTTPTransport(to: "https://example.org/v1/spaces/home", token: token)
/// try await diary.sync(with: server)
/// ```
///
/// Connections are kept and used again as long as the value, or a copy of it, is there.
public struct HTTPTransport: Transport {
    package let address: SpaceAddress
    private let token: String
    private let certificates: String?
    private let client = HTTPClient()
    private let counter = Counter()
    /// The asking replica, shown by the server to people.
    package var replica: ReplicaID?
    /// Seconds without a byte of the answer after which the request fails.
    package var stallSeconds = 30

    /// The traffic, and what was learned, shared by copies of a transport.
    private final class Counter: Sendable {
        let traffic = Mutex(TransportTraffic())
        let permission = Mutex<Permission?>(nil)
        /// What the server sent last for blobs that it lost.
        let losses = Mutex<String?>(nil)
    }

    /// - Parameters:
    ///   - address: Where the space is, as `https://example.org/v1/spaces/home`.
    ///   - token: What the server's `diario token create` printed.
    ///   - certificates: A file with certificates to trust in place of the system's, in PEM.
    /// - Throws: ``DiarioError`` of kind ``DiarioError/Kind/invalid`` if the address or the token
    ///   cannot be right. Nothing is sent yet.
    public init(to address: String, token: String, certificates: String? = nil) throws {
        do throws(TransportError) { self.address = try SpaceAddress(address) } catch {
            throw DiarioError(.invalid, error.message)
        }
        let size = token.utf8.count
        guard 1...Limits.addressSizeMax ~= size, token.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            throw DiarioError(
                .invalid,
                "This is no token: \(size) bytes, or with a space in it. Give what `diario token "
                    + "create` printed on the server."
            )
        }
        self.token = token
        self.certificates = certificates
    }

    public var waitsForNews: Bool { true }

    public var traffic: TransportTraffic? { counter.traffic.withLock { $0 } }

    /// What the server lets the bearer of the token do, as it said last; nil if it did not.
    package var permission: Permission? { counter.permission.withLock { $0 } }
    package var blobLosses: String? { counter.losses.withLock { $0 } }

    package var connectionCount: Int { client.connectionCount }

    public func exchange(_ request: [UInt8]) async throws -> [UInt8] {
        var asked = HTTPClient.Request(
            address: address.text + "/sync",
            answerSizeMax: Limits.messageSizeMax
        )
        asked.headers = [("Accept", ServerReply.messageType)]
        asked.headers.append(("Content-Type", ServerReply.messageType))
        asked.body = request
        asked.stallSeconds = 0
        let reply = try await send(asked)
        if let permission = reply.permission { counter.permission.withLock { $0 = permission } }
        noteLosses(reply)
        if reply.isMessage { return reply.body }
        return SyncMessage.refusal(try reply.toldRefusal()).encoded()
    }

    public func waitForNews(after head: UInt64) async throws -> UInt64? {
        let path = "/head?after=\(head)&wait=\(Self.waitSeconds)"
        let reply = try await get(path, waiting: Self.waitSeconds)
        noteLosses(reply)
        if reply.status == 204 { return nil }
        guard let head = reply.json?.member("head")?.item.value.position else {
            throw TransportError("\(reply.server) does not say how many events there are.")
        }
        return head
    }

    private func noteLosses(_ reply: ServerReply) {
        guard [200, 204].contains(reply.status) else { return }
        let text = reply.headers["diario-blobs-lost"].flatMap { $0.utf8.count > 64 ? nil : $0 }
        counter.losses.withLock { $0 = text }
    }

    /// So long a server is asked to wait for news.
    private static let waitSeconds = 50

    /// Gets a path below that of the space; throws a refusal.
    package func get(
        _ path: String,
        accept: String = "application/json",
        range: Range<Int>? = nil,
        sizeMax: Int = Limits.replySizeMax,
        waiting seconds: Int = 0
    ) async throws -> ServerReply {
        var asked = HTTPClient.Request(address: address.text + path, answerSizeMax: sizeMax)
        asked.headers = [("Accept", accept)]
        if let range {
            asked.headers.append(("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"))
        }
        asked.stallSeconds = seconds
        let reply = try await send(asked)
        guard [200, 204, 206].contains(reply.status) else {
            throw DiarioError(try reply.toldRefusal())
        }
        return reply
    }

    /// Sends a request about a blob, whatever the answer is.
    func send(_ request: BlobRequest) async throws -> ServerReply {
        var asked = HTTPClient.Request(
            address: address.text + request.path,
            answerSizeMax: max(Limits.replySizeMax, Limits.blobPartSizeMax)
        )
        asked.headers = request.headers
        if case .fetch = request { asked.stallSeconds = 0 } else { asked.body = request.body }
        if case .send = request { asked.isPut = true }
        return try await send(asked)
    }

    private func send(_ request: HTTPClient.Request) async throws -> ServerReply {
        var request = request
        request.headers.append(("Authorization", "Bearer \(token)"))
        request.headers.append(("Diario-Packs", "\(Pack.formatMax)"))
        if let replica { request.headers.append(("Diario-Replica", replica.text)) }
        request.certificates = certificates
        request.usesProxy = !address.isLoopback
        request.stallSeconds += stallSeconds
        var traffic = HTTPClient.Traffic()
        defer {
            counter.traffic.withLock {
                $0.requests += 1
                $0.bytesSent += Int(clamping: traffic.sent)
                $0.bytesReceived += Int(clamping: traffic.received)
            }
        }
        do {
            let answer = try await client.send(request, &traffic)
            return ServerReply(
                status: answer.status,
                headers: answer.headers,
                body: answer.body,
                server: address.server
            )
        } catch let failure as HTTPFailure {
            throw TransportError(failure, at: address, certificates: certificates)
        }
    }
}

extension TransportError {
    /// What failed, at which server, and what to do.
    init(_ failure: HTTPFailure, at address: SpaceAddress, certificates: String?) {
        let server = address.server
        let detail = failure.detail.isEmpty ? "" : " (\(ServerReply.clean(failure.detail)))"
        let message =
            switch failure.kind {
            case .unresolved:
                "The server \(address.host) has no address that is known here: check its name, and "
                    + "whether there is a network\(detail)."
            case .unreachable:
                "Nobody answers at \(server): check whether the server runs there, and whether "
                    + "there is a network\(detail)."
            case .insecure:
                "No secure connection to \(server) can be made: check whether it speaks https at "
                    + "this port\(detail)."
            case .untrusted:
                "The certificate of \(server) is not one to trust: name the certificates of its "
                    + "authority with --ca-file, or ask who runs it\(detail)."
            case .certificates:
                "The certificates in \(ServerReply.clean(certificates ?? "the system")) cannot be "
                    + "read: give a file in PEM form\(detail)."
            case .timeout: "\(server) does not answer in time: try again later\(detail)."
            case .tooLarge:
                "The answer of \(server) is larger than any may be: check whether this is the "
                    + "address of a Diario server."
            case .broken:
                "The connection to \(server) ended before its answer did: try again\(detail)."
            case .cancelled, .other: "The request to \(server) failed\(detail): try again."
            }
        self.init(message)
    }
}

extension ServerReply {
    /// The reason why the server refuses the request; what is no answer of a server may be one the
    /// next time.
    func toldRefusal() throws(TransportError) -> Refusal {
        do { return try refusal() } catch { throw TransportError(error.message) }
    }
}
