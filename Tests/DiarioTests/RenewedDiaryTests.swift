import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

/// A diary whose space another process makes anew, by an import that finds it empty.
@Suite(.waits) struct RenewedDiaryTests {
    private let folder: TemporaryFolder
    private let pack: Pack
    private var path: String { folder.path + "/diary" }

    private static let count = 5

    init() throws {
        folder = try TemporaryFolder()
        pack = try TasksPack.make(
            extra: [
                "queries/all.sql":
                    "-- query all(): all tasks\nSELECT id FROM task ORDER BY id;"
            ]
        )
        try Space.create(at: path, packs: [pack]).close()
    }

    private static let line = TasksPack.line("added", TasksPack.added(9, 9))

    /// A task that the import does not have.
    private func batch(_ diary: Diary) throws -> EventBatch {
        var batch = diary.makeBatch()
        try batch.add("tasks.task.added", json: TasksPack.added(9, 9))
        return batch
    }

    /// Imports `count` events as another process would.
    private func importAsAnother(_ packs: [Pack]? = nil) throws {
        let source = try Space.create(at: folder.path + "/source", packs: packs ?? [pack])
        if packs == nil {
            let ids = 0..<Self.count
            try source.record(ids.map { TasksPack.line("added", TasksPack.added($0, $0)) })
        }
        let lines = try SampleSpace.lines(source)
        try source.close()
        let space = try Space.open(at: path, access: .readWrite)
        let restored = try space.importEvents(of: SampleSpace.file(lines, in: folder), as: .lines) {
            _,
            _ in
        }
        #expect(restored.space.id != space.id)
        try space.close()
    }

    private func spaceCount() throws -> Int {
        try folder.directory().list("diary/.diario/spaces").count
    }

    private let ids = (0..<count).map { [SQLValue.text("t\($0)")] }

    /// Queries failed for as long as the diary lived, and a rebuild went into the old folder.
    @Test func queriesAnswerFromTheNewSpace() async throws {
        let diary = try Diary(path: path)
        #expect(try await diary.query("all").rows == [])
        try importAsAnother()
        #expect(try await diary.query("all").rows == ids)
        #expect(try await diary.sql("SELECT count(*) FROM task").rows == [[.integer(5)]])
        try await diary.rebuild()
        #expect(try spaceCount() == 1)
        try await diary.append(batch(diary))
        #expect(try await diary.query("all").count == Self.count + 1)
        try await diary.close()
    }

    @Test func anAppendComesFirst() async throws {
        let diary = try Diary(path: path)
        #expect(try await diary.query("all").rows == [])
        let batch = try batch(diary)
        try importAsAnother()
        try await diary.append(batch)
        #expect(try await diary.query("all").count == Self.count + 1)
        try await diary.close()
    }

    @Test func aLiveQueryTellsOfTheNewSpace() async throws {
        let diary = try Diary(path: path)
        var answers = diary.liveQuery("all").makeAsyncIterator()
        #expect(try await answers.next()?.rows == [])
        try importAsAnother()
        #expect(try await answers.next()?.rows == ids)
        try await diary.append(batch(diary))
        #expect(try await answers.next()?.count == Self.count + 1)
        try await diary.close()
    }

    /// Positions of the old space say nothing of the new one.
    @Test(arguments: [nil, 0, 1] as [UInt64?])
    func whatIsFollowedGoesOnInTheNewSpace(after position: UInt64?) async throws {
        let diary = try Diary(path: path)
        let followed = diary.follow(after: position, .everything)
        try await withThrowingTaskGroup(of: [String?].self) { group in
            let (told, telling) = AsyncStream<Void>.makeStream()
            group.addTask {
                var events = followed.makeAsyncIterator()
                // What adopted the pack, in the old space.
                if position == 0 { _ = try await events.next() }
                telling.yield()
                var subjects: [String?] = []
                while subjects.count < Self.count, let event = try await events.next() {
                    if event.type.hasPrefix("tasks.") { subjects.append(event.subject) }
                }
                return subjects
            }
            for await _ in told { break }
            try importAsAnother()
            let subjects = try await group.next()
            #expect(subjects == ["t0", "t1", "t2", "t3", "t4"])
        }
        try await diary.close()
    }

    /// `diario record -` ended with the words that there is no such space.
    @Test func linesAreRecordedInTheNewSpace() async throws {
        let space = try Space.open(at: path, access: .readWrite)
        var recorder = LineRecorder(space)
        try recorder.add(Array(Self.line.utf8).span)
        try importAsAnother()
        #expect(try recorder.commit().count == 1)
        let batch = Self.line.dropLast() + #","batch":"b"}"#
        try recorder.add(Array(batch.utf8).span)
        recorder.finish()
        #expect(try recorder.commit().count == 1)
        let renewed = try space.refreshed()
        #expect(try renewed.stats().state.events == Self.count + 2)
        #expect(try renewed.verify { _ in }.isOK)
        try space.close()
    }

    /// What was imported need not have the types of what is about to be recorded.
    @Test func eventsOfTypesThatAreGoneAreRefused() async throws {
        let diary = try Diary(path: path)
        let batch = try batch(diary)
        let space = try Space.open(at: path, access: .readWrite)
        var recorder = LineRecorder(space)
        try recorder.add(Array(Self.line.utf8).span)
        try importOtherTypes()
        await #expect {
            try await diary.append(batch)
        } throws: {
            ($0 as? DiarioError)?.kind == .incompatible
        }
        #expect {
            try recorder.commit()
        } throws: {
            ($0 as? DiarioError)?.kind == .incompatible
        }
        #expect(try space.refreshed().verify { _ in }.isOK)
        try space.close()
        try await diary.close()
    }

    /// An import into a space that uses one more pack, of events that need that one alone.
    private func importOtherTypes() throws {
        let other = try #require(try PackSource.builtIn().first { $0.name == "meals" })
        var space = try Space.open(at: path, access: .readWrite)
        _ = try space.adopt([other]) { _, _ in }
        try space.close()
        try importAsAnother([other])
    }
}
