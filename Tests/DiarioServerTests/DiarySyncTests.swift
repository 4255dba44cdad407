import Diario
import DiarioCore
import DiarioLog
import DiarioSQLite
import DiarioServer
import DiarioStorage
import DiarioTestSupport
import Foundation
import Synchronization
import Testing

/// Two diaries and an authority, by the door that apps use.
struct DiarySyncTests {
    /// Carries messages by calling the authority.
    private struct Direct: Transport {
        let authority: SpaceAuthority
        var isCut = false

        func exchange(_ request: [UInt8]) async throws -> [UInt8] {
            guard !isCut else { throw TransportError("There is no network.") }
            return authority.answer(request, from: Caller(rights: [.read, .append]))
        }
    }

    private struct World {
        let folder: TemporaryFolder
        let authority: SpaceAuthority
        private let server: Space

        init() throws {
            folder = try TemporaryFolder()
            let path = folder.path + "/server"
            server = try Space.create(at: path, packs: try PackSource.builtIn())
            authority = SpaceAuthority(server.store, server.id)
        }

        var serverHead: UInt64 { server.store.standing(of: server.id).head }

        func makeDiary(_ name: String) throws -> Diary {
            let directory = try POSIXDirectory(
                path: folder.path + "/\(name)/" + LogPaths.directoryName,
                access: .create
            )
            try LogStore.create(in: directory)
            let store = try Space.openStore(directory, access: .readWrite)
            let lineage = try server.store.status(of: server.id).manifest.lineage
            try store.makeReplica(of: server.id, lineage: lineage, epoch: 0)
            return Diary(space: try Space(store: store, id: server.id))
        }
    }

    private static func weigh(_ diary: Diary, _ day: String, _ grams: Int) async throws {
        var batch = diary.makeBatch()
        let json = #"{"day":"\#(day)","weightG":\#(grams),"source":"manual"}"#
        try batch.add("meals.weight.recorded", json: json)
        _ = try await diary.append(batch)
    }

    @Test func withoutANetworkNothingIsLost() async throws {
        let world = try World()
        let diary = try world.makeDiary("one")
        try await diary.sync(with: Direct(authority: world.authority))
        try await Self.weigh(diary, "2026-03-02", 78_400)
        await #expect(throws: DiarioError.self) {
            try await diary.sync(with: Direct(authority: world.authority, isCut: true))
        }
        let report = try await diary.sync(with: Direct(authority: world.authority))
        #expect(report.pushed == 1)
        #expect(report.pending == 0)
        try await diary.close()
    }

    @Test func theStatusFollowsASyncThatGoesOn() async throws {
        let world = try World()
        let transport = Direct(authority: world.authority)
        let diary = try world.makeDiary("one")
        try await withThrowingTaskGroup { group in
            group.addTask { try await diary.keepSynced(with: transport) }
            for await status in diary.syncStatus where status.phase == .upToDate { break }
            let head = world.serverHead
            try await Self.weigh(diary, "2026-03-02", 78_400)
            for await status in diary.syncStatus
            where status.phase == .upToDate && status.head == head + 1 { break }
            #expect(world.serverHead == head + 1)
            group.cancelAll()
        }
        try await diary.close()
    }

    @Test(.timeLimit(.minutes(2))) func whatOthersRecordIsSentWhoeverReadItFirst() async throws {
        /// Another process records while the first request is under way.
        final class Meanwhile: Transport {
            let authority: SpaceAuthority
            private let record: Mutex<(@Sendable () throws -> Void)?>

            init(_ authority: SpaceAuthority, _ record: @escaping @Sendable () throws -> Void) {
                self.authority = authority
                self.record = Mutex(record)
            }

            func exchange(_ request: [UInt8]) async throws -> [UInt8] {
                try record.withLock { $0.take() }?()
                return authority.answer(request, from: Caller(rights: [.read, .append]))
            }
        }
        let world = try World()
        let diary = try world.makeDiary("one")
        try await diary.sync(with: Direct(authority: world.authority))
        try await diary.close()
        let path = world.folder.path + "/one"
        let space = try Space.open(at: path, access: .readWrite)
        let watched = Diary(space: space)
        let head = world.serverHead
        let transport = Meanwhile(world.authority) {
            let other = try Space.open(at: path, access: .readWrite)
            var recorder = LineRecorder(other)
            let payload = #"{"day":"2026-03-02","weightG":78400,"source":"manual"}"#
            let line = #"{"type":"meals.weight.recorded","payload":\#(payload)}"#
            try recorder.add(Array(line.utf8).span)
            recorder.finish()
            _ = try recorder.commit()
            try other.close()
            // Any other call reads what others recorded, and tells nobody.
            _ = try space.store.refresh()
        }
        await withTaskGroup { group in
            group.addTask {
                try? await watched.keepSynced(with: transport, askingEvery: .seconds(3600))
            }
            for await status in watched.syncStatus
            where status.phase == .upToDate && status.head == head + 1 { break }
            #expect(world.serverHead == head + 1)
            group.cancelAll()
        }
        try await watched.close()
    }
}
