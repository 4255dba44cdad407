extension SQLParser {
    /// Words that end a part of a SELECT, and so are no alias.
    private static let ends: Set<String> = [
        "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "ON",
        "USING", "JOIN", "LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS", "NATURAL", "WINDOW",
        "RETURNING", "SET", "INDEXED", "NOT", "DO", "END", "VALUES", "SELECT", "DEFAULT",
    ]

    var isAtSelect: Bool { isAt(anyOf: ["SELECT", "VALUES", "WITH"]) }

    mutating func parseSelect() throws(SQLSyntaxFault) -> SQLSelect {
        guard selectDepth < Self.selectDepthMax else {
            throw SQLSyntaxFault(line: line, message: "there are too many SELECTs in one another")
        }
        selectDepth += 1
        defer { selectDepth -= 1 }
        return try descend { (parser) throws(SQLSyntaxFault) in try parser.parseWholeSelect() }
    }

    private mutating func parseWholeSelect() throws(SQLSyntaxFault) -> SQLSelect {
        var select = SQLSelect(line: line)
        select.named = try parseNamed()
        select.cores = [try parseCore()]
        while isAt(anyOf: ["UNION", "EXCEPT", "INTERSECT"]) {
            let isUnion = take("UNION")
            if !isUnion { advance() }
            if !(isUnion && take("ALL")) { select.isCombined = true }
            select.cores.append(try parseCore())
        }
        if take("ORDER", "BY") { select.order = try parseSorted() }
        // A LIMIT is refused by its name.
        if take("LIMIT") {
            _ = try parseExpression()
            if take("OFFSET") || takeSymbol(",") { _ = try parseExpression() }
        }
        return select
    }

    /// Tables that have a name for the statement alone.
    mutating func parseNamed() throws(SQLSyntaxFault) -> [SQLSelect.Named] {
        guard take("WITH") else { return [] }
        _ = take("RECURSIVE")
        return try parseList { (parser) throws(SQLSyntaxFault) in
            let name = try parser.parseName()
            let columns = parser.isAtSymbol("(") ? try parser.parseNames() : []
            try parser.expect("AS")
            _ = parser.take("NOT")
            _ = parser.take("MATERIALIZED")
            try parser.expectSymbol("(")
            let select = try parser.parseSelect()
            try parser.expectSymbol(")")
            return SQLSelect.Named(name: name, columns: columns, selects: [select])
        }
    }

    /// Expressions, each with its direction.
    private mutating func parseSorted() throws(SQLSyntaxFault) -> [SQLExpression] {
        try parseList { (parser) throws(SQLSyntaxFault) in
            let found = try parser.parseExpression()
            _ = parser.take("ASC") || parser.take("DESC")
            _ = parser.take("NULLS", "FIRST") || parser.take("NULLS", "LAST")
            return found
        }
    }

    private mutating func parseCore() throws(SQLSyntaxFault) -> SQLSelect.Core {
        var core = SQLSelect.Core()
        if take("VALUES") {
            core.rows = try parseList { (parser) throws(SQLSyntaxFault) in
                try parser.parseBracketed { (parser) throws(SQLSyntaxFault) in
                    try parser.parseExpression()
                }
            }
            return core
        }
        try expect("SELECT")
        core.isDistinct = take("DISTINCT")
        if !core.isDistinct { _ = take("ALL") }
        core.columns = try parseList { (parser) throws(SQLSyntaxFault) in
            try parser.parseResultColumn()
        }
        if take("FROM") { core.sources = try parseSources() }
        if take("WHERE") { core.condition = try parseExpression() }
        if take("GROUP", "BY") {
            core.groups = try parseList { (parser) throws(SQLSyntaxFault) in
                try parser.parseExpression()
            }
        }
        if take("HAVING") { core.having = try parseExpression() }
        if take("WINDOW") {
            core.hasWindow = true
            repeat {
                _ = try parseName()
                try expect("AS")
                _ = skipArgument()
            } while takeSymbol(",")
        }
        return core
    }

    private mutating func parseResultColumn() throws(SQLSyntaxFault) -> SQLSelect.Column {
        var column = SQLSelect.Column()
        if takeSymbol("*") { return column }
        if let name = current.flatMap({ Self.name($0) }), peek(1)?.text == ".", peek(2)?.text == "*"
        {
            for _ in 0..<3 { advance() }
            column.starTable = name
            return column
        }
        column.expression = try parseExpression()
        column.alias = try parseAlias()
        return column
    }

    mutating func parseAlias() throws(SQLSyntaxFault) -> String? {
        if take("AS") { return try parseName() }
        guard let token = current, token.kind != .word || !Self.ends.contains(token.text),
            let name = Self.name(token)
        else { return nil }
        advance()
        return name
    }

    mutating func parseSources() throws(SQLSyntaxFault) -> [SQLSelect.Source] {
        var sources = [try parseSource()]
        while true {
            if takeSymbol(",") {
                sources.append(try parseSource())
                continue
            }
            let isNatural = take("NATURAL")
            var isOuter = false
            while isAt(anyOf: ["LEFT", "RIGHT", "FULL", "OUTER", "INNER", "CROSS"]) {
                // What keeps rows of the right side makes all sides optional.
                if isAt(anyOf: ["RIGHT", "FULL"]) { throw fault() }
                isOuter = isOuter || isAt("LEFT") || isAt("OUTER")
                advance()
            }
            guard take("JOIN") else {
                guard !isNatural, !isOuter else { throw fault() }
                return sources
            }
            var source = try parseSource()
            (source.isOuter, source.isNatural) = (isOuter, isNatural)
            if take("ON") { source.condition = try parseExpression() }
            if take("USING") { source.shared = try parseNames() }
            sources.append(source)
        }
    }

    private mutating func parseSource() throws(SQLSyntaxFault) -> SQLSelect.Source {
        var source = SQLSelect.Source(line: line)
        if takeSymbol("(") {
            // Joins in brackets could be anything.
            guard isAtSelect else { throw fault() }
            source.selects = [try parseSelect()]
            try expectSymbol(")")
        } else {
            source.table = try parseQualifiedName()
            if takeSymbol("(") {
                source.arguments = []
                if !isAtSymbol(")") {
                    source.arguments = try parseList { (parser) throws(SQLSyntaxFault) in
                        try parser.parseExpression()
                    }
                }
                try expectSymbol(")")
            }
        }
        source.alias = try parseAlias()
        // The hint would make a statement depend on an index.
        if isAt("INDEXED") || (isAt("NOT") && peek(1)?.text == "INDEXED") { throw fault() }
        return source
    }
}
