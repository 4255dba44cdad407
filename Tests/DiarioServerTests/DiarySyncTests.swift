import Diario
import DiarioHost
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioTestSupport
import Synchronization
import Testing

struct DiarySyncTests {
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
        let world = try HTTPWorld()
        let diary = try world.makeDiary("one")
        try await diary.sync(with: world.transport())
        try await diary.close()
        let path = world.folder.path + "/one"
        let space = try Space.open(at: path, access: .readWrite)
        let watched = Diary(space: space)
        let head = world.head
        let transport = Meanwhile(SpaceAuthority(world.space.store, world.space.id)) {
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
            #expect(world.head == head + 1)
            group.cancelAll()
        }
        try await watched.close()
    }
}
