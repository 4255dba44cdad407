import DiarioSQLite

/// The authorizer: SQLite asks it about each function, table and column of a statement that is
/// prepared, and it remembers the reason of a refusal.
final class Watch {
    /// The kind of statement that is prepared; each may do other things.
    enum Purpose {
        /// A statement of the engine.
        case ourOwn
        /// A table, an index, a trigger, a view.
        case definition
        /// A change of rows for an event.
        case change
        /// An upcast: no tables at all.
        case upcast
        /// A query: all may be read, nothing written.
        case query
    }

    var purpose = Purpose.definition
    /// Plain tables of the read model.
    var tables: Set<String> = []
    /// Virtual tables of the read model.
    var virtualTables: Set<String> = []
    var views: Set<String> = []
    /// The tables to which its triggers belong.
    var triggerTables: [String: String] = [:]
    /// Tables and views of the pack's other read models, with the names of these.
    private var otherTables: [String: String] = [:]
    /// Functions that the pack says it needs.
    var needs: Set<String> = []

    /// The tables that queries read.
    private(set) var readTables: Set<String> = []
    /// Those that the query which is prepared reads.
    private(set) var currentTables: Set<String> = []

    /// Why the last statement was refused; nil if it was not.
    private(set) var refusal: (rule: String, message: String)?

    /// Endings of the tables that an index of places keeps beside itself; opening it prepares
    /// statements that write there.
    private static let placeTables = ["_node", "_rowid", "_parent"]

    /// Settings that only tell; an index of texts asks for the first one by itself.
    private static let readingPragmas: Set<String> = [
        "data_version", "table_list", "table_info", "table_xinfo", "index_list", "index_info",
        "index_xinfo", "foreign_key_list",
    ]

    /// True while a virtual table is made, which writes to tables of its own.
    private var makesVirtualTable = false

    /// Continues with the next read model.
    func beginModel() {
        begin(.ourOwn)
        (tables, virtualTables, views, triggerTables) = ([], [], [], [:])
    }

    func endModel(_ name: String) {
        for table in tables.union(virtualTables).union(views) { otherTables[table] = name }
    }

    func begin(_ purpose: Purpose) {
        self.purpose = purpose
        refusal = nil
        makesVirtualTable = false
        currentTables = []
    }

    /// Notes that a query reads what follows from a table.
    func note(read table: String) { readTables.insert(table) }

    func answer(_ access: Access) -> AccessAnswer {
        if purpose != .ourOwn, let found = judge(access) {
            refusal = refusal ?? found
            return .refused
        }
        return .allowed
    }

    private func judge(_ access: Access) -> (rule: String, message: String)? {
        switch access.action {
        case .function: return judge(function: access.second ?? "")
        case .recursive where purpose != .query:
            return ("sql-recursive", "WITH RECURSIVE may never end; write it without")
        case .select where purpose == .definition && !makesVirtualTable:
            return (
                "table-key",
                "a table that is made of a SELECT has no key; declare its columns"
            )
        case .select, .recursive: return nil
        // A table-valued function such as json_each tells its columns that way; a query that really
        // changes this table does not only read, and is refused for that.
        case .update where purpose == .query && access.first == "sqlite_master": return nil
        case .read:
            guard let table = access.first, !table.isEmpty else { return nil }
            if purpose == .query {
                readTables.insert(table)
                currentTables.insert(table)
            }
            return judge(reading: table, access)
        case .insert, .update, .delete: return judge(writing: access)
        case .transaction, .savepoint:
            return (
                "sql-transaction",
                purpose == .query
                    ? "a query needs no transaction; remove it"
                    : "an event is taken as a whole; remove it"
            )
        case .pragma:
            // Virtual tables ask for some by themselves.
            if purpose == .definition, access.second == nil { return nil }
            if purpose == .query, Self.readingPragmas.contains(access.first ?? "") { return nil }
            return (
                "sql-pragma",
                purpose == .query
                    ? "a query may change no settings; remove it"
                    : "settings are not the pack's; remove it"
            )
        case .attach, .detach:
            return (
                "sql-attach",
                purpose == .query
                    ? "a query sees no other file; remove it"
                    : "a pack sees no other file; remove it"
            )
        default:
            guard purpose != .query else {
                return ("sql-statement", "a query may only read; SELECT what it answers")
            }
            guard purpose == .definition else {
                return ("sql-definition", "tables are made above the first -- on line")
            }
            return judge(definition: access)
        }
    }

    private func judge(function name: String) -> (rule: String, message: String)? {
        guard purpose != .query else {
            return switch name.lowercased() {
            // The second one gives, and takes, addresses in the program's memory.
            case "load_extension", "fts3_tokenizer":
                ("sql-function", "\(name.lowercased()) is not for queries")
            // These take the product of two lengths in one step, which no limit ends.
            case "json_patch":
                ("sql-function", "json_patch takes too long with large objects; use json_object")
            case "snippet":
                ("sql-function", "snippet takes too long with long texts; use highlight or substr")
            default: nil
            }
        }
        let name = name.lowercased()
        if EngineFunction(rawValue: name) != nil {
            guard !needs.contains(name) else { return nil }
            return (
                "sql-needs",
                "\(name) is called and not named in pack.json; add \"needs\": { \"\(name)\": "
                    + "\(EngineFunction.version) }"
            )
        }
        guard !AllowList.functions.contains(name) else { return nil }
        // Those that an index of texts or places calls for itself.
        if makesVirtualTable, name.hasPrefix("rtree") || name.hasPrefix("fts5") { return nil }
        // An index of places begins with an empty node.
        if makesVirtualTable, name == "zeroblob" { return nil }
        return ("sql-function", "\(name) is not allowed here: \(AllowList.remedy(for: name))")
    }

    private func judge(
        reading table: String,
        _ access: Access
    ) -> (rule: String, message: String)? {
        let isRowID = access.second == Self.rowID && !table.hasPrefix("sqlite_")
        switch purpose {
        case .ourOwn, .query: return nil
        case .definition: return isRowID && !makesVirtualTable ? Self.rowIDRefusal : nil
        case .upcast:
            return ("upcast-statement", "an upcast knows the event's own fields, no table")
        case .change:
            if let owner = otherTables[table] {
                return (
                    "sql-table",
                    "\(table) belongs to the read model \(owner); keep what is needed in a table "
                        + "of this one"
                )
            }
            // A trigger has to name the row of the index that it feeds.
            if let trigger = access.source, let own = triggerTables[trigger] {
                guard table != own, !virtualTables.contains(table) else { return nil }
                return (
                    "sql-trigger",
                    "the trigger \(trigger) reads \(table); it has the row that was changed, as "
                        + "new and old"
                )
            }
            guard tables.contains(table) || views.contains(table) else {
                return (
                    "sql-table",
                    "\(table) is no plain table of this read model, so nothing is read from it"
                )
            }
            return isRowID ? Self.rowIDRefusal : nil
        }
    }

    /// SQLite's name for the number of a row that is no column.
    private static let rowID = "ROWID"
    private static let rowIDRefusal = (
        rule: "sql-rowid",
        message: "row ids are given in the order in which rows come; declare a key and use it"
    )

    private func judge(writing access: Access) -> (rule: String, message: String)? {
        let table = access.first ?? ""
        switch purpose {
        // A query that would write there itself does not only read, and is refused for that.
        case .query where Self.placeTables.contains { table.hasSuffix($0) }: return nil
        case .query: return ("sql-statement", "a query may only read; SELECT what it answers")
        case .upcast: return ("sql-statement", "an upcast may only read; SELECT what it answers")
        case .ourOwn, .definition:
            // SQLite's own list of tables, and the shadow tables of a virtual one.
            return nil
        case .change:
            let trigger = access.source.flatMap { triggerTables[$0] == nil ? nil : $0 }
            if tables.contains(table) {
                guard let trigger else {
                    return access.second == Self.rowID ? Self.rowIDRefusal : nil
                }
                return (
                    "sql-trigger",
                    "the trigger \(trigger) writes to the table \(table); triggers only feed "
                        + "virtual tables, so write the change below -- on TYPE"
                )
            }
            if virtualTables.contains(table) {
                guard trigger == nil else { return nil }
                return (
                    "sql-table",
                    "\(table) follows from a plain table; it is fed by triggers"
                )
            }
            if let owner = otherTables[table] {
                return ("sql-table", "\(table) belongs to the read model \(owner)")
            }
            // The shadow tables of a virtual one; SQLite lets no statement write there.
            if virtualTables.contains(where: { table.hasPrefix($0 + "_") }) { return nil }
            return ("sql-table", "\(table) is no table of this read model")
        }
    }

    private func judge(definition access: Access) -> (rule: String, message: String)? {
        switch access.action {
        case .createTable, .createIndex, .createTrigger, .createView, .createVirtualTable, .reindex:
            guard access.action == .createVirtualTable else { return nil }
            let module = (access.second ?? "").lowercased()
            guard ["fts5", "rtree", "rtree_i32"].contains(module) else {
                return ("sql-virtual", "only fts5, rtree and rtree_i32 are allowed, not \(module)")
            }
            makesVirtualTable = true
            return nil
        case .createTemporaryIndex, .createTemporaryTable, .createTemporaryTrigger,
            .createTemporaryView:
            return ("sql-definition", "what is temporary is lost at once; remove TEMP")
        default:
            return (
                "sql-definition",
                "only tables, indexes, virtual tables, triggers and views are made"
            )
        }
    }
}
