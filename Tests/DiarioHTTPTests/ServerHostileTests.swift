import DiarioHTTP
import DiarioStorage
import DiarioTestSupport
import Foundation
import Synchronization
import Testing

/// Clients that mean ill or are broken: the server lives, and others are served.
@Suite(.waits) struct ServerHostileTests {
    @Test func slowHeadsAreBrokenOff() throws {
        let world = try ServerWorld { $0.headSecondsMax = 1 }
        let silent = try world.client()
        let dripping = try world.client()
        let once = try world.client()
        #expect(try once.get("/").status == 200)
        // A byte now and then keeps a connection from being quiet, and does not help.
        for character in "GET / HTTP/1.1\r\nHost: a\r\nX: " { dripping.send(String(character)) }
        #expect(comesTrue { !dripping.send("x") })
        #expect(try silent.receive().isEmpty)
        #expect(try once.receive().isEmpty)
        #expect(try world.isAlive())
    }

    @Test func quietConnectionsAreClosed() throws {
        let world = try ServerWorld { $0.quietSecondsMax = 1 }
        let client = try world.client()
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc")
        #expect(try client.receive().isEmpty)
        #expect(comesTrue { world.server.bodiesUnderWay == 0 })
        #expect(try world.isAlive())
    }

    @Test func garbageIsRefused() throws {
        let world = try ServerWorld()
        let texts = [
            "\r\n\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost a\r\n\r\n",
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\nab",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        ]
        for text in texts {
            let client = try world.client()
            client.send(text)
            client.closeSending()
            let answer = try client.receiveToEnd()
            #expect(!answer.contains("200 OK"), "\(text)")
        }
        #expect(try world.isAlive())
        #expect(comesTrue { world.server.counters.openConnections <= 1 })
    }

    /// What programs read differently, so that a proxy may see another request than we do.
    @Test(
        arguments: [
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 2\r\n\r\nab",
            "GET / HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX\tY: b\r\n\r\n",
        ]
    )
    func ambiguousHeadsAreRefused(text: String) throws {
        let world = try ServerWorld()
        let client = try world.client()
        client.send(text)
        let answer = try client.receiveToEnd()
        #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
        #expect(answer.contains("application/problem+json"))
        #expect(answer.split(separator: "HTTP/1.1 ").count == 1)
    }

    @Test func anOldClientNeedsToNameNoHost() throws {
        let world = try ServerWorld()
        let client = try world.client()
        client.send("GET / HTTP/1.0\r\n\r\n")
        #expect(try client.receiveToEnd().hasPrefix("HTTP/1.1 200 "))
    }

    @Test(arguments: UInt64(0)..<20) func randomBytesAreRefused(seed: UInt64) throws {
        var state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1
        let bytes = (0..<3000).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        let world = try ServerWorld()
        let client = try world.client()
        client.send(seed % 2 == 0 ? bytes : Array("POST / HTTP/1.1\r\n".utf8) + bytes)
        client.closeSending()
        _ = try client.receiveToEnd()
        #expect(try world.isAlive())
    }

    @Test func floodsOfHeadersAreRefused() throws {
        let world = try ServerWorld()
        let floods = [
            String(repeating: "a: b\r\n", count: 100_000), String(repeating: "a:\r\n", count: 500),
            "X: " + String(repeating: "y", count: 1_000_000),
            String(repeating: "z", count: 1_000_000),
        ]
        for flood in floods {
            let client = try world.client()
            client.send("GET / HTTP/1.1\r\nHost: a\r\n")
            client.send(flood)
            client.send("\r\n\r\n")
            #expect(try !client.receiveToEnd().contains("200 OK"))
        }
        let client = try world.client()
        client.send("GET /?" + String(repeating: "&", count: 3000) + " HTTP/1.1\r\nHost: a\r\n\r\n")
        client.closeSending()
        _ = try client.receiveToEnd()
        #expect(try world.isAlive())
    }

    @Test func aBodyLargerThanSaidIsNoRequest() throws {
        let bodies = Mutex<[[UInt8]]>([])
        let world = try ServerWorld { request, _ in
            bodies.withLock { $0.append(request.body) }
            return .text("ok")
        }
        let client = try world.client()
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcdefgh")
        #expect(try client.answer().status == 200)
        client.closeSending()
        _ = try client.receiveToEnd()
        #expect(bodies.withLock { $0 } == [Array("abc".utf8)])
    }

    @Test func aBodyThatEndsEarlyIsNotHandled() throws {
        let count = Mutex(0)
        let world = try ServerWorld { _, _ in
            count.withLock { $0 += 1 }
            return .text("ok")
        }
        let client = try world.client()
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 30\r\n\r\nabc")
        client.closeSending()
        #expect(try !client.receiveToEnd().contains("200 OK"))
        #expect(count.withLock { $0 } == 0)
        #expect(comesTrue { world.server.bodiesUnderWay == 0 })
    }

    @Test func aClientGoneInTheMiddleLeavesNothing() throws {
        let world = try ServerWorld { _, _ in
            .answer(HTTPAnswer(200, .bytes([UInt8](repeating: 1, count: 20_000_000))))
        }
        for isReset in [true, false] {
            let client = try world.client()
            client.request("GET", "/")
            _ = try client.receive()
            if isReset { client.resetWhenClosed() }
            client.closeNow()
        }
        #expect(comesTrue { world.server.counters.brokenOff == 2 })
        #expect(world.server.bodiesUnderWay == 0)
        #expect(comesTrue { world.server.counters.openConnections == 0 })
    }

    @Test func connectionsFromOneAddressAreBounded() throws {
        let world = try ServerWorld {
            $0.host = "0.0.0.0"
            $0.addressConnectionCountMax = 10
        }
        let clients = try (0..<10).map { _ in try world.client() }
        for client in clients { #expect(try client.get("/").status == 200) }
        let other = try world.client()
        #expect(try other.receive().isEmpty)
        for client in clients { #expect(try client.get("/").status == 200) }
        clients[0].closeNow()
        #expect(comesTrue { (try? world.client().get("/").status) == 200 })
    }

    @Test func moreConnectionsThanThereMayBeWait() throws {
        let world = try ServerWorld {
            $0.connectionCountMax = 64
            $0.threadCount = 1
        }
        let clients = try (0..<64).map { _ in try world.client() }
        for client in clients { #expect(try client.get("/").status == 200) }
        let other = try world.client()
        other.request("GET", "/late")
        for client in clients { client.closeNow() }
        #expect(try other.answer().status == 200)
    }

    @Test func moreRequestsThanThereMayBeAreTurnedAway() throws {
        let (isAsked, mayAnswer) = (Signal(), Signal())
        let world = try ServerWorld({
            $0.workerCount = 1
            $0.queueCountMax = 2
        }) { request, _ in
            if request.path == "/slow" {
                isAsked.raise()
                mayAnswer.wait()
            }
            return .text("ok")
        }
        let slow = try world.client()
        slow.request("GET", "/slow")
        isAsked.wait()
        let clients = try (0..<2).map { _ in try world.client() }
        for client in clients { client.request("GET", "/") }
        #expect(comesTrue { world.server.counters.queued == 2 })
        let answer = try world.client().get("/")
        #expect(answer.status == 503)
        #expect(answer.headers["retry-after"] == "2")
        mayAnswer.raise()
        for client in [slow] + clients { #expect(try client.answer().status == 200) }
    }

    @Test func bodiesTogetherAreBounded() throws {
        let world = try ServerWorld { $0.bodiesSizeMax = 100_000 }
        let holder = try world.client()
        holder.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n")
        holder.send([UInt8](repeating: 1, count: 60_000))
        #expect(comesTrue { world.server.bodiesUnderWay == 60_000 })
        let body = [UInt8](repeating: 2, count: 50_000)
        #expect(try world.client().post("/", body).status == 503)
        // In chunks nobody knows before.
        let chunked = try world.client()
        chunked.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nC350\r\n")
        chunked.send(body)
        chunked.send("\r\n0\r\n\r\n")
        #expect(try chunked.answer().status == 503)
        holder.send([UInt8](repeating: 1, count: 30_000))
        #expect(try holder.answer().status == 200)
        #expect(comesTrue { world.server.bodiesUnderWay == 0 })
        #expect(try world.client().post("/", body).status == 200)
    }

    /// In a process of its own, since others open files meanwhile.
    ///
    /// Once a client that went before it was waited for was missed, because a worker forgot what
    /// had happened while it looked again.
    @Test func noFileStaysOpen() async {
        await #expect(processExitsWith: .success) {
            // Sockets and files: what the system's libraries open for themselves has no path.
            func fileCount() throws -> Int {
                let folder = "/proc/self/fd"
                let manager = FileManager.default
                return try manager.contentsOfDirectory(atPath: folder).count { name in
                    let path = try? manager.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
                    return path?.hasPrefix("socket:") == true || path?.hasSuffix("xctest") == true
                }
            }
            let before = try fileCount()
            let bell = Bell()
            do {
                let world = try ServerWorld { request, isLast in
                    if request.path == "/wait", !isLast {
                        return .wait(for: bell, until: ContinuousClock.now + .seconds(60))
                    }
                    let file = SentFile(path: "/proc/self/exe", offset: 0, count: 500_000)
                    return .answer(HTTPAnswer(200, .file(file)))
                }
                for round in 0..<100 {
                    let client = try world.client()
                    client.request("GET", round % 2 == 0 ? "/wait" : "/file")
                    if round % 4 == 1 { _ = try client.answer() }
                    if round % 3 == 0 { client.resetWhenClosed() }
                }
                // The system holds clients that the server has not taken yet, and that are gone:
                // for a moment none may be open while some are still to come.
                let isEmpty = comesTrue {
                    world.server.counters.openConnections == 0 && bell.listenerCount == 0
                }
                precondition(isEmpty, "the server holds on to clients that are gone")
            }
            precondition(bell.listenerCount == 0, "the server has stopped, and waits for a bell")
            let after = try fileCount()
            precondition(after == before, "\(after) files are open, and \(before) were")
        }
    }
}
