import DiarioCore
import DiarioSQLite
import Testing

@Suite struct CallbackTests {
    @Test func whatTheAuthorizerRefusesIsNotPrepared() throws {
        let connection = try Connection(path: ":memory:", .create)
        try connection.execute(
            "CREATE TABLE t (a INT, secret INT) STRICT; INSERT INTO t VALUES (1, 2)"
        )
        connection.setAuthorizer { access in
            switch access.action {
            case .function: access.second == "random" ? .refused : .allowed
            case .read: access.second == "secret" ? .hidden : .allowed
            default: .allowed
            }
        }
        let error = #expect(throws: SQLiteError.self) {
            _ = try connection.prepare("SELECT random()")
        }
        #expect(error?.kind == .refused)
        let hidden = try connection.rows("SELECT a, secret FROM t")
        #expect(hidden == [[.integer(1), .null]])
        connection.setAuthorizer(nil)
        let shown = try connection.rows("SELECT secret FROM t")
        #expect(shown == [[.integer(2)]])
    }

    @Test func anEndlessStatementIsStopped() throws {
        let connection = try Connection(path: ":memory:", .create)
        var count = 0
        connection.setProgress(everySteps: 100) {
            count += 1
            return count > 10
        }
        let error = #expect(throws: SQLiteError.self) {
            _ = try connection.value(
                "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) "
                    + "SELECT sum(i) FROM n"
            )
        }
        #expect(error?.kind == .interrupted)
    }

    @Test func everyChangeIsToldBeforeItIsMade() throws {
        let connection = try Connection(path: ":memory:", .create)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT) STRICT")
        var seen: [String] = []
        connection.setChangeHook { change in
            let old = change.old(1).map { "\($0)" } ?? "-"
            let new = change.new(1).map { "\($0)" } ?? "-"
            seen.append("\(change.operation) \(change.table) \(old) \(new)")
        }
        try connection.execute("INSERT INTO t VALUES (1, 'a'), (2, NULL)")
        try connection.execute("UPDATE t SET v = 'b' WHERE id = 1; DELETE FROM t")
        #expect(
            seen == [
                "insert t - a", "insert t - NULL", "update t a b", "delete t b -",
                "delete t NULL -",
            ]
        )
    }

    @Test func aFunctionOfOursGivesValuesAndErrors() throws {
        let connection = try Connection(path: ":memory:", .create)
        try connection.addFunction("twice", argumentCount: 1) { arguments throws(FunctionError) in
            switch arguments[0] {
            case .integer(let value): .integer(2 * value)
            case .text(let value): .text(value + value)
            case .blob(let value): .blob(value + value)
            case .null: .null
            case .real: throw FunctionError("twice takes no fractions")
            }
        }
        let rows = try connection.rows("SELECT twice(4), twice('\u{e8}'), twice(x''), twice(NULL)")
        #expect(rows == [[.integer(8), .text("\u{e8}\u{e8}"), .blob([]), .null]])
        let error = #expect(throws: SQLiteError.self) {
            _ = try connection.value("SELECT twice(0.5)")
        }
        #expect(error?.message == "twice takes no fractions")
    }

    @Test func limitsHold() throws {
        let connection = try Connection(path: ":memory:", .create)
        connection.setLimit(.length, to: 1000)
        #expect(throws: SQLiteError.self) { _ = try connection.value("SELECT zeroblob(2000)") }
        connection.setLimit(.attachedCount, to: 0)
        #expect(throws: SQLiteError.self) { try connection.execute("ATTACH ':memory:' AS other") }
    }
}
