import DiarioCore
import DiarioSQLite
import DiarioSchema

/// The columns and keys of a table of a read model, as SQLite describes them.
struct TableShape: Equatable {
    struct Column: Equatable {
        let name: String
        let isGenerated: Bool
        /// Generated whenever it is read, and not kept.
        let isVirtual: Bool
        /// The expression after DEFAULT.
        let fallback: String?
    }

    let name: String
    let isStrict: Bool
    let columns: [Column]
    /// Names of the primary key's columns, in its order.
    let primaryKey: [String]
    /// True if `CREATE VIRTUAL TABLE` made it.
    let isVirtual: Bool

    /// A column that is generated when it is read, before others that are stored.
    var misplacedColumn: Column? {
        let kept = columns.lastIndex { !$0.isVirtual } ?? 0
        return columns[..<kept].first { $0.isVirtual }
    }

    /// True unless the table is the engine's; that of the blobs belongs to a read model.
    static func isOfModel(_ table: String) -> Bool {
        !table.hasPrefix("diario_") || table == BlobModel.name
    }

    /// All tables that are not SQLite's or a virtual table's own.
    private static let list = """
        SELECT name, type, strict FROM pragma_table_list WHERE schema = 'main'
        AND type IN ('table', 'virtual', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        ORDER BY name
        """

    /// The names of all tables and views, and their kinds: `table`, `virtual` or `view`.
    static func names(
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> [(name: String, kind: String)] {
        try connection.rows(list).compactMap { row in
            if case .text(let name) = row[0], case .text(let kind) = row[1] {
                (name, kind)
            } else {
                nil
            }
        }
    }

    /// Reads the shapes of all tables; a view keeps no rows and has none.
    static func all(_ connection: borrowing Connection) throws(SQLiteError) -> [TableShape] {
        var shapes: [TableShape] = []
        let tables = try connection.rows(list)
        let columns = try connection.prepare(
            "SELECT name, pk, hidden, dflt_value FROM pragma_table_xinfo(:name)",
            isKept: false
        )
        for table in tables where table[1] != .text("view") {
            guard case .text(let name) = table[0] else { continue }
            shapes.append(
                try TableShape(
                    columns,
                    name,
                    isStrict: table[2] == .integer(1),
                    isVirtual: table[1] == .text("virtual")
                )
            )
        }
        return shapes
    }

    private init(
        _ statement: borrowing Statement,
        _ name: String,
        isStrict: Bool,
        isVirtual: Bool
    ) throws(SQLiteError) {
        try statement.bind(.text(name), at: 1)
        var columns: [Column] = []
        var key: [(place: Int64, name: String)] = []
        while try statement.step() {
            let column = Column(
                name: statement.text(at: 0),
                isGenerated: statement.integer(at: 2) > 1,
                isVirtual: statement.integer(at: 2) == 2,
                fallback: statement.value(at: 3).text
            )
            columns.append(column)
            let place = statement.integer(at: 1)
            if place > 0 { key.append((place, column.name)) }
        }
        statement.reset()
        self.name = name
        self.isStrict = isStrict
        self.isVirtual = isVirtual
        self.columns = columns
        primaryKey = key.sorted { $0.place < $1.place }.map { $0.name }
    }
}
