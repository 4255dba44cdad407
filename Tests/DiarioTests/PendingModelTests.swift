import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioTestSupport
import Testing

/// Where effects of pending events are taken back, the tables are as if these had never been.
@Suite struct PendingModelTests {
    private static func added(_ id: String, _ list: String) -> String {
        #"{"id":"\#(id)","title":"a title","list":"\#(list)","place":1}"#
    }

    private static func titled(_ id: String, _ title: String) -> String {
        #"{"id":"\#(id)","title":"\#(title)"}"#
    }

    private static let model = """
        -- readmodel tasks version 1: tasks refer to lists, which other events make
        CREATE TABLE list (name TEXT NOT NULL PRIMARY KEY) STRICT;
        CREATE TABLE task (
            id TEXT NOT NULL PRIMARY KEY,
            list TEXT NOT NULL REFERENCES list (name)
        ) STRICT;
        -- on tasks.task.added
        INSERT INTO task VALUES (:id, :list);
        -- on tasks.task.renamed
        INSERT OR IGNORE INTO list VALUES (:title);
        """

    /// Keys were looked at only at the end of the transaction once pending events had been taken
    /// back: an event without its list made every query fail, or had effects that a rebuild has
    /// not.
    @Test(arguments: [false, true]) func foreignKeysAreLookedAtEventByEvent(isMade: Bool) throws {
        var lane = try LaneSpace(TasksPack.make(model: Self.model))
        let models = try ReadModels(lane.space)
        try lane.record("tasks.task.renamed", Self.titled("own", "ours"))
        try models.update()
        try lane.pull("tasks.task.added", Self.added("t1", "missing"))
        if isMade { try lane.pull("tasks.task.renamed", Self.titled("other", "missing")) }
        try models.update()
        #expect(try models.quarantined().map(\.event.rule) == ["sql"])
        let rows = try models.rows("SELECT id FROM task")
        #expect(rows == [])
        try lane.check(models, "a key")
    }

    /// Pending events got positions while canonical ones were caught up with, and their effects
    /// were taken for made: they were in no table until somebody built them anew.
    @Test(arguments: [UInt64(2), 5])
    func pendingEventsThatGetPositionsMeanwhileAreApplied(count: UInt64) throws {
        let pack = try TasksPack.make(model: Self.model)
        for call in 1...4 {
            var lane = try LaneSpace(pack)
            for number in 1...5 {
                try lane.record("tasks.task.renamed", Self.titled("own", "ours \(number)"))
                try lane.pull("tasks.task.renamed", Self.titled("other", "theirs \(number)"))
            }
            let file = try ModelFile(
                path: lane.folder.path + "/models.sqlite",
                plan: PackPlan(pack),
                space: lane.space.id,
                .building
            )
            var callCount = 0
            var fault: (any Error)?
            let update = ModelUpdate(lane.space, file, chunkCount: 2)
            try update.run { _, _ in
                callCount += 1
                guard callCount == call else { return }
                do { try lane.promote(count) } catch { fault = error }
            }
            #expect(fault == nil && callCount >= call)
            try update.run { _, _ in }
            #expect(file.sections.reduce(0) { $0 + UInt64($1.count) } == 5 - count)
            let tables = try Connection(path: file.path, .readWrite)
            let rows = try tables.rows("SELECT name FROM list")
            #expect(rows.count == 10, "call \(call)")
        }
    }

    /// A whole number comes into a column of REAL as an integer, and goes out of it as a real.
    @Test(arguments: ["", ", WITHOUT ROWID"])
    func rowsWithKeysThatAreRealsAreTakenBack(options: String) throws {
        let model = """
            -- readmodel tasks version 1: how often a place was taken
            CREATE TABLE taken (place REAL NOT NULL PRIMARY KEY, count INT NOT NULL) \
            STRICT\(options);
            -- on tasks.task.added
            INSERT INTO taken VALUES (:place, 1)
                ON CONFLICT (place) DO UPDATE SET count = count + 1;
            """
        var lane = try LaneSpace(TasksPack.make(model: model))
        let models = try ReadModels(lane.space)
        for id in ["a", "b"] { try lane.record("tasks.task.added", Self.added(id, "l")) }
        try models.update()
        try lane.pull("tasks.task.added", Self.added("c", "l"))
        try models.update()
        #expect(try models.rows("SELECT * FROM taken") == [[.real(1), .integer(3)]])
        try lane.check(models, "reals")
    }

    /// How many rows a pending event changes is a bound that it does not have once it has a
    /// position.
    @Test func anEventThatWasTooLargeWhilePendingIsTriedAgain() throws {
        let digits = (0...9).map { "SELECT \($0) AS n" }.joined(separator: " UNION ALL ")
        let model = """
            -- readmodel tasks version 1: large rows
            CREATE TABLE row (
                id TEXT NOT NULL, i INT NOT NULL, n INT NOT NULL, big TEXT NOT NULL,
                PRIMARY KEY (id, i)
            ) STRICT;
            -- on tasks.task.added
            INSERT INTO row SELECT :id, a.n * 100 + b.n * 10 + c.n, 0,
                replace(replace(hex(:title), '6', hex(hex(hex(hex(hex(hex(:title))))))), '7',
                    hex(hex(hex(hex(hex(hex(:title)))))))
            FROM (\(digits)) AS a, (\(digits)) AS b, (\(digits)) AS c;
            -- on tasks.task.renamed
            UPDATE row SET n = n + 1;
            """
        var lane = try LaneSpace(TasksPack.make(model: model))
        let models = try ReadModels(lane.space)
        for id in 1...4 { try lane.pull("tasks.task.added", Self.added("t\(id)", "l")) }
        try lane.record("tasks.task.renamed", Self.titled("t1", "touched"))
        try models.update()
        #expect(try models.quarantined().first?.event.message.contains("too many rows") == true)
        #expect(try models.rows("SELECT sum(n) FROM row") == [[.integer(0)]])
        try lane.promote(1)
        try models.update()
        #expect(try models.quarantined().isEmpty)
        #expect(try models.rows("SELECT sum(n) FROM row") == [[.integer(4000)]])
        try lane.check(models, "large")
    }
}
