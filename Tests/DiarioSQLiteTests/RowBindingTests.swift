import DiarioCore
import DiarioSQLite
import Testing

/// Whatever is left out because it is bound already, statements get the values of their rows.
@Suite struct RowBindingTests {
    private static let rowCount = 40

    /// A table with columns of each kind, whose values often come again, and what they are.
    private static func table(_ random: inout SeededRandom) -> (ValueTable, [[SQLValue]]) {
        let table = ValueTable(columnCount: 5)
        var values = [[SQLValue]](repeating: [], count: 5)
        var integers: [Int64] = []
        var (reals, realRows): ([Double], [Int32]) = ([], [])
        var (codes, textRows): ([UInt32], [Int32]) = ([], [])
        let texts = ["", "lago", "mare", "fiume"]
        var (bytes, bounds): ([UInt8], [UInt32]) = ([], [0])
        for text in texts {
            bytes += Array(text.utf8)
            bounds.append(UInt32(bytes.count))
        }
        for row in 0..<rowCount {
            integers.append(Int64(random.below(3)))
            values[0].append(.integer(integers[row]))
            if random.oneIn(3) {
                values[1].append(.null)
            } else {
                reals.append([0, -0.0, 1.5][random.below(3)])
                realRows.append(Int32(row))
                values[1].append(.real(reals[reals.count - 1]))
            }
            if random.oneIn(3) {
                values[2].append(.null)
                values[3].append(.null)
            } else {
                let code = random.below(texts.count)
                codes.append(UInt32(code))
                textRows.append(Int32(row))
                values[2].append(.text(texts[code]))
                values[3].append(.blob(Array(texts[code].utf8)))
            }
            values[4].append(.null)
        }
        table.set(0, integers: integers.span, rows: nil, of: rowCount)
        table.set(1, reals: reals.span, rows: realRows, of: rowCount)
        table.set(2, bytes.span, bounds.span, codes: codes, rows: textRows, of: rowCount)
        table.set(
            3,
            bytes.span,
            bounds.span,
            codes: codes,
            rows: textRows,
            of: rowCount,
            areBlobs: true
        )
        return (table, values)
    }

    @Test(arguments: 0..<20) func eachRunHasTheValuesOfItsRows(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let connection = try Connection(path: ":memory:", .create)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d, e, f, g, h)")
        let statement = try connection.prepare(
            "INSERT INTO t (a, b, c, d, e, f, g, h) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        let tables = (0..<2).map { _ in Self.table(&random) }
        let marks = (0..<Self.rowCount).map { _ in UInt8(random.below(2)) }
        let bindings = tables.map { own, _ in
            RowBinding(
                [
                    .own(0), .own(1), .own(2), .own(3), .common(2), .ownIf(marks, 2, else: 3),
                    .integer(7), .nothing,
                ],
                own,
                tables[0].0
            )
        }
        var expected: [[SQLValue]] = []
        for _ in 0..<200 {
            // Several bindings use a statement in turn, and others set parameters one by one.
            let chosen = random.below(2)
            let (row, other) = (random.below(Self.rowCount), random.below(Self.rowCount))
            let own = tables[chosen].1
            if random.oneIn(10) {
                let value: SQLValue = [.null, .integer(8), .text("x"), .blob([1])][random.below(4)]
                for index in 1...8 { try statement.bind(value, at: index) }
                try statement.run()
                expected.append([SQLValue](repeating: value, count: 8))
                continue
            }
            try bindings[chosen].run(statement, own: row, common: other)
            expected.append([
                own[0][row], own[1][row], own[2][row], own[3][row], tables[0].1[2][other],
                marks[row] != 0 ? own[2][row] : own[3][row], .integer(7), .null,
            ])
        }
        #expect(try connection.rows("SELECT a, b, c, d, e, f, g, h FROM t ORDER BY id") == expected)
    }
}
