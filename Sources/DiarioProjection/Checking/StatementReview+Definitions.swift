import DiarioSchema

// What is wrong with tables, indexes and triggers where SQLite itself sees nothing wrong.

extension StatementReview {
    /// Prefixes of names that are not the pack's.
    private static let reserved = ["diario_", "sqlite_"]

    /// What can be told before a definition is carried out.
    func checkForm(_ syntax: SQLSyntax) {
        isReporting = true
        defer { isReporting = false }
        switch syntax {
        case .createTable(let table):
            checkName(table.name, table.line)
            for column in table.columns { checkName(column.name, column.line) }
            if table.isOfSelect {
                report(
                    table.line,
                    "table-key",
                    "a table that is made of a SELECT has no key; declare its columns"
                )
            }
            if !table.resolutions.isEmpty {
                report(
                    table.line,
                    "sql-conflict",
                    "ON CONFLICT belongs into statements below -- on TYPE, where one sees it"
                )
            }
            for line in table.deferredLines {
                report(
                    line,
                    "table-reference",
                    "a foreign key that is DEFERRED is looked at when a transaction ends, and "
                        + "that one may hold many events; leave INITIALLY DEFERRED out"
                )
            }
        case .createIndex(let index): checkName(index.name, index.line)
        case .createTrigger(let trigger): checkName(trigger.name, trigger.line)
        case .createVirtualTable(let table):
            checkName(table.name, table.line)
            checkColumns(table)
        case .insert, .update, .delete, .select: break
        }
    }

    private func checkName(_ name: String, _ line: Int) {
        let isPlain =
            name.utf8.count <= 64
            && name.utf8.allSatisfy { byte in
                0x61...0x7a ~= byte | 0x20 || 0x30...0x39 ~= byte || byte == 0x5f
            } && !(name.utf8.first.map { 0x30...0x39 ~= $0 } ?? true)
        let isReserved = Self.reserved.contains { name.lowercased().hasPrefix($0) }
        guard !isPlain || isReserved else { return }
        report(
            line,
            "sql-name",
            isReserved
                ? "names that begin with \(Self.reserved.joined(separator: " or ")) are the "
                    + "engine's; choose another"
                : "a name is at most 64 letters from a to z, digits and _, and begins with none "
                    + "of the digits"
        )
    }

    // MARK: What definitions mean

    /// Learns what comes into generated columns; true if that is more than was known.
    func gather(generated table: SQLSyntax.CreateTable) -> Bool {
        quietly { look(atGenerated: table) }
    }

    /// Tells what is wrong with a definition once the tables are there.
    func check(definition syntax: SQLSyntax) {
        isReporting = true
        defer { isReporting = false }
        switch syntax {
        case .createTable(let table):
            guard let shape = tables[table.name.lowercased()] else { return }
            _ = look(atGenerated: table)
            let scope = Scope([plain(table.name, shape)])
            for check in table.checks { checkCondition(check, scope) }
        case .createIndex(let index): check(index)
        case .createTrigger(let trigger): check(trigger)
        case .createVirtualTable(let table): checkOptions(table)
        case .insert, .update, .delete, .select: break
        }
    }

    private func look(atGenerated table: SQLSyntax.CreateTable) -> Bool {
        guard let shape = tables[table.name.lowercased()] else { return false }
        let scope = Scope([plain(table.name, shape)])
        var isNew = false
        for column in table.columns {
            guard let expression = column.generated, let found = shape.column(column.name) else {
                continue
            }
            isNew = give(shape, found, trait(expression, scope), expression, scope) || isNew
        }
        return isNew
    }

    private func check(_ index: SQLSyntax.CreateIndex) {
        guard let shape = tables[index.table.lowercased()], !shape.isVirtual else {
            return report(
                index.line,
                "sql-table",
                "\(index.table) is no plain table of this read model, so it gets no index here"
            )
        }
        let scope = Scope([plain(index.table, shape)])
        for column in index.columns {
            let found = trait(column, scope)
            // Other indexes only help to find rows.
            guard index.isUnique, found.isPersonal else { continue }
            let leaf = personalLeaf(column, scope) ?? column
            report(
                leaf.line,
                "personal-key",
                "\(leaf.text) is personal and can be erased, so it cannot be in the index "
                    + "\(index.name), which is a key"
            )
        }
        guard let condition = index.condition else { return }
        if index.isUnique {
            checkCondition(condition, scope)
        } else {
            _ = trait(condition, scope)
        }
    }

    // MARK: Triggers

    private func check(_ trigger: SQLSyntax.CreateTrigger) {
        guard let shape = tables[trigger.table.lowercased()], !shape.isVirtual else {
            return report(
                trigger.line,
                "sql-table",
                "\(trigger.table) is no plain table of this read model, so it gets no trigger here"
            )
        }
        isInTrigger = true
        triggerSources = [plain("new", shape), plain("old", shape)]
        defer {
            isInTrigger = false
            triggerSources = []
        }
        if let condition = trigger.condition { _ = trait(condition, Scope(triggerSources)) }
        for statement in trigger.body { check(fed: statement) }
    }

    private func check(fed statement: SQLSyntax) {
        let (table, line): (String, Int)
        switch statement {
        case .insert(let insert): (table, line) = (insert.table, insert.line)
        case .update(let update): (table, line) = (update.table, update.line)
        case .delete(let delete): (table, line) = (delete.table, delete.line)
        default: return look(at: statement)
        }
        guard let shape = tables[table.lowercased()], shape.isVirtual else {
            return report(
                line,
                "sql-trigger",
                "a trigger only feeds virtual tables of its read model, and \(table) is none"
            )
        }
        if case .insert(let insert) = statement { checkCommand(insert, shape) }
        look(at: statement)
    }

    /// An index of texts takes commands through a column with its own name.
    private func checkCommand(_ insert: SQLSyntax.Insert, _ shape: TableShape) {
        let names = insert.columns?.map { $0.lowercased() } ?? []
        for (place, name) in names.enumerated()
        where name == "rank" || name == shape.name.lowercased() {
            var values: [[SQLExpression?]] = []
            for core in insert.source?.cores ?? [] {
                if core.rows.isEmpty { values.append(core.columns.map(\.expression)) }
                for row in core.rows { values.append(row) }
            }
            let isDelete =
                name != "rank" && !values.isEmpty
                && values.allSatisfy { row in
                    place < row.count && row[place]?.kind == .text && row[place]?.text == "delete"
                }
            guard !isDelete else { continue }
            report(
                insert.line,
                "sql-virtual",
                "the only command that a trigger gives to \(shape.name) is 'delete'"
            )
        }
    }

    // MARK: Virtual tables

    private static let textOptions: Set<String> = [
        "tokenize", "prefix", "content", "content_rowid", "columnsize", "detail",
    ]
    /// What texts are taken apart by, with options, in all builds of SQLite.
    private static let tokenizers: [String: Set<String>] = [
        "unicode61": ["remove_diacritics", "tokenchars", "separators", "categories"],
        "ascii": ["tokenchars", "separators"],
        "porter": [], "trigram": ["case_sensitive"],
    ]

    private static func isOption(
        _ argument: [SQLWord],
        _ table: SQLSyntax.CreateVirtualTable
    ) -> Bool {
        table.module == "fts5" && argument.dropFirst().first?.text == "="
    }

    private func checkColumns(_ table: SQLSyntax.CreateVirtualTable) {
        for argument in table.arguments where !Self.isOption(argument, table) {
            guard let first = argument.first else { continue }
            // An index of places may have columns with a plus before them.
            let name = first.text == "+" ? argument.dropFirst().first : first
            checkName(name?.name ?? "", first.line)
        }
    }

    private func checkOptions(_ table: SQLSyntax.CreateVirtualTable) {
        for argument in table.arguments where Self.isOption(argument, table) {
            let value = argument.dropFirst(2).map { $0.name ?? $0.unquotedText }
                .joined(separator: " ")
            check(option: argument[0].text.lowercased(), value, argument[0].line)
        }
    }

    private func check(option: String, _ value: String, _ line: Int) {
        guard Self.textOptions.contains(option) else {
            return report(
                line,
                "sql-virtual",
                "fts5 has the option \(option) in some builds of SQLite only; there are "
                    + Self.textOptions.sorted().joined(separator: ", ")
            )
        }
        switch option {
        case "content":
            guard !value.isEmpty, tables[value.lowercased()]?.isVirtual ?? true else { return }
            report(
                line,
                "sql-virtual",
                "content is '' or a plain table that this read model has made before, and \(value) "
                    + "is none"
            )
        case "tokenize":
            // Behind each of a tokenizer's options stands its value.
            let words = value.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
            var allowed: Set<String>?
            var place = 0
            while place < words.count {
                if allowed?.contains(words[place]) ?? false {
                    place += 2
                } else if let options = Self.tokenizers[words[place]],
                    allowed == nil || words[0] == "porter" && place == 1
                {
                    allowed = options
                    place += 1
                } else {
                    return report(
                        line,
                        "sql-virtual",
                        "\(words[place]) is known to some builds of SQLite only; there are "
                            + Self.tokenizers.keys.sorted().joined(separator: ", ")
                    )
                }
            }
        default: break
        }
    }
}

extension SQLWord {
    /// Without the quotes around a text.
    fileprivate var unquotedText: String {
        kind == .text ? String(text.dropFirst().dropLast()) : text
    }
}
