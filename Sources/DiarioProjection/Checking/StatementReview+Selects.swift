import DiarioSchema

// What SELECTs give, and from where.

extension StatementReview {
    /// A column that a SELECT gives.
    struct Output {
        /// In small letters.
        let name: String
        let trait: Trait
    }

    /// Looks at a SELECT and all in it; gives its columns.
    @discardableResult
    func review(_ select: SQLSelect, _ parent: Scope) -> [Output] {
        let outer = Scope(in: parent)
        for named in select.named { outer.named[named.name.lowercased()] = named }
        var columns: [Output] = []
        for core in select.cores {
            let found = review(core, outer)
            if columns.isEmpty {
                columns = found
            } else {
                columns = zip(columns, found).map {
                    Output(name: $0.name, trait: $0.trait.union($1.trait))
                }
            }
        }
        // Rows without doubles depend on all of their values.
        let isDistinct = select.isCombined || select.cores.contains(where: \.isDistinct)
        if isDistinct, let personal = columns.first(where: \.trait.isPersonal) {
            reportPersonal(personal.name, select.line)
        }
        return columns
    }

    private func review(_ core: SQLSelect.Core, _ parent: Scope) -> [Output] {
        if core.hasWindow {
            report(0, "sql-window", "WINDOW depends on the order of rows; use GROUP BY")
        }
        guard core.rows.isEmpty else { return values(core, parent) }
        let scope = scope(of: core, parent)
        for source in scope.sources {
            for condition in source.conditions { checkCondition(condition, scope) }
            for name in source.shared where source.trait(name)?.isPersonal ?? false {
                reportPersonal(name, core.sources.first?.line ?? 0)
            }
        }
        for condition in [core.condition, core.having].compactMap({ $0 }) {
            checkCondition(condition, scope)
        }
        for group in core.groups { checkCondition(group, scope) }
        checkBareColumns(core, scope)
        return outputs(core, scope)
    }

    /// The scope of a SELECT's expressions.
    func scope(of core: SQLSelect.Core, _ parent: Scope) -> Scope {
        let scope = Scope(in: parent)
        guard takeStep(core.sources.first?.line ?? 0) else { return scope }
        scope.sources = sources(core.sources, parent)
        for column in core.columns {
            guard let alias = column.alias, let expression = column.expression else { continue }
            scope.aliases[alias.lowercased()] = expression
        }
        return scope
    }

    private func outputs(_ core: SQLSelect.Core, _ scope: Scope) -> [Output] {
        var found: [Output] = []
        for column in core.columns {
            if let expression = column.expression {
                let name = column.alias ?? (expression.kind == .column ? expression.text : "")
                found.append(
                    Output(name: name.lowercased(), trait: trait(expression, scope))
                )
                continue
            }
            for source in scope.sources
            where column.starTable == nil || source.name == column.starTable?.lowercased() {
                guard takeStep(0, count: 1 + source.columns.count) else { return found }
                found += source.columns.map { Output(name: $0.name, trait: $0.trait) }
            }
        }
        return found
    }

    private func values(_ core: SQLSelect.Core, _ scope: Scope) -> [Output] {
        var found: [Output] = []
        for row in core.rows {
            for (place, value) in row.enumerated() {
                let trait = trait(value, scope)
                guard place < found.count else {
                    found.append(Output(name: "column\(place + 1)", trait: trait))
                    continue
                }
                found[place] = Output(
                    name: found[place].name,
                    trait: found[place].trait.union(trait)
                )
            }
        }
        return found
    }

    // MARK: Sources

    func sources(_ sources: [SQLSelect.Source], _ parent: Scope) -> [Scope.Source] {
        sources.map { source in
            var found = self.source(source, parent)
            found.isOuter = source.isOuter
            found.shared = source.shared.map { $0.lowercased() }
            if let condition = source.condition { found.conditions.append(condition) }
            if source.isNatural {
                report(
                    source.line,
                    "sql-natural",
                    "a NATURAL JOIN depends on which columns tables happen to share; write ON"
                )
            }
            return found
        }
    }

    private func source(_ source: SQLSelect.Source, _ parent: Scope) -> Scope.Source {
        let name = (source.alias ?? source.table ?? "").lowercased()
        if let select = source.selects.first {
            return derived(name, select, [], parent)
        }
        let table = source.table ?? ""
        if source.arguments == nil, let named = parent.named(table.lowercased()),
            let select = named.selects.first
        {
            // A table of WITH does not see itself: WITH RECURSIVE is refused.
            let outside = Scope(in: parent)
            outside.named[table.lowercased()] = SQLSelect.Named(name: "", columns: [], selects: [])
            return derived(name, select, named.columns, outside)
        }
        guard source.arguments == nil, let shape = tables[table.lowercased()], !shape.isVirtual
        else {
            report(
                source.line,
                "sql-table",
                "\(table) is no plain table of this read model, and others are for queries"
            )
            return Scope.Source(name: name, columns: [])
        }
        if isInTrigger {
            report(
                source.line,
                "sql-trigger",
                "the trigger reads the table \(table); what it feeds may depend on its own row "
                    + "alone, so write VALUES of new and old"
            )
        }
        return plain(name, shape)
    }

    func plain(_ name: String, _ shape: TableShape) -> Scope.Source {
        Scope.Source(
            name: name.lowercased(),
            columns: shape.columns.map { ($0.name.lowercased(), mark(shape, $0)) },
            shape: shape
        )
    }

    private func derived(
        _ name: String,
        _ select: SQLSelect,
        _ names: [String],
        _ parent: Scope
    ) -> Scope.Source {
        let columns = review(select, parent).enumerated().map { place, output in
            (place < names.count ? names[place].lowercased() : output.name, output.trait)
        }
        return Scope.Source(name: name, columns: columns, select: select)
    }

    // MARK: Aggregates

    /// Columns beside aggregates come from any row of a group, unless they are the same in all.
    private func checkBareColumns(_ core: SQLSelect.Core, _ scope: Scope) {
        let results = core.columns.compactMap(\.expression) + [core.having].compactMap { $0 }
        guard !core.groups.isEmpty || results.contains(where: \.hasAggregate) else { return }
        let stars = core.columns.filter { $0.expression == nil }
        var bare: [SQLExpression] = []
        for result in results { collectBare(result, core.groups, scope, &bare) }
        guard !bare.isEmpty || !stars.isEmpty else { return }
        let fixed = settled(core, scope, outputs: [], groups: core.groups)
        for column in bare {
            guard let place = scope.place(of: column) else { continue }
            let isFixed =
                fixed.sources.contains(place)
                || fixed.columns.contains(Place(place, column.text.lowercased()))
            if !isFixed { reportBare(column.text, column.line) }
        }
        if !stars.isEmpty, fixed.sources.count < scope.sources.count {
            reportBare("*", results.first?.line ?? core.groups.first?.line ?? 0)
        }
    }

    private func reportBare(_ name: String, _ line: Int) {
        report(
            line,
            "sql-group",
            "\(name) stands beside an aggregate and may differ within a group; add it to GROUP BY, "
                + "or take min or max of it"
        )
    }

    private func collectBare(
        _ expression: SQLExpression,
        _ groups: [SQLExpression],
        _ scope: Scope,
        _ found: inout [SQLExpression]
    ) {
        if expression.isAggregate || groups.contains(where: { $0.isSame(as: expression) }) {
            return
        }
        if expression.kind == .column {
            if let alias = scope.alias(expression), scope.place(of: expression) == nil {
                return collectBare(alias, groups, Scope(scope.sources, in: scope.parent), &found)
            }
            found.append(expression)
        }
        for operand in expression.operands { collectBare(operand, groups, scope, &found) }
        for select in expression.selects {
            for column in quietly({ free(select, scope) }) {
                collectBare(column, groups, scope, &found)
            }
        }
    }

    // MARK: Columns from outside

    /// The columns of an expression that are not those of a SELECT within it.
    func free(_ expression: SQLExpression, _ scope: Scope) -> [SQLExpression] {
        guard takeStep(expression.line) else { return [] }
        if expression.kind == .column { return [expression] }
        return (expression.operands + expression.filters).flatMap { free($0, scope) }
            + expression.selects.flatMap { free($0, scope) }
    }

    private func free(_ select: SQLSelect, _ parent: Scope) -> [SQLExpression] {
        guard takeStep(select.line) else { return [] }
        let outer = Scope(in: parent)
        for named in select.named { outer.named[named.name.lowercased()] = named }
        var found = select.named.flatMap { $0.selects.flatMap { free($0, outer) } }
        for core in select.cores {
            let scope = scope(of: core, outer)
            let expressions =
                core.columns.compactMap(\.expression) + core.sources.compactMap(\.condition)
                + [core.condition, core.having].compactMap { $0 } + core.groups
                + core.rows.flatMap { $0 }
            found += expressions.flatMap { free($0, scope) }.filter { column in
                scope.place(of: column) == nil && scope.alias(column) == nil
            }
            found += core.sources.flatMap { $0.selects.flatMap { free($0, outer) } }
        }
        return found
    }
}

extension SQLExpression {
    /// Whether it puts the values of several rows together.
    var isAggregate: Bool {
        guard kind == .call else { return false }
        switch text {
        case "count", "sum": return true
        case "min", "max": return operands.count == 1
        default: return false
        }
    }

    var hasAggregate: Bool { isAggregate || operands.contains(where: \.hasAggregate) }

    /// Whether it is the same, wherever it stands.
    func isSame(as other: SQLExpression) -> Bool {
        guard kind == other.kind, selects.isEmpty, other.selects.isEmpty,
            operands.count == other.operands.count
        else { return false }
        let isName = kind == .column || kind == .call
        guard isName ? text.lowercased() == other.text.lowercased() : text == other.text else {
            return false
        }
        if let one = qualifier, let two = other.qualifier, one.lowercased() != two.lowercased() {
            return false
        }
        return zip(operands, other.operands).allSatisfy { $0.isSame(as: $1) }
    }
}
