import DiarioHTTP
import DiarioStorage
import DiarioTestSupport
import Synchronization
import Testing

/// What a server tells about its requests.
@Suite(.waits) struct ServerLogTests {
    private final class Lines: Sendable {
        private let bytes = Mutex<[UInt8]>([])
        func add(_ more: [UInt8]) { bytes.withLock { $0 += more } }
        var all: [String] {
            bytes.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n")
                .map(String.init)
        }
    }

    @Test func eachRequestHasALine() throws {
        let lines = Lines()
        let log = RequestLog(.all) { lines.add($0) }
        let world = try ServerWorld({ $0.log = log }) { request, _ in
            var answer = HTTPAnswer(request.method == "GET" ? 200 : 403, .bytes([1, 2]))
            answer.token = "7zk3m9q2c1f4a"
            return .answer(answer)
        }
        let client = try world.client()
        _ = try client.get("/a?secret=1", headers: ["Authorization: Bearer hidden"])
        _ = try client.post("/b\"\\\u{1b}[31m", [1, 2, 3])
        world.server.stop()
        log.close()
        let all = lines.all
        try #require(all.count == 2)
        #expect(all[0].hasPrefix("{\"time\":\"20"))
        let first = "\"method\":\"GET\",\"path\":\"/a\",\"status\":200,\"milliseconds\":"
        #expect(all[0].contains(first))
        #expect(all[0].hasSuffix("\"received\":0,\"sent\":2,\"token\":\"7zk3m9q2c1f4a\"}"))
        #expect(all[1].contains("\"path\":\"/b\\\"\\\\%1B[31m\",\"status\":403"))
        #expect(all[1].contains("\"received\":3"))
        for line in all { #expect(!line.contains("hidden") && !line.contains("secret")) }
    }

    @Test func mistakesAloneAreTold() throws {
        let lines = Lines()
        let log = RequestLog(.mistakes) { lines.add($0) }
        let world = try ServerWorld({ $0.log = log }) { request, _ in
            .text("", status: Int(request.path.dropFirst()) ?? 0)
        }
        let client = try world.client()
        for status in [200, 404, 500, 503] { _ = try client.get("/\(status)") }
        world.server.stop()
        log.close()
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.contains("\"status\":500") == true)
    }

    /// Clients are told no paths of the server, so its log has to.
    @Test func whatClientsAreNotToldIsInTheLog() throws {
        let lines = Lines()
        let log = RequestLog(.mistakes) { lines.add($0) }
        let world = try ServerWorld({ $0.log = log }) { _, _ in
            var answer = HTTPAnswer(503)
            answer.cause = "/var/served is gone"
            return .answer(answer)
        }
        _ = try world.client().get("/")
        world.server.stop()
        log.close()
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.hasSuffix("\"cause\":\"/var/served is gone\"}") == true)
    }

    /// Queries counted twice, and requests that waited three times, most of them near 0.
    @Test func aRequestCountsOnce() throws {
        let bell = Bell()
        let turns = Mutex(0)
        let world = try ServerWorld { request, _ in
            switch request.path {
            case "/read":
                return .reading(Reading(ReadOwner(space: "a", token: "b")) { _ in HTTPAnswer(200) })
            case "/wait":
                let turn = turns.withLock { turn in
                    turn += 1
                    return turn
                }
                return turn < 4 ? .wait(for: bell, until: .now + .seconds(60)) : .text("there")
            default: return .text("ok")
            }
        }
        let client = try world.client()
        _ = try client.get("/")
        _ = try client.get("/read")
        client.request("GET", "/wait")
        for turn in 2..<4 {
            #expect(comesTrue { turns.withLock { $0 } >= turn })
            bell.ring()
        }
        #expect(try client.answer().text == "there")
        #expect(comesTrue { world.server.counters.answersByClass[2] == 3 })
        #expect(world.server.counters.handlerCounts.reduce(0, +) == 3)
    }

    @Test func whoReadsSlowlyHoldsNobodyUp() throws {
        let mayWrite = Signal()
        let lines = Lines()
        let isFirst = Mutex(true)
        let log = RequestLog(.all) { bytes in
            if isFirst.withLock({ isFirst in
                defer { isFirst = false }
                return isFirst
            }) {
                mayWrite.wait()
            }
            lines.add(bytes)
        }
        let world = try ServerWorld { $0.log = log }
        let client = try world.client()
        let path = "/" + String(repeating: "p", count: 900)
        for _ in 0..<3000 { _ = try client.get(path) }
        mayWrite.raise()
        world.server.stop()
        log.close()
        #expect(lines.all.contains { $0.hasPrefix("{\"linesLost\":") })
        #expect(lines.all.count < 3000)
    }

    @Test func countersAddUp() throws {
        let world = try ServerWorld { request, _ in
            .text("body", status: Int(request.path.dropFirst()) ?? 0)
        }
        let client = try world.client()
        for status in [200, 201, 304, 404, 500] { _ = try client.get("/\(status)") }
        _ = try client.post("/200", [1, 2, 3])
        #expect(comesTrue { world.server.counters.answersByClass[2] == 3 })
        let counters = world.server.counters
        #expect(counters.answersByClass == [1: 0, 2: 3, 3: 1, 4: 1, 5: 1])
        #expect(counters.bytesReceived == 3)
        #expect(counters.bytesSent == 24)
        #expect(counters.openConnections == 1)
        #expect(counters.handlerCounts.reduce(0, +) == 6)
        #expect(counters.handlerCounts.count == ServerCounters.stepsSeconds.count + 1)
        #expect(counters.brokenOff == 0)
    }
}
