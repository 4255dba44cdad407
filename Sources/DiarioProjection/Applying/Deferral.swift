import DiarioCore
import DiarioSQLite
import DiarioSchema

/// The part of a read model that can wait for the end of a build:
/// schema/decisions/0034-what-can-wait-is-done-at-the-end.md.
struct Deferral {
    /// Statements for the end, in their order.
    private(set) var later: [String] = []
    /// Statements that remove indexes and triggers until then.
    private(set) var drops: [String] = []
    /// Why the read model is built row by row; nil if it is not.
    private(set) var doubt: String?

    /// That of a read model whose tables are there and empty.
    init(_ plan: ModelPlan, _ connection: borrowing Connection) {
        do throws(SQLiteError) { try find(plan.model, connection) } catch { doubt = error.message }
        if doubt != nil { (later, drops) = ([], []) }
    }

    private mutating func find(
        _ model: ReadModel,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        if let fault = try Derivation.fault(in: model, on: connection) {
            doubt = "\(model.file), line \(fault.line): \(fault.message)"
            return
        }
        let feed = try TriggerFeed(model, connection)
        if let index = feed.doubtful {
            doubt = "the triggers of \(index) do more than keep it equal to one table"
            return
        }
        let statements = model.blocks.flatMap { $0.statements }
        for statement in statements where statement.isDerived {
            guard let sql = statement.forAllKeys, !later.contains(sql) else { continue }
            later.append(sql)
        }
        var used: Set<Substring> = []
        for sql in Set(statements.map { $0.text } + later) {
            for row in try connection.rows("EXPLAIN QUERY PLAN \(sql)") {
                let detail = row[3].text ?? ""
                // What runs at the end may read a whole table by any index.
                guard !later.contains(sql) || detail.hasPrefix("SEARCH") else { continue }
                used.formUnion(detail.split(separator: " "))
            }
        }
        later += feed.fills
        for trigger in model.definitions where trigger.head.starts(with: ["CREATE", "TRIGGER"]) {
            later.append(trigger.text)
        }
        drops += feed.triggers.map { "DROP TRIGGER \($0.quotedName)" }
        for row in try connection.rows(Self.indexes) {
            guard let name = row[0].text, let sql = row[1].text,
                !used.contains(name[...]), model.definitions.contains(where: { $0.text == sql })
            else { continue }
            drops.append("DROP INDEX \(name.quotedName)")
            later.append(sql)
        }
    }

    /// Indexes that refuse nothing, and that no foreign key is checked by.
    private static let indexes = """
        SELECT i.name, s.sql FROM sqlite_schema AS s, pragma_index_list(s.tbl_name) AS i
        WHERE s.type = 'index' AND i.name = s.name AND i.origin = 'c' AND i."unique" = 0
        AND i.partial = 0 AND NOT EXISTS (
            SELECT 1 FROM pragma_index_info(i.name) AS c WHERE NOT EXISTS (
                SELECT 1 FROM pragma_table_xinfo(s.tbl_name) AS x
                WHERE x.cid = c.cid AND x.hidden = 0
            ) OR c.seqno = 0 AND EXISTS (
                SELECT 1 FROM pragma_foreign_key_list(s.tbl_name) AS f WHERE f."from" = c.name
            )
        )
        """
}

/// Derived statements: they compute rows of other tables, and nothing else depends on these.
enum Derivation {
    /// Why those of a read model cannot wait until all events were applied; nil if they can.
    static func fault(
        in model: ReadModel,
        on connection: borrowing Connection
    ) throws(SQLiteError) -> (line: Int, message: String)? {
        let statements = model.blocks.flatMap { $0.statements }
        var computed: [Use: Int] = [:]
        for statement in statements where statement.isDerived {
            guard statement.forAllKeys != nil else {
                return (
                    statement.line,
                    "a derived statement uses its event only as column = :field after WHERE, "
                        + "AND, OR or ON; remove the line -- derived, or what else it reads"
                )
            }
            for use in try uses(of: statement, connection) where use.isChange {
                computed[Use(table: use.table, column: use.column)] = statement.line
            }
        }
        for (use, line) in computed {
            guard let reason = try constraint(on: use.table, model, connection) else { continue }
            return (
                line,
                "\(use.table) has \(reason), which may refuse a row of a derived statement; remove "
                    + "that, or the line -- derived"
            )
        }
        for statement in computed.isEmpty ? [] : statements where !statement.isDerived {
            for use in try uses(of: statement, connection) {
                let whole = Use(table: use.table, column: nil)
                let part = Use(table: use.table, column: use.column)
                guard let line = computed[whole] ?? (use.column == nil ? nil : computed[part])
                else { continue }
                return (
                    line,
                    "\(use.table) is read or changed by the statement of line \(statement.line) as "
                        + "well, which is not derived: it would see rows of another time"
                )
            }
        }
        return nil
    }

    /// A column of a table; nil if rows are added or removed.
    private struct Use: Hashable {
        let table: String
        let column: String?
        var isChange = false
    }

    private final class Uses {
        var all: Set<Use> = []
    }

    private static func uses(
        of statement: SQLStatement,
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> Set<Use> {
        let triggers = Set(
            try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
                .compactMap { $0[0].text }
        )
        let uses = Uses()
        connection.setAuthorizer { access in
            guard let table = access.first?.lowercased(),
                !(access.source.map { triggers.contains($0) } ?? false)
            else { return .allowed }
            let column = access.second?.lowercased()
            switch access.action {
            case .read: uses.all.insert(Use(table: table, column: column ?? ""))
            case .update: uses.all.insert(Use(table: table, column: column, isChange: true))
            case .insert, .delete: uses.all.insert(Use(table: table, column: nil, isChange: true))
            default: break
            }
            return .allowed
        }
        defer { connection.setAuthorizer(nil) }
        _ = try connection.prepare(statement.text, isKept: false)
        return uses.all
    }

    /// A constraint by which a table refuses rows, besides those of its columns and its key.
    private static func constraint(
        on table: String,
        _ model: ReadModel,
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> String? {
        let name = table.quotedText
        let found = try connection.rows(
            """
            SELECT 'a foreign key' FROM pragma_foreign_key_list(\(name)) UNION ALL
            SELECT 'a foreign key' FROM sqlite_schema AS s, pragma_foreign_key_list(s.name) AS f
            WHERE s.type = 'table' AND lower(f."table") = \(name) UNION ALL
            SELECT 'a second key' FROM pragma_index_list(\(name)) WHERE "unique" AND origin <> 'pk'
            """
        )
        if let found = found.first { return found[0].text }
        let hasCheck = model.definitions.contains { definition in
            let words = definition.words
            return words.contains(table) && words.contains("check")
        }
        return hasCheck ? "a CHECK" : nil
    }
}
