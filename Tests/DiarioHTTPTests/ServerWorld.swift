import DiarioHTTP
import DiarioStorage
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Answers by closures.
struct ServedByClosures: HTTPHandler {
    var admission: @Sendable (HTTPRequest) -> BodyAdmission = { _ in .bytes(max: 1024 * 1024) }
    var answering: @Sendable (HTTPRequest, Bool) -> HTTPReply

    func admit(_ head: HTTPRequest) -> BodyAdmission { admission(head) }
    func isAboutHealth(_ request: HTTPRequest) -> Bool { request.path == "/healthz" }

    func reply(to request: HTTPRequest, _ turn: Turn) -> HTTPReply {
        answering(request, turn == .last)
    }
}

/// A server on a port of its own, stopped at the end.
struct ServerWorld: ~Copyable {
    let server: HTTPServer

    init(
        _ change: (inout HTTPServer.Configuration) -> Void = { _ in },
        admit: @escaping @Sendable (HTTPRequest) -> BodyAdmission = { _ in
            .bytes(max: 1024 * 1024)
        },
        _ reply: @escaping @Sendable (HTTPRequest, Bool) -> HTTPReply
    ) throws {
        var configuration = HTTPServer.Configuration(host: "127.0.0.1", port: 0)
        configuration.workerCount = 4
        change(&configuration)
        server = try HTTPServer(
            configuration,
            ServedByClosures(admission: admit, answering: reply)
        )
    }

    /// Answers everything with `ok`.
    init(_ change: (inout HTTPServer.Configuration) -> Void = { _ in }) throws {
        try self.init(change) { _, _ in .text("ok") }
    }

    deinit { server.stop() }

    func client() throws -> ServerClient { try ServerClient(port: server.address.port) }

    /// Whether a new client is answered.
    func isAlive() throws -> Bool { try client().get("/alive").status == 200 }
}

extension HTTPReply {
    static func text(_ text: String, status: Int = 200) -> HTTPReply {
        .answer(HTTPAnswer(status, .bytes(Array(text.utf8))))
    }
}

/// Waits until something holds that nobody can tell of; false after 20 seconds.
func comesTrue(_ condition: () -> Bool) -> Bool {
    for _ in 0..<4000 {
        if condition() { return true }
        usleep(5000)
    }
    return condition()
}

/// Sends pieces that are put in, and waits in between.
final class FedStream: LiveStream {
    let bell = Bell()
    private let pieces = Mutex<[LivePiece]>([])
    private let calls = Mutex(0)

    func feed(_ piece: LivePiece) {
        pieces.withLock { $0.append(piece) }
        bell.ring()
    }

    func feed(_ text: String) { feed(.bytes(Array(text.utf8))) }

    var callCount: Int { calls.withLock { $0 } }

    func next(at now: ContinuousClock.Instant) -> LivePiece {
        calls.withLock { $0 += 1 }
        return pieces.withLock { pieces in
            pieces.isEmpty ? .nothing(until: now + .seconds(60)) : pieces.removeFirst()
        }
    }
}
