import DiarioCore
import DiarioSQLite
import DiarioTestSupport
import Foundation
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

    /// What somebody finds who opens a copy of the files as they are.
    ///
    /// Another process makes it: to close a file here would give back the locks of connections.
    private static func found(
        _ question: String,
        inCopyOf folder: TemporaryFolder,
        _ number: Int
    ) throws -> Value? {
        let copy = folder.path + "/copy\(number)"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "mkdir \"$1\" && cp \"$0/file.sqlite\" \"$0/file.sqlite-wal\" \"$1\"",
            folder.path, copy,
        ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let other = try Connection(path: copy + "/file.sqlite", .readWrite)
        #expect(try other.value("PRAGMA integrity_check") == .text("ok"))
        return try other.value(question)
    }

    /// What was committed is in the files when the commit returns, so no end of the process takes
    /// it back.
    @Test func whatIsCommittedIsInTheFiles() throws {
        let folder = try TemporaryFolder()
        let writer = try Self.open(folder.path + "/file.sqlite")
        try writer.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)")
        let reader = try Connection(path: folder.path + "/file.sqlite", .readOnly)
        let question = "SELECT count(*) FROM t"
        for count in 1...60 {
            // Some of them have more frames than are held back.
            let size = count % 10 == 0 ? 200_000 : 700
            try writer.execute("INSERT INTO t (v) VALUES (randomblob(\(size)))")
            #expect(try reader.value(question) == .integer(Int64(count)))
            #expect(try Self.found(question, inCopyOf: folder, count) == .integer(Int64(count)))
        }
    }

    /// Pages that went to the log before their transaction ended are changed there once more, and
    /// the checksums of all frames behind them with them.
    @Test func whatIsChangedInTheLogIsInTheFiles() throws {
        let folder = try TemporaryFolder()
        let writer = try Self.open(folder.path + "/file.sqlite")
        // All of it stays in the log.
        try writer.execute("PRAGMA wal_autocheckpoint = 0")
        try writer.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, v BLOB)")
        for _ in 0..<200 { try writer.execute("INSERT INTO t (n, v) VALUES (0, zeroblob(900))") }
        for round in 1...8 {
            // Each time over all pages, of which ten are kept in memory.
            let updates = String(repeating: "UPDATE t SET n = n + 1;", count: round)
            try writer.execute("BEGIN;" + updates + "COMMIT")
            let sum = Value.integer(Int64(200 * round * (round + 1) / 2))
            #expect(try Self.found("SELECT sum(n) FROM t", inCopyOf: folder, round) == sum)
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
        let path = folder.path + "/file.sqlite"
        let first = try Self.open(path)
        let second = try Self.open(path)
        let plain = try Self.open(path, gathers: false)
        if seed % 2 == 0 {
            // So that copies find all of it in the log.
            try first.execute("PRAGMA wal_autocheckpoint = 0")
            try second.execute("PRAGMA wal_autocheckpoint = 0")
        }
        let model = try Connection(path: ":memory:", .create)
        let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w BLOB)"
        try first.execute(table)
        try model.execute(table)
        for round in 0..<40 {
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
            guard round % 4 == 0 else { continue }
            let sum = "SELECT coalesce(sum(length(w) + id), 0) FROM t"
            #expect(try Self.found(sum, inCopyOf: folder, round) == (try model.value(sum)))
        }
        let all = "SELECT * FROM t ORDER BY id"
        #expect(try second.rows(all) == (try model.rows(all)))
        #expect(try second.value("PRAGMA integrity_check") == .text("ok"))
    }

    private static func transaction(_ random: inout SeededRandom) -> String {
        // The library loses count of checksums in the log if it takes back a savepoint of pages
        // that went there before the transaction ended: so none go there.
        let takesBack = random.oneIn(2)
        var sql = "PRAGMA cache_spill = \(takesBack ? "OFF" : "ON"); BEGIN;"
        for step in 0..<1 + random.below(12) {
            let size = [10, 1000, 30_000][random.below(3)]
            let number = random.below(1000)
            switch random.below(takesBack ? 6 : 5) {
            case 0: sql += "DELETE FROM t WHERE id % 7 = \(number % 7);"
            case 1: sql += "UPDATE t SET v = 'v\(number)' WHERE id % 5 = \(number % 5);"
            case 5:
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
