import DiarioCore
import DiarioSQLite
package import DiarioSchema

/// Tries all SQL of a pack on an empty database in memory, a piece in each step.
package final class PackCheck {
    private let pack: Pack
    private let inUse: Bool
    private let watch = Watch()
    /// Nil if nothing is to be tried.
    private var connection: Connection?
    private var found: [PackProblem]
    /// What comes next: read models, then queries, then upcasts.
    private var next = 0
    /// False if a read model has a problem.
    private var isWhole = true
    /// True once all was tried.
    package private(set) var isDone = false

    /// For a pack `inUse` only problems count that prevent building its read models: it was
    /// adopted when queries had fewer rules.
    package init(_ pack: Pack, inUse: Bool = false) {
        (self.pack, self.inUse) = (pack, inUse)
        found = Self.needProblems(of: pack)
        guard Self.count(pack) <= Limits.sqlStatementCountMax else {
            note(
                "limit",
                "the pack has \(Self.count(pack)) tables, indexes, triggers, statements "
                    + "and queries, and may have \(Limits.sqlStatementCountMax)"
            )
            return
        }
        watch.needs = Set(pack.needs.map { $0.name })
        do throws(SQLiteError) {
            connection = try PackConnection.scratch()
        } catch {
            note("sql", error.message)
            return
        }
        // Tables are empty here, so whatever takes long was made to.
        var steps: Int64 = 0
        connection?.setProgress(everySteps: 1000) {
            steps += 1000
            return steps > Limits.sqlExampleStepCountMax
        }
    }

    /// All problems by file and line, apart from those that `Pack` itself finds.
    package static func problems(of pack: Pack, inUse: Bool = false) -> [PackProblem] {
        let check = PackCheck(pack, inUse: inUse)
        while check.step() {}
        return check.problems
    }

    /// The problems that were found so far, by file and line.
    package var problems: [PackProblem] {
        found.sorted { ($0.file, $0.line ?? 0) < ($1.file, $1.line ?? 0) }
    }

    /// Tries a read model, a query or an upcast; false once all were tried.
    package func step() -> Bool {
        guard let connection = connection.take() else {
            isDone = true
            return false
        }
        if step(on: connection) {
            self.connection = consume connection
        } else {
            isDone = true
        }
        return !isDone
    }

    private func step(on connection: borrowing Connection) -> Bool {
        let (models, queries) = (pack.sql.readModels, pack.sql.queries)
        connection.setAuthorizer { [watch] in watch.answer($0) }
        if next < models.count {
            var check = ModelCheck(models[next], watch)
            check.run(on: connection)
            isWhole = isWhole && check.problems.isEmpty
            found += check.problems
        } else if next < models.count + queries.count {
            // Without its tables a query would have faults that are not its own.
            if isWhole { check(queries[next - models.count], connection) }
        } else {
            let upcast = next - models.count - queries.count
            guard upcast < pack.sql.upcasts.count else { return false }
            found += Self.problems(with: pack.sql.upcasts[upcast], of: pack, connection, watch)
        }
        next += 1
        return true
    }

    private func check(_ query: PackQuery, _ connection: borrowing Connection) {
        let problem = Self.problem(query.statement, query.file, .query, connection, watch)
        if let problem { found.append(problem) }
        if !inUse { found += Self.problems(with: query, connection, watch) }
    }

    /// Notes a problem of the pack as a whole.
    private func note(_ rule: String, _ message: String) {
        found.append(PackProblem(file: "pack.json", line: nil, rule: rule, message: message))
    }

    /// The number of statements; one for several types counts for each.
    private static func count(_ pack: Pack) -> Int {
        let models = pack.sql.readModels.reduce(0) { sum, model in
            sum + model.definitions.count
                + model.blocks.reduce(0) { $0 + $1.types.count * $1.statements.count }
        }
        return models + pack.sql.queries.count + pack.sql.upcasts.count
    }

    private static func needProblems(of pack: Pack) -> [PackProblem] {
        pack.needs.compactMap { need in
            let function = EngineFunction(rawValue: need.name)
            guard function == nil || need.version != EngineFunction.version else { return nil }
            let known = EngineFunction.allCases.map { $0.rawValue }.joined(separator: ", ")
            return PackProblem(
                file: "pack.json",
                line: nil,
                rule: "needs",
                message: function == nil
                    ? "there is no function \(need.name); there are \(known)"
                    : "this program has version \(EngineFunction.version) of \(need.name); update "
                        + "it"
            )
        }
    }

    /// Problems with defaults of parameters and with the columns of the answer.
    private static func problems(
        with query: PackQuery,
        _ connection: borrowing Connection,
        _ watch: Watch
    ) -> [PackProblem] {
        var problems: [PackProblem] = []
        for parameter in query.parameters {
            guard let fallback = parameter.fallback,
                parameter.values.value(literal: fallback) == nil
            else { continue }
            problems.append(
                PackProblem(
                    file: query.file,
                    line: 1,
                    rule: "query-parameter",
                    message: "the default of \(parameter.name) is \(fallback), and "
                        + "\(parameter.values.text) is \(parameter.values.kind.form); write one as "
                        + "SQL does, or NULL"
                )
            )
        }
        let statement = query.statement
        watch.begin(.query)
        guard let prepared = try? connection.prepare(statement.text, isKept: false) else {
            return problems
        }
        var names: Set<String> = []
        let columns = (0..<prepared.columnCount).map { prepared.columnName(at: $0) }
        if var check = AnswerCheck(query) {
            check.compare(columns)
            problems += check.problems
        }
        for name in columns where !names.insert(name).inserted {
            problems.append(
                PackProblem(
                    file: query.file,
                    line: statement.line,
                    rule: "query-column",
                    message: "two columns of the answer are named \(name); name one with AS"
                )
            )
        }
        return problems
    }

    private static func problem(
        _ statement: SQLStatement,
        _ file: String,
        _ purpose: Watch.Purpose,
        _ connection: borrowing Connection,
        _ watch: Watch
    ) -> PackProblem? {
        watch.begin(purpose)
        do throws(SQLiteError) {
            let prepared = try connection.prepare(statement.text, isKept: false)
            guard !prepared.isReadOnly else { return nil }
            return PackProblem(
                file: file,
                line: statement.line,
                rule: "sql-statement",
                message: "it may only read; SELECT what it answers"
            )
        } catch {
            let line = error.offset.map { statement.line(at: $0) } ?? statement.line
            return PackProblem(
                file: file,
                line: line,
                rule: watch.refusal?.rule ?? "sql",
                message: watch.refusal?.message ?? error.message
            )
        }
    }

    private static func problems(
        with upcast: Upcast,
        of pack: Pack,
        _ connection: borrowing Connection,
        _ watch: Watch
    ) -> [PackProblem] {
        let statement = upcast.statement
        let words = RefusedWord.problems(with: statement, of: upcast.file)
        guard words.isEmpty else { return words }
        if let found = problem(statement, upcast.file, .upcast, connection, watch) {
            return [found]
        }
        guard let prepared = try? connection.prepare(statement.text, isKept: false),
            let type = pack.types.first(where: { $0.name == upcast.type && $0.version == upcast.to }
            )
        else { return [] }
        return fieldProblems(
            with: upcast,
            to: type,
            columns: (0..<prepared.columnCount).map { prepared.columnName(at: $0) }
        )
    }

    /// The columns of an upcast are fields of the newer version, each once.
    private static func fieldProblems(
        with upcast: Upcast,
        to type: EventType,
        columns: [String]
    ) -> [PackProblem] {
        func problem(_ rule: String, _ message: String) -> PackProblem {
            PackProblem(
                file: upcast.file,
                line: upcast.statement.line,
                rule: rule,
                message: message
            )
        }
        var problems: [PackProblem] = []
        for (index, name) in columns.enumerated() {
            if type.fieldIndex(name) == nil {
                problems.append(
                    problem(
                        "unknown-field",
                        "\(type.name) version \(type.version) has no field \(name); name each "
                            + "column after a field, with AS"
                    )
                )
            } else if columns[..<index].contains(name) {
                problems.append(problem("upcast-field", "the field \(name) is there twice"))
            }
        }
        for field in type.fields where field.isRequired && !columns.contains(field.name) {
            problems.append(
                problem(
                    "upcast-field",
                    "version \(type.version) needs the field \(field.name), and the upcast leaves "
                        + "it out"
                )
            )
        }
        return problems
    }
}
