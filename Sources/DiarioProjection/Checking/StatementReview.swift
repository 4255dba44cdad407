import DiarioSchema

/// Looks at what statements of one read model mean, where SQLite itself sees nothing wrong.
///
/// It knows of each column whether a personal value may have come into it, through whichever
/// statements. First it is shown all statements with `gather`, until nothing new comes up; then
/// with `check`, and tells what is wrong.
final class StatementReview {
    /// All tables of the read model, by their names in small letters.
    let tables: [String: TableShape]
    /// What the parameters of the statement are that is looked at.
    var parameters: [String: Trait] = [:]
    /// Whether a trigger is looked at.
    var isInTrigger = false
    var isReporting = false
    private(set) var problems: [(line: Int, rule: String, message: String)] = []

    private var marks: [String: Trait] = [:]
    private var hasNews = false
    /// How much was looked at; a statement made to take long is refused.
    private var stepCount = 0
    private static let stepCountMax = 2_000_000

    init(_ shapes: [TableShape]) {
        tables = Dictionary(
            shapes.map { ($0.name.lowercased(), $0) },
            uniquingKeysWith: { one, _ in one }
        )
    }

    // MARK: What is known of columns

    func mark(_ shape: TableShape, _ column: TableShape.Column) -> Trait {
        var trait = Trait(column)
        if let mark = marks[Self.key(shape, column)] {
            trait.isPersonal = mark.isPersonal
            trait.isLoose = mark.isLoose
            trait.members = mark.members
        }
        return trait
    }

    private static func key(_ shape: TableShape, _ column: TableShape.Column) -> String {
        shape.name.lowercased() + "." + column.name.lowercased()
    }

    private func note(_ shape: TableShape, _ column: TableShape.Column, _ trait: Trait) -> Bool {
        let key = Self.key(shape, column)
        let known = marks[key] ?? Trait()
        let both = known.union(trait)
        guard both != known else { return false }
        marks[key] = both
        hasNews = true
        return true
    }

    // MARK: Reports

    func report(_ line: Int, _ rule: String, _ message: String) {
        // What was not looked at any more is no reason for others.
        guard isReporting, stepCount <= Self.stepCountMax else { return }
        problems.append((line, rule, message))
    }

    func takeProblems() -> [(line: Int, rule: String, message: String)] {
        defer { problems = [] }
        return problems
    }

    func quietly<Result>(_ body: () -> Result) -> Result {
        let wasReporting = isReporting
        isReporting = false
        defer { isReporting = wasReporting }
        return body()
    }

    /// Whether there is still time to look; a fault if there is not.
    ///
    /// `count` tells how much is looked at next.
    func takeStep(_ line: Int, count: Int = 1) -> Bool {
        guard stepCount <= Self.stepCountMax else { return false }
        stepCount += count
        guard stepCount > Self.stepCountMax else { return true }
        problems.append(
            (line, "sql-form", "the statement is too involved; write several simple ones")
        )
        return false
    }

    func reportPersonal(_ name: String, _ line: Int) {
        // What triggers feed follows the row, so it changes with it.
        guard !isInTrigger else { return }
        report(
            line,
            "personal-condition",
            "\(name) is personal and can be erased, so no condition can depend on it"
        )
    }

    /// A condition decides which rows there are, so nothing personal may be in it.
    func checkCondition(_ condition: SQLExpression, _ scope: Scope) {
        guard trait(condition, scope).isPersonal,
            let leaf = personalLeaf(condition, scope)
        else { return }
        reportPersonal(leaf.text, leaf.line)
    }

    /// The first word of an expression that is personal.
    func personalLeaf(_ expression: SQLExpression, _ scope: Scope) -> SQLExpression? {
        quietly {
            for operand in expression.operands where trait(operand, scope).isPersonal {
                return personalLeaf(operand, scope) ?? operand
            }
            return trait(expression, scope).isPersonal ? expression : nil
        }
    }

    // MARK: Statements

    /// Learns from statements what comes into which column; true if that is more than was known.
    func gather(_ syntax: SQLSyntax) -> Bool {
        isReporting = false
        hasNews = false
        look(at: syntax)
        return hasNews
    }

    /// Tells what is wrong with a statement.
    func check(_ syntax: SQLSyntax) {
        isReporting = true
        look(at: syntax)
        isReporting = false
    }

    func look(at syntax: SQLSyntax) {
        switch syntax {
        case .insert(let insert): look(at: insert)
        case .update(let update): look(at: update)
        case .delete(let delete):
            guard target(delete.table, delete.line) != nil else { return }
            let scope = scope(delete.table, delete.alias, delete.named, [])
            if let condition = delete.condition { checkCondition(condition, scope) }
        case .select(let select): review(select, Scope())
        case .createTable, .createIndex, .createTrigger, .createVirtualTable: break
        }
    }

    /// The scope of a statement that changes rows of a table.
    private func scope(
        _ table: String,
        _ alias: String?,
        _ named: [SQLSelect.Named],
        _ sources: [SQLSelect.Source]
    ) -> Scope {
        let outer = outerScope(named)
        let scope = Scope(in: outer)
        let own = tables[table.lowercased()].map { plain(alias ?? table, $0) }
        scope.sources = [own].compactMap { $0 } + self.sources(sources, outer)
        return scope
    }

    private func outerScope(_ named: [SQLSelect.Named]) -> Scope {
        let outer = Scope(isInTrigger ? triggerSources : [])
        for named in named { outer.named[named.name.lowercased()] = named }
        return outer
    }

    /// Rows of the table to which the trigger belongs that is looked at.
    var triggerSources: [Scope.Source] = []

    /// The table that a statement changes, if it may.
    private func target(_ table: String, _ line: Int) -> TableShape? {
        guard let shape = tables[table.lowercased()], isInTrigger || !shape.isVirtual else {
            report(
                line,
                "sql-table",
                "\(table) is no plain table of this read model; what is derived from one is fed "
                    + "by triggers"
            )
            return nil
        }
        return shape
    }

    private func look(at insert: SQLSyntax.Insert) {
        guard let shape = target(insert.table, insert.line) else { return }
        checkResolution(insert.resolution, insert.line)
        let open = shape.columns.filter { !$0.isGenerated && !$0.isHidden }
        let names = insert.columns ?? open.map(\.name)
        let columns = names.map { shape.column($0) }
        let outer = outerScope(insert.named)
        if let source = insert.source {
            let outputs = review(source, outer)
            let scope = quietly { source.cores.first.map { self.scope(of: $0, outer) } ?? outer }
            for (column, output) in zip(columns, outputs) {
                guard let column else { continue }
                let value = value(at: column, source, names)
                give(shape, column, output.trait, value, scope, insert.line)
            }
            checkOrder(of: insert, source, shape, names, outer)
            checkRowID(shape, names, outputs, insert.line)
        } else {
            checkRowID(shape, [], [], insert.line)
        }
        for upsert in insert.upserts { look(at: upsert, insert, shape, outer) }
    }

    /// The expression that a column is given, if there is only one.
    private func value(
        at column: TableShape.Column,
        _ select: SQLSelect,
        _ names: [String]
    ) -> SQLExpression? {
        guard select.cores.count == 1, let core = select.cores.first,
            let place = names.firstIndex(where: { $0.lowercased() == column.name.lowercased() })
        else { return nil }
        if core.rows.count == 1, place < core.rows[0].count { return core.rows[0][place] }
        guard core.rows.isEmpty, core.columns.allSatisfy({ $0.expression != nil }),
            place < core.columns.count
        else { return nil }
        return core.columns[place].expression
    }

    private func look(
        at upsert: SQLSyntax.Upsert,
        _ insert: SQLSyntax.Insert,
        _ shape: TableShape,
        _ outer: Scope
    ) {
        let excluded = plain("excluded", shape)
        let target = plain(insert.alias ?? insert.table, shape)
        let scope = Scope([target, excluded], in: outer)
        if upsert.target.isEmpty, !upsert.changes.isEmpty {
            report(
                upsert.line,
                "sql-conflict",
                "DO UPDATE without a key depends on which key is looked at first; name its columns"
            )
        }
        look(at: upsert.changes, shape, scope)
        for condition in [upsert.targetCondition, upsert.condition].compactMap({ $0 }) {
            checkCondition(condition, scope)
        }
    }

    private func look(at update: SQLSyntax.Update) {
        guard let shape = target(update.table, update.line) else { return }
        checkResolution(update.resolution, update.line)
        let scope = scope(update.table, update.alias, update.named, update.sources)
        look(at: update.changes, shape, scope)
        for condition in [update.condition].compactMap({ $0 }) { checkCondition(condition, scope) }
        for source in scope.sources {
            for condition in source.conditions { checkCondition(condition, scope) }
        }
        let conditions = [update.condition].compactMap { $0 }
        if !update.sources.isEmpty {
            // Each row that is changed is one of the table's.
            let key = (shape.keys.first ?? []).map {
                SQLExpression(column: $0, of: update.alias ?? update.table)
            }
            if settled(scope, conditions, key).sources.count < scope.sources.count {
                report(
                    update.line,
                    "sql-rows",
                    "FROM may give several rows for one that is changed, and no order says which "
                        + "counts; compare all columns of a key"
                )
            }
        }
        if update.resolution == "REPLACE" || update.resolution == "IGNORE",
            !settled(scope, conditions).sources.contains(0)
        {
            report(
                update.line,
                "sql-conflict",
                "which rows are left depends on their order; change one row by its key"
            )
        }
    }

    private func look(at changes: [SQLSyntax.Change], _ shape: TableShape, _ scope: Scope) {
        for change in changes {
            let trait = trait(change.value, scope)
            let isRow = change.value.kind == .row && change.columns.count > 1
            for (place, name) in change.columns.enumerated() {
                guard let column = shape.column(name) else { continue }
                let isPart = isRow && place < change.value.operands.count
                let value = isPart ? change.value.operands[place] : change.value
                give(
                    shape,
                    column,
                    isPart ? quietly { self.trait(value, scope) } : trait,
                    value,
                    scope
                )
            }
        }
    }

    // MARK: What columns are given

    /// Notes that a column is given a value, and tells what is wrong with that.
    ///
    /// True if that is more than was known.
    @discardableResult
    func give(
        _ shape: TableShape,
        _ column: TableShape.Column,
        _ trait: Trait,
        _ value: SQLExpression?,
        _ scope: Scope,
        _ line: Int = 0
    ) -> Bool {
        var kept = trait
        // Where that is a mistake, what follows from it is none.
        kept.isPersonal = trait.isPersonal && !column.isKey && !column.isNeeded
        let isNew = note(shape, column, kept)
        guard !isInTrigger else { return isNew }
        checkPersonal(column, trait, value, line, scope)
        let type = column.type.uppercased()
        if type == "TEXT", trait.mayBeReal, trait.kinds != .all {
            report(
                value?.line ?? line,
                "sql-real",
                "the column \(column.name) makes a text of a fraction, and builds of SQLite differ "
                    + "in that; make it REAL"
            )
        }
        if type == "REAL", trait.kinds.contains(.text), trait.kinds != .all {
            report(
                value?.line ?? line,
                "sql-real",
                "the column \(column.name) makes a fraction of a text, and builds of SQLite differ "
                    + "in that; use a field that is a number"
            )
        }
        return isNew
    }

    private func checkPersonal(
        _ column: TableShape.Column,
        _ trait: Trait,
        _ value: SQLExpression?,
        _ line: Int,
        _ scope: Scope
    ) {
        guard trait.isPersonal, column.isKey || column.isNeeded else { return }
        let leaf = value.flatMap { personalLeaf($0, scope) }
        report(
            leaf?.line ?? line,
            column.isKey ? "personal-key" : "personal-needed",
            "\(leaf?.text ?? "it") is personal and can be erased, so it cannot be in the column "
                + "\(column.name), which is \(column.isKey ? "a key" : "NOT NULL")"
        )
    }

    private func checkResolution(_ resolution: String?, _ line: Int) {
        guard !isInTrigger, let resolution, ["ROLLBACK", "FAIL", "ABORT"].contains(resolution)
        else { return }
        report(
            line,
            "sql-conflict",
            "OR \(resolution) is not the pack's to say: an event is taken as a whole; remove it"
        )
    }

    /// Of several rows with one key the first or the last counts.
    private func checkOrder(
        of insert: SQLSyntax.Insert,
        _ source: SQLSelect,
        _ shape: TableShape,
        _ names: [String],
        _ outer: Scope
    ) {
        let isChosen = insert.resolution == "REPLACE" || insert.resolution == "IGNORE"
        guard !isInTrigger, isChosen || !insert.upserts.isEmpty else { return }
        var keys: [[String]] = isChosen ? shape.keys : []
        for upsert in insert.upserts {
            let target = upsert.target.filter { $0.kind == .column }.map(\.text)
            keys += target.isEmpty ? shape.keys : [target]
        }
        let isFixed = keys.allSatisfy { key in
            let places = key.compactMap { column in
                names.firstIndex { $0.lowercased() == column.lowercased() }
            }
            return isUnique(source, outer, by: Set(places))
        }
        guard !isFixed else { return }
        report(
            insert.line,
            "sql-rows",
            "the SELECT may give several rows with one key, and no order says which comes first; "
                + "GROUP BY the key, or ask for one row"
        )
    }

    /// SQLite fills in a row id by the order in which rows come.
    private func checkRowID(
        _ shape: TableShape,
        _ names: [String],
        _ outputs: [Output],
        _ line: Int
    ) {
        guard !isInTrigger, let column = shape.rowIDColumn else { return }
        let place = names.firstIndex { $0.lowercased() == column.lowercased() }
        if let place, place < outputs.count, !outputs[place].trait.isOptional { return }
        report(
            line,
            "sql-rowid",
            "\(column) would be filled in by the order in which rows come; give it a value that "
                + "is never NULL, or make the key INT"
        )
    }
}
