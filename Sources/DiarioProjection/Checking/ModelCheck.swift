import DiarioCore
import DiarioSQLite
import DiarioSchema

/// Tries a read model of a pack on an empty database, and collects its problems.
struct ModelCheck {
    private let model: ReadModel
    private let watch: Watch
    private(set) var problems: [PackProblem] = []
    /// All that its definitions made, in order.
    private var objects: [Object] = []

    /// A table, an index, a trigger or a view.
    private struct Object {
        let kind: String
        let name: String
        /// The table to which it belongs.
        let table: String
        let line: Int
    }

    /// Prefixes of names that are not the pack's.
    private static let reservedPrefixes = ["diario_", "sqlite_"]

    init(_ model: ReadModel, _ watch: Watch) {
        self.model = model
        self.watch = watch
    }

    /// Makes its tables and prepares its statements.
    ///
    /// The connection has the tables of the models before it, and asks `watch`.
    mutating func run(on connection: borrowing Connection) {
        watch.beginModel()
        for definition in model.definitions { define(definition, connection) }
        var shapes: [TableShape] = []
        if problems.isEmpty { shapes = checkTables(connection) }
        if problems.isEmpty { compile(shapes, connection) }
        guard problems.isEmpty || !shapes.isEmpty else { return }
        for statement in model.blocks.flatMap({ $0.statements }) where checkWords(statement) {
            watch.begin(.change)
            do throws(SQLiteError) {
                _ = try connection.prepare(statement.text, isKept: false)
            } catch {
                report(error, statement)
            }
        }
        watch.endModel(model.name)
        if problems.isEmpty { checkDerived(connection) }
    }

    private mutating func checkDerived(_ connection: borrowing Connection) {
        watch.begin(.ourOwn)
        do throws(SQLiteError) {
            guard let fault = try Derivation.fault(in: model, on: connection) else { return }
            problem(fault.line, "sql-derived", fault.message)
        } catch {
            problem(1, "sql-derived", error.message)
        }
    }

    private mutating func problem(_ line: Int, _ rule: String, _ message: String) {
        let problem = PackProblem(file: model.file, line: line, rule: rule, message: message)
        if !problems.contains(problem) { problems.append(problem) }
    }

    /// Adds the problem that SQLite or the authorizer has with a statement.
    private mutating func report(_ error: SQLiteError, _ statement: SQLStatement) {
        let line = error.offset.map { statement.line(at: $0) } ?? statement.line
        if let refusal = watch.refusal {
            return problem(line, refusal.rule, refusal.message)
        }
        var message = error.message
        if message.hasPrefix("no such table") {
            message += "; a statement sees only the tables of its own read model"
        } else if message.hasSuffix("already exists") {
            message += "; all read models of a pack are in one database: give it another name"
        }
        problem(line, "sql", message)
    }

    /// True if no word is refused.
    private mutating func checkWords(_ statement: SQLStatement) -> Bool {
        let found = RefusedWord.problems(with: statement, of: model.file)
        for found in found where !problems.contains(found) { problems.append(found) }
        return found.isEmpty
    }

    // MARK: Definitions

    private mutating func define(
        _ statement: SQLStatement,
        _ connection: borrowing Connection
    ) {
        guard checkWords(statement) else { return }
        watch.begin(.definition)
        do throws(SQLiteError) {
            // Checked before it runs.
            _ = try connection.prepare(statement.text, isKept: false)
            watch.begin(.ourOwn)
            let last = try connection.value("SELECT coalesce(max(rowid), 0) FROM sqlite_schema")
            guard case .integer(let last) = last else { return }
            watch.begin(.definition)
            try connection.execute(statement.text)
            watch.begin(.ourOwn)
            let made = try connection.rows(
                "SELECT iif(rootpage = 0 AND type = 'table', 'virtual', type), name, tbl_name "
                    + "FROM sqlite_schema WHERE rowid > \(last) AND sql IS NOT NULL"
            )
            let makesVirtual = made.contains { $0[0] == .text("virtual") }
            for row in made where !makesVirtual || row[0] == .text("virtual") {
                guard let kind = row[0].text, let name = row[1].text, let table = row[2].text
                else { continue }
                add(Object(kind: kind, name: name, table: table, line: statement.line), connection)
            }
        } catch {
            report(error, statement)
        }
    }

    private mutating func add(_ object: Object, _ connection: borrowing Connection) {
        objects.append(object)
        if model.name != BlobModel.name { checkName(object.name, object.line) }
        switch object.kind {
        case "table": watch.tables.insert(object.name)
        case "virtual": watch.virtualTables.insert(object.name)
        case "view":
            // SQLite looks into it only where something reads it: by and by that may be the list
            // of all tables, for which no bound of memory holds. So it goes if it is refused.
            let name = object.name.quotedName
            watch.views.insert(object.name)
            if !compile("SELECT * FROM \(name)", object.line, connection) {
                watch.views.remove(object.name)
                watch.begin(.ourOwn)
                try? connection.execute("DROP VIEW \(name)")
            } else if object.name == Pack.releasedView {
                checkReleasedView(object.line, connection)
            }
        case "trigger":
            watch.triggerTables[object.name] = object.table
            guard watch.views.contains(object.table) else { return }
            problem(
                object.line,
                "sql-trigger",
                "\(object.table) is a view, which nothing is written to, so it has no trigger"
            )
        default: break
        }
    }

    /// The engine reads these columns.
    private mutating func checkReleasedView(_ line: Int, _ connection: borrowing Connection) {
        watch.begin(.ourOwn)
        let columns = try? connection.rows(
            "SELECT name FROM pragma_table_info('\(Pack.releasedView)')"
        )
        let names = Set((columns ?? []).compactMap { $0[0].text })
        guard !names.isSuperset(of: ["id", "actor"]) else { return }
        problem(
            line,
            "stays-view",
            "the view \(Pack.releasedView) needs the columns id, of a blob, and actor, who "
                + "released it"
        )
    }

    private mutating func checkName(_ name: String, _ line: Int) {
        if let prefix = Self.reservedPrefixes.first(where: { name.lowercased().hasPrefix($0) }) {
            return problem(
                line,
                "sql-name",
                "names that begin with \(prefix) are the engine's; choose another"
            )
        }
        let isPlain =
            1...64 ~= name.utf8.count
            && name.utf8.allSatisfy { byte in
                0x61...0x7a ~= byte | 0x20 || 0x30...0x39 ~= byte || byte == 0x5f
            } && !(name.utf8.first.map { 0x30...0x39 ~= $0 } ?? true)
        guard !isPlain else { return }
        problem(
            line,
            "sql-name",
            "a name is at most 64 letters from a to z, digits and _, and begins with no digit"
        )
    }

    private func line(of name: String) -> Int { objects.first { $0.name == name }?.line ?? 1 }

    // MARK: Tables

    private mutating func checkTables(_ connection: borrowing Connection) -> [TableShape] {
        var shapes: [TableShape] = []
        let foreignKeys: [[SQLValue]]
        do throws(SQLiteError) {
            watch.begin(.ourOwn)
            shapes = try TableShape.all(connection)
            foreignKeys = try connection.rows(
                "SELECT t.name, f.on_update, f.on_delete FROM pragma_table_list AS t, "
                    + "pragma_foreign_key_list(t.name) AS f"
            )
        } catch {
            problem(1, "sql", error.message)
            return []
        }
        shapes = shapes.filter {
            watch.tables.contains($0.name) || watch.virtualTables.contains($0.name)
        }
        for shape in shapes {
            for column in shape.columns { checkName(column.name, line(of: shape.name)) }
            if !shape.isVirtual { check(shape, connection) }
        }
        for key in foreignKeys {
            guard case .text(let table) = key[0], watch.tables.contains(table),
                key[1] != .text("NO ACTION") || key[2] != .text("NO ACTION")
            else { continue }
            problem(
                line(of: table),
                "table-reference",
                "a foreign key of \(table) changes rows by itself; write that below -- on TYPE"
            )
        }
        if watch.tables.isEmpty {
            problem(1, "table-none", "the read model has no table; add CREATE TABLE")
        }
        return shapes
    }

    private mutating func check(_ shape: TableShape, _ connection: borrowing Connection) {
        let line = line(of: shape.name)
        if shape.primaryKey.isEmpty {
            problem(line, "table-key", "the table \(shape.name) has no primary key; declare one")
        }
        if !shape.isStrict {
            problem(
                line,
                "table-strict",
                "the table \(shape.name) takes any value in any column; end it with STRICT"
            )
        }
        if let column = shape.misplacedColumn {
            // SQLite reports changed rows without such columns, and numbers the rest again.
            problem(
                line,
                "table-generated",
                "the column \(column.name) of \(shape.name) is generated when it is read; "
                    + "write it after all others, or end it with STORED"
            )
        }
        // SQLite asks the authorizer about functions in an expression, but not in a default.
        for column in shape.columns {
            guard let fallback = column.fallback else { continue }
            watch.begin(.upcast)
            guard (try? connection.prepare("SELECT \(fallback)", isKept: false)) == nil else {
                continue
            }
            problem(
                line,
                "sql-default",
                "the default of \(column.name) is a number, a text or NULL; \(fallback) is none"
            )
        }
    }

    /// SQLite compiles triggers only where a statement needs them.
    private mutating func compile(_ shapes: [TableShape], _ connection: borrowing Connection) {
        for shape in shapes where !shape.isVirtual {
            let columns = shape.columns.filter { !$0.isGenerated }.map { $0.name.quotedName }
            let table = shape.name.quotedName
            let values = columns.map { _ in "NULL" }.joined(separator: ", ")
            let changes = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
            let trigger = objects.first { $0.kind == "trigger" && $0.table == shape.name }
            for statement in [
                "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(values))",
                "INSERT INTO \(table) DEFAULT VALUES", "UPDATE \(table) SET \(changes)",
                "DELETE FROM \(table)",
            ] {
                let line = trigger?.line ?? line(of: shape.name)
                guard compile(statement, line, connection) else { return }
            }
        }
    }

    private mutating func compile(
        _ sql: String,
        _ line: Int,
        _ connection: borrowing Connection
    ) -> Bool {
        watch.begin(.change)
        do throws(SQLiteError) {
            _ = try connection.prepare(sql, isKept: false)
            return true
        } catch {
            problem(line, watch.refusal?.rule ?? "sql", watch.refusal?.message ?? error.message)
            return false
        }
    }
}

/// A word of SQL that no event may depend on, and about which the authorizer is not asked.
enum RefusedWord {
    private static let words: [String: (rule: String, remedy: String)] = [
        "AUTOINCREMENT": (
            "sql-autoincrement", "numbers would depend on what was deleted; use a key"
        ),
        "COLLATE": ("sql-collate", "texts are compared by their bytes; remove it"),
        "LIMIT": ("sql-limit", "which rows are left depends on their order; use min, max or a key"),
        "OVER": ("sql-window", "it counts rows in an undefined order; use keys and sums"),
        "RETURNING": ("sql-returning", "its result is not read; remove it"),
        "DEFERRED": (
            "table-reference",
            "a foreign key is held to event by event, and a transaction may hold many; remove it"
        ),
        "RAISE": ("sql-raise", "a trigger only feeds virtual tables; remove it"),
        "ROLLBACK": ("sql-conflict", "an event is taken as a whole; remove it"),
        "ABORT": ("sql-conflict", "an event is taken as a whole; remove it"),
        "FAIL": ("sql-conflict", "an event is taken as a whole; remove it"),
    ]
    private static let all = Set(words.keys)

    static func problems(with statement: SQLStatement, of file: String) -> [PackProblem] {
        statement.places(of: all).compactMap { word, line in
            guard let (rule, remedy) = words[word] else { return nil }
            return PackProblem(
                file: file,
                line: line,
                rule: rule,
                message: "\(word) is not allowed here: \(remedy)"
            )
        }
    }
}
