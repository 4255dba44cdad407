import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Foundation
import Testing

@Suite struct ReadModelTests {
    /// Where nothing may be written, a table was said to be none though its pack has it.
    @Test func aTableThatIsNotBuiltIsToldAsThat() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: PackSource.builtIn())
        let models = try ReadModels(space)
        for statement in ["SELECT * FROM weight", "SELECT * FROM meals.WEIGHT"] {
            let error = #expect(throws: DiarioError.self) {
                _ = try PreparedQuestion(statement, [:], models).answer()
            }
            #expect(error?.message.contains("read models of meals are not built") == true)
        }
    }

    /// Where there is much to do for several packs, two threads bring them up to date.
    @Test func packsThatAreFarBehindAreUpdatedSideBySide() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: PackSource.builtIn())
        let models = try ReadModels(space, chunkCount: 5)
        try models.update()
        try SampleSpace.fill(space)
        var told: Set<String> = []
        try models.update { pack, _, _ in told.insert(pack) }
        #expect(!told.isEmpty)
        for (pack, table) in try models.compare(models.packs) {
            #expect(table.isEmpty, "\(pack).\(table.name)")
        }
    }

    /// Words and places that an index does not find, and rows that only it finds.
    @Test func indexesAreComparedToo() throws {
        var lane = try LaneSpace(TasksPack.make())
        let models = try ReadModels(lane.space)
        for id in 1...4 { try lane.pull("tasks.task.added", TasksPack.added(id, id, "title\(id)")) }
        try models.update()
        #expect(try models.compare(models.packs).allSatisfy { $0.table.isEmpty })
        let path = try #require(models.source(of: "tasks")).path
        let live = try Connection(path: path, .readWrite)
        try live.execute(
            """
            INSERT INTO task_text (task_text, rowid, title)
                SELECT 'delete', number, title FROM task WHERE id = 't2';
            INSERT INTO task_text (rowid, title) VALUES (77, 'ghost word');
            DELETE FROM box_place WHERE low = (SELECT min(low) FROM box_place)
            """
        )
        let found = try models.compare(models.packs).map(\.table).filter { !$0.isEmpty }
        #expect(found.map(\.name) == ["box_place", "task_text"])
        #expect(found.map(\.added) == [1, 1])
        #expect(found.map(\.removed) == [0, 2])
    }

    /// A damaged file is no matter for queries that do not read it, and is built anew for others.
    ///
    /// The new one was begun as a copy of the damaged one, time after time.
    @Test func aDamagedFileStopsNobodyForLong() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: PackSource.builtIn())
        try SampleSpace.fill(space)
        try ReadModels(space).update()
        let models = try ReadModels(space)
        let fish = try #require(models.source(of: "fish"))
        var bytes = try #require(FileManager.default.contents(atPath: fish.path))
        for place in 8192..<bytes.count { bytes[place] ^= 0x5a }
        try bytes.write(to: URL(fileURLWithPath: fish.path))

        let sql = "SELECT count(*) FROM music.diario_table"
        let question = try models.ask(.sql(sql, [:]))
        #expect(question.packs == ["music"])
        #expect(try question.answer().next() != nil)
        #expect(models.source(of: "fish")?.path == fish.path)
        try models.update()
        #expect(models.notes.contains { $0.contains("is damaged") })
        #expect(try models.compare(models.packs).allSatisfy { $0.table.isEmpty })
    }

    /// Which of two tables of one name is meant must not depend on what else was adopted.
    @Test func aTableOfTwoPacksIsNamedWithItsPack() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: PackSource.builtIn())
        let models = try ReadModels(space)
        try models.update()
        func answer(_ sql: String) throws -> [SQLValue]? {
            try models.ask(.sql(sql, [:])).answer().next()?.values
        }
        for sql in ["SELECT count(*) FROM place", "SELECT p.name FROM \"place\" AS p"] {
            let error = #expect(throws: DiarioError.self, "\(sql)") { try answer(sql) }
            #expect(error?.message.contains("fish.place or maps.place") == true)
        }
        for sql in [
            "FROM fish.place", "FROM \"maps\" . \"place\" AS place", "FROM fish.place, maps.place",
            "FROM visit AS place",
        ] {
            #expect(try answer("SELECT count(*) \(sql)") != nil, "\(sql)")
        }
        #expect(models.scope(of: "SELECT place.name FROM maps.place").packs == ["maps"])
        #expect(models.scope(of: "SELECT * FROM place").packs == ["fish", "maps"])
    }

    @Test func aTableIsEnoughToNameItsPack() throws {
        let lane = try LaneSpace(TasksPack.make())
        let models = try ReadModels(lane.space)
        for isBuilt in [false, true] {
            if isBuilt { try models.update() }
            #expect(models.scope(of: "SELECT 1").packs.isEmpty)
            #expect(models.scope(of: "SELECT name FROM diario_tables").packs == ["tasks"])
            for sql in ["* FROM Task", "\"task\".id", "tasks.x", "* FROM box_place_node"]
            where isBuilt || !sql.contains("_node") {
                #expect(models.scope(of: "SELECT \(sql)").packs == ["tasks"], "\(sql)")
            }
        }
    }

    /// The event of another comes first: ours cannot be taken then, and goes to quarantine.
    @Test func pendingEventsAreAppliedAgainBehindThoseOfOthers() throws {
        var lane = try LaneSpace(TasksPack.make())
        let models = try ReadModels(lane.space)
        try lane.record("tasks.task.added", TasksPack.added(1, 7))
        try models.update()
        try lane.pull("tasks.task.added", TasksPack.added(2, 7))
        try models.update()
        let ids = try models.rows("SELECT id FROM task")
        #expect(ids == [[.text("t2")]])
        let quarantined = try models.quarantined()
        #expect(quarantined.map(\.event.model) == ["tasks"])
        #expect(quarantined.map(\.event.rule) == ["sql"])
        #expect(quarantined.map(\.event.position) == [nil])
        // The other read model has both.
        let boxes = try models.rows("SELECT count FROM box")
        #expect(boxes == [[.integer(2)]])
        try lane.check(models, "conflict")
        try lane.promote(1)
        try models.update()
        #expect(try models.quarantined().map(\.event.position) == [3])
        try lane.check(models, "promoted")
    }

    /// Of a long lane only the sections are done again of which a part was accepted.
    @Test func sectionsOfALongLaneArePromotedOneByOne() throws {
        let pack = try TasksPack.make(extra: ["readmodel/places.sql": Self.plainPlaces])
        var lane = try LaneSpace(pack)
        let models = try ReadModels(lane.space, chunkCount: 5)
        func sections() throws -> [[SQLValue]] {
            try models.rows(
                "SELECT number, last - first + 1, isClosed FROM tasks.diario_section"
            )
        }
        func row(_ numbers: Int64...) -> [SQLValue] { numbers.map { .integer($0) } }
        for id in 1...7 { try lane.record("tasks.task.added", TasksPack.added(id, id)) }
        try models.update()
        #expect(try sections() == [row(1, 5, 1), row(2, 2, 0)])
        for id in 8...17 { try lane.record("tasks.task.added", TasksPack.added(id, id)) }
        try models.update()
        #expect(try sections() == [row(1, 5, 1), row(2, 5, 1), row(3, 5, 1), row(4, 2, 0)])
        try lane.check(models, "pending")
        // What stays keeps its number: nothing of it was undone.
        try lane.promote(10)
        try models.update()
        #expect(try sections() == [row(3, 5, 1), row(4, 2, 0)])
        try lane.check(models, "two whole")
        // A part of one: all that is left is done again.
        try lane.promote(2)
        try models.update()
        #expect(try sections() == [row(1, 3, 1), row(2, 2, 0)])
        try lane.check(models, "a part")
        try lane.promote(5)
        try models.update()
        #expect(try sections() == [])
        try lane.check(models, "all")
    }

    /// What comes for others leaves what pending events did as it is.
    @Test func eventsOfOtherTypesTakeNothingBack() throws {
        var lane = try LaneSpace(TasksPack.make(model: Self.listOnly))
        let models = try ReadModels(lane.space)
        try lane.record("tasks.task.added", TasksPack.added(1, 1))
        try models.update()
        _ = models.takeChangedTables()
        try lane.pull("tasks.task.renamed", #"{"id":"t1","title":"x"}"#)
        try models.update()
        // Where pending events stand may have changed, which queries can ask too.
        #expect(models.takeChangedTables()["tasks"]?.subtracting(["diario_inbox"]) == [])
        try lane.check(models, "others")
        try lane.pull("tasks.task.added", TasksPack.added(2, 2))
        try models.update()
        #expect(models.takeChangedTables()["tasks"]?.contains("list") == true)
        try lane.check(models, "own")
    }

    private static let listOnly = """
        -- readmodel tasks version 1: how many tasks a list has
        CREATE TABLE list (name TEXT NOT NULL PRIMARY KEY, count INT NOT NULL) STRICT;
        -- on tasks.task.added
        INSERT INTO list VALUES (:list, 1) ON CONFLICT (name) DO UPDATE SET count = count + 1;
        """

    private static let plainPlaces = """
        -- readmodel places version 1: how many tasks there were
        CREATE TABLE seen (list TEXT NOT NULL PRIMARY KEY, count INT NOT NULL) STRICT;
        -- on tasks.task.added
        INSERT INTO seen VALUES (:list, 1) ON CONFLICT (list) DO UPDATE SET count = count + 1;
        """

    /// Random interleavings of own and foreign events, promotions of any part, and updates at any
    /// moment: the tables are always those that a build from the start makes.
    @Test(arguments: 0..<12) func updatedEqualsRebuilt(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var lane = try LaneSpace(TasksPack.make())
        let models = try ReadModels(lane.space)
        for step in 0..<60 {
            let id = random.below(8)
            let (type, payload): (String, String)
            switch random.below(5) {
            case 0, 1:
                let title = random.oneIn(6) ? "refused" : "title \(random.below(4))"
                (type, payload) = ("tasks.task.added", TasksPack.added(id, random.below(8), title))
            case 2:
                type = "tasks.task.renamed"
                payload = #"{"id":"t\#(id)","title":"new \#(random.below(4))"}"#
            case 3:
                type = "tasks.task.swapped"
                payload = #"{"id":"t\#(id)","other":"t\#(random.below(8))"}"#
            default: (type, payload) = ("tasks.task.removed", #"{"id":"t\#(id)"}"#)
            }
            switch random.below(4) {
            case 0: try lane.pull(type, payload, by: random.below(2))
            case 1 where lane.pendingCount > 0:
                try lane.promote(UInt64(random.below(Int(lane.pendingCount))) + 1)
            default: try lane.record(type, payload)
            }
            if random.oneIn(3) { try models.update() }
            if random.oneIn(20) {
                try models.update()
                try lane.check(models, "seed \(seed), step \(step)")
            }
        }
        try models.update()
        try lane.check(models, "seed \(seed)")
    }

    @Test func aChangedReadModelIsBuiltAnewAndTheOthersAreKept() throws {
        let folder = try TemporaryFolder()
        var space = try Space.create(at: folder.path, packs: [TasksPack.make()])
        try space.record((1...20).map { TasksPack.line("added", TasksPack.added($0, $0)) })
        let models = try ReadModels(space)
        try models.update()
        let changed = try TasksPack.makeShifted()
        let preview = try models.compare([changed]).filter { !$0.table.isEmpty }
        #expect(preview.map(\.table.name) == ["task"])
        #expect(preview.map(\.table.changed) == [20])
        _ = try space.adopt([changed]) { _, _ in }
        try models.update()
        let rows = try models.rows("SELECT min(place), count(*) FROM task")
        #expect(rows == [[.integer(101), .integer(20)]])
        #expect(try models.compare(space.packs).allSatisfy { $0.table.isEmpty })
        // Undone, it stays as it was until the next rebuild.
        #expect(!models.isHeld("tasks"))
        #expect(try models.undo("tasks"))
        #expect(models.isHeld("tasks"))
        try models.update()
        #expect(try models.rows("SELECT min(place) FROM task") == [[.integer(1)]])
        let reports = try models.rebuild()
        #expect(reports.flatMap(\.models).map(\.events) == [20, 20])
        #expect(try models.rows("SELECT min(place) FROM task") == [[.integer(101)]])
    }

    /// What cannot be adopted has no preview.
    @Test func aPackWithAChangedSchemaIsNotTried() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [TasksPack.make()])
        let schema = "events/task.removed.1.json"
        let file = try #require(TasksPack.make().files.first { $0.path == schema })
        let text = String(decoding: file.bytes, as: UTF8.self)
        let changed = try TasksPack.make(extra: [schema: text.replacing("40", with: "41")])
        let models = try ReadModels(space)
        let error = #expect(throws: DiarioError.self) { try models.compare([changed]) }
        #expect(error?.rule == "changed-schema")
    }

    /// How many events share a transaction changes nothing, and neither does one that fails.
    @Test func theSizeOfTransactionsDoesNotShow() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [TasksPack.make()])
        try space.record(
            (1...40).map { id in
                let title = id % 7 == 0 ? "refused" : "a title"
                return TasksPack.line("added", TasksPack.added(id, id, title))
            }
        )
        let digests = try [1, 3, 50_000].map { count in
            let models = try ReadModels(space, chunkCount: count)
            let reports = try models.rebuild().flatMap(\.models)
            #expect(reports.map(\.quarantined) == [0, 5])
            #expect(reports.map(\.events) == [40, 35])
            return reports.map(\.digest)
        }
        #expect(Set(digests).count == 1)
    }

    /// A statement that would take for ever is ended, and its event set aside.
    @Test func anEventThatTakesTooLongGoesToQuarantine() throws {
        let folder = try TemporaryFolder()
        let model = """
            -- readmodel tasks version 1: a hostile one
            CREATE TABLE list (name TEXT NOT NULL PRIMARY KEY, count INT NOT NULL) STRICT;
            -- on tasks.task.added
            INSERT INTO list VALUES (:id, 1);
            -- on tasks.task.removed
            UPDATE list SET count =
                (SELECT count(*) FROM list AS a, list AS b, list AS c, list AS d, list AS e);
            """
        let space = try Space.create(at: folder.path, packs: [TasksPack.make(model: model)])
        try space.record((1...60).map { TasksPack.line("added", TasksPack.added($0, $0)) })
        try space.record([TasksPack.line("removed", #"{"id":"t1"}"#)])
        let models = try ReadModels(space)
        try models.update()
        #expect(try models.quarantined().map(\.event.rule) == ["limit"])
        let rows = try models.rows("SELECT count(*), max(count) FROM list")
        #expect(rows == [[.integer(60), .integer(1)]])
    }

    /// Tables follow from the log: what is damaged is made again.
    @Test func aDamagedFileIsBuiltAnew() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [TasksPack.make()])
        try space.record([TasksPack.line("added", TasksPack.added(1, 1))])
        var models = try ReadModels(space)
        try models.update()
        let path = try #require(models.source(of: "tasks")).path
        models = try ReadModels(space)
        let directory = try folder.directory()
        let name = String(path.dropFirst(folder.path.count + 1))
        for suffix in ["-wal", "-shm"] where try directory.exists(name + suffix) {
            try directory.remove(name + suffix)
        }
        try Files.replace(name, with: [UInt8](repeating: 0x2a, count: 8192), in: directory)
        try models.update()
        #expect(models.notes.count == 1)
        #expect(try models.rows("SELECT count(*) FROM task") == [[.integer(1)]])
    }

    /// A pack that came from elsewhere may be wrong: what the space had goes on.
    @Test func aBrokenPackHarmsNothing() throws {
        let folder = try TemporaryFolder()
        var space = try Space.create(at: folder.path, packs: [TasksPack.make()])
        let models = try ReadModels(space)
        try models.update()
        let broken = try TasksPack.make(
            model: TasksPack.model.replacing("'refused'", with: "random()")
        )
        _ = try space.adopt([broken]) { _, _ in }
        try space.record([TasksPack.line("added", TasksPack.added(1, 1))])
        try models.update()
        #expect(models.notes.count == 1)
        #expect(try models.rows("SELECT count(*) FROM task") == [[.integer(1)]])
    }
}
