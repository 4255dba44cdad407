import DiarioSchema

// How many rows a SELECT may give, as far as keys tell.

extension StatementReview {
    /// A column of a source, by the source's place in FROM.
    struct Place: Hashable {
        let source: Int
        let column: String

        init(_ source: Int, _ column: String) {
            self.source = source
            self.column = column
        }
    }

    /// What has one value once some columns have: whole sources, and columns of others.
    struct Settled {
        var sources: Set<Int> = []
        var columns: Set<Place> = []
    }

    /// Two sides that are the same in each row.
    private struct Equality {
        let left: SQLExpression
        let right: SQLExpression
        /// The only source whose columns it settles; nil for all.
        let source: Int?
        /// Whether NULL equals NULL in it.
        let takesNull: Bool
    }

    /// Whether a SELECT gives no two rows that agree in these columns, counted from 0.
    func isUnique(_ select: SQLSelect, _ parent: Scope, by outputs: Set<Int>) -> Bool {
        let outer = Scope(in: parent)
        for named in select.named { outer.named[named.name.lowercased()] = named }
        guard select.cores.count == 1, let core = select.cores.first else {
            return select.isCombined
                && select.cores.first.map { width($0, outer) } == outputs.count
        }
        if !core.rows.isEmpty {
            return core.rows.count == 1 || outputs.contains { isDistinct($0, core.rows) }
        }
        let scope = quietly { self.scope(of: core, outer) }
        if scope.sources.isEmpty { return true }
        let results = core.columns.compactMap(\.expression) + [core.having].compactMap { $0 }
        if core.groups.isEmpty, results.contains(where: \.hasAggregate) { return true }
        if core.isDistinct, outputs.count == width(core, outer) { return true }
        let fixed = settled(core, scope, outputs: outputs, groups: [])
        if fixed.sources.count == scope.sources.count { return true }
        guard !core.groups.isEmpty else { return false }
        return core.groups.allSatisfy { group in
            isSettled(group, fixed, scope)
                || outputs.contains { output in
                    guard output < core.columns.count,
                        let expression = core.columns[output].expression
                    else { return false }
                    let column = core.columns[output].alias?.lowercased()
                    return expression.isSame(as: group)
                        || (group.kind == .column && column == group.text.lowercased())
                }
        }
    }

    private func width(_ core: SQLSelect.Core, _ scope: Scope) -> Int {
        core.rows.first?.count ?? core.columns.count
    }

    private func isDistinct(_ output: Int, _ rows: [[SQLExpression]]) -> Bool {
        var seen: Set<String> = []
        return rows.allSatisfy { row in
            output < row.count && [.text, .integer].contains(row[output].kind)
                && seen.insert(row[output].text).inserted
        }
    }

    /// What is settled once the columns that a SELECT gives at some places are, and its groups.
    func settled(
        _ core: SQLSelect.Core,
        _ scope: Scope,
        outputs: Set<Int>,
        groups: [SQLExpression]
    ) -> Settled {
        var start = groups
        for output in outputs where output < core.columns.count {
            if let expression = core.columns[output].expression { start.append(expression) }
        }
        return settled(scope, [core.condition].compactMap { $0 }, start)
    }

    /// What is settled in the sources of a scope, by conditions and by what is settled before.
    func settled(
        _ scope: Scope,
        _ conditions: [SQLExpression],
        _ start: [SQLExpression] = []
    ) -> Settled {
        var fixed = Settled()
        for expression in start where expression.kind == .column {
            guard let place = scope.place(of: expression) else { continue }
            fixed.columns.insert(Place(place, expression.text.lowercased()))
        }
        let equalities = equalities(scope, conditions)
        // Each side is looked for among all columns.
        let width = 1 + scope.sources.reduce(0) { $0 + 1 + $1.columns.count } / 4
        while true {
            let before = (fixed.sources.count, fixed.columns.count)
            for equality in equalities {
                guard takeStep(equality.left.line, count: width) else { return fixed }
                settle(equality.left, by: equality.right, equality, &fixed, scope)
                settle(equality.right, by: equality.left, equality, &fixed, scope)
            }
            for (place, source) in scope.sources.enumerated()
            where !fixed.sources.contains(place) {
                guard takeStep(0, count: 1 + source.columns.count) else { return fixed }
                let columns = Set(
                    source.columns.map(\.name).filter { fixed.columns.contains(Place(place, $0)) }
                )
                if isSettled(source, columns, scope) { fixed.sources.insert(place) }
            }
            if before == (fixed.sources.count, fixed.columns.count) { return fixed }
        }
    }

    private func isSettled(
        _ source: Scope.Source,
        _ columns: Set<String>,
        _ scope: Scope
    ) -> Bool {
        if let shape = source.shape {
            return shape.keys.contains { key in
                key.allSatisfy { columns.contains($0.lowercased()) }
            }
        }
        guard let select = source.select, let parent = scope.parent else { return false }
        let outputs = source.columns.indices.filter { columns.contains(source.columns[$0].name) }
        return isUnique(select, parent, by: Set(outputs))
    }

    private func settle(
        _ side: SQLExpression,
        by other: SQLExpression,
        _ equality: Equality,
        _ fixed: inout Settled,
        _ scope: Scope
    ) {
        guard side.kind == .column, let place = scope.place(of: side),
            equality.source == nil || equality.source == place, isSettled(other, fixed, scope)
        else { return }
        let name = side.text.lowercased()
        if equality.takesNull, scope.sources[place].trait(name)?.isOptional ?? true { return }
        fixed.columns.insert(Place(place, name))
    }

    /// Whether an expression has one value, all of its columns being settled or from outside.
    private func isSettled(
        _ expression: SQLExpression,
        _ fixed: Settled,
        _ scope: Scope
    ) -> Bool {
        quietly { free(expression, scope) }.allSatisfy { column in
            guard let place = scope.place(of: column) else { return true }
            return fixed.sources.contains(place)
                || fixed.columns.contains(Place(place, column.text.lowercased()))
        }
    }

    // MARK: Conditions

    private func equalities(_ scope: Scope, _ conditions: [SQLExpression]) -> [Equality] {
        var found: [Equality] = []
        for condition in conditions { collect(condition, nil, &found) }
        for (place, source) in scope.sources.enumerated() {
            for condition in source.conditions {
                collect(condition, source.isOuter ? place : nil, &found)
            }
            for name in source.shared {
                guard let other = scope.sources[..<place].first(where: { $0.trait(name) != nil })
                else { continue }
                found.append(
                    Equality(
                        left: SQLExpression(column: name, of: other.name),
                        right: SQLExpression(column: name, of: source.name),
                        source: source.isOuter ? place : nil,
                        takesNull: false
                    )
                )
            }
        }
        return found
    }

    /// Equalities that hold where the condition does.
    private func collect(_ condition: SQLExpression, _ source: Int?, _ found: inout [Equality]) {
        guard condition.kind == .operation else { return }
        switch (condition.text, condition.operands.count) {
        case ("AND", _):
            for operand in condition.operands { collect(operand, source, &found) }
        case ("=", 2), ("IS", 2), ("IN", 2):
            let (left, right) = (condition.operands[0], condition.operands[1])
            let isRow = left.kind == .row && right.kind == .row
            let pairs = isRow ? Array(zip(left.operands, right.operands)) : [(left, right)]
            for (left, right) in pairs {
                found.append(
                    Equality(
                        left: left,
                        right: right,
                        source: source,
                        takesNull: condition.text == "IS"
                    )
                )
            }
        default: break
        }
    }
}
