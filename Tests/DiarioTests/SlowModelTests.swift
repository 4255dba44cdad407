import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

/// Read models that take long for each event hold up no query for longer than it may be held up.
@Suite struct SlowModelTests {
    /// Each removed task takes some ten thousand steps; each renamed one more than it may.
    private static let model = """
        -- readmodel tasks version 1: a slow one
        CREATE TABLE list (
            name TEXT NOT NULL PRIMARY KEY, count INT NOT NULL CHECK (count <> 7201)
        ) STRICT;
        -- on tasks.task.added
        INSERT INTO list VALUES (:id, 1);
        -- on tasks.task.removed
        UPDATE list SET count = count + (SELECT count(*) FROM list AS a, list AS b)
            WHERE name = :id;
        -- on tasks.task.renamed
        UPDATE list SET count =
            (SELECT count(*) FROM list AS a, list AS b, list AS c, list AS d, list AS e);
        """

    private static let allowance = StepAllowance(steps: 20_000, stepsPerEvent: 1000)

    private static func added(_ id: Int) -> String {
        TasksPack.added(id, 1)
    }

    private static func record(_ space: Space, _ type: String, _ payloads: [String]) throws {
        try space.record(payloads.map { TasksPack.line(type, $0) })
    }

    private static func fill(_ space: Space, slowCount: Int = 40) throws {
        try record(space, "added", (1...60).map(added))
        try record(space, "removed", (1...slowCount).map { #"{"id":"t\#($0)"}"# })
    }

    /// Asks until there is an answer; gives how often there was none, and what was said then.
    private static func update(_ make: () throws(DiarioError) -> ReadModels) -> [String] {
        var told: [String] = []
        while true {
            do throws(DiarioError) {
                // As another process would ask again.
                try make().update()
                return told
            } catch {
                #expect(error.isRetryable)
                told.append(error.message)
                guard told.count < 100 else { return told }
            }
        }
    }

    /// The same for a space whose events cost several times what a query may wait for.
    private static func updateInSteps(_ space: Space) -> [String] {
        let told = update { () throws(DiarioError) in
            try ReadModels(space, allowance: allowance)
        }
        #expect(4...30 ~= told.count, "\(told.count)")
        #expect(Set(told).count == told.count, "each got further than the one before")
        return told
    }

    @Test(arguments: [false, true], [1000, 7])
    func aQueryWaitsOnlySoLongAndTheNextGoesOn(isSealed: Bool, chunkCount: Int) throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [TasksPack.make(model: Self.model)])
        try Self.fill(space)
        if isSealed { _ = try space.store.seal(space.id, all: true, waitSeconds: 600) }
        let told = Self.update { () throws(DiarioError) in
            try ReadModels(space, chunkCount: chunkCount, allowance: Self.allowance)
        }
        #expect(4...30 ~= told.count, "\(told.count)")
        #expect(told.first?.contains("diario rebuild tasks") == true)
        #expect(told.first?.contains("at position ") == true, "\(told)")
        #expect(Set(told).count == told.count, "each got further than the one before")
        let models = try ReadModels(space)
        #expect(try models.compare(models.packs).allSatisfy { $0.table.isEmpty })
        try space.close()
    }

    /// What comes later is no other matter, however few events there are.
    @Test func aLiveModelGoesOnToo() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [TasksPack.make(model: Self.model)])
        try ReadModels(space).update()
        try Self.fill(space)
        let models = try ReadModels(space, allowance: Self.allowance)
        let told = Self.update { models }
        #expect(4...30 ~= told.count, "\(told.count)")
        #expect(Set(told).count == told.count, "each got further than the one before")
        #expect(try models.compare(models.packs).allSatisfy { $0.table.isEmpty })
        try space.close()
    }

    /// Each event that was ended is set aside for good, so that none is tried twice.
    @Test(arguments: [false, true]) func endedEventsAreNotTriedAgain(isLive: Bool) throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [TasksPack.make(model: Self.model)])
        if isLive { try ReadModels(space).update() }
        try Self.record(space, "added", (1...60).map(Self.added))
        try Self.record(
            space,
            "renamed",
            (1...4).map { #"{"id":"t\#($0)","title":"another"}"# }
        )
        let steps = Limits.sqlEventStepCountMax
        let told = Self.update { () throws(DiarioError) in
            try ReadModels(
                space,
                allowance: StepAllowance(steps: steps + 1_000_000, stepsPerEvent: 0)
            )
        }
        #expect(1...4 ~= told.count, "\(told.count)")
        let models = try ReadModels(space)
        #expect(try models.quarantined().map(\.event.rule) == ["limit", "limit", "limit", "limit"])
        try space.close()
    }

    @Test func aRebuildTakesAsLongAsItNeeds() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [TasksPack.make(model: Self.model)])
        try Self.fill(space)
        let models = try ReadModels(space, allowance: Self.allowance)
        #expect(throws: DiarioError.self) { try models.update() }
        _ = try models.rebuild()
        try models.update()
        #expect(try models.compare(models.packs).allSatisfy { $0.table.isEmpty })
        try space.close()
    }

    /// Pending events are gone on with as well, and events that come before them.
    @Test(arguments: [false, true]) func pendingEventsAreGoneOnWith(isPulled: Bool) throws {
        var lane = try LaneSpace(TasksPack.make(model: Self.model))
        for id in 1...60 { try lane.pull("tasks.task.added", Self.added(id)) }
        try ReadModels(lane.space).update()
        if isPulled {
            try lane.record("tasks.task.removed", #"{"id":"t60"}"#)
            try ReadModels(lane.space).update()
            for id in 1...40 { try lane.pull("tasks.task.removed", #"{"id":"t\#(id)"}"#) }
        } else {
            for id in 1...40 { try lane.record("tasks.task.removed", #"{"id":"t\#(id)"}"#) }
        }
        let space = lane.space
        let told = Self.updateInSteps(space)
        let text = isPulled ? "at position " : "at pending event "
        #expect(told.first?.contains(text) == true, "\(told)")
        try lane.check(ReadModels(space), "whole")
    }

    /// The first build of a space with both: what was built is live then, and gone on with.
    @Test func aBuildThatEndsAtPendingEventsIsKept() throws {
        var lane = try LaneSpace(TasksPack.make(model: Self.model))
        for id in 1...60 { try lane.pull("tasks.task.added", Self.added(id)) }
        for id in 1...20 { try lane.pull("tasks.task.removed", #"{"id":"t\#(id)"}"#) }
        for id in 21...40 { try lane.record("tasks.task.removed", #"{"id":"t\#(id)"}"#) }
        _ = Self.updateInSteps(lane.space)
        try lane.check(ReadModels(lane.space), "whole")
    }

    /// The try that ended with the failing event had cost all that a query may, and the next one
    /// began with that.
    @Test(arguments: [false, true], [5, 28, 29, 30, 31, 32, 33])
    func anEventThatFailsHoldsNothingUp(isSealed: Bool, failing: Int) throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [TasksPack.make(model: Self.model)])
        try Self.record(space, "added", (1...60).map(Self.added))
        // The first task once more, which is as slow and then fails.
        let ids = [1] + (2...40).map { $0 == failing ? 1 : $0 }
        try Self.record(space, "removed", ids.map { #"{"id":"t\#($0)"}"# })
        if isSealed { _ = try space.store.seal(space.id, all: true, waitSeconds: 600) }
        let told = Self.update { () throws(DiarioError) in
            try ReadModels(space, allowance: Self.allowance)
        }
        #expect(1...30 ~= told.count, "\(told.count)")
        let models = try ReadModels(space)
        #expect(try models.quarantined().map(\.event.rule) == ["sql"])
        #expect(try models.compare(models.packs).allSatisfy { $0.table.isEmpty })
        try space.close()
    }

    /// Everybody waited for the pack that took longest, whatever they asked.
    @Test(.timeLimit(.minutes(2))) func aPackIsAskedWhileAnotherOneIsChanged() throws {
        let folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/space")
        let models = try ReadModels(space)
        try models.update(["fish", "maps"])
        let directory = try POSIXDirectory(path: folder.path + "/space/.diario", access: .readWrite)
        let lock = try directory.lock(LogPaths.models(space.id) + "/fish.lock")
        try lock.acquire(waitSeconds: 0)
        defer { lock.release() }
        try models.update(["maps"])
        #expect(try models.rows("SELECT count(*) FROM maps.diario_model").count == 1)
        try space.close()
    }
}
