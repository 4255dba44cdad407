import DiarioSchema

// What values of expressions may be, and what is wrong with these.

extension StatementReview {
    private static let comparisons: Set<String> = ["=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT"]
    /// Functions that look at the text of their arguments.
    private static let textFunctions: Set<String> = [
        "length", "instr", "substr", "substring", "replace", "trim", "ltrim", "rtrim", "unicode",
        "hex", "glob",
    ]

    func trait(_ expression: SQLExpression, _ scope: Scope) -> Trait {
        guard takeStep(expression.line) else { return .unknown }
        switch expression.kind {
        case .null: return .null
        case .integer: return .integer
        case .real: return Trait(kinds: .real)
        case .text: return .text
        case .blob: return Trait(kinds: .blob)
        case .parameter: return parameters[expression.text] ?? .unknown
        case .column: return columnTrait(expression, scope)
        case .operation: return operationTrait(expression, scope)
        case .call: return callTrait(expression, scope)
        case .cast: return castTrait(expression, scope)
        case .row: return .made(of: expression.operands.map { trait($0, scope) }, .all)
        case .subquery, .exists, .membership: return selectTrait(expression, scope)
        case .raise:
            report(
                expression.line,
                "sql-raise",
                "RAISE changes what events do; a trigger only feeds virtual tables"
            )
            return .null
        }
    }

    private func columnTrait(_ column: SQLExpression, _ scope: Scope) -> Trait {
        if let found = scope.trait(column) { return found }
        var level: Scope? = scope
        while let current = level {
            if let alias = current.alias(column), alias != column {
                // An alias cannot name itself, but two may name each other's columns.
                current.aliases[column.text.lowercased()] = nil
                defer { current.aliases[column.text.lowercased()] = alias }
                return trait(alias, current)
            }
            level = current.parent
        }
        return .unknown
    }

    private func operationTrait(_ expression: SQLExpression, _ scope: Scope) -> Trait {
        let traits = expression.operands.map { trait($0, scope) }
        switch expression.text {
        case "+", "-", "*", "/", "%":
            let isWhole = traits.allSatisfy { $0.kinds.isSubset(of: .integer) }
            var found = Trait.made(of: traits, isWhole ? .integer : [.integer, .real])
            // Of a division by zero.
            if expression.text == "/" || expression.text == "%" {
                found.isOptional = found.isOptional || expression.operands.last?.kind != .integer
            }
            return found
        case "||":
            for (operand, trait) in zip(expression.operands, traits) where trait.mayBeReal {
                reportReal(operand.line, "|| makes a text of a fraction")
            }
            return .made(of: traits, .text)
        case "CASE":
            var found = Trait()
            let start = expression.hasBase ? 1 : 0
            for (place, trait) in traits.enumerated() {
                let isLast = expression.hasElse && place == traits.count - 1
                if isLast || (place >= start && (place - start) % 2 == 1) {
                    found.formUnion(trait)
                } else {
                    found.isPersonal = found.isPersonal || trait.isPersonal
                }
            }
            if !expression.hasElse { found.isOptional = true }
            return found
        default:
            if Self.comparisons.contains(expression.text) || expression.text == "BETWEEN" {
                for other in traits.dropFirst() { compare(traits[0], other, expression.line) }
            }
            let isNullTest = expression.text.hasPrefix("IS")
            var found = Trait.made(of: traits, .integer)
            if isNullTest { found.isOptional = false }
            return found
        }
    }

    /// SQLite compares a text and a fraction as texts, or as fractions.
    private func compare(_ left: Trait, _ right: Trait, _ line: Int) {
        func isMixed(_ one: Trait, _ other: Trait) -> Bool {
            one.mayBeReal && !one.kinds.contains(.text) && other.kinds.contains(.text)
                && !other.mayBeReal
        }
        if isMixed(left, right) || isMixed(right, left) {
            reportReal(line, "a fraction is compared with a text")
        }
    }

    private func reportReal(_ line: Int, _ what: String) {
        report(
            line,
            "sql-real",
            "\(what), and builds of SQLite differ in that; keep it as a number, or write "
                + "CAST(... AS INTEGER)"
        )
    }

    private func castTrait(_ expression: SQLExpression, _ scope: Scope) -> Trait {
        let from = trait(expression.operands[0], scope)
        switch expression.text {
        case "INT", "INTEGER": return .made(of: [from], .integer)
        case "TEXT", "BLOB":
            if from.mayBeReal { reportReal(expression.line, "CAST makes a text of a fraction") }
            return .made(of: [from], expression.text == "TEXT" ? .text : .blob)
        case "REAL":
            if !from.kinds.isDisjoint(with: [.text, .blob]) {
                reportReal(expression.line, "CAST makes a fraction of a text")
            }
            return .made(of: [from], .real)
        default:
            report(
                expression.line,
                "sql-cast",
                "CAST knows INTEGER, REAL, TEXT and BLOB here, and not \(expression.text)"
            )
            return .unknown
        }
    }

    private func selectTrait(_ expression: SQLExpression, _ scope: Scope) -> Trait {
        guard let select = expression.selects.first else { return .unknown }
        let columns = review(select, scope)
        switch expression.kind {
        case .subquery:
            if !isUnique(select, scope, by: []) {
                report(
                    expression.line,
                    "sql-rows",
                    "this SELECT may give several rows, of which the first counts, and no order "
                        + "says which that is; ask for a key, or for min, max or count"
                )
            }
            guard columns.count == 1, var found = columns.first?.trait else {
                return .made(of: columns.map(\.trait), .all)
            }
            found.isOptional = true
            return found
        case .exists: return Trait(kinds: .integer)
        default:
            let left = expression.operands.map { trait($0, scope) }
            return .made(of: left + columns.map(\.trait), .integer)
        }
    }

    // MARK: Functions

    private func callTrait(_ call: SQLExpression, _ scope: Scope) -> Trait {
        let traits = call.operands.map { trait($0, scope) }
        for filter in call.filters { checkCondition(filter, scope) }
        checkCall(call)
        for (operand, trait) in zip(call.operands, traits)
        where trait.mayBeReal && Self.textFunctions.contains(call.text) {
            reportReal(operand.line, "\(call.text) takes the text of a fraction")
        }
        switch call.text {
        case "count":
            return Trait(kinds: .integer, isPersonal: traits.contains(where: \.isPersonal))
        case "sum":
            if traits.contains(where: { !$0.kinds.isSubset(of: .integer) }) {
                report(
                    call.line,
                    "sql-sum",
                    "sums of fractions depend on their order, and a text may be one; sum integers, "
                        + "or write CAST(... AS INTEGER)"
                )
            }
            var found = Trait.made(of: traits, .integer)
            found.isOptional = true
            return found
        case "coalesce", "ifnull":
            var found = traits.reduce(Trait()) { $0.union($1) }
            found.isOptional = traits.allSatisfy(\.isOptional)
            return found
        case "iif":
            var found = traits.dropFirst().reduce(Trait()) { $0.union($1) }
            found.isPersonal = traits.contains(where: \.isPersonal)
            return found
        case "min", "max", "nullif":
            var found = traits.reduce(Trait()) { $0.union($1) }
            if traits.count == 1 || call.text == "nullif" { found.isOptional = true }
            return found
        case "abs":
            let isWhole = traits.allSatisfy { $0.kinds.isSubset(of: .integer) }
            return .made(of: traits, isWhole ? .integer : [.integer, .real])
        case "json_extract", "json_type", "json_array_length", "json_valid", "->", "->>":
            return jsonTrait(call, traits)
        case "sign", "length", "instr", "unicode", "glob", "day_diff", "weekday_of":
            return .made(of: traits, .integer)
        default: return .made(of: traits, .text)
        }
    }

    private func checkCall(_ call: SQLExpression) {
        let isKnown =
            AllowList.functions.contains(call.text) || EngineFunction(rawValue: call.text) != nil
        if !isKnown, !(isInTrigger && call.text == "match") {
            report(
                call.line,
                "sql-function",
                "\(call.text) is not allowed here: \(AllowList.remedy(for: call.text))"
            )
        }
        if call.isWindow || call.isOrdered {
            report(
                call.line,
                "sql-window",
                "\(call.text) depends on the order of rows here; use GROUP BY, min or max"
            )
        }
        if call.text == "iif", call.operands.count != 3 {
            report(call.line, "sql-function", "iif takes three values in all builds of SQLite")
        }
    }

    private func jsonTrait(_ call: SQLExpression, _ traits: [Trait]) -> Trait {
        guard let json = traits.first else { return .unknown }
        if json.isLoose || !json.kinds.isSubset(of: .text), call.text != "json_valid" {
            report(
                call.line,
                "sql-json",
                "\(call.text) takes fields that are objects or arrays; builds of SQLite differ in "
                    + "what else they take for JSON"
            )
        }
        let paths = call.operands.dropFirst()
        for path in paths where path.kind != .text {
            let isArrow = call.text.hasPrefix("->")
            guard !(isArrow && path.kind == .integer) else { continue }
            report(
                path.line,
                "sql-json",
                "a path in JSON is written as a text, as in '$.name'; builds of SQLite differ in "
                    + "others"
            )
        }
        if json.members.contains(.real), call.text == "json_extract" || call.text == "->>" {
            reportReal(call.line, "\(call.text) may read a fraction from a text")
        }
        switch call.text {
        case "json_type": return Trait(kinds: .text, isPersonal: json.isPersonal, isOptional: true)
        case "json_valid", "json_array_length":
            return Trait(kinds: .integer, isPersonal: json.isPersonal, isOptional: true)
        default:
            return Trait(
                kinds: json.members.union(.text),
                isPersonal: json.isPersonal,
                isLoose: call.text != "->" && json.members.contains(.text),
                members: json.members,
                isOptional: true
            )
        }
    }
}
