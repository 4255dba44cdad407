import DiarioCore
import DiarioSQLite
package import DiarioSchema

/// Tries all SQL of a pack on an empty database in memory.
package enum PackCheck {
    /// All problems of a pack by file and line, apart from those that `Pack` itself finds.
    ///
    /// For a pack `inUse` only those that prevent building its read models: it was adopted when
    /// queries had fewer rules.
    package static func problems(of pack: Pack, inUse: Bool = false) -> [PackProblem] {
        var problems = needProblems(of: pack)
        guard count(pack) <= Limits.sqlStatementCountMax else {
            problems.append(
                PackProblem(
                    file: "pack.json",
                    line: nil,
                    rule: "limit",
                    message: "the pack has \(count(pack)) tables, indexes, triggers, statements "
                        + "and queries, and may have \(Limits.sqlStatementCountMax)"
                )
            )
            return problems
        }
        do throws(SQLiteError) { problems += try sqlProblems(of: pack, inUse) } catch {
            problems.append(
                PackProblem(file: "pack.json", line: nil, rule: "sql", message: error.message)
            )
        }
        return problems.sorted { ($0.file, $0.line ?? 0) < ($1.file, $1.line ?? 0) }
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

    private static func sqlProblems(
        of pack: Pack,
        _ inUse: Bool
    ) throws(SQLiteError) -> [PackProblem] {
        let watch = Watch()
        watch.needs = Set(pack.needs.map { $0.name })
        let connection = try PackConnection.scratch()
        // Tables are empty here, so whatever takes long was made to.
        var steps: Int64 = 0
        connection.setProgress(everySteps: 1000) {
            steps += 1000
            return steps > Limits.sqlExampleStepCountMax
        }
        var problems: [PackProblem] = []
        var isWhole = true
        for model in pack.sql.readModels {
            var check = ModelCheck(model, watch)
            connection.setAuthorizer { watch.answer($0) }
            check.run(on: connection)
            isWhole = isWhole && check.problems.isEmpty
            problems += check.problems
        }
        connection.setAuthorizer { watch.answer($0) }
        // Without its tables a query would have faults that are not its own.
        if isWhole {
            for query in pack.sql.queries {
                let found = problem(query.statement, query.file, .query, connection, watch)
                if let found { problems.append(found) }
                if !inUse { problems += Self.problems(with: query, connection, watch) }
            }
        }
        for upcast in pack.sql.upcasts {
            problems += Self.problems(with: upcast, of: pack, connection, watch)
        }
        return problems
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
