import DiarioHTTP
import DiarioStorage
import Foundation
import Synchronization
import Testing

struct ServerMemoryTests {
    @Test func memory() async {
        await #expect(processExitsWith: .success) {
            func rss() throws -> Int {
                let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
                let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS") }!
                return Int(line.split(separator: " ")[1])!
            }
            final class Ping: LiveStream {
                let bell: Bell
                let first = Mutex(true)
                init(_ b: Bell) { bell = b }
                func next(at now: ContinuousClock.Instant) -> LivePiece {
                    let f = first.withLock { f in defer { f = false }; return f }
                    return f ? .bytes(Array(": hello\n\n".utf8)) : .nothing(until: now + .seconds(600))
                }
                func again() { first.withLock { $0 = true } }
            }
            let bell = Bell()
            let pings = Mutex<[Ping]>([])
            let world = try ServerWorld { request, isLast in
                if request.path == "/wait" {
                    return isLast ? .text("x") : .wait(for: bell, until: ContinuousClock.now + .seconds(600))
                }
                if request.path == "/live" {
                    let p = Ping(bell)
                    pings.withLock { $0.append(p) }
                    return .answer(HTTPAnswer(200, headers: [("Content-Type", "text/event-stream")], .stream(p)))
                }
                return .text("ok")
            }
            var warm: [ServerClient] = []
            for _ in 0..<50 { let c = try world.client(); c.request("GET", "/live"); warm.append(c) }
            for c in warm { try c.receive(until: "hello") }
            for kind in ["/live", "/wait"] {
                let before = try rss()
                var clients: [ServerClient] = []
                for _ in 0..<2000 { let c = try world.client(); c.request("GET", kind, headers: ["Authorization: Bearer diario_2pryj73ks800v_b7y1zpe5kvn820xybmbspxe18zaehbcag4c1ge9derxn9r7am5nb", "Accept: text/event-stream", "User-Agent: curl/7.88"]); clients.append(c) }
                if kind == "/live" { for c in clients { try c.receive(until: "hello") } }
                precondition(comesTrue { world.server.counters.waiting + world.server.counters.live >= 2000 })
                let after = try rss()
                let start = ContinuousClock.now
                if kind == "/live" {
                    for p in pings.withLock({ $0 }) { p.again() }
                    bell.ring()
                    for c in clients { try c.receive(until: "hello") }
                }
                let time = ContinuousClock.now - start
                let ringed = try rss()
                FileHandle.standardError.write(Data("KIND \(kind) before \(before) after \(after) per reader \(Double(after - before) / 2000) KB; after a ring \(Double(ringed - before) / 2000) KB, ring to last byte read \(time)\n".utf8))
                clients = []
                pings.withLock { $0 = [] }
                precondition(comesTrue { world.server.counters.openConnections <= 51 })
                FileHandle.standardError.write(Data("after they went: \(try rss()) KB, listeners \(bell.listenerCount)\n".utf8))
            }
        }
    }
}
