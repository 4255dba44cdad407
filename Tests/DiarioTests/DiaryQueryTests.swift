import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioTestSupport
import Testing

@Suite struct DiaryQueryTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let pack = try TasksPack.make(
            extra: [
                "queries/places.sql":
                    "-- query places(least INTEGER, list TEXT = 'l1'): tasks of a list\n"
                    + "SELECT id, place FROM task WHERE place >= :least AND list = :list "
                    + "ORDER BY place;",
                "queries/boxes.sql":
                    "-- query boxes(at INTEGER): the boxes at a place\n"
                    + "SELECT number FROM box_place WHERE low <= :at AND high >= :at;",
            ]
        )
        let space = try Space.create(at: folder.path, packs: [pack])
        try space.close()
    }

    private func batch(_ diary: Diary, _ id: Int, list: Int = 1) throws -> EventBatch {
        var batch = diary.makeBatch()
        try batch.add(
            "tasks.task.added",
            json: #"{"id":"t\#(id)","title":"a","list":"l\#(list)","place":\#(id)}"#
        )
        return batch
    }

    @Test func aQueryAnswersWhatWasRecorded() async throws {
        let diary = try Diary(path: folder.path)
        for id in 1...3 { _ = try await diary.append(batch(diary, id, list: id % 2)) }
        let answer = try await diary.query("places", ["least": "1"])
        #expect(answer.columns == ["id", "place"])
        #expect(answer.rows == [[.text("t1"), .integer(1)], [.text("t3"), .integer(3)]])
        #expect("\(answer.rows)" == "[[t1, 1], [t3, 3]]")
        #expect("\([SQLValue.null, .real(0.5), .blob([0, 0xab])])" == "[NULL, 0.5, x'00ab']")
        let other = try await diary.query("tasks.places", ["least": "3", "list": "l1"])
        #expect(other[0, "id"] == .text("t3"))
        // An index of texts asks SQLite for a setting by itself.
        let found = try await diary.sql("SELECT rowid FROM task_text WHERE task_text MATCH 'a'")
        #expect(found.count == 3)
        let count = try await diary.sql(
            "SELECT count(*) AS n FROM tasks.task WHERE place > :least",
            ["least": .integer(1)]
        )
        #expect(count.rows == [[.integer(2)]])
        try await diary.close()
    }

    /// An index of places gets ready to write as soon as it is opened, which was refused.
    @Test func anIndexOfPlacesIsRead() async throws {
        let diary = try Diary(path: folder.path)
        for id in [1, 2, 25] { _ = try await diary.append(batch(diary, id)) }
        var answers = diary.liveQuery("boxes", ["at": "4"]).makeAsyncIterator()
        #expect(try await answers.next()?.rows == [])
        let answer = try await diary.sql("SELECT number FROM box_place WHERE high = 2")
        #expect(answer.rows == [[.integer(0)]])
        for table in ["box_place", "box_place_node", "box_place_rowid", "box_place_parent"] {
            await #expect(throws: DiarioError.self) {
                try await diary.sql("DELETE FROM \(table)")
            }
        }
        for id in [3, 4] { _ = try await diary.append(batch(diary, id)) }
        #expect(try await answers.next()?.rows == [[.integer(0)]])
    }

    @Test(arguments: [
        ("nothing", [:]), ("places", [:]), ("places", ["least": "many"]),
        ("places", ["least": "1", "other": "1"]),
    ])
    func whatIsAskedWrongIsRefused(name: String, parameters: [String: String]) async throws {
        let diary = try Diary(path: folder.path)
        await #expect(throws: DiarioError.self) { try await diary.query(name, parameters) }
    }

    @Test(arguments: [
        "DELETE FROM task", "SELECT * FROM nothing", "SELECT 1; SELECT 2",
        "PRAGMA user_version = 1",
        "ATTACH 'x' AS x", "SELECT load_extension('x')",
        "SELECT hex(fts3_tokenizer('simple'))", "CREATE TABLE x (y)", "",
        "SELECT json_patch('{}', '{}')",
        "SELECT snippet(task_text, 0, '', '', '', 8) FROM task_text",
    ])
    func whatIsNoReadingIsRefused(sql: String) async throws {
        let diary = try Diary(path: folder.path)
        await #expect(throws: DiarioError.self) { try await diary.sql(sql) }
    }

    @Test func anUnknownTableIsToldWithWhereTheKnownOnesAre() async throws {
        let diary = try Diary(path: folder.path)
        let error = await #expect(throws: DiarioError.self) {
            try await diary.sql("SELECT * FROM tusk")
        }
        #expect(error?.message == "no such table: tusk; all are in the table diario_tables")
        let pattern = await #expect(throws: DiarioError.self) {
            try await diary.sql("SELECT 'a' LIKE hex(zeroblob(251))")
        }
        #expect(pattern?.message == "LIKE or GLOB pattern too complex; one may have 500 bytes")
        let all = try await diary.sql("SELECT name FROM diario_tables WHERE pack = 'tasks'")
        #expect(all.rows.contains([.text("task")]))
    }

    /// A live query answers at once, and again when a table that it reads has changed.
    @Test func aLiveQueryFollowsItsTables() async throws {
        let diary = try Diary(path: folder.path)
        _ = try await diary.append(batch(diary, 1))
        var answers = diary.liveQuery("places", ["least": "0"]).makeAsyncIterator()
        #expect(try await answers.next()?.count == 1)
        _ = try await diary.append(batch(diary, 2))
        #expect(try await answers.next()?.count == 2)
        // Of another list: the answer is the same, and is not told again.
        _ = try await diary.append(batch(diary, 3, list: 2))
        _ = try await diary.append(batch(diary, 4))
        #expect(try await answers.next()?.count == 3)
    }

    /// What another program records is seen too, and no event is applied twice.
    @Test func twoDiariesOfOneFolderFollowEachOther() async throws {
        let (one, other) = (try Diary(path: folder.path), try Diary(path: folder.path))
        var answers = other.liveQuery("places", ["least": "0"]).makeAsyncIterator()
        #expect(try await answers.next()?.count == 0)
        for id in 1...5 {
            _ = try await one.append(batch(one, id))
            _ = try await one.query("places", ["least": "0"])
            #expect(try await answers.next()?.count == id)
        }
        let lists = try await other.sql("SELECT count FROM list")
        #expect(lists.rows == [[.integer(5)]])
    }

    /// What stands behind it was never looked at.
    @Test func aQueryWithAByteOfZeroIsRefused() async throws {
        let diary = try Diary(path: folder.path)
        await #expect {
            try await diary.sql("SELECT 1\0garbage")
        } throws: { error in
            guard let error = error as? DiarioError else { return false }
            return error.kind == .invalid && error.message.contains("a byte of zero")
        }
        try await diary.close()
    }

    /// What SQLite takes is bounded, but its rows were gathered without end.
    @Test func anAnswerThatIsTooLargeIsEnded() async throws {
        let diary = try Diary(path: folder.path)
        let rows = """
            WITH RECURSIVE number (n) AS (
                SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1000
            )
            SELECT zeroblob(900000) FROM number
            """
        await #expect {
            // The number alone: a failure would print all of the answer.
            try await diary.sql(rows).count
        } throws: { error in
            guard let error = error as? DiarioError else { return false }
            return error.kind == .tooLarge && error.message.contains("256 MiB")
                && error.message.contains("LIMIT")
        }
        #expect(try await diary.sql(rows + " LIMIT 10").count == 10)
        try await diary.close()
    }
}
