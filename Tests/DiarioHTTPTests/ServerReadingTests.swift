import Diario
import DiarioHTTP
import DiarioStorage
import DiarioTestSupport
import Synchronization
import Testing

/// Questions and scans beside everything else: schema/format/http.md, section 12.
@Suite(.waits) struct ServerReadingTests {
    private static let owner = ReadOwner(space: "home", token: "t")

    /// A reading that goes on until it is ended or let go.
    private final class Endless: Sendable {
        private let state = Mutex((running: 0, ended: 0, isLet: false))

        var running: Int { state.withLock { $0.running } }
        /// How many were ended early.
        var ended: Int { state.withLock { $0.ended } }

        func letGo() { state.withLock { $0.isLet = true } }

        func run(until stop: BuildStop) {
            state.withLock { $0.running += 1 }
            while !stop.hasBeenAsked, !state.withLock({ $0.isLet }) {}
            state.withLock { state in
                state.running -= 1
                if stop.hasBeenAsked { state.ended += 1 }
            }
        }

        var reply: HTTPReply {
            .reading(
                Reading(ServerReadingTests.owner) { [self] stop in
                    run(until: stop)
                    return HTTPAnswer(200, .bytes(Array("read".utf8)))
                }
            )
        }
    }

    private func world(
        _ endless: Endless,
        wait: Duration = .seconds(60)
    ) throws -> ServerWorld {
        try ServerWorld({
            $0.readings = ReadGate.Bounds(total: 1)
            $0.readingWaitMax = wait
        }) { request, _ in
            switch request.path {
            case "/read": endless.reply
            case "/live": .answer(HTTPAnswer(200, .stream(Scanned(endless))))
            default: .text("ok")
            }
        }
    }

    /// A live stream that scans.
    private final class Scanned: LiveStream {
        let bell = Bell()
        private let endless: Endless
        init(_ endless: Endless) { self.endless = endless }

        func next(at now: ContinuousClock.Instant) -> LivePiece {
            .reading(
                Reading(ServerReadingTests.owner) { [endless] stop in
                    endless.run(until: stop)
                    return .bytes(Array("<scanned>".utf8))
                }
            )
        }
    }

    @Test func whoWaitsForItsTurnHoldsNoThread() throws {
        let endless = Endless()
        let world = try world(endless)
        let clients = try (0..<20).map { _ in try world.client() }
        for client in clients { client.request("GET", "/read") }
        #expect(comesTrue { world.server.counters.readingsWaiting == 19 })
        #expect(world.server.counters.readingsRunning == 1)
        #expect(try world.isAlive())
        endless.letGo()
        for client in clients { #expect(try client.answer().text == "read") }
        #expect(world.server.counters.readingsRunning == 0)
        // The connections go on.
        #expect(try clients[0].get("/read").text == "read")
    }

    @Test func whoseTurnDoesNotComeIsToldWhenToTryAgain() throws {
        let endless = Endless()
        let world = try world(endless, wait: .milliseconds(1))
        let first = try world.client()
        first.request("GET", "/read")
        #expect(comesTrue { endless.running == 1 })
        let second = try world.client()
        let answer = try second.get("/read")
        #expect(answer.status == 503)
        #expect(answer.headers["retry-after"] == "2")
        #expect(answer.text.contains("too many questions"))
        #expect(try second.get("/other").text == "ok")
        endless.letGo()
        #expect(try first.answer().text == "read")
        #expect(try second.get("/read").text == "read")
    }

    @Test(arguments: [false, true]) func itEndsWhenItsClientHasGone(isReset: Bool) throws {
        let endless = Endless()
        let world = try world(endless)
        for path in ["/read", "/live"] {
            let before = endless.ended
            let client = try world.client()
            client.request("GET", path)
            #expect(comesTrue { endless.running == 1 })
            if isReset { client.resetWhenClosed() }
            client.closeNow()
            #expect(comesTrue { endless.ended == before + 1 })
            #expect(comesTrue { world.server.counters.openConnections == 0 })
        }
        #expect(world.server.counters.readingsRunning == 0)
    }

    @Test func whoLeavesTheLineIsForgotten() throws {
        let endless = Endless()
        let world = try world(endless)
        let first = try world.client()
        first.request("GET", "/read")
        #expect(comesTrue { endless.running == 1 })
        for path in ["/read", "/live"] {
            let client = try world.client()
            client.request("GET", path)
            #expect(comesTrue { world.server.counters.readingsWaiting == 1 })
            client.closeNow()
            #expect(comesTrue { world.server.counters.readingsWaiting == 0 })
            #expect(comesTrue { world.server.counters.openConnections == 1 })
        }
        endless.letGo()
        #expect(try first.answer().text == "read")
    }

    @Test func aStopEndsThemAll() throws {
        let endless = Endless()
        let world = try world(endless)
        let clients = try (0..<3).map { _ in try world.client() }
        for client in clients { client.request("GET", "/read") }
        let reader = try world.client()
        reader.request("GET", "/live")
        #expect(comesTrue { world.server.counters.readingsWaiting == 3 })
        world.server.stop()
        for client in clients {
            let answer = try client.answer()
            #expect(answer.status == 503)
            #expect(answer.headers["retry-after"] != nil)
        }
        #expect(try reader.receiveToEnd().hasSuffix("0\r\n\r\n"))
        #expect(endless.running == 0)
    }

    /// Health waited behind the requests of which it should have told.
    @Test func healthIsToldWhenEveryThreadIsTaken() throws {
        let (isAsked, mayAnswer) = (Signal(), Signal())
        let world = try ServerWorld({ $0.workerCount = 1 }) { request, _ in
            if request.path == "/slow" {
                isAsked.raise()
                mayAnswer.wait()
            }
            return .text("ok")
        }
        let client = try world.client()
        client.request("GET", "/slow")
        isAsked.wait()
        #expect(try world.client().get("/healthz").text == "ok")
        mayAnswer.raise()
        #expect(try client.answer().text == "ok")
    }

    @Test func aLiveStreamGoesOnWithWhatItFinds() throws {
        let endless = Endless()
        endless.letGo()
        let world = try world(endless)
        let client = try world.client()
        client.request("GET", "/live")
        for _ in 0..<10 { try client.receive(until: "<scanned>") }
        #expect(try world.isAlive())
    }
}
