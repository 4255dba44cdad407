import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioServer
import DiarioSync
import DiarioTestSupport
import DiarioTransport
import Synchronization
import Testing

/// Replicas that sync over HTTP, with a server that does what it should, and one that does not.
struct HTTPSyncTests {
    private typealias Reply = LoopbackServer

    private static func refusal(_ answer: [UInt8]) throws -> Refusal.Reason? {
        guard case .refusal(let refusal) = try SyncMessage(answer.span) else { return nil }
        return refusal.reason
    }

    @Test func whatOneRecordsTheOtherReads() async throws {
        let world = try HTTPWorld()
        let (one, other) = (try world.makeDiary("one"), try world.makeDiary("other"))
        let transport = try world.transport()
        try await one.sync(with: transport)
        try await HTTPWorld.weigh(one)
        let report = try await one.sync(with: transport)
        #expect(report.pushed == 1)
        #expect(report.pending == 0)
        #expect(report.head == world.head)
        try await other.sync(with: transport)
        let rows = try await other.sql("SELECT day FROM weight").rows
        #expect(rows.count == 1)
        // All of it over one connection.
        #expect(world.connectionCount == 1)
        try await one.close()
        try await other.close()
    }

    @Test func aPullOfNothingNewIsSmall() async throws {
        let world = try HTTPWorld()
        try await world.fill(count: 3000)
        let diary = try world.makeDiary("one")
        let transport = try world.transport()
        try await diary.sync(with: transport)
        let report = try await diary.sync(with: transport)
        #expect(report.requests == 1)
        #expect(report.bytesSent < 420)
        #expect(report.bytesReceived < 400)
        try await diary.close()
    }

    @Test func aTokenThatIsNotKnownPauses() async throws {
        let world = try HTTPWorld()
        let diary = try world.makeDiary("one")
        let transport = try HTTPTransport(to: world.address, token: "diario_x_y")
        await #expect { try await diary.sync(with: transport) } throws: {
            ($0 as? DiarioError)?.kind == .unauthorized
        }
        let elsewhere = try HTTPTransport(
            to: "http://127.0.0.1:\(world.port)/v1/spaces/other",
            token: world.key.text
        )
        await #expect { try await diary.sync(with: elsewhere) } throws: {
            ($0 as? DiarioError)?.kind == .notFound
        }
        try await diary.close()
    }

    @Test(arguments: [
        (401, Refusal.Reason.unauthorized), (403, .forbidden), (404, .unknownSpace),
        (413, .tooLarge), (426, .version), (429, .tooFast), (503, .unavailable), (507, .full),
        (400, .malformed),
    ])
    func aProblemIsARefusal(status: Int, reason: Refusal.Reason) async throws {
        let world = try HTTPWorld()
        world.interfere { _ in HTTPWorld.problem(status, "It is so.", remedy: "Do this.") }
        let answer = try await world.transport().exchange([1])
        guard case .refusal(let refusal) = try SyncMessage(answer.span) else {
            return #expect(Bool(false), "no refusal")
        }
        #expect(refusal.reason == reason)
        #expect(refusal.message == "It is so. Do this.")
    }

    /// After a command stood no full stop, and the next sentence followed.
    @Test func whatEndsWithACommandIsNoneOfTheNextSentence() async throws {
        let world = try HTTPWorld()
        world.interfere { _ in HTTPWorld.problem(503, "Do: diario one", remedy: "Ask: diario two") }
        let answer = try await world.transport().exchange([1])
        guard case .refusal(let refusal) = try SyncMessage(answer.span) else {
            return #expect(Bool(false), "no refusal")
        }
        #expect(refusal.message == "Do: diario one. Ask: diario two")
    }

    @Test func whatAProxySaysIsNoRefusalForGood() async throws {
        let world = try HTTPWorld()
        let page = Array("<html>\u{1b}[2J</html>".utf8)
        for status in [200, 401, 403, 404, 426, 500] {
            world.interfere { _ in Reply.reply(status, "text/html; charset=utf-8", page) }
            await #expect(throws: TransportError.self) {
                try await world.transport().exchange([1])
            }
        }
        for (status, reason) in [
            (413, Refusal.Reason.tooLarge), (429, .tooFast), (502, .unavailable),
        ] {
            world.interfere { _ in
                Reply.reply(status, "text/html", page, headers: [("Retry-After", "7")])
            }
            let answer = try await world.transport().exchange([1])
            guard case .refusal(let refusal) = try SyncMessage(answer.span) else {
                return #expect(Bool(false), "no refusal")
            }
            #expect(refusal.reason == reason)
            #expect(refusal.number == (reason == .tooLarge ? 0 : 7))
        }
        world.interfere { _ in
            Reply.reply(301, nil, headers: [("Location", "https://other.example/v1/spaces/x")])
        }
        await #expect {
            try await world.transport().exchange([1])
        } throws: {
            ($0 as? TransportError)?.message.contains("https://other.example") ?? false
        }
    }

    @Test func whatIsTooLargeForSomebodyInBetweenIsSentInParts() async throws {
        let world = try HTTPWorld()
        let diary = try world.makeDiary("one")
        let transport = try world.transport()
        try await diary.sync(with: transport)
        for _ in 0..<6 { try await HTTPWorld.weigh(diary, count: 500) }
        world.interfere { request in
            request.body.count > 8000 ? Reply.reply(413, "text/html") : nil
        }
        let report = try await diary.sync(with: transport)
        #expect(report.pushed == 3000)
        #expect(report.pending == 0)
        #expect(world.head == report.head)
        try await diary.close()
    }

    /// Whatever becomes of requests and answers on the way, all arrives once.
    @Test func nothingIsLostOnABadLine() async throws {
        let world = try HTTPWorld()
        let diary = try world.makeDiary("one")
        let count = Mutex(0)
        world.interfere { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number.isMultiple(of: 4) else { return nil }
            switch number / 4 % 4 {
            case 0: return [.close]
            case 1: return Reply.reply(200, HTTPWorld.messageType, [1, 2, 3])
            case 2: return Reply.reply(500, "text/html", Array("<html>".utf8))
            default:
                let cut = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nx"
                return [.send(Array(cut.utf8)), .close]
            }
        }
        let transport = try world.transport()
        var (recorded, failureCount) = (0, 0)
        for _ in 0..<60 {
            do {
                try await diary.sync(with: transport)
                try await HTTPWorld.weigh(diary, count: 3)
                recorded += 3
            } catch let error as DiarioError {
                #expect(error.kind == .offline)
                failureCount += 1
            }
        }
        #expect(recorded > 30)
        #expect(failureCount > 10)
        world.interfere(nil)
        try await diary.sync(with: transport)
        let other = try world.makeDiary("other")
        try await other.sync(with: transport)
        #expect(try await other.sql("SELECT day FROM weight").rows.count == recorded)
        try await other.close()
        try await diary.close()
    }

    // MARK: In the background

    @Test func aConnectedDiaryHearsOfNewsAndSendsItsOwn() async throws {
        let world = try HTTPWorld()
        let diary = try world.makeDiary("one")
        try await diary.connect(to: world.address, token: world.key.text)
        await #expect(throws: DiarioError.self) {
            try await diary.connect(to: world.address, token: world.key.text)
        }
        for await status in diary.syncStatus where status.phase == .upToDate { break }
        let head = world.head
        try await world.fill(count: 2)
        for await status in diary.syncStatus where status.head == head + 2 { break }
        try await HTTPWorld.weigh(diary)
        for await status in diary.syncStatus where status.head == head + 3 { break }
        #expect(world.head == head + 3)
        await diary.disconnect()
        await diary.disconnect()
        // What is recorded now waits.
        try await HTTPWorld.weigh(diary)
        #expect(world.head == head + 3)
        try await diary.connect(to: world.address, token: world.key.text)
        for await status in diary.syncStatus where status.head == head + 4 { break }
        try await diary.close()
    }

    @Test func aDiaryThatIsPublishedIsConnectedAfterwards() async throws {
        let world = try HTTPWorld(rights: .all)
        // A name that nobody has used: the published space takes its place.
        let space = try Space.create(
            at: world.folder.path + "/device",
            packs: try HTTPWorld.packs.get()
        )
        let diary = Diary(space: space)
        try await HTTPWorld.weigh(diary)
        try await diary.publish(with: world.transport())
        try await diary.connect(with: world.transport())
        let head = space.store[space.id].standing().head
        try await HTTPWorld.weigh(diary)
        for await status in diary.syncStatus where status.head > head && status.pending == 0 {
            break
        }
        try await diary.close()
    }

    @Test func whatAnotherProgramRecordsIsSent() async throws {
        let world = try HTTPWorld()
        let diary = try world.makeDiary("one")
        try await diary.sync(with: world.transport())
        try await diary.connect(with: world.transport())
        for await status in diary.syncStatus where status.phase == .upToDate { break }
        // Another store on the same folder is to this one as another process.
        let other = try Diary(path: world.folder.path + "/one")
        try await HTTPWorld.weigh(other)
        let head = world.head
        for await status in diary.syncStatus where status.head > head { break }
        #expect(world.head == head + 1)
        try await other.close()
        try await diary.close()
    }

    @Test func aTokenThatIsRevokedEndsTheBackgroundWithItsReason() async throws {
        let world = try HTTPWorld()
        let diary = try world.makeDiary("one")
        try await diary.connect(to: world.address, token: world.key.text)
        for await status in diary.syncStatus where status.phase == .upToDate { break }
        _ = try world.control.revokeToken(world.key.id, at: world.space.store.now)
        world.ring()
        try await HTTPWorld.weigh(diary)
        for await status in diary.syncStatus where status.phase == .paused {
            #expect(status.lastError?.contains("token") ?? false)
            break
        }
        try await diary.close()
    }
}
