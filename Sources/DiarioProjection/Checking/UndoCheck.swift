import DiarioCore
import DiarioSQLite
import DiarioSchema

/// Undoes the effects of examples, as of pending events, and checks that indexes for text and
/// places are as before.
///
/// The engine restores rows of plain tables; triggers of the pack have to restore the indexes.
struct UndoCheck {
    private(set) var trial: Trial
    private let indexes: [Index]
    private var counts: [String: Int] = [:]
    /// The indexes of which something was said.
    private var told: Set<String> = []
    private(set) var problems: [PackProblem] = []

    private struct Index {
        let name: String
        /// For one of texts the table that tells its words; nil for one of places.
        let words: String?
    }

    /// The most examples of a type that are tried.
    private static let countMax = 16

    init(_ trial: Trial) throws(ProjectionError) {
        self.trial = trial
        let file = trial.file
        let tables = try file.rows(
            "SELECT name, sql LIKE '%using%fts5%' FROM sqlite_schema "
                + "WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%' ORDER BY name"
        )
        var indexes: [Index] = []
        for row in tables {
            guard let name = row[0].text else { continue }
            var words: String?
            if row[1] == .integer(1) {
                let table = "temp.diario_words_\(indexes.count)"
                try file.run(
                    "CREATE VIRTUAL TABLE \(table) USING fts5vocab(main, \(name.quotedName), col)"
                )
                words = table
            }
            indexes.append(Index(name: name, words: words))
        }
        self.indexes = indexes
    }

    /// Applies an example, undoes it, and applies it for good.
    mutating func take(_ example: Example) throws(ProjectionError) {
        // After one that could not be taken back nothing else can be told.
        guard !told.contains("") else { return }
        let name = example.line.type.name
        counts[name, default: 0] += 1
        if counts[name, default: 0] <= Self.countMax {
            var before: [[[SQLValue]]] = []
            for index in indexes { before.append(try contents(of: index)) }
            try trial.applyPending([example])
            do throws(ProjectionError) { try trial.undo() } catch {
                return note("this example cannot be taken back: \(error.message)", "", example)
            }
            for (index, old) in zip(indexes, before) where !told.contains(index.name) {
                guard try contents(of: index) != old else { continue }
                note(
                    "the index \(index.name) is not as it was once this example is taken back, as "
                        + "pending events are",
                    index.name,
                    example
                )
            }
        }
        try trial.apply([example])
    }

    private mutating func note(_ message: String, _ index: String, _ example: Example) {
        guard told.insert(index).inserted else { return }
        problems.append(
            example.problem(
                "example-undo",
                message + "; feed it by triggers AFTER INSERT, UPDATE and DELETE"
            )
        )
    }

    /// The rows of an index, and one more if they are not those of its table.
    ///
    /// Without the numbers of rows: a restored row may have another one.
    private func contents(of index: Index) throws(ProjectionError) -> [[SQLValue]] {
        let name = index.name.quotedName
        let file = trial.file
        let rows = try file.rows("SELECT * FROM \(name)")
        guard let words = index.words else { return rows.map { Array($0.dropFirst()) }.inOrder }
        var found = rows.inOrder
        // One that was no more that of its table may still be another one than it was.
        found += try file.rows("SELECT * FROM \(words)").inOrder
        do throws(ProjectionError) {
            _ = try file.rows("INSERT INTO \(name) (\(name), rank) VALUES ('integrity-check', 1)")
        } catch {
            // It may never be: where only some rows are in it.
            found.append([.text("differs")])
        }
        return found
    }
}

extension [[SQLValue]] {
    /// The same whatever order they come in.
    fileprivate var inOrder: [[SQLValue]] {
        map { row -> (key: [UInt8], row: [SQLValue]) in
            var key: [UInt8] = []
            for value in row { key.append(value: value) }
            return (key, row)
        }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { $0.row }
    }
}
