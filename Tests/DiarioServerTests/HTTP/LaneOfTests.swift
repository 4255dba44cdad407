import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioTestSupport
import Testing

/// A damaged replica is copied anew, and what it had pending comes along: schema/format/salvage.md,
/// section 6.
struct LaneOfTests {
    private static func clone(
        _ world: HTTPWorld,
        to name: String,
        laneOf damaged: String? = nil
    ) async throws -> TakenLane? {
        try await SpaceCopy.run(
            at: world.folder.path + "/" + name,
            from: world.transport(),
            remembering: RemoteServer(address: world.address, token: world.key.text),
            laneOf: damaged.map { world.folder.path + "/" + $0 }
        ) { _ in }
    }

    private static func record(_ world: HTTPWorld, _ batches: Int) async throws {
        let path = world.folder.path + "/old"
        let diary = Diary(space: try Space.open(at: path, access: .readWrite))
        for _ in 0..<batches { try await HTTPWorld.weigh(diary, count: 2) }
        try await diary.close()
    }

    private static func origins(_ path: String) throws -> [String] {
        let space = try Space.open(at: path, access: .readOnly)
        var filter = EventFilter()
        filter.wantPending()
        var reader = try EventReader(space, filter)
        var found: [String] = []
        while let line = try reader.next() { found.append(line.origin?.text ?? "") }
        try space.close()
        return found
    }

    /// Under their old origins, whatever else is damaged.
    @Test(arguments: ["manifest", "replica", "format", "segments", "tiles"])
    func whatWasPendingIsPushed(name: String) async throws {
        let world = try HTTPWorld()
        try await world.fill(count: 300)
        _ = try await Self.clone(world, to: "old")
        try await Self.record(world, 5)
        let pending = try Self.origins(world.folder.path + "/old")
        #expect(pending.count == 10)
        let path = world.folder.path + "/old/.diario"
        let directory = try POSIXDirectory(path: path, access: .readWrite)
        let id = try directory.list("spaces")[0]
        try Files.removeTree(name == "format" ? name : "spaces/\(id)/\(name)", in: directory)
        let outcome = try #require(try await Self.clone(world, to: "new", laneOf: "old"))
        #expect(outcome.pending == 10)
        #expect(outcome.recordedAgain == 0)
        #expect(try Self.origins(world.folder.path + "/new") == pending)
        let head = world.head
        let space = try Space.open(at: world.folder.path + "/new", access: .readWrite)
        let diary = Diary(space: space)
        let report = try await diary.sync(with: world.transport())
        #expect(report.pushed == 10)
        #expect(report.pending == 0)
        #expect(world.head == head + 10)
        try await HTTPWorld.weigh(diary, count: 1)
        #expect(try await diary.sync(with: world.transport()).pushed == 1)
        try await diary.close()
    }

    /// What the server had got already is not sent again; behind a gap origins are new ones.
    @Test func whatFollowsAGapIsRecordedAgain() async throws {
        let world = try HTTPWorld()
        try await world.fill(count: 50)
        _ = try await Self.clone(world, to: "old")
        try await Self.record(world, 2)
        let path = world.folder.path + "/old"
        let first = Diary(space: try Space.open(at: path, access: .readWrite))
        #expect(try await first.sync(with: world.transport()).pushed == 4)
        try await first.close()
        try await Self.record(world, 3)
        // The frame of the second of the three batches.
        let directory = try POSIXDirectory(path: path + "/.diario", access: .readWrite)
        let log = "wal/0000000000000001.dwal"
        var bytes = try Files.contents(of: log, in: directory, sizeMax: .max)
        let frames = bytes.indices.dropLast(8).filter {
            $0 % 8 == 0 && bytes[$0..<$0 + 4].elementsEqual("dfrm".utf8)
        }
        bytes[frames[frames.count - 2] + 60] ^= 1
        try Files.replace(log, with: bytes, in: directory)
        let outcome = try #require(try await Self.clone(world, to: "new", laneOf: "old"))
        #expect(outcome.pending == 4)
        #expect(outcome.recordedAgain == 2)
        let head = world.head
        let space = try Space.open(at: world.folder.path + "/new", access: .readWrite)
        let diary = Diary(space: space)
        #expect(try await diary.sync(with: world.transport()).pushed == 4)
        #expect(world.head == head + 4)
        try await diary.close()
    }
}
