import DiarioSQLite

/// What a table of a read model is like, as SQLite understood it.
struct TableShape: Equatable {
    struct Column: Equatable {
        let name: String
        let type: String
        let isNeeded: Bool
        /// Part of the primary key, or of an index without doubles.
        var isKey: Bool
        let isGenerated: Bool
        /// Of a virtual table, and named only by those who mean it.
        let isHidden: Bool
    }

    let name: String
    let isStrict: Bool
    var columns: [Column]
    /// Names of the primary key's columns, in its order.
    let primaryKey: [String]
    /// The columns of each key: no two rows agree in all of them.
    private(set) var keys: [[String]] = []
    /// The column that is the row's id, which SQLite fills in where it is NULL.
    private(set) var rowIDColumn: String?

    /// Whether it is a table of the kind that `CREATE VIRTUAL TABLE` makes.
    let isVirtual: Bool

    func column(_ name: String) -> Column? {
        columns.first { $0.name.lowercased() == name.lowercased() }
    }

    /// Reads the shapes of all tables that are not SQLite's or a virtual table's own.
    static func all(_ connection: borrowing Connection) throws(SQLiteError) -> [TableShape] {
        var shapes: [TableShape] = []
        let tables = try connection.rows(
            "SELECT name, type, strict, wr FROM pragma_table_list WHERE schema = 'main' "
                + "AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
                + "ORDER BY name"
        )
        for table in tables {
            guard case .text(let name) = table[0] else { continue }
            shapes.append(
                try TableShape(
                    connection,
                    name,
                    isStrict: table[2] == .integer(1),
                    isVirtual: table[1] == .text("virtual"),
                    hasRowID: table[3] == .integer(0)
                )
            )
        }
        return shapes
    }

    private init(
        _ connection: borrowing Connection,
        _ name: String,
        isStrict: Bool,
        isVirtual: Bool,
        hasRowID: Bool
    ) throws(SQLiteError) {
        self.name = name
        self.isStrict = isStrict
        self.isVirtual = isVirtual
        let statement = try connection.prepare(
            "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(:name)",
            isKept: false
        )
        try statement.bind(.text(name), at: 1)
        var columns: [Column] = []
        var key: [(Int64, String)] = []
        while try statement.step() {
            let column = statement.text(at: 0)
            let place = statement.integer(at: 3)
            columns.append(
                Column(
                    name: column,
                    type: statement.text(at: 1),
                    isNeeded: statement.integer(at: 2) != 0,
                    isKey: place > 0,
                    isGenerated: statement.integer(at: 4) > 1,
                    isHidden: statement.integer(at: 4) == 1
                )
            )
            if place > 0 { key.append((place, column)) }
        }
        let primaryKey = key.sorted { $0.0 < $1.0 }.map(\.1)
        self.primaryKey = primaryKey
        self.columns = columns
        if !primaryKey.isEmpty { keys.append(primaryKey) }
        let isAlone = hasRowID && primaryKey.count == 1
        rowIDColumn =
            columns.first { column in
                isAlone && column.name == primaryKey[0] && column.type.uppercased() == "INTEGER"
            }?.name
        try readIndexes(connection)
    }

    private mutating func readIndexes(_ connection: borrowing Connection) throws(SQLiteError) {
        let statement = try connection.prepare(
            "SELECT l.name, l.partial, i.name FROM pragma_index_list(:name) AS l, "
                + "pragma_index_info(l.name) AS i WHERE l.\"unique\" = 1 ORDER BY l.seq, i.seqno",
            isKept: false
        )
        try statement.bind(.text(name), at: 1)
        var indexes: [String: [Value]] = [:]
        while try statement.step() {
            let isWhole = statement.integer(at: 1) == 0
            // NULL stands for an expression, which is no column.
            indexes[statement.text(at: 0), default: isWhole ? [] : [.null]].append(
                statement.value(at: 2)
            )
            let column = statement.text(at: 2)
            for index in columns.indices where columns[index].name == column {
                columns[index].isKey = true
            }
        }
        for (_, names) in indexes.sorted(by: { $0.key < $1.key }) {
            let key = names.compactMap(\.text)
            if key.count == names.count, !keys.contains(key) { keys.append(key) }
        }
        let references = try connection.prepare(
            "SELECT \"from\" FROM pragma_foreign_key_list(:name)",
            isKept: false
        )
        try references.bind(.text(name), at: 1)
        while try references.step() {
            let column = references.text(at: 0).lowercased()
            for index in columns.indices where columns[index].name.lowercased() == column {
                columns[index].isKey = true
            }
        }
    }
}
