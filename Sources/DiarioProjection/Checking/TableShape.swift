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
        /// Generated whenever it is read, and not kept.
        let isVirtual: Bool
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

    /// A column that is generated when it is read, in front of others that are kept.
    var misplacedColumn: Column? {
        let kept = columns.lastIndex { !$0.isVirtual } ?? 0
        return columns[..<kept].first { $0.isVirtual }
    }

    /// All tables that are not SQLite's or a virtual table's own.
    private static let list = """
        SELECT name, type, strict, wr FROM pragma_table_list WHERE schema = 'main'
        AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
        """

    /// The names of all tables, and whether they are virtual ones.
    static func names(
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> [(name: String, isVirtual: Bool)] {
        try connection.rows(list).compactMap { row in
            row[0].text.map { ($0, row[1] == .text("virtual")) }
        }
    }

    /// Reads the shapes of all tables.
    static func all(_ connection: borrowing Connection) throws(SQLiteError) -> [TableShape] {
        var shapes: [TableShape] = []
        let tables = try connection.rows(list)
        let questions = try Questions(connection)
        for table in tables {
            guard case .text(let name) = table[0] else { continue }
            shapes.append(
                try TableShape(
                    questions,
                    name,
                    isStrict: table[2] == .integer(1),
                    isVirtual: table[1] == .text("virtual"),
                    hasRowID: table[3] == .integer(0)
                )
            )
        }
        return shapes
    }

    /// What is asked of each table, prepared once for all of them.
    private struct Questions: ~Copyable {
        let columns: Statement
        let indexes: Statement
        let references: Statement

        init(_ connection: borrowing Connection) throws(SQLiteError) {
            let columns = try connection.prepare(
                "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(:name)",
                isKept: false
            )
            let indexes = try connection.prepare(
                "SELECT l.name, l.partial, i.name FROM pragma_index_list(:name) AS l, "
                    + "pragma_index_info(l.name) AS i WHERE l.\"unique\" = 1 "
                    + "ORDER BY l.seq, i.seqno",
                isKept: false
            )
            let references = try connection.prepare(
                "SELECT \"from\" FROM pragma_foreign_key_list(:name)",
                isKept: false
            )
            self.columns = columns
            self.indexes = indexes
            self.references = references
        }
    }

    private init(
        _ questions: borrowing Questions,
        _ name: String,
        isStrict: Bool,
        isVirtual: Bool,
        hasRowID: Bool
    ) throws(SQLiteError) {
        self.name = name
        self.isStrict = isStrict
        self.isVirtual = isVirtual
        try questions.columns.bind(.text(name), at: 1)
        var columns: [Column] = []
        var key: [(Int64, String)] = []
        while try questions.columns.step() {
            let column = questions.columns.text(at: 0)
            let place = questions.columns.integer(at: 3)
            columns.append(
                Column(
                    name: column,
                    type: questions.columns.text(at: 1),
                    isNeeded: questions.columns.integer(at: 2) != 0,
                    isKey: place > 0,
                    isGenerated: questions.columns.integer(at: 4) > 1,
                    isVirtual: questions.columns.integer(at: 4) == 2,
                    isHidden: questions.columns.integer(at: 4) == 1
                )
            )
            if place > 0 { key.append((place, column)) }
        }
        questions.columns.reset()
        let primaryKey = key.sorted { $0.0 < $1.0 }.map(\.1)
        self.primaryKey = primaryKey
        self.columns = columns
        if !primaryKey.isEmpty { keys.append(primaryKey) }
        let isAlone = hasRowID && primaryKey.count == 1
        rowIDColumn =
            columns.first { column in
                isAlone && column.name == primaryKey[0] && column.type.uppercased() == "INTEGER"
            }?.name
        try readIndexes(questions.indexes)
        try readReferences(questions.references)
    }

    private mutating func readIndexes(_ statement: borrowing Statement) throws(SQLiteError) {
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
        statement.reset()
        for (_, names) in indexes.sorted(by: { $0.key < $1.key }) {
            let key = names.compactMap(\.text)
            if key.count == names.count, !keys.contains(key) { keys.append(key) }
        }
    }

    private mutating func readReferences(_ statement: borrowing Statement) throws(SQLiteError) {
        try statement.bind(.text(name), at: 1)
        while try statement.step() {
            let column = statement.text(at: 0).lowercased()
            for index in columns.indices where columns[index].name.lowercased() == column {
                columns[index].isKey = true
            }
        }
        statement.reset()
    }
}
