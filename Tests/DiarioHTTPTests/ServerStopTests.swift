import DiarioHTTP
import DiarioStorage
import DiarioTestSupport
import Synchronization
import Testing

/// How a server ends: schema/format/http.md, section 13.
@Suite(.waits) struct ServerStopTests {
    @Test func whatIsUnderWayIsAnswered() throws {
        let (isAsked, mayAnswer) = (Signal(), Signal())
        let world = try ServerWorld { request, _ in
            if request.path == "/slow" {
                isAsked.raise()
                mayAnswer.wait()
            }
            return .text("done")
        }
        let client = try world.client()
        let idle = try world.client()
        #expect(try idle.get("/").status == 200)
        client.request("GET", "/slow")
        isAsked.wait()
        let server = world.server
        let ended = Signal()
        _ = WorkerThread(name: "stop") {
            server.stop()
            ended.raise()
        }
        // Whoever comes is turned away before the old connections have ended.
        #expect(comesTrue { (try? world.client().get("/late")) == nil })
        mayAnswer.raise()
        let answer = try client.answer()
        #expect(answer.text == "done")
        #expect(answer.headers["connection"]?.lowercased() == "close")
        ended.wait()
        #expect(try idle.receive().isEmpty)
    }

    @Test func whoWaitsIsAnsweredForTheLastTime() throws {
        let bell = Bell()
        let stream = FedStream()
        let world = try ServerWorld { request, isLast in
            if request.path == "/live" { return .answer(HTTPAnswer(200, .stream(stream))) }
            if isLast { return .text("last") }
            return .wait(for: bell, until: ContinuousClock.now + .seconds(60))
        }
        let clients = try (0..<10).map { _ in try world.client() }
        for client in clients { client.request("GET", "/wait") }
        let reader = try world.client()
        reader.request("GET", "/live")
        #expect(comesTrue { world.server.counters.waiting == 10 && stream.callCount > 0 })
        world.server.stop()
        for client in clients { #expect(try client.answer().text == "last") }
        #expect(try reader.receiveToEnd().hasSuffix("0\r\n\r\n"))
        #expect(bell.listenerCount == 0)
        #expect(stream.bell.listenerCount == 0)
    }

    @Test func whoIsSlowIsBrokenOff() throws {
        let world = try ServerWorld { _, _ in
            .answer(HTTPAnswer(200, .bytes([UInt8](repeating: 1, count: 30_000_000))))
        }
        let sender = try world.client()
        sender.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc")
        let reader = try world.client()
        reader.request("GET", "/")
        #expect(comesTrue { world.server.bodiesUnderWay >= 30_000_000 })
        world.server.stop(patience: .milliseconds(50))
        #expect(try sender.receive().isEmpty)
        #expect(world.server.bodiesUnderWay == 0)
    }

    @Test func aSecondStopDoesNothing() throws {
        let world = try ServerWorld()
        #expect(try world.isAlive())
        world.server.stop()
        world.server.stop()
    }

    @Test func aPortThatIsInUseIsNamed() throws {
        let world = try ServerWorld()
        let port = UInt16(world.server.address.port)
        #expect(throws: ServerError.inUse(host: "127.0.0.1", port: port)) {
            _ = try ServerWorld { $0.port = port }
        }
        #expect(throws: ServerError.noSuchAddress(host: "192.0.2.1")) {
            _ = try ServerWorld { $0.host = "192.0.2.1" }
        }
        #expect(throws: ServerError.unknownHost(host: "no host")) {
            _ = try ServerWorld { $0.host = "no host" }
        }
    }

    /// In a process of its own, which the library once ended: two threads of it took the listening
    /// socket from where both wait, and it does not bear the second one's failure.
    @Test func itMayStopWhileClientsCome() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<100 {
                let world = try ServerWorld()
                let port = world.server.address.port
                let isOver = Mutex(false)
                let hasEnded = Signal()
                _ = WorkerThread(name: "clients") {
                    while !isOver.withLock({ $0 }) { _ = try? ServerClient(port: port) }
                    hasEnded.raise()
                }
                precondition(comesTrue { world.server.counters.openConnections > 0 })
                world.server.stop()
                isOver.withLock { $0 = true }
                Self.wait(for: hasEnded)
            }
        }
    }

    private static func wait(for signal: Signal) { signal.wait() }

    @Test func aPortIsFreeAtOnce() throws {
        let world = try ServerWorld()
        #expect(try world.isAlive())
        let port = UInt16(world.server.address.port)
        world.server.stop()
        let next = try ServerWorld { $0.port = port }
        #expect(try next.isAlive())
    }

    @Test(arguments: [("::1", "http://[::1]:"), ("localhost", "http://"), ("0.0.0.0", "http://0.")])
    func itListensWhereItIsTold(host: String, url: String) throws {
        let world = try ServerWorld { $0.host = host }
        #expect(world.server.url.hasPrefix(url))
        #expect(world.server.isLoopback == (host != "0.0.0.0"))
    }

    @Test func certificatesThatAreWrongAreNamed() throws {
        let head = "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n"
        for (certificate, key) in [
            ("", ""), (head, ""), (head, "-----BEGIN ENCRYPTED PRIVATE KEY-----"),
            (head, "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"),
        ] {
            let error = #expect(throws: ServerError.self) {
                _ = try ServerWorld {
                    $0.certificate = HTTPServer.Certificate(certificate: certificate, key: key)
                }
            }
            guard case .certificate = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }
}
