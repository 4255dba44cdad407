import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioTestSupport
import DiarioTransport
import Synchronization
import Testing

/// Spaces that are copied from a server.
struct CloneTests {
    private static func remote(_ world: HTTPWorld) -> RemoteServer {
        RemoteServer(address: world.address, token: world.key.text)
    }

    private static func clone(_ world: HTTPWorld, to name: String = "copy") async throws {
        try await SpaceCopy.run(
            at: world.folder.path + "/" + name,
            from: world.transport(),
            remembering: remote(world)
        ) { _ in }
    }

    /// The copy is the same space, whole, and goes on.
    private static func check(_ world: HTTPWorld, _ name: String = "copy") async throws {
        let path = world.folder.path + "/" + name
        let directory = try POSIXDirectory(path: path, access: .read)
        #expect(try directory.list("") == [LogPaths.directoryName])
        let space = try Space.open(at: path, access: .readWrite)
        #expect(try space.store[space.id].root() == world.space.store[world.space.id].root())
        #expect(try space.verify { _ in }.isOK)
        #expect(space.store.validate().isEmpty)
        let status = try space.store[space.id].status()
        #expect(status.manifest.authority == nil)
        #expect(status.head == world.head)
        #expect(try space.remote() == remote(world))
        #expect(try space.store[space.id].lastSync()?.success?.head == world.head)
        let diary = Diary(space: space)
        let count = try await diary.sql("SELECT day FROM weight").rows.count
        let all = try await Diary(space: world.space).sql("SELECT day FROM weight").rows.count
        #expect(count == all)
        try await HTTPWorld.weigh(diary, count: 2)
        let report = try await diary.sync(with: world.transport())
        #expect(report.pushed == 2)
        #expect(report.pending == 0)
        #expect(world.head == report.head)
        try await diary.close()
        let again = try Space.open(at: path, access: .readOnly)
        #expect(try again.verify { _ in }.isOK)
        try again.close()
    }

    @Test func segmentsSidecarsAndTailArrive() async throws {
        let world = try HTTPWorld()
        try await world.fill(count: 5000)
        try world.seal()
        #expect(try world.space.store[world.space.id].segments().count == 2)
        try await world.fill(count: 300)
        try await Self.clone(world)
        try await Self.check(world)
        // As they lie, and not by pulls: one for what is behind them.
        #expect(world.targets.filter { $0.hasSuffix("/sync") }.count < 12)
        #expect(world.targets.filter { $0.contains("/segments/") }.count == 4)
    }

    /// Whoever cloned from behind a login page was told to use a newer diario.
    @Test func whatALoginPageAnswersIsToldAsSuch() async throws {
        let world = try HTTPWorld()
        world.interfere { _ in
            LoopbackServer.reply(200, "text/html", Array("<html>".utf8))
        }
        await #expect {
            try await Self.clone(world)
        } throws: {
            ($0 as? DiarioError)?.message.contains("as no Diario server does") ?? false
        }
    }

    @Test func aSpaceWithoutSegmentsArrives() async throws {
        let world = try HTTPWorld()
        try await world.fill(count: 10)
        try await Self.clone(world)
        try await Self.check(world)
    }

    @Test func whereASpaceIsNoneIsCopied() async throws {
        let world = try HTTPWorld()
        _ = try world.makeDiary("one")
        await #expect { try await Self.clone(world, to: "one") } throws: {
            ($0 as? DiarioError)?.kind == .exists
        }
    }

    /// Broken off at any request, it goes on where it was.
    @Test func aCopyThatIsBrokenOffGoesOn() async throws {
        let world = try HTTPWorld()
        try await world.fill(count: 5000)
        try world.seal()
        try await world.fill(count: 10)
        let asked = Mutex<[String: Int]>([:])
        // The first request for each thing finds a line that breaks.
        world.interfere { request in
            let count = asked.withLock { asked in
                asked[request.target, default: 0] += 1
                return asked[request.target]
            }
            guard count == 1 else { return nil }
            return [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nx".utf8)), .close]
        }
        var failureCount = 0
        for _ in 0..<20 {
            do {
                try await Self.clone(world)
                break
            } catch let error as DiarioError {
                #expect(error.kind == .offline)
                failureCount += 1
                #expect(throws: DiarioError.self) {
                    try Space.open(at: world.folder.path + "/copy", access: .readOnly)
                }
            }
        }
        // The list, four files, and the messages.
        #expect(failureCount == 6)
        // What was there was not fetched again.
        let files = world.targets.filter { $0.contains("/segments/") }
        #expect(files.count == 8)
        world.interfere(nil)
        try await Self.check(world)
    }

    @Test func bytesThatChangedOnTheWayAreNotTakenOver() async throws {
        let world = try HTTPWorld()
        try await world.fill(count: 100)
        try world.seal()
        let isDone = Mutex(false)
        world.interfere { request in
            guard request.target.hasSuffix(".dseg"),
                isDone.withLock({ done in
                    defer { done = true }
                    return !done
                })
            else { return nil }
            let entry = try? world.space.store[world.space.id].segments().first
            let bytes = [UInt8](repeating: 1, count: entry?.segmentSize ?? 0)
            return LoopbackServer.reply(200, "application/octet-stream", bytes)
        }
        await #expect { try await Self.clone(world) } throws: {
            ($0 as? DiarioError)?.kind == .corrupt
        }
        try await Self.clone(world)
        try await Self.check(world)
    }

    @Test func aListThatNamesOtherFilesIsRefused() async throws {
        let world = try HTTPWorld()
        let hash = String(repeating: "0", count: 64)
        for name in ["../../../x.dseg", "0000000000000001-x.dseg", "a", ""] {
            let file = #"{"name":"\#(name)","kind":"segment","size":1,"sha256":"\#(hash)"}"#
            let other = #"{"name":"\#(name)","kind":"sidecar","size":1,"sha256":"\#(hash)"}"#
            let text =
                #"{"lineage":"\#(String(repeating: "1", count: 32))","epoch":0,"head":1,"#
                + #""root":"\#(hash)","sealed":1,"#
                + #""segments":[{"first":1,"last":1,"files":[\#(file),\#(other)]}]}"#
            world.interfere { request in
                guard request.target.hasSuffix("/segments") else { return nil }
                return LoopbackServer.reply(200, "application/json", Array(text.utf8))
            }
            await #expect { try await Self.clone(world) } throws: {
                ($0 as? DiarioError)?.kind == .incompatible
            }
        }
    }

    @Test func withAWrongTokenNothingIsCopied() async throws {
        let world = try HTTPWorld()
        let transport = try HTTPTransport(to: world.address, token: "diario_x_y")
        await #expect {
            try await SpaceCopy.run(
                at: world.folder.path + "/copy",
                from: transport,
                remembering: Self.remote(world)
            ) { _ in }
        } throws: {
            ($0 as? DiarioError)?.kind == .unauthorized
        }
    }
}
