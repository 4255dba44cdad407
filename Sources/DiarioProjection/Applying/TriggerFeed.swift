import DiarioCore
import DiarioSQLite
import DiarioSchema

/// The virtual tables of a read model, if all its triggers do nothing but keep each of them equal
/// to one plain table: schema/decisions/0034-what-can-wait-is-done-at-the-end.md.
///
/// Triggers are compared word by word; nothing here knows SQL beyond its own few forms.
struct TriggerFeed {
    /// The names of the triggers.
    private(set) var triggers: [String] = []
    /// Statements that fill the empty virtual tables.
    private(set) var fills: [String] = []
    /// A table of which that cannot be told; nil if it can of all.
    private(set) var doubtful: String?

    /// A trigger AFTER INSERT, DELETE or UPDATE.
    private struct Trigger {
        let name: String
        let event: String
        /// Those after `UPDATE OF`; empty means all.
        private(set) var columns: Set<String> = []
        let table: String
        let statements: [[String]]

        /// Nil for any other form.
        init?(_ words: [String]) {
            var rest = words[...]
            guard rest.skip("create trigger") else { return nil }
            _ = rest.skip("if not exists")
            guard let name = rest.popFirst(), rest.skip("after"), let event = rest.popFirst()
            else { return nil }
            if event == "update", rest.skip("of") {
                repeat { columns.insert(rest.popFirst() ?? "") } while rest.skip(",")
            }
            guard rest.skip("on"), let table = rest.popFirst() else { return nil }
            _ = rest.skip("for each row")
            guard rest.skip("begin"), rest.popLast() == "end" else { return nil }
            (self.name, self.event, self.table) = (name, event, table)
            statements = rest.split(separator: ";").map { Array($0) }
        }

        func statements(on table: String) -> [[String]] {
            statements.filter { $0.prefix(3).last == table }
        }
    }

    /// The statements by which an index is fed, the columns that are in it, and its filling.
    private struct Form {
        let added: [String]
        let deleted: [String]
        let used: Set<String>
        let fill: String
    }

    init(_ model: ReadModel, _ connection: borrowing Connection) throws(SQLiteError) {
        let words = model.definitions.map { $0.words }
        let all = words.filter { $0.starts(with: ["create", "trigger"]) }
        let known = all.compactMap { Trigger($0) }
        triggers = known.map { $0.name }
        // Statements of triggers that feed no index are left over.
        var rest = known.reduce(0) { $0 + $1.statements.count } + all.count - known.count
        for var module in words where module.starts(with: ["create", "virtual", "table"]) {
            module.removeFirst(module[3...].starts(with: ["if", "not", "exists"]) ? 6 : 3)
            let own = known.filter { !$0.statements(on: module[0]).isEmpty }
            guard !own.isEmpty else { continue }
            guard let fill = try Self.fill(module, own, connection) else {
                doubtful = module[0]
                return
            }
            fills.append(fill)
            rest -= own.reduce(0) { $0 + $1.statements(on: module[0]).count }
        }
        if rest > 0 { doubtful = "a table" }
    }

    /// The statement that fills an index; nil if its triggers might make another one.
    private static func fill(
        _ module: [String],
        _ triggers: [Trigger],
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> String? {
        func statements(_ event: String) -> [[String]] {
            triggers.filter { $0.event == event }.flatMap { $0.statements(on: module[0]) }
        }
        let (added, deleted) = (statements("insert"), statements("delete"))
        guard triggers.count == 3, let update = triggers.first(where: { $0.event == "update" }),
            triggers.allSatisfy({ $0.table == update.table }), added.count == 1,
            statements("update") == deleted + added
        else { return nil }
        let columns = try connection.rows(
            "SELECT lower(name) FROM pragma_table_xinfo(\(module[0].quotedText)) WHERE hidden = 0"
        ).compactMap { $0[0].text }
        let form =
            module[2] == "fts5"
            ? textForm(module, columns, of: update.table)
            : placeForm(module, columns, added[0], of: update.table)
        guard let form, [form.added] == added, [form.deleted] == deleted,
            update.columns.isEmpty || form.used.isSubset(of: update.columns)
        else { return nil }
        // Its columns are stored, and none of them is the number of the row.
        let stored = try connection.rows(
            "SELECT lower(name), hidden = 0, pk > 0 AND upper(type) = 'INTEGER' "
                + "FROM pragma_table_xinfo(\(update.table.quotedText))"
        )
        let names = Set(stored.filter { $0[1] == .integer(1) }.compactMap { $0[0].text })
        guard form.used.isSubset(of: names), !stored.contains(where: { $0[2] == .integer(1) })
        else { return nil }
        _ = try connection.prepare(form.fill, isKept: false)
        return form.fill
    }

    /// An index of texts whose rows are read from the table itself.
    private static func textForm(
        _ module: [String],
        _ columns: [String],
        of table: String
    ) -> Form? {
        let content = module[(module.firstIndex(of: "content") ?? module.endIndex)...]
        guard content.starts(with: ["content", "=", table.quotedText]),
            !module.contains("content_rowid")
        else { return nil }
        func statement(_ names: [String], _ values: [String], _ row: String) -> [String] {
            let fields = ["rowid"] + columns
            let names = (names + fields).joined(separator: " , ")
            let values = (values + fields.map { "\(row) . \($0)" }).joined(separator: " , ")
            return "insert into \(module[0]) ( \(names) ) values ( \(values) )".words
        }
        let name = module[0].quotedName
        return Form(
            added: statement([], [], "new"),
            deleted: statement([module[0]], ["'delete'"], "old"),
            used: Set(columns),
            fill: "INSERT INTO \(name) (\(name)) VALUES ('rebuild')"
        )
    }

    /// An index of places in which every box is a point, so that it refuses none.
    private static func placeForm(
        _ module: [String],
        _ columns: [String],
        _ added: [String],
        of table: String
    ) -> Form? {
        var rest = added[...]
        guard module[2].hasPrefix("rtree"), !module.contains("+"), columns.count % 2 == 1,
            rest.skip("insert into \(module[0]) select new . rowid")
        else { return nil }
        var used: Set<String> = []
        for _ in 0..<columns.count / 2 {
            guard rest.skip(", new ."), let edge = rest.popFirst(), rest.skip(", new . \(edge)")
            else { return nil }
            used.insert(edge)
        }
        let values = added[..<rest.startIndex]
        guard rest.isEmpty || rest.first == "where" else { return nil }
        for place in rest.indices.dropFirst() {
            if rest[place - 1] == "." {
                used.insert(rest[place])
            } else if Int64(rest[place]) == nil, !Self.harmless.contains(rest[place]) {
                return nil
            }
        }
        let fill = values + ["from", table.quotedName, "as", "new"] + rest
        return Form(
            added: added,
            deleted: "delete from \(module[0]) where \(columns[0]) = old . rowid".words,
            used: used,
            fill: fill.joined(separator: " ")
        )
    }

    /// The words of conditions that never fail.
    private static let harmless = Set("new . = ( ) and or is not null".words)
}

extension String {
    fileprivate var words: [String] { split(separator: " ").map { String($0) } }
}

extension ArraySlice<String> {
    /// Removes these words, with blanks between them, if it begins with them.
    fileprivate mutating func skip(_ text: String) -> Bool {
        guard starts(with: text.words) else { return false }
        removeFirst(text.words.count)
        return true
    }
}
