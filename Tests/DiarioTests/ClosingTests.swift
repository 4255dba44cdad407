import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Synchronization
import Testing

/// A diary that is closed, and builds of read models that end before they are done.
@Suite(.waits) struct ClosingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [try TasksPack.make()])
        try space.close()
    }

    /// Holds a build up in the middle, until it is let go on.
    private final class HeldUp: Sendable {
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        private let goOn = Signal()
        private let isOver = Atomic(false)

        var hasGoneOn: Bool { isOver.load(ordering: .acquiring) }

        func act(_ done: UInt64, _ total: UInt64) {
            guard !hasGoneOn else { return }
            beginning.yield()
            goOn.wait(nanosecondsMax: 200_000_000)
            isOver.store(true, ordering: .releasing)
        }

        func release() { goOn.raise() }
    }

    private func diary(with count: Int) async throws -> Diary {
        let diary = try Diary(path: folder.path)
        var batch = diary.makeBatch()
        for id in 1...count {
            try batch.add("tasks.task.added", json: TasksPack.added(id, id))
        }
        try await diary.append(batch)
        return diary
    }

    /// Runs `body` while a rebuild is held up, whose error is what the group gives.
    private static func rebuilding<Value>(
        _ diary: Diary,
        _ heldUp: HeldUp,
        _ body: (inout ThrowingTaskGroup<(any Error)?, any Error>) async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: (any Error)?.self) { group in
            group.addTask {
                do { try await diary.rebuild(progress: heldUp.act) } catch { return error }
                return nil
            }
            for await _ in heldUp.begun { break }
            return try await body(&group)
        }
    }

    /// What lies among the read models, with sizes.
    private func files() throws -> [String] {
        let directory = try folder.directory()
        return try directory.list(".diario/spaces").flatMap { space in
            let path = ".diario/spaces/\(space)/models"
            return try directory.list(path).sorted().map { name in
                "\(name) \(try directory.open(path + "/" + name, .read).size())"
            }
        }
    }

    @Test func aDiaryThatWasClosedIsNotUsed() async throws {
        let diary = try await diary(with: 1)
        var draft = diary.makeBatch()
        try draft.add("tasks.task.removed", json: #"{"id":"t1"}"#)
        let batch = draft
        try await diary.close()
        await #expect(throws: DiarioError.self) { try await diary.append(batch) }
        await #expect(throws: DiarioError.self) { try await diary.sql("SELECT 1") }
        await #expect(throws: DiarioError.self) { try await diary.rebuild() }
        await #expect(throws: DiarioError.self) {
            try await diary.connect(to: "http://127.0.0.1:9/v1/spaces/home", token: "diario_x_y")
        }
        await #expect(throws: DiarioError.self) { for try await _ in diary.events() {} }
        try await diary.close()
    }

    /// Whoever closed a diary may take its folder away.
    @Test func closingEndsARebuild() async throws {
        let diary = try await diary(with: 3)
        let heldUp = HeldUp()
        let before = try await Self.rebuilding(diary, heldUp) { group in
            try await diary.close()
            #expect(heldUp.hasGoneOn)
            let files = try files()
            let error = try await group.next()
            #expect(error is DiarioError)
            return files
        }
        #expect(try files() == before)
        // What was read stays as it was, and can be read.
        let again = try Diary(path: folder.path)
        #expect(try await again.sql("SELECT count(*) FROM task").rows == [[.integer(3)]])
        try await again.close()
    }

    @Test func aRebuildEndsWithItsTask() async throws {
        let diary = try await diary(with: 3)
        #expect(try await diary.sql("SELECT count(*) FROM task").rows == [[.integer(3)]])
        let heldUp = HeldUp()
        try await Self.rebuilding(diary, heldUp) { group in
            group.cancelAll()
            heldUp.release()
            let error = try await group.next()
            #expect(error is CancellationError)
        }
        #expect(try await diary.sql("SELECT count(*) FROM task").rows == [[.integer(3)]])
        // The next one takes what is there and ends it.
        let told = Mutex<[UInt64]>([])
        try await diary.rebuild { done, _ in told.withLock { $0.append(done) } }
        #expect(told.withLock { $0.last } ?? 0 >= 3)
        try await diary.close()
    }

    private static let endless = """
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
        SELECT count(*) FROM number
        """

    /// Time for a query to begin; gives when it had begun.
    private func waitAMoment() -> ContinuousClock.Instant {
        Signal().wait(nanosecondsMax: 200_000_000)
        return .now
    }

    /// It was ended, and did not end because it had taken as long as it may.
    private func checkIsEarly(_ start: ContinuousClock.Instant) {
        #expect(.now - start < .seconds(Limits.querySecondsMax / 2))
    }

    /// It went on for as long as a query may take, and the diary was held up by it.
    @Test func aQueryEndsWithItsTask() async throws {
        let diary = try await diary(with: 3)
        await withThrowingTaskGroup(of: QueryAnswer.self) { group in
            group.addTask { try await diary.sql(Self.endless) }
            let start = waitAMoment()
            group.cancelAll()
            let result = await group.nextResult()
            #expect(throws: CancellationError.self) { try result?.get() }
            checkIsEarly(start)
        }
        #expect(try await diary.sql("SELECT count(*) FROM task").rows == [[.integer(3)]])
        try await diary.close()
    }

    @Test func aLiveQueryEndsWithItsTask() async throws {
        let diary = try await diary(with: 3)
        try await withThrowingTaskGroup(of: QueryAnswer?.self) { group in
            let live = diary.liveSQL(Self.endless)
            group.addTask {
                var answers = live.makeAsyncIterator()
                return try await answers.next()
            }
            let start = waitAMoment()
            group.cancelAll()
            let answer = try await group.next()
            #expect(answer == .some(nil))
            checkIsEarly(start)
        }
        try await diary.close()
    }

    @Test func closingEndsAQuery() async throws {
        let diary = try await diary(with: 3)
        try await withThrowingTaskGroup(of: QueryAnswer.self) { group in
            for _ in 0..<3 { group.addTask { try await diary.sql(Self.endless) } }
            let start = waitAMoment()
            try await diary.close()
            checkIsEarly(start)
            for _ in 0..<3 {
                let result = await group.nextResult()
                #expect {
                    try result?.get()
                } throws: {
                    ($0 as? DiarioError)?.kind == .readOnly
                }
            }
        }
    }

    /// It waited ten minutes for another process that builds, and so did who closed the diary.
    @Test(arguments: ["build", "tasks.lock"], [false, true])
    func aQueryWaitsForAnotherProcessNoLonger(lockName: String, isClosed: Bool) async throws {
        let diary = try await diary(with: 3)
        if lockName != "build" { _ = try await diary.sql("SELECT count(*) FROM task") }
        let directory = try POSIXDirectory(path: folder.path + "/.diario", access: .readWrite)
        let space = try #require(try directory.list("spaces").first)
        if lockName == "build" { try directory.makeDirectory("spaces/\(space)/models") }
        let lock = try directory.lock("spaces/\(space)/models/\(lockName)")
        try lock.acquire(waitSeconds: 0)
        defer { lock.release() }
        try await withThrowingTaskGroup(of: QueryAnswer.self) { group in
            group.addTask { try await diary.sql("SELECT count(*) FROM task") }
            let start = waitAMoment()
            if isClosed { try await diary.close() } else { group.cancelAll() }
            let result = await group.nextResult()
            #expect {
                try result?.get()
            } throws: { error in
                isClosed
                    ? (error as? DiarioError)?.kind == .readOnly : error is CancellationError
            }
            checkIsEarly(start)
        }
        try await diary.close()
    }

    /// What a query waits for until it begins ends as well, and goes on with the next one.
    @Test(arguments: [false, true]) func closingEndsWhatAQueryWaitsFor(isBuilt: Bool) async throws {
        let diary = try await diary(with: 3)
        if isBuilt { #expect(try await diary.sql("SELECT count(*) FROM task").count == 1) }
        var batch = diary.makeBatch()
        try batch.add("tasks.task.removed", json: #"{"id":"t1"}"#)
        try await diary.append(batch)
        try await diary.close()
        let space = try Space.open(at: folder.path, access: .readWrite)
        let models = try ReadModels(space, chunkCount: 1)
        let stop = BuildStop()
        models.stop = stop
        stop.ask()
        #expect {
            try models.update()
        } throws: {
            ($0 as? DiarioError)?.kind == .readOnly
        }
        models.stop = BuildStop()
        try models.update()
        #expect(try models.rows("SELECT count(*) FROM task") == [[.integer(2)]])
        try space.close()
    }
}
