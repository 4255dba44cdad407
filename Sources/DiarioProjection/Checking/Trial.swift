import DiarioCore
import DiarioSQLite
import DiarioSchema

/// The read models of a pack on a database in memory, which take examples in one way or another.
struct Trial {
    let file: ModelFile
    private var position: UInt64 = 0

    /// If it is reversed, SQLite gives the rows of a SELECT without ORDER BY the other way round.
    init(
        _ plan: PackPlan,
        isReversed: Bool = false,
        _ mode: ModelFile.Mode = .building
    ) throws(ProjectionError) {
        guard let space = SpaceID(rawValue: 1) else { preconditionFailure("1 is an id") }
        file = try ModelFile(path: ":memory:", plan: plan, space: space, mode)
        if isReversed { try file.run("PRAGMA reverse_unordered_selects = ON") }
    }

    /// True once the events together have taken longer than they may.
    var isOver: Bool { file.stepLimit.total > Limits.sqlExampleStepCountMax }

    // MARK: Taking events

    /// Applies events in one transaction, at the next positions.
    mutating func apply(_ examples: some Collection<Example>) throws(ProjectionError) {
        let start = position
        try transaction { () throws(ApplyError) in
            position = start
            for example in examples {
                position += 1
                var line = example.line
                line.position = position
                // Every clock is earlier, so that none is capped.
                line.acceptedAt = Timestamp(
                    milliseconds: (line.clock?.milliseconds ?? 0) + 1_000_000_000
                )
                try file.apply(line, .eachEvent)
            }
            file.settle(through: position)
        }
    }

    /// Applies events that have no position yet, in one section.
    func applyPending(_ examples: some Collection<Example>) throws(ProjectionError) {
        guard let first = examples.first?.line.origin else { return }
        try transaction { () throws(ApplyError) in
            do throws(ProjectionError) {
                try file.beginLane(of: first.replica, at: first.sequence)
            } catch {
                throw .file(error)
            }
            var last = first.sequence
            for example in examples {
                try file.apply(example.line, .eachEvent)
                last = example.line.origin?.sequence ?? last
            }
            file.settleLane(through: last)
            do throws(ProjectionError) { try file.endLane() } catch { throw .file(error) }
        }
    }

    /// Does what was left for the end.
    func finish() throws(ProjectionError) { while try file.later.step(in: file) {} }

    /// Takes the effects of all pending events back.
    func undo() throws(ProjectionError) {
        try transaction { () throws(ApplyError) in
            do throws(ProjectionError) { try file.undoSections() } catch { throw .file(error) }
        }
    }

    /// Gives the pending events the next positions, in place or, where that makes a difference, by
    /// applying them again.
    mutating func promote(_ examples: [Example]) throws(ProjectionError) {
        guard !examples.contains(where: { file.usesPlace($0.line.type.nameBytes) }) else {
            try undo()
            return try apply(examples)
        }
        try transaction { () throws(ApplyError) in
            file.closeSection()
            do throws(ProjectionError) {
                try file.promoteSections(file.sections.count)
            } catch {
                throw .file(error)
            }
        }
        position += UInt64(examples.count)
    }

    /// Does it once more for each event that takes too long, which ends the transaction.
    private func transaction(
        _ body: () throws(ApplyError) -> Void
    ) throws(ProjectionError) {
        while true {
            try file.begin(.eachEvent)
            do throws(ApplyError) { try body() } catch {
                file.rollback()
                if case .file(let error) = error { throw error }
                continue
            }
            return try file.commit()
        }
    }

    // MARK: Comparing

    /// The first row of each read model that is not the same in `other`.
    func differences(
        from other: Trial,
        _ message: String
    ) throws(ProjectionError) -> [PackProblem] {
        var problems: [PackProblem] = []
        for plan in file.plan.models {
            let name = plan.model.name
            guard try file.digest(of: name) != other.file.digest(of: name),
                let (table, key) = try difference(from: other, of: name)
            else { continue }
            let lines = lines(of: plan, writing: table)
            let list = lines.map { String($0) }.joined(separator: ", ")
            problems.append(
                PackProblem(
                    file: plan.model.file,
                    line: lines.first ?? 1,
                    rule: "example-order",
                    message: "the read model \(name) does not come out the same \(message): the "
                        + "row (\(key)) of \(table), which is written by the statements of these "
                        + "lines: \(list)"
                )
            )
        }
        return problems
    }

    /// A table of a read model and the key of the first row in it that differs.
    private func difference(
        from other: Trial,
        of model: String
    ) throws(ProjectionError) -> (table: String, key: String)? {
        let tables = try file.rows(
            "SELECT name FROM diario_table WHERE model = ? AND kind = 'table' ORDER BY name",
            [.text(model)]
        )
        for table in tables.compactMap({ $0[0].text }) {
            guard let shape = file.shapes[table] else { continue }
            let key = shape.primaryKey.map { $0.quotedName }.joined(separator: ", ")
            let columns = shape.columns.map { $0.name.quotedName }.joined(separator: ", ")
            let sql = "SELECT \(key), \(columns) FROM \(table.quotedName) ORDER BY \(key)"
            let (rows, others) = (try file.rows(sql), try other.file.rows(sql))
            for place in 0..<max(rows.count, others.count) {
                let row = place < rows.count ? rows[place] : others[place]
                guard place >= rows.count || place >= others.count || row != others[place]
                else { continue }
                let values = row.prefix(shape.primaryKey.count).map { $0.literal }
                return (table, values.joined(separator: ", "))
            }
        }
        return nil
    }

    /// The lines of the statements of a read model that write to a table.
    private func lines(of plan: ModelPlan, writing table: String) -> [Int] {
        let all = plan.statements.map { $0.statement }.filter { statement in
            let written = file.statements.tables(writtenBy: statement.text)
            return written.contains { $0.lowercased() == table.lowercased() }
        }
        return Set(all.map { $0.line }).sorted()
    }
}

extension SQLValue {
    /// The value as SQL writes it.
    fileprivate var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): "\(value)"
        case .text(let value): value.quotedText
        case .blob(let value):
            "x'" + value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
        }
    }
}
