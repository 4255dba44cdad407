import DiarioCore
import DiarioSQLite
import DiarioSchema

/// Compares what a query answers with what it says that it answers.
struct AnswerCheck {
    private let query: PackQuery
    private let columns: [PackQuery.Column]
    private(set) var problems: [PackProblem] = []

    /// Nil for a query that does not say what it answers.
    init?(_ query: PackQuery) {
        guard let columns = query.columns else { return nil }
        self.query = query
        self.columns = columns
    }

    private mutating func add(_ line: Int, _ message: String, rule: String = "query-answers") {
        problems.append(
            PackProblem(file: query.file, line: line, rule: rule, message: message)
        )
    }

    /// Compares the names of the columns.
    mutating func compare(_ names: [String]) {
        for column in columns where !names.contains(where: { $0.hasBytes(of: column.name) }) {
            add(
                column.line,
                "the column \(column.name) is missing in the SELECT; add it there, or remove it "
                    + "here"
            )
        }
        for name in names where query.column(name) == nil {
            add(
                query.statement.line,
                "the column \(name) of the SELECT is not among the answers; add it there with its "
                    + "type, or remove it here"
            )
        }
    }

    /// Runs the query with each of its examples on tables that hold the examples of the pack.
    mutating func run(on connection: borrowing Connection) {
        var seen: Set<String> = []
        var count = 0
        for example in query.examples {
            do throws(SQLiteError) {
                count += try run(example, on: connection, &seen)
            } catch {
                add(example.line, "the query fails with this example: \(error.message)")
            }
            guard problems.isEmpty else { return }
        }
        guard count > 0 else {
            return add(
                query.examples.first?.line ?? 1,
                "nothing in the examples of the pack gives a row; add an event, or another line "
                    + "-- example",
                rule: "query-example"
            )
        }
        for column in columns where !seen.contains(column.name) {
            add(
                column.line,
                "the column \(column.name) is NULL in every row of the examples; add one in which "
                    + "it has a value",
                rule: "query-example"
            )
        }
    }

    private mutating func run(
        _ example: PackQuery.Example,
        on connection: borrowing Connection,
        _ seen: inout Set<String>
    ) throws(SQLiteError) -> Int {
        let statement = try connection.prepare(query.statement.text, isKept: false)
        guard let values = try? query.completed(example.values) else { return 0 }
        for index in 0..<statement.parameterCount {
            let name = statement.parameterName(at: index + 1)?.dropFirst() ?? ""
            try statement.bind(values[String(name)] ?? .null, at: index + 1)
        }
        let declared = (0..<statement.columnCount).map {
            query.column(statement.columnName(at: $0))
        }
        var count = 0
        while try statement.step() {
            count += 1
            for (column, value) in zip(declared, statement.row) {
                guard let column else { continue }
                if value != .null { seen.insert(column.name) }
                guard let words = column.fault(value) else { continue }
                add(column.line, "the column \(column.name) \(words)")
                return count
            }
        }
        return count
    }
}
