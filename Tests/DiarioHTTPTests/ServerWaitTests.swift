import DiarioHTTP
import DiarioStorage
import DiarioTestSupport
import Synchronization
import Testing

/// Requests that wait without a thread, and answers that go on.
@Suite(.waits) struct ServerWaitTests {
    /// A request waits for the bell until `news` is there.
    private final class News: Sendable {
        let bell = Bell()
        private let text = Mutex<String?>(nil)
        let time: Duration

        init(within time: Duration = .seconds(60)) { self.time = time }

        func publish(_ text: String) {
            self.text.withLock { $0 = text }
            bell.ring()
        }

        func reply(_ isLast: Bool) -> HTTPReply {
            if let text = text.withLock({ $0 }) { return .text(text) }
            guard !isLast else { return .answer(HTTPAnswer(204)) }
            return .wait(for: bell, until: ContinuousClock.now + time)
        }
    }

    @Test func theBellEndsAWait() throws {
        let news = News()
        let world = try ServerWorld { request, isLast in
            request.path == "/wait" ? news.reply(isLast) : .text("ok")
        }
        // More than there are workers, which stay free for others.
        let clients = try (0..<20).map { _ in try world.client() }
        for client in clients { client.request("GET", "/wait") }
        #expect(comesTrue { world.server.counters.waiting == 20 })
        #expect(try world.isAlive())
        news.publish("there")
        for client in clients { #expect(try client.answer().text == "there") }
        #expect(news.bell.listenerCount == 0)
        #expect(world.server.counters.waiting == 0)
        // The connections go on.
        for client in clients { #expect(try client.get("/wait").text == "there") }
    }

    @Test func aWaitEndsAtItsTime() throws {
        let news = News(within: .milliseconds(10))
        let world = try ServerWorld { _, isLast in news.reply(isLast) }
        let client = try world.client()
        #expect(try client.get("/").status == 204)
        #expect(try client.get("/").status == 204)
        #expect(news.bell.listenerCount == 0)
    }

    /// The bell may ring for others, as when a token of somebody else is revoked.
    @Test func aWaitEndsAtItsTimeHoweverOftenTheBellRings() throws {
        let bell = Bell()
        let count = Mutex(0)
        let world = try ServerWorld { _, isLast in
            if isLast { return .answer(HTTPAnswer(204)) }
            let turn = count.withLock { count in
                count += 1
                return count
            }
            return .wait(for: bell, until: .now + (turn < 3 ? .milliseconds(50) : .seconds(60)))
        }
        let client = try world.client()
        client.request("GET", "/")
        // The first two turns are those before it waits.
        #expect(comesTrue { count.withLock { $0 } >= 2 })
        bell.ring()
        #expect(try client.answer().status == 204)
    }

    @Test func aTimeThatIsOverIsTheLastOne() throws {
        let news = News(within: .seconds(-5))
        let world = try ServerWorld { _, isLast in news.reply(isLast) }
        #expect(try world.client().get("/").status == 204)
    }

    @Test func ringsThatTellNothingDoNotEndAWait() throws {
        let news = News()
        let count = Mutex(0)
        let world = try ServerWorld { _, isLast in
            count.withLock { $0 += 1 }
            return news.reply(isLast)
        }
        let client = try world.client()
        client.request("GET", "/")
        for seen in 2..<50 {
            #expect(comesTrue { count.withLock { $0 } >= seen })
            news.bell.ring()
        }
        news.publish("there")
        #expect(try client.answer().text == "there")
    }

    @Test func aClientThatGoesIsForgotten() throws {
        let news = News()
        let world = try ServerWorld { request, isLast in
            request.path == "/wait" ? news.reply(isLast) : .text("ok")
        }
        for isReset in [false, true] {
            let clients = try (0..<10).map { _ in try world.client() }
            for client in clients { client.request("GET", "/wait") }
            #expect(comesTrue { world.server.counters.waiting == 10 })
            for client in clients {
                if isReset { client.resetWhenClosed() }
                client.closeNow()
            }
            #expect(comesTrue { news.bell.listenerCount == 0 })
            #expect(comesTrue { world.server.counters.openConnections == 0 })
        }
        #expect(try world.isAlive())
    }

    @Test func whoSendsNoMoreGetsItsLastAnswer() throws {
        let news = News()
        let world = try ServerWorld { _, isLast in news.reply(isLast) }
        let client = try world.client()
        client.request("GET", "/")
        #expect(comesTrue { world.server.counters.waiting == 1 })
        client.closeSending()
        #expect(try client.answer().status == 204)
    }

    @Test func moreThanMayWaitAreTurnedAway() throws {
        let news = News()
        let world = try ServerWorld({ $0.waitCountMax = 3 }) { _, isLast in news.reply(isLast) }
        let clients = try (0..<3).map { _ in try world.client() }
        for client in clients { client.request("GET", "/") }
        #expect(comesTrue { world.server.counters.waiting == 3 })
        let answer = try world.client().get("/")
        #expect(answer.status == 503)
        #expect(answer.headers["retry-after"] != nil)
        #expect(world.server.counters.refused == 1)
        news.publish("there")
        for client in clients { #expect(try client.answer().status == 200) }
    }

    /// An event for more readers than requests may wait for a thread turned all others away.
    ///
    /// Who goes on counted as new. There are never more of them than connections, so they need no
    /// other bound.
    @Test func whoGoesOnTakesNoPlaceOfANewRequest() throws {
        let news = News()
        let (isAsked, mayAnswer) = (Signal(), Signal())
        let world = try ServerWorld({
            $0.workerCount = 1
            $0.queueCountMax = 2
        }) { request, isLast in
            if request.path == "/wait" { return news.reply(isLast) }
            if request.path == "/slow" {
                isAsked.raise()
                mayAnswer.wait()
            }
            return .text("ok")
        }
        let clients = try (0..<6).map { _ in try world.client() }
        for (index, client) in clients.prefix(4).enumerated() {
            client.request("GET", "/wait")
            #expect(comesTrue { world.server.counters.waiting == index + 1 })
        }
        clients[4].request("GET", "/slow")
        isAsked.wait()
        news.publish("there")
        #expect(comesTrue { world.server.counters.queued == 4 })
        clients[5].request("GET", "/")
        #expect(comesTrue { world.server.counters.queued == 5 })
        mayAnswer.raise()
        for client in clients { #expect(try client.answer().status == 200) }
    }

    @Test func aHandlerThatWaitsBehindItsEndIsAMistake() throws {
        let bell = Bell()
        let world = try ServerWorld { _, _ in
            .wait(for: bell, until: ContinuousClock.now + .milliseconds(1))
        }
        #expect(try world.client().get("/").status == 500)
        #expect(bell.listenerCount == 0)
    }

    @Test func aStreamComesPieceByPiece() throws {
        let stream = FedStream()
        let world = try ServerWorld { _, _ in
            .answer(
                HTTPAnswer(200, headers: [("Content-Type", "text/event-stream")], .stream(stream))
            )
        }
        let client = try world.client()
        client.request("GET", "/")
        let head = try client.receive(until: "\r\n\r\n")
        #expect(head.contains("Connection: close"))
        #expect(head.contains("text/event-stream"))
        for text in ["first", "second", "third"] {
            stream.feed(text)
            try client.receive(until: text)
        }
        // Larger than any buffer.
        let long = String(repeating: "x", count: 300_000) + "!"
        stream.feed(long)
        try client.receive(until: "!")
        #expect(world.server.counters.live == 1)
        stream.feed(.end)
        #expect(try client.receiveToEnd().hasSuffix("0\r\n\r\n"))
        #expect(stream.bell.listenerCount == 0)
        #expect(comesTrue { world.server.counters.live == 0 })
    }

    @Test func aStreamThatToldItsTimeIsNotAskedBefore() throws {
        let stream = FedStream()
        let world = try ServerWorld { _, _ in .answer(HTTPAnswer(200, .stream(stream))) }
        let client = try world.client()
        client.request("GET", "/")
        #expect(comesTrue { stream.callCount == 1 })
        let later = ContinuousClock.now + .seconds(60)
        for number in 1...20 {
            stream.feed(.bytes(Array("<\(number)>".utf8), quietUntil: later))
            try client.receive(until: "<\(number)>")
        }
        stream.feed(.end)
        #expect(try client.receiveToEnd().hasSuffix("0\r\n\r\n"))
        #expect(stream.callCount == 22)
    }

    @Test func aStreamIsAskedAgainAtItsTime() throws {
        final class Ticks: LiveStream {
            let bell = Bell()
            private let count = Mutex(0)

            func next(at now: ContinuousClock.Instant) -> LivePiece {
                let count = count.withLock { count in
                    count += 1
                    return count
                }
                if count > 8 { return .end }
                return count % 2 == 0
                    ? .bytes(Array(": \(count)\n".utf8)) : .nothing(until: now + .milliseconds(5))
            }
        }
        let world = try ServerWorld { _, _ in .answer(HTTPAnswer(200, .stream(Ticks()))) }
        #expect(try world.client().get("/").text == ": 2\n: 4\n: 6\n: 8\n")
    }

    @Test func oneRingReachesAllReaders() throws {
        final class Reader: LiveStream {
            let bell: Bell
            private let last: @Sendable () -> Int
            private let seen = Mutex(0)
            init(_ bell: Bell, _ last: @escaping @Sendable () -> Int) {
                self.bell = bell
                self.last = last
            }
            func next(at now: ContinuousClock.Instant) -> LivePiece {
                let last = last()
                let isNew = seen.withLock { seen in
                    defer { seen = last }
                    return seen != last
                }
                return isNew ? .bytes(Array("<\(last)>".utf8)) : .nothing(until: now + .seconds(60))
            }
        }
        let bell = Bell()
        let shared = Shared()
        let world = try ServerWorld { _, _ in
            .answer(HTTPAnswer(200, .stream(Reader(bell) { shared.news.withLock { $0 } })))
        }
        let clients = try (0..<200).map { _ in try world.client() }
        for client in clients { client.request("GET", "/") }
        #expect(comesTrue { world.server.counters.live == 200 })
        for round in 1...3 {
            shared.news.withLock { $0 = round }
            bell.ring()
            for client in clients { try client.receive(until: "<\(round)>") }
        }
        // Some go in the middle; the others notice nothing.
        for client in clients.prefix(100) { client.closeNow() }
        #expect(comesTrue { bell.listenerCount == 100 })
        shared.news.withLock { $0 = 9 }
        bell.ring()
        for client in clients.dropFirst(100) { try client.receive(until: "<9>") }
        world.server.stop()
        for client in clients.dropFirst(100) {
            #expect(try client.receiveToEnd().hasSuffix("0\r\n\r\n"))
        }
        #expect(bell.listenerCount == 0)
    }

    /// A number that several closures know.
    private final class Shared: Sendable {
        let news = Mutex(0)
    }
}
