extension SQLParser {
    private typealias Operand = (inout SQLParser) throws(SQLSyntaxFault) -> SQLExpression

    mutating func parseExpression() throws(SQLSyntaxFault) -> SQLExpression {
        try descend { (parser) throws(SQLSyntaxFault) in try parser.parseOr() }
    }

    private mutating func parseOr() throws(SQLSyntaxFault) -> SQLExpression {
        var left = try parseAnd()
        while isAt("OR") {
            let line = line
            advance()
            left = SQLExpression(.operation, "OR", line: line, [left, try parseAnd()])
        }
        return left
    }

    private mutating func parseAnd() throws(SQLSyntaxFault) -> SQLExpression {
        var left = try parseNot()
        while isAt("AND") {
            let line = line
            advance()
            left = SQLExpression(.operation, "AND", line: line, [left, try parseNot()])
        }
        return left
    }

    private mutating func parseNot() throws(SQLSyntaxFault) -> SQLExpression {
        let line = line
        guard take("NOT") else { return try parseEquality() }
        let operand = try descend { (parser) throws(SQLSyntaxFault) in try parser.parseNot() }
        return SQLExpression(.operation, "NOT", line: line, [operand])
    }

    /// Comparisons for equality, IS, IN, LIKE, BETWEEN.
    private mutating func parseEquality() throws(SQLSyntaxFault) -> SQLExpression {
        var left = try parseOrder()
        while let token = current {
            let line = token.line
            if token.kind == .symbol, ["=", "==", "<>", "!="].contains(token.text) {
                advance()
                let name = token.text == "==" ? "=" : token.text == "!=" ? "<>" : token.text
                left = SQLExpression(.operation, name, line: line, [left, try parseOrder()])
            } else if isAt("ISNULL") || isAt("NOTNULL") || (isAt("NOT") && peek(1)?.text == "NULL")
            {
                let name = take("ISNULL") ? "IS" : "IS NOT"
                if name == "IS NOT" { _ = take("NOTNULL") || take("NOT", "NULL") }
                let null = SQLExpression(.null, "NULL", line: line)
                left = SQLExpression(.operation, name, line: line, [left, null])
            } else if take("IS") {
                let isNot = take("NOT")
                if take("DISTINCT") { try expect("FROM") }
                let name = isNot ? "IS NOT" : "IS"
                left = SQLExpression(.operation, name, line: line, [left, try parseOrder()])
            } else if isAt("IN") || (isAt("NOT") && peek(1)?.text == "IN") {
                let name = take("NOT") ? "NOT IN" : "IN"
                advance()
                left = try parseMembership(left, name, line)
            } else if let found = try parseMatch(left, line) {
                left = found
            } else {
                break
            }
        }
        return left
    }

    /// LIKE and its kin, and BETWEEN.
    private mutating func parseMatch(
        _ left: SQLExpression,
        _ line: Int
    ) throws(SQLSyntaxFault) -> SQLExpression? {
        let start = isAt("NOT") ? peek(1) : current
        guard let word = start, word.kind == .word,
            ["LIKE", "GLOB", "REGEXP", "MATCH", "BETWEEN"].contains(word.text)
        else { return nil }
        _ = take("NOT")
        advance()
        var operands = [left, try parseOrder()]
        if word.text == "BETWEEN" {
            try expect("AND")
            operands.append(try parseOrder())
            return SQLExpression(.operation, "BETWEEN", line: line, operands)
        }
        if take("ESCAPE") { operands.append(try parseOrder()) }
        return SQLExpression(.call, word.text.lowercased(), line: line, operands)
    }

    private mutating func parseMembership(
        _ left: SQLExpression,
        _ name: String,
        _ line: Int
    ) throws(SQLSyntaxFault) -> SQLExpression {
        guard takeSymbol("(") else {
            // IN table
            let table = try parseQualifiedName()
            guard !isAtSymbol("(") else { throw fault() }
            var core = SQLSelect.Core()
            core.columns = [SQLSelect.Column()]
            core.sources = [SQLSelect.Source(table: table, line: line)]
            var found = SQLExpression(.membership, name, line: line, [left])
            found.selects = [SQLSelect(cores: [core], line: line)]
            return found
        }
        if takeSymbol(")") { return SQLExpression(.operation, name, line: line, [left]) }
        if isAtSelect {
            var found = SQLExpression(.membership, name, line: line, [left])
            found.selects = [try parseSelect()]
            try expectSymbol(")")
            return found
        }
        let items = try parseList { (parser) throws(SQLSyntaxFault) in
            try parser.parseExpression()
        }
        try expectSymbol(")")
        return SQLExpression(.operation, name, line: line, [left] + items)
    }

    private mutating func parseOrder() throws(SQLSyntaxFault) -> SQLExpression {
        try parseChain(["<", "<=", ">", ">="]) { (parser) throws(SQLSyntaxFault) in
            try parser.parseBits()
        }
    }

    private mutating func parseBits() throws(SQLSyntaxFault) -> SQLExpression {
        try parseChain(["&", "|", "<<", ">>"]) { (parser) throws(SQLSyntaxFault) in
            try parser.parseSum()
        }
    }

    private mutating func parseSum() throws(SQLSyntaxFault) -> SQLExpression {
        try parseChain(["+", "-"]) { (parser) throws(SQLSyntaxFault) in
            try parser.parseProduct()
        }
    }

    private mutating func parseProduct() throws(SQLSyntaxFault) -> SQLExpression {
        try parseChain(["*", "/", "%"]) { (parser) throws(SQLSyntaxFault) in
            try parser.parseConcatenation()
        }
    }

    private mutating func parseConcatenation() throws(SQLSyntaxFault) -> SQLExpression {
        try parseChain(["||", "->", "->>"]) { (parser) throws(SQLSyntaxFault) in
            try parser.parseUnary()
        }
    }

    private mutating func parseChain(
        _ operators: Set<String>,
        _ operand: Operand
    ) throws(SQLSyntaxFault) -> SQLExpression {
        var left = try operand(&self)
        while let token = current, token.kind == .symbol, operators.contains(token.text) {
            advance()
            let kind: SQLExpression.Kind = token.text.hasPrefix("->") ? .call : .operation
            left = SQLExpression(kind, token.text, line: token.line, [left, try operand(&self)])
        }
        return left
    }

    private mutating func parseUnary() throws(SQLSyntaxFault) -> SQLExpression {
        guard let token = current, token.kind == .symbol, ["-", "+", "~"].contains(token.text)
        else {
            let found = try parsePrimary()
            guard isAt("COLLATE") else { return found }
            throw fault()
        }
        advance()
        let operand = try descend { (parser) throws(SQLSyntaxFault) in try parser.parseUnary() }
        return SQLExpression(.operation, token.text, line: token.line, [operand])
    }

    private mutating func parsePrimary() throws(SQLSyntaxFault) -> SQLExpression {
        guard let token = current else { throw fault() }
        switch token.kind {
        case .number:
            advance()
            return SQLExpression(Self.kind(ofNumber: token.source), token.source, line: token.line)
        case .text where peek(1)?.text != ".":
            advance()
            return SQLExpression(.text, Self.name(token) ?? "", line: token.line)
        case .blob:
            advance()
            return SQLExpression(.blob, token.source, line: token.line)
        case .parameter:
            advance()
            return SQLExpression(.parameter, String(token.source.dropFirst()), line: token.line)
        case .symbol where token.text == "(": return try parseBrackets()
        case .word: return try parseWord(token)
        case .quotedName, .text: return try parseColumn()
        default: throw fault()
        }
    }

    private static func kind(ofNumber text: String) -> SQLExpression.Kind {
        if text.hasPrefix("0x") || text.hasPrefix("0X") { return .integer }
        let digits = text.replacing("_", with: "")
        return Int64(digits) == nil ? .real : .integer
    }

    private mutating func parseBrackets() throws(SQLSyntaxFault) -> SQLExpression {
        let line = line
        advance()
        if isAtSelect {
            var found = SQLExpression(.subquery, "", line: line)
            found.selects = [try parseSelect()]
            try expectSymbol(")")
            return found
        }
        let items = try parseList { (parser) throws(SQLSyntaxFault) in
            try parser.parseExpression()
        }
        try expectSymbol(")")
        return items.count == 1 ? items[0] : SQLExpression(.row, "", line: line, items)
    }

    private mutating func parseWord(_ token: Token) throws(SQLSyntaxFault) -> SQLExpression {
        let next = peek(1)
        let isCall = next?.kind == .symbol && next?.text == "("
        switch token.text {
        case "NULL":
            advance()
            return SQLExpression(.null, "NULL", line: token.line)
        case "TRUE" where next?.text != ".", "FALSE" where next?.text != ".":
            advance()
            return SQLExpression(.integer, token.text == "TRUE" ? "1" : "0", line: token.line)
        case "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP":
            advance()
            return SQLExpression(.call, token.text.lowercased(), line: token.line)
        case "CASE": return try parseCase()
        case "CAST" where isCall:
            index(past: 2)
            let operand = try parseExpression()
            try expect("AS")
            var type = ""
            while let word = current, word.kind == .word {
                type += (type.isEmpty ? "" : " ") + word.text
                advance()
            }
            try expectSymbol(")")
            return SQLExpression(.cast, type, line: token.line, [operand])
        case "EXISTS" where isCall:
            index(past: 2)
            var found = SQLExpression(.exists, "", line: token.line)
            found.selects = [try parseSelect()]
            try expectSymbol(")")
            return found
        case "RAISE" where isCall:
            index(past: 2)
            _ = skipArgument()
            if takeSymbol(",") { _ = skipArgument() }
            try expectSymbol(")")
            return SQLExpression(.raise, "", line: token.line)
        case "SELECT", "VALUES", "WITH", "FROM", "WHERE": throw fault()
        default: return isCall ? try parseCall(token) : try parseColumn()
        }
    }

    private mutating func index(past count: Int) { for _ in 0..<count { advance() } }

    private mutating func parseColumn() throws(SQLSyntaxFault) -> SQLExpression {
        let line = line
        let first = try parseName()
        if isAtSymbol("(") {
            // A function whose name is in quotes.
            return try parseCall(Token(kind: .word, text: first, source: first, line: line), at: 0)
        }
        var parts = [first]
        while takeSymbol(".") { parts.append(try parseName()) }
        var found = SQLExpression(.column, parts[parts.count - 1], line: line)
        if parts.count > 1 { found.qualifier = parts[parts.count - 2] }
        return found
    }

    private mutating func parseCall(
        _ token: Token,
        at distance: Int = 1
    ) throws(SQLSyntaxFault) -> SQLExpression {
        index(past: distance + 1)
        var call = SQLExpression(.call, token.source.lowercased(), line: token.line)
        if takeSymbol("*") {
            try expectSymbol(")")
        } else if !takeSymbol(")") {
            call.isDistinct = take("DISTINCT")
            if !call.isDistinct { _ = take("ALL") }
            call.operands = try parseList { (parser) throws(SQLSyntaxFault) in
                try parser.parseExpression()
            }
            if isAt("ORDER") {
                call.isOrdered = true
                _ = skipArgument()
                while takeSymbol(",") { _ = skipArgument() }
            }
            try expectSymbol(")")
        }
        if take("FILTER") {
            try expectSymbol("(")
            try expect("WHERE")
            call.filters = [try parseExpression()]
            try expectSymbol(")")
        }
        if take("OVER") {
            call.isWindow = true
            if takeSymbol("(") {
                _ = skipArgument()
                while takeSymbol(",") { _ = skipArgument() }
                try expectSymbol(")")
            } else {
                _ = try parseName()
            }
        }
        return call
    }

    private mutating func parseCase() throws(SQLSyntaxFault) -> SQLExpression {
        var found = SQLExpression(.operation, "CASE", line: line)
        advance()
        if !isAt("WHEN") {
            found.hasBase = true
            found.operands.append(try parseExpression())
        }
        while take("WHEN") {
            found.operands.append(try parseExpression())
            try expect("THEN")
            found.operands.append(try parseExpression())
        }
        if take("ELSE") {
            found.hasElse = true
            found.operands.append(try parseExpression())
        }
        try expect("END")
        return found
    }
}
