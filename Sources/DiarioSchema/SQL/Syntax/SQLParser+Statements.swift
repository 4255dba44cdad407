extension SQLParser {
    mutating func parseStatement() throws(SQLSyntaxFault) -> SQLSyntax {
        guard isAt("CREATE") else { return try parseChange() }
        let line = line
        advance()
        _ = take("TEMP") || take("TEMPORARY")
        let isUnique = take("UNIQUE")
        if take("INDEX") { return .createIndex(try parseIndex(isUnique, line)) }
        if take("TABLE") { return .createTable(try parseTable(line)) }
        if take("TRIGGER") { return .createTrigger(try parseTrigger(line)) }
        if take("VIRTUAL", "TABLE") { return .createVirtualTable(try parseVirtualTable(line)) }
        throw fault()
    }

    // MARK: Changes of rows

    /// A statement that changes rows, or a SELECT.
    private mutating func parseChange() throws(SQLSyntaxFault) -> SQLSyntax {
        let line = line
        let start = index
        let named = try parseNamed()
        if take("INSERT") || isAt("REPLACE") { return .insert(try parseInsert(named, line)) }
        if take("UPDATE") { return .update(try parseUpdate(named, line)) }
        if take("DELETE") {
            try expect("FROM")
            var delete = SQLSyntax.Delete(named: named, line: line)
            delete.table = try parseQualifiedName()
            if take("AS") { delete.alias = try parseName() }
            if take("WHERE") { delete.condition = try parseExpression() }
            try refuseRest()
            return .delete(delete)
        }
        guard isAtSelect else { throw fault() }
        rewind(to: start)
        return .select(try parseSelect())
    }

    /// What may stand at the end of an UPDATE or DELETE, and is refused by its name.
    private mutating func refuseRest() throws(SQLSyntaxFault) {
        guard isAt(anyOf: ["ORDER", "LIMIT", "RETURNING", "INDEXED"]) else { return }
        throw fault()
    }

    private mutating func parseInsert(
        _ named: [SQLSelect.Named],
        _ line: Int
    ) throws(SQLSyntaxFault) -> SQLSyntax.Insert {
        var insert = SQLSyntax.Insert(named: named, line: line)
        if take("REPLACE") { insert.resolution = "REPLACE" }
        if take("OR") { insert.resolution = try parseWordInCapitals() }
        try expect("INTO")
        insert.table = try parseQualifiedName()
        if take("AS") { insert.alias = try parseName() }
        if isAtSymbol("(") { insert.columns = try parseNames() }
        if take("DEFAULT", "VALUES") { return insert }
        insert.source = try parseSelect()
        while take("ON", "CONFLICT") { insert.upserts.append(try parseUpsert()) }
        return insert
    }

    private mutating func parseWordInCapitals() throws(SQLSyntaxFault) -> String {
        guard let token = current, token.kind == .word else { throw fault() }
        advance()
        return token.text
    }

    private mutating func parseUpsert() throws(SQLSyntaxFault) -> SQLSyntax.Upsert {
        var upsert = SQLSyntax.Upsert(line: line)
        if isAtSymbol("(") {
            upsert.target = try parseBracketed { (parser) throws(SQLSyntaxFault) in
                try parser.parseExpression()
            }
            if take("WHERE") { upsert.targetCondition = try parseExpression() }
        }
        try expect("DO")
        if take("NOTHING") { return upsert }
        try expect("UPDATE")
        try expect("SET")
        upsert.changes = try parseChanges()
        if take("WHERE") { upsert.condition = try parseExpression() }
        return upsert
    }

    private mutating func parseChanges() throws(SQLSyntaxFault) -> [SQLSyntax.Change] {
        try parseList { (parser) throws(SQLSyntaxFault) in
            let columns =
                parser.isAtSymbol("(") ? try parser.parseNames() : [try parser.parseName()]
            try parser.expectSymbol("=")
            return SQLSyntax.Change(columns: columns, value: try parser.parseExpression())
        }
    }

    private mutating func parseUpdate(
        _ named: [SQLSelect.Named],
        _ line: Int
    ) throws(SQLSyntaxFault) -> SQLSyntax.Update {
        var update = SQLSyntax.Update(named: named, line: line)
        if take("OR") { update.resolution = try parseWordInCapitals() }
        update.table = try parseQualifiedName()
        if take("AS") { update.alias = try parseName() }
        try expect("SET")
        update.changes = try parseChanges()
        if take("FROM") { update.sources = try parseSources() }
        if take("WHERE") { update.condition = try parseExpression() }
        try refuseRest()
        return update
    }

    // MARK: Definitions

    private mutating func skipIfNotExists() { _ = take("IF", "NOT", "EXISTS") }

    private mutating func parseIndex(
        _ isUnique: Bool,
        _ line: Int
    ) throws(SQLSyntaxFault) -> SQLSyntax.CreateIndex {
        skipIfNotExists()
        var index = SQLSyntax.CreateIndex(isUnique: isUnique, line: line)
        index.name = try parseQualifiedName()
        try expect("ON")
        index.table = try parseName()
        index.columns = try parseBracketed { (parser) throws(SQLSyntaxFault) in
            let found = try parser.parseExpression()
            _ = parser.take("ASC") || parser.take("DESC")
            return found
        }
        if take("WHERE") { index.condition = try parseExpression() }
        return index
    }

    private mutating func parseTrigger(
        _ line: Int
    ) throws(SQLSyntaxFault) -> SQLSyntax.CreateTrigger {
        skipIfNotExists()
        var trigger = SQLSyntax.CreateTrigger(line: line)
        trigger.name = try parseQualifiedName()
        _ = take("BEFORE") || take("AFTER") || take("INSTEAD", "OF")
        guard take("INSERT") || take("DELETE") || take("UPDATE") else { throw fault() }
        if take("OF") {
            _ = try parseList { (parser) throws(SQLSyntaxFault) in try parser.parseName() }
        }
        try expect("ON")
        trigger.table = try parseName()
        _ = take("FOR", "EACH", "ROW")
        if take("WHEN") { trigger.condition = try parseExpression() }
        try expect("BEGIN")
        while !isAt("END") {
            trigger.body.append(try parseChange())
            try expectSymbol(";")
        }
        advance()
        return trigger
    }

    private mutating func parseVirtualTable(
        _ line: Int
    ) throws(SQLSyntaxFault) -> SQLSyntax.CreateVirtualTable {
        skipIfNotExists()
        var table = SQLSyntax.CreateVirtualTable(line: line)
        table.name = try parseQualifiedName()
        try expect("USING")
        table.module = try parseName().lowercased()
        if takeSymbol("(") {
            repeat { table.arguments.append(skipArgument()) } while takeSymbol(",")
            try expectSymbol(")")
        }
        return table
    }

    private mutating func parseTable(_ line: Int) throws(SQLSyntaxFault) -> SQLSyntax.CreateTable {
        skipIfNotExists()
        var table = SQLSyntax.CreateTable(line: line)
        table.name = try parseQualifiedName()
        if take("AS") {
            table.isOfSelect = true
            _ = try parseSelect()
            return table
        }
        try expectSymbol("(")
        while true {
            if isAtRule { try parseRule(&table) } else { try parseColumn(&table) }
            // Rules may follow one another without a comma.
            if takeSymbol(",") || isAtRule { continue }
            try expectSymbol(")")
            break
        }
        while let token = current, token.kind == .word || token.text == "," { advance() }
        return table
    }

    private var isAtRule: Bool {
        isAt(anyOf: ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"])
    }

    private mutating func parseColumn(
        _ table: inout SQLSyntax.CreateTable
    ) throws(SQLSyntaxFault) {
        let line = line
        let name = try parseName()
        var type = ""
        let ends: Set<String> = [
            "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE",
            "REFERENCES", "GENERATED", "AS",
        ]
        while let word = current, word.kind == .word, !ends.contains(word.text) {
            type += word.text
            advance()
        }
        table.columns.append(
            SQLSyntax.CreateTable.Column(name: name, type: type, generated: nil, line: line)
        )
        while isAt(anyOf: ends), !isAt(anyOf: ["FOREIGN"]) { try parseRule(&table) }
    }

    /// A rule of the column that was read last, or of the table.
    private mutating func parseRule(_ table: inout SQLSyntax.CreateTable) throws(SQLSyntaxFault) {
        if take("CONSTRAINT") { _ = try parseName() }
        if take("CHECK") {
            try expectSymbol("(")
            table.checks.append(try parseExpression())
            try expectSymbol(")")
        } else if isAt("GENERATED") || isAt("AS") {
            _ = take("GENERATED", "ALWAYS")
            try expect("AS")
            try expectSymbol("(")
            table.columns[table.columns.count - 1].generated = try parseExpression()
            try expectSymbol(")")
            _ = take("STORED") || take("VIRTUAL")
        } else if take("DEFAULT") {
            if isAtSymbol("(") {
                _ = try parseExpression()
            } else {
                _ = takeSymbol("-") || takeSymbol("+")
                advance()
            }
        } else if take("REFERENCES") {
            try parseReference(of: &table)
        } else if take("FOREIGN", "KEY") {
            _ = try parseNames()
            try expect("REFERENCES")
            try parseReference(of: &table)
        } else if take("PRIMARY", "KEY") || take("UNIQUE") {
            if isAtSymbol("(") {
                _ = try parseBracketed { (parser) throws(SQLSyntaxFault) in
                    _ = try parser.parseExpression()
                    _ = parser.take("ASC") || parser.take("DESC")
                }
            } else {
                _ = take("ASC") || take("DESC")
            }
            // Refused by its name.
            _ = take("AUTOINCREMENT")
        } else if take("NOT", "NULL") || take("NULL") {
        } else {
            throw fault()
        }
        if take("ON", "CONFLICT") { table.resolutions.append(try parseWordInCapitals()) }
    }

    private mutating func parseReference(
        of table: inout SQLSyntax.CreateTable
    ) throws(SQLSyntaxFault) {
        _ = try parseName()
        if isAtSymbol("(") { _ = try parseNames() }
        while true {
            if take("ON", "DELETE") || take("ON", "UPDATE") {
                if !(take("NO", "ACTION") || take("SET")) {
                    advance()
                } else {
                    _ = take("NULL") || take("DEFAULT")
                }
            } else if take("MATCH") {
                advance()
            } else if take("NOT", "DEFERRABLE") {
                if take("INITIALLY") { advance() }
            } else if isAt("DEFERRABLE") {
                let line = line
                advance()
                if take("INITIALLY", "DEFERRED") {
                    table.deferredLines.append(line)
                } else if take("INITIALLY") {
                    advance()
                }
            } else {
                return
            }
        }
    }
}
