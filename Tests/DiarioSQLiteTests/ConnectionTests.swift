import DiarioCore
import DiarioSQLite
import DiarioStorage
import DiarioTestSupport
import Synchronization
import Testing

@Suite struct ConnectionTests {
    @Test func everyKindOfValueComesBack() throws {
        let connection = try Connection(path: ":memory:", .create)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v ANY) STRICT")
        let values: [SQLValue] = [
            .null, .integer(.min), .integer(.max), .real(-0.5), .real(1e300), .text(""),
            .text("pesce \u{e8} \u{1f41f}"), .blob([]), .blob([0, 255, 39]),
        ]
        let insert = try connection.prepare("INSERT INTO t (v) VALUES (:v)")
        for value in values {
            try insert.bind(value, at: 1)
            try insert.run()
        }
        let select = try connection.prepare("SELECT v FROM t ORDER BY id")
        var found: [SQLValue] = []
        while try select.step() { found.append(select.value(at: 0)) }
        #expect(found == values)
        let name = select.columnName(at: 0)
        #expect(name == "v")
    }

    /// Whoever has a file for himself is waited for, by every kind of connection.
    @Test(arguments: [Connection.Mode.readOnly, .readWrite])
    func aLockThatIsHeldForAMomentIsNoError(mode: Connection.Mode) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file.sqlite"
        let owner = try Connection(path: path, .create)
        try owner.execute("CREATE TABLE t (id INTEGER PRIMARY KEY); BEGIN EXCLUSIVE")
        let hasBegun = Signal()
        let hasRead = Signal()
        let found = Mutex<SQLValue?>(nil)
        let reader = WorkerThread(name: "reader") {
            hasBegun.raise()
            let value = try? Connection(path: path, mode).value("SELECT count(*) FROM t")
            found.withLock { $0 = value }
            hasRead.raise()
        }
        hasBegun.wait()
        // Without waiting it fails at once, and this gives it the time to.
        hasRead.wait(nanosecondsMax: 50_000_000)
        try owner.execute("COMMIT")
        if found.withLock({ $0 }) == nil { hasRead.wait(nanosecondsMax: 5_000_000_000) }
        #expect(found.withLock { $0 } == .integer(0))
        withExtendedLifetime(reader) {}
    }

    /// Each name is put in place of itself: every one of these doubles what there is.
    ///
    /// In a process of its own, since threads count their memory only from the first connection on.
    @Test func aStatementThatGrowsWhileItIsPreparedIsRefused() async {
        await #expect(processExitsWith: .success) {
            Connection.countMemoryByThread()
            let connection = try Connection(path: ":memory:", .create)
            func count(_ depth: Int) throws(SQLiteError) -> SQLValue? {
                let names = (1...depth).map {
                    ", t\($0) AS (SELECT a.x FROM t\($0 - 1) a, t\($0 - 1) b)"
                }
                return try connection.value(
                    "WITH t0 AS (SELECT 1 AS x)\(names.joined()) SELECT count(*) FROM t\(depth)"
                )
            }
            do throws(SQLiteError) {
                _ = try count(24)
                preconditionFailure("so much is prepared")
            } catch {
                precondition(error.kind == .tooLarge, error.message)
                precondition(error.message.contains("too involved"), error.message)
            }
            let least = try count(3)
            precondition(least == .integer(1))
        }
    }

    /// A thread that gave back what others took has less than nothing, and may take all the same.
    @Test func memoryOfAnotherThreadMayBeGivenBack() async {
        await #expect(processExitsWith: .success) {
            Connection.countMemoryByThread()
            KeptConnection.makeElsewhereAndClose()
            precondition(Connection.memoryUsed < 0)
            let answer = try Connection(path: ":memory:", .create).value("SELECT 1")
            precondition(answer == .integer(1))
        }
    }

    @Test func aMistakeInAStatementHasItsPlace() throws {
        let connection = try Connection(path: ":memory:", .create)
        let error = #expect(throws: SQLiteError.self) {
            _ = try connection.prepare("SELECT\n  nothing FROM (SELECT 1 AS one)")
        }
        #expect(error?.kind == .invalid)
        #expect(error?.offset == 9)
        #expect(error?.message.contains("nothing") == true)
    }

    @Test func oneStatementIsPreparedAndNoMore() throws {
        let connection = try Connection(path: ":memory:", .create)
        _ = try connection.prepare("SELECT 1; -- and no more")
        #expect(throws: SQLiteError.self) { _ = try connection.prepare("SELECT 1; SELECT 2") }
        #expect(throws: SQLiteError.self) { _ = try connection.prepare("  -- nothing") }
    }

    @Test func aTextInDoubleQuotesIsAName() throws {
        let connection = try Connection(path: ":memory:", .create)
        #expect(throws: SQLiteError.self) { _ = try connection.prepare(#"SELECT "text""#) }
    }

    @Test func aTransactionThatFailsLeavesNothing() throws {
        struct Stop: Error {}
        let connection = try Connection(path: ":memory:", .create)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT")
        #expect(throws: Stop.self) {
            try connection.transaction(wrapping: { $0 as any Error }) { () throws(any Error) in
                try connection.execute("INSERT INTO t VALUES (1)")
                throw Stop()
            }
        }
        let isInTransaction = connection.isInTransaction
        #expect(!isInTransaction)
        let count = try connection.value("SELECT count(*) FROM t")
        #expect(count == .integer(0))
    }

    @Test func aConstraintIsToldApart() throws {
        let connection = try Connection(path: ":memory:", .create)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v INT NOT NULL) STRICT")
        let error = #expect(throws: SQLiteError.self) {
            try connection.execute("INSERT INTO t VALUES (1, NULL)")
        }
        #expect(error?.kind == .constraint)
    }

    @Test func aFileIsOpenedAsItIsAskedFor() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/a.sqlite"
        #expect(throws: SQLiteError.self) { _ = try Connection(path: path, .readWrite) }
        try Connection(path: path, .create).execute("CREATE TABLE t (a INT) STRICT")
        let reader = try Connection(path: path, .readOnly)
        let error = #expect(throws: SQLiteError.self) {
            try reader.execute("INSERT INTO t VALUES (1)")
        }
        #expect(error?.kind == .readOnly)
    }

    /// A link or a pipe in an unpacked folder had SQLite write elsewhere, or wait for ever.
    @Test(arguments: ["a.sqlite", "a.sqlite-journal", "a.sqlite-wal"])
    func aPipeIsNotOpened(name: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/a.sqlite"
        try Connection(path: path, .create).execute("CREATE TABLE t (a INT) STRICT")
        if name == "a.sqlite" { try folder.directory().remove(name) }
        try folder.makePipe(name)
        for mode in [Connection.Mode.readOnly, .immutable, .readWrite, .create] {
            let error = #expect(throws: SQLiteError.self) { _ = try Connection(path: path, mode) }
            #expect(error?.message.contains("is a pipe or a device") == true)
        }
        let reader = try Connection(path: ":memory:", .create)
        #expect(throws: SQLiteError.self) { try reader.attach(path, as: "a", .readOnly) }
    }

    @Test func aLinkIsNotOpened() throws {
        let folder = try TemporaryFolder()
        try Connection(path: folder.path + "/b.sqlite", .create).execute("CREATE TABLE t (a)")
        try folder.directory().setLink("a.sqlite", to: "b.sqlite")
        let path = folder.path + "/a.sqlite"
        for mode in [Connection.Mode.readOnly, .immutable, .readWrite, .create] {
            let error = #expect(throws: SQLiteError.self) { _ = try Connection(path: path, mode) }
            #expect(error?.message.contains("is a link") == true)
        }
        let reader = try Connection(path: ":memory:", .create)
        #expect(throws: SQLiteError.self) { try reader.attach(path, as: "a", .readOnly) }
        // The folder itself may be reached by one.
        try folder.directory().setLink("here", to: ".")
        let reached = try Connection(path: folder.path + "/here/b.sqlite", .readOnly)
        let count = try reached.value("SELECT count(*) FROM t")
        #expect(count == .integer(0))
    }

    @Test(.waits) func whoWaitsInVainIsToldThatItIsBusy() throws {
        let folder = try TemporaryFolder()
        let one = try Connection(path: folder.path + "/a.sqlite", .create)
        let other = try Connection(path: folder.path + "/a.sqlite", .create)
        try one.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: SQLiteError.self) { try other.execute("BEGIN IMMEDIATE") }
        #expect(error?.kind == .busy)
        try one.execute("ROLLBACK")
        try other.execute("BEGIN IMMEDIATE; COMMIT")
    }

    @Test func aStatementOutlivesItsConnection() throws {
        func statement() throws -> Statement {
            let connection = try Connection(path: ":memory:", .create)
            connection.setProgress(everySteps: 1) { false }
            return try connection.prepare("SELECT 7")
        }
        let statement = try statement()
        let hasRow = try statement.step()
        let value = statement.integer(at: 0)
        #expect(hasRow && value == 7)
    }
}

/// A connection that one thread makes and another one closes.
// Sendable because they do so one after the other.
private final class KeptConnection: @unchecked Sendable {
    let connection: Connection

    init() throws(SQLiteError) { connection = try Connection(path: ":memory:", .create) }

    static func makeElsewhereAndClose() {
        let kept = Mutex<KeptConnection?>(nil)
        let isMade = Signal()
        let maker = WorkerThread(name: "maker") {
            kept.withLock { $0 = try? KeptConnection() }
            isMade.raise()
        }
        isMade.wait()
        kept.withLock { $0 = nil }
        withExtendedLifetime(maker) {}
    }
}
