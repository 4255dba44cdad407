import DiarioCore
import DiarioSQLite
package import DiarioSchema

/// Checks the SQL of a pack by trial: the examples are applied in every way in which events may
/// arrive, and the tables must be the same each time.
///
/// SQLite accepts statements that fail for every event, such as a text in a column of integers, or
/// that give other rows on another device; only events show that.
package enum ExampleCheck {
    /// The pack and its examples must have no other problem.
    package static func problems(of pack: Pack) -> [PackProblem] {
        guard !pack.sql.readModels.isEmpty || !pack.sql.upcasts.isEmpty,
            let catalog = try? TypeCatalog(pack.types)
        else { return [] }
        do throws(ProjectionError) {
            let plan = PackPlan(pack)
            let own = Example.all(of: pack, catalog, replica: 1)
            var run = OneByOne(try Trial(plan))
            for example in own {
                try run.take(example)
                guard !run.trial.isOver else { return [tooLong] }
            }
            var problems = missingUpcasts(of: pack, plan) + (try run.problems())
            guard problems.isEmpty else { return problems }
            problems = try answerProblems(of: pack, catalog, plan, own)
            guard problems.isEmpty, !plan.models.isEmpty else { return problems }
            let others = Example.all(of: pack, catalog, replica: 2)
            return try orderProblems(plan, run.trial, own, others)
                + personalProblems(plan, run.trial, own)
        } catch {
            return [
                PackProblem(file: "pack.json", line: nil, rule: "sql", message: error.message)
            ]
        }
    }

    private static let tooLong = PackProblem(
        file: "examples",
        line: nil,
        rule: "limit",
        message: "the examples take too long; make the statements simpler"
    )

    /// Versions of a type from which no way leads to the one that read models take.
    private static func missingUpcasts(of pack: Pack, _ plan: PackPlan) -> [PackProblem] {
        var found: [PackProblem] = []
        var known: Set<String> = []
        for (name, type) in plan.models.flatMap({ $0.types }) where known.insert(name).inserted {
            for old in pack.types where old.name == name && old.version < type.type.version {
                guard type.upcasts[old.version] == nil else { continue }
                let short = name.dropFirst(pack.name.utf8.count + 1)
                let versions = pack.types.lazy.filter { $0.name == name }.map { $0.version }
                let next = versions.filter { $0 > old.version }.min() ?? type.type.version
                found.append(
                    PackProblem(
                        file: "events/\(short).\(old.version).json",
                        line: 1,
                        rule: "upcast-missing",
                        message: "no read model can take events of version \(old.version) of "
                            + "\(name); say how they are read in "
                            + "events/\(short).\(old.version)-\(next).sql"
                    )
                )
            }
        }
        return found.sorted { $0.file < $1.file }
    }

    /// Queries that do not answer what they say, on tables with reference data and examples.
    private static func answerProblems(
        of pack: Pack,
        _ catalog: TypeCatalog,
        _ plan: PackPlan,
        _ examples: [Example]
    ) throws(ProjectionError) -> [PackProblem] {
        var trial = try Trial(plan)
        try trial.apply(Example.references(of: pack, catalog, replica: 2) + examples)
        do throws(SQLiteError) {
            try PackConnection.addStandIns(to: trial.file.connection)
            // As if each example had been refused, too.
            let inbox = examples.compactMap {
                InboxRow($0.line, rule: "example", message: "It is an example.")
            }
            try KnownPlaces.fill(inbox, in: trial.file.connection)
        } catch {
            throw .file(path: ":memory:", error)
        }
        var problems: [PackProblem] = []
        for query in pack.sql.queries {
            guard var check = AnswerCheck(query) else { continue }
            check.run(on: trial.file.connection)
            problems += check.problems
            guard !trial.isOver else { return [tooLong] }
        }
        return problems
    }

    // MARK: Trials

    /// Compares a run with those in other transactions, with pending events, and in other orders.
    private static func orderProblems(
        _ plan: PackPlan,
        _ oneByOne: Trial,
        _ own: [Example],
        _ others: [Example]
    ) throws(ProjectionError) -> [PackProblem] {
        var undo = try UndoCheck(try Trial(plan))
        for example in own { try undo.take(example) }
        guard undo.problems.isEmpty else { return undo.problems }
        var problems = try undo.trial.differences(
            from: oneByOne,
            "if each event is pending at first"
        )
        var all = try Trial(plan)
        try all.apply(own)
        problems += try all.differences(from: oneByOne, "if all events come at once")
        var later = try Trial(plan, .deferring)
        try later.apply(own)
        // Where that fails, rows are missing.
        try? later.finish()
        problems += try later.differences(
            from: oneByOne,
            "if derived statements run once at the end, for all keys"
        )
        for (own, others) in [(own, others), (others, own)] {
            var arrival = try Trial(plan)
            try arrival.applyPending(own)
            try arrival.undo()
            try arrival.apply(others)
            try arrival.applyPending(own)
            try arrival.promote(own)
            for isReversed in [false, true] {
                var rebuilt = try Trial(plan, isReversed: isReversed)
                try rebuilt.apply(others + own)
                problems += try rebuilt.differences(
                    from: arrival,
                    isReversed
                        ? "if SELECT gives rows in another order"
                        : "if events of another replica come before pending ones"
                )
            }
        }
        var found: [PackProblem] = []
        for problem in problems where !found.contains(where: { $0.file == problem.file }) {
            found.append(problem)
        }
        return found
    }

    /// Events that read models cannot take after their personal fields were erased.
    private static func personalProblems(
        _ plan: PackPlan,
        _ whole: Trial,
        _ examples: [Example]
    ) throws(ProjectionError) -> [PackProblem] {
        guard examples.contains(where: { $0.hasPersonalFields }) else { return [] }
        var erased = try Trial(plan)
        for example in examples { try erased.apply([example.withoutPersonalFields]) }
        let known = Set(try whole.file.quarantined().map { "\($0.model) \($0.origin.text)" })
        var told: Set<Pair> = []
        var problems: [PackProblem] = []
        for event in try erased.file.quarantined() {
            let pair = Pair(model: event.model, type: event.type)
            guard !known.contains("\(event.model) \(event.origin.text)"),
                let example = examples.first(where: { $0.line.origin == event.origin }),
                told.insert(pair).inserted
            else { continue }
            problems.append(
                example.problem(
                    "example-personal",
                    "the read model \(event.model) cannot take this example once its personal "
                        + "fields are erased, which makes them NULL: \(event.message)"
                )
            )
        }
        return problems
    }

    fileprivate struct Pair: Hashable {
        let model: String
        let type: String
    }
}

/// The examples in their order, each in a transaction of its own.
private struct OneByOne {
    private(set) var trial: Trial
    /// For each read model and type how many examples it took, and was to take.
    private var counts: [ExampleCheck.Pair: (taken: Int, all: Int)] = [:]
    /// The first example of each type.
    private var firsts: [String: Example] = [:]
    private var found: [PackProblem] = []

    init(_ trial: Trial) { self.trial = trial }

    mutating func take(_ example: Example) throws(ProjectionError) {
        let type = example.line.type.name
        if firsts[type] == nil { firsts[type] = example }
        upcast(example)
        let before = trial.file.models.map { $0.taken }
        try trial.apply([example])
        for (index, model) in trial.file.plan.models.enumerated() where model.types[type] != nil {
            let pair = ExampleCheck.Pair(model: model.model.name, type: type)
            let known = counts[pair] ?? (0, 0)
            let taken = trial.file.models[index].taken > before[index] ? 1 : 0
            counts[pair] = (known.taken + taken, known.all + 1)
        }
    }

    /// Reads an example of an older version as one of the newest, also if no read model listens.
    private mutating func upcast(_ example: Example) {
        let type = example.line.type
        guard let plan = ModelPlan.TypePlan(readingOnly: type.name, of: trial.file.plan.pack),
            plan.upcasts[type.version] != nil
        else { return }
        let file = trial.file
        do throws(EventFault) {
            _ = try file.statements.upcast(example.line, plan, file.connection)
        } catch {
            found.append(example.problem("upcast-example", error.reason.message))
        }
    }

    /// Upcasts whose result the newer schema refuses, and read models that take no example of a
    /// type.
    func problems() throws(ProjectionError) -> [PackProblem] {
        let quarantined = try trial.file.quarantined()
        var problems = found
        for (pair, count) in counts where count.taken == 0 {
            let event = quarantined.first { $0.model == pair.model && $0.type == pair.type }
            let message =
                "the read model \(pair.model) takes no example of \(pair.type): "
                + (event?.message ?? "no reason is known")
            if let first = firsts[pair.type] {
                problems.append(first.problem("example-model", message))
            }
        }
        return problems.sorted { ($0.file, $0.line ?? 0) < ($1.file, $1.line ?? 0) }
    }
}
