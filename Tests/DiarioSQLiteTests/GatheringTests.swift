import DiarioCore
import DiarioSQLite
import DiarioStorage
import DiarioTestSupport
import Testing

/// Transactions that go to the write-ahead log in one piece are as good as those that do not.
@Suite struct GatheringTests {
    private static let settings = """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 50;
        PRAGMA cache_size = 10;
        """

    private static func open(_ path: String, gathers: Bool = true) throws -> Connection {
        let connection = try Connection(path: path, .create, gathersWrites: gathers)
        try connection.execute(settings)
        return connection
    }

    /// What was committed is in the files when the commit returns, so no end of the process takes
    /// it back.
    @Test func whatIsCommittedIsInTheFiles() throws {
        let folder = try TemporaryFolder()
        let directory = try folder.directory()
        let writer = try Self.open(folder.path + "/file.sqlite")
        try writer.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)")
        let reader = try Connection(path: folder.path + "/file.sqlite", .readOnly)
        for count in 1...60 {
            // Some of them have more frames than are held back.
            let size = count % 10 == 0 ? 200_000 : 700
            try writer.execute("INSERT INTO t (v) VALUES (randomblob(\(size)))")
            #expect(try reader.value("SELECT count(*) FROM t") == .integer(Int64(count)))
            let copy = "copy\(count).sqlite"
            for suffix in ["", "-wal"] {
                let bytes = try directory.contents(of: "file.sqlite" + suffix, sizeMax: 1 << 26)
                try directory.replace(copy + suffix, with: bytes)
            }
            let other = try Connection(path: folder.path + "/" + copy, .readWrite)
            #expect(try other.value("SELECT count(*) FROM t") == .integer(Int64(count)))
            #expect(try other.value("PRAGMA integrity_check") == .text("ok"))
        }
    }

    /// Frames of a transaction that was taken back harm nobody who writes next.
    @Test func whatIsTakenBackIsDropped() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file.sqlite"
        let one = try Self.open(path)
        let other = try Self.open(path, gathers: false)
        try one.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)")
        for round in 1...20 {
            try one.execute("BEGIN IMMEDIATE")
            // So many pages go to the log before the transaction ends.
            for _ in 0..<round { try one.execute("INSERT INTO t (v) VALUES (randomblob(9000))") }
            try one.execute("ROLLBACK")
            try other.execute("INSERT INTO t (v) VALUES (randomblob(9000))")
            try one.execute("INSERT INTO t (v) VALUES (randomblob(9000))")
            #expect(try other.value("SELECT count(*) FROM t") == .integer(Int64(2 * round)))
        }
        #expect(try other.value("PRAGMA integrity_check") == .text("ok"))
    }

    /// Three connections, one of which writes as the library does by itself, and one database whose
    /// connection is alone, all do the same.
    @Test(arguments: 0..<12) func anyHistoryIsTheSame(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        var random = SeededRandom(seed: seed)
        let path = folder.path + "/shared.sqlite"
        let first = try Self.open(path)
        let second = try Self.open(path)
        let plain = try Self.open(path, gathers: false)
        let model = try Connection(path: ":memory:", .create)
        let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w BLOB)"
        try first.execute(table)
        try model.execute(table)
        for _ in 0..<40 {
            let sql = Self.transaction(&random)
            try model.execute(sql)
            switch random.below(3) {
            case 0: try first.execute(sql)
            case 1: try second.execute(sql)
            default: try plain.execute(sql)
            }
            let question = "SELECT count(*), sum(id), sum(length(w)), max(v) FROM t"
            let expected = try model.rows(question)
            #expect(try first.rows(question) == expected)
            #expect(try plain.rows(question) == expected)
        }
        let all = "SELECT * FROM t ORDER BY id"
        #expect(try second.rows(all) == (try model.rows(all)))
        #expect(try second.value("PRAGMA integrity_check") == .text("ok"))
    }

    private static func transaction(_ random: inout SeededRandom) -> String {
        var sql = "BEGIN;"
        for step in 0..<1 + random.below(12) {
            let size = [10, 1000, 30_000][random.below(3)]
            let number = random.below(1000)
            switch random.below(6) {
            case 0: sql += "DELETE FROM t WHERE id % 7 = \(number % 7);"
            case 1: sql += "UPDATE t SET v = 'v\(number)' WHERE id % 5 = \(number % 5);"
            case 2:
                sql += """
                    SAVEPOINT s\(step); INSERT INTO t (v, w) VALUES ('s', zeroblob(\(size)));
                    UPDATE t SET v = 'taken back'; ROLLBACK TO s\(step); RELEASE s\(step);
                    """
            default: sql += "INSERT INTO t (v, w) VALUES ('\(number)', zeroblob(\(size)));"
            }
        }
        return sql + (random.oneIn(3) ? "ROLLBACK" : "COMMIT")
    }
}
