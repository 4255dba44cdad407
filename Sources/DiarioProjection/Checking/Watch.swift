import DiarioSQLite

/// Looks at what a statement of a pack does while SQLite prepares it, and remembers why it was
/// refused.
final class Watch {
    /// What is being prepared.
    enum Purpose {
        /// What we ask for ourselves.
        case ourOwn
        /// A table, an index, a trigger.
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
    /// Tables of the pack's other read models, with the names of these.
    var otherTables: [String: String] = [:]
    /// Functions that the pack says it needs.
    var needs: Set<String> = []

    /// The tables that queries read.
    private(set) var readTables: Set<String> = []
    /// Those that the query which is prepared reads.
    private(set) var currentTables: Set<String> = []

    /// Why the last statement was refused; nil if it was not.
    private(set) var refusal: (rule: String, message: String)?

    /// How the tables end that an index of places keeps beside itself; it gets ready to write there
    /// as soon as it is opened.
    private static let placeTables = ["_node", "_rowid", "_parent"]

    /// Settings that only tell; an index of texts asks for the first one by itself.
    private static let readingPragmas: Set<String> = [
        "data_version", "table_list", "table_info", "table_xinfo", "index_list", "index_info",
        "index_xinfo", "foreign_key_list",
    ]

    /// Whether it makes a virtual table, which writes to tables of its own while it is made.
    private var makesVirtualTable = false

    func begin(_ purpose: Purpose) {
        self.purpose = purpose
        refusal = nil
        makesVirtualTable = false
        currentTables = []
    }

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
            return judge(reading: table)
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
        if purpose == .definition, name.hasPrefix("rtree") || name.hasPrefix("fts5") { return nil }
        // An index of places begins with an empty node.
        if makesVirtualTable, name == "zeroblob" { return nil }
        return ("sql-function", "\(name) is not allowed here: \(AllowList.remedy(for: name))")
    }

    private func judge(reading table: String) -> (rule: String, message: String)? {
        switch purpose {
        case .ourOwn, .query, .definition: return nil
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
            return nil
        }
    }

    private func judge(writing access: Access) -> (rule: String, message: String)? {
        let table = access.first ?? ""
        switch purpose {
        // A query that would write there itself does not only read, and is refused for that.
        case .query where Self.placeTables.contains { table.hasSuffix($0) }: return nil
        case .query: return ("sql-statement", "a query may only read; SELECT what it answers")
        case .upcast: return ("sql-statement", "an upcast may only read; SELECT what it answers")
        case .ourOwn, .definition:
            // SQLite's own list of tables, and what a virtual table keeps beside itself.
            return nil
        case .change:
            guard !tables.contains(table), !virtualTables.contains(table) else {
                return judge(trigger: access.source, writing: table)
            }
            if let owner = otherTables[table] {
                return ("sql-table", "\(table) belongs to the read model \(owner)")
            }
            // What a virtual table keeps beside itself; SQLite lets nobody else write there.
            if virtualTables.contains(where: { table.hasPrefix($0 + "_") }) { return nil }
            return ("sql-table", "\(table) is no table of this read model")
        }
    }

    /// A trigger may feed what is derived from the tables, and nothing else.
    private func judge(
        trigger: String?,
        writing table: String
    ) -> (rule: String, message: String)? {
        guard let trigger, tables.contains(table) else { return nil }
        return (
            "sql-trigger",
            "the trigger \(trigger) writes to the table \(table); triggers only feed virtual "
                + "tables, so write the change below -- on TYPE"
        )
    }

    private func judge(definition access: Access) -> (rule: String, message: String)? {
        switch access.action {
        case .createTable, .createIndex, .createTrigger, .createVirtualTable, .reindex:
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
            return ("sql-definition", "only tables, indexes, virtual tables and triggers are made")
        }
    }
}
