import DiarioCore
import DiarioSQLite

// The tables of a control file, as one connection sees them: schema/format/control.md, section 3.

extension Connection {
    /// Checks what the file is, and makes its tables if it is new.
    func prepareControl() throws {
        do {
            try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
            try execute("PRAGMA foreign_keys = ON")
        } catch {
            throw error.kind == .damaged ? ControlError.foreign : .sqlite(error)
        }
        if try controlVersion() == Self.newestVersion { return }
        try transaction(wrapping: { $0 as any Error }) { () throws(any Error) in
            // Another process may have been faster.
            let version = try controlVersion()
            guard version < Self.newestVersion else { return }
            if version == 0 { try execute(Self.tables) }
            if version < 2 { try execute(Self.tableOfBlobs) }
            try execute(Self.columnsOfRoles)
            try execute(
                "PRAGMA application_id = \(Self.applicationID); "
                    + "PRAGMA user_version = \(Self.newestVersion)"
            )
        }
    }

    private static let newestVersion: Int64 = 3
    /// `dctl`, so that the file can be told from other databases.
    private static let applicationID: Int64 = 0x6463_746c

    /// The version that the file has; 0 if it is new.
    func controlVersion() throws -> Int64 {
        let (application, version): (SQLValue?, SQLValue?)
        let isEmpty: Bool
        do {
            application = try value("PRAGMA application_id")
            version = try value("PRAGMA user_version")
            isEmpty = try rows("SELECT 1 FROM sqlite_schema LIMIT 1").isEmpty
        } catch {
            throw error.kind == .damaged ? ControlError.foreign : .sqlite(error)
        }
        guard case .integer(let application) = application, case .integer(let version) = version
        else { throw ControlError.foreign }
        if isEmpty, application == 0, version == 0 { return 0 }
        guard application == Self.applicationID, version > 0 else { throw ControlError.foreign }
        guard version <= Self.newestVersion else { throw ControlError.newer(version: version) }
        return version
    }

    /// Looks at every page of the file, and at the rows that requests are judged by.
    ///
    /// Whoever reads a few rows may never come to the part that is damaged.
    func checkControl() throws {
        // A new file has nothing yet.
        guard try controlVersion() > 0 else { return }
        try checkPages()
        _ = try spaces()
        _ = try tokens()
    }

    private static let tables = """
        CREATE TABLE space (
            name TEXT NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, created INTEGER NOT NULL,
            eventsMax INTEGER, bytesMax INTEGER
        ) STRICT;
        CREATE TABLE token (
            id TEXT NOT NULL PRIMARY KEY, hash BLOB NOT NULL,
            space TEXT NOT NULL REFERENCES space (name),
            rights INTEGER NOT NULL, actor TEXT, label TEXT,
            created INTEGER NOT NULL, expires INTEGER, revoked INTEGER, used INTEGER,
            requestsPerSecond INTEGER, eventsPerSecond INTEGER
        ) STRICT;
        CREATE TABLE replica (
            space TEXT NOT NULL, replica TEXT NOT NULL, actor TEXT, token TEXT,
            bound INTEGER NOT NULL, named INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (space, replica)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE publication (
            attempt TEXT NOT NULL PRIMARY KEY, space TEXT NOT NULL REFERENCES space (name),
            outcome INTEGER NOT NULL, reason INTEGER NOT NULL, staging TEXT,
            began INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE contact (
            space TEXT NOT NULL, replica TEXT NOT NULL, seen INTEGER NOT NULL,
            PRIMARY KEY (space, replica)
        ) STRICT, WITHOUT ROWID;
        """

    /// Version 2.
    private static let tableOfBlobs = """
        CREATE TABLE blob (
            space TEXT NOT NULL, id TEXT NOT NULL, token TEXT NOT NULL, size INTEGER NOT NULL,
            began INTEGER NOT NULL, isReferred INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (space, id)
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE space ADD COLUMN blobBytesMax INTEGER;
        ALTER TABLE token ADD COLUMN blobBytesMax INTEGER;
        """

    /// Version 3.
    private static let columnsOfRoles = """
        ALTER TABLE token ADD COLUMN roles TEXT;
        ALTER TABLE token ADD COLUMN queries TEXT;
        ALTER TABLE space ADD COLUMN publicQueries TEXT;
        """

    /// Names of columns for a query, those as NULL that a file of an older version lacks, which may
    /// only be read.
    func columns(_ columns: [(name: String, since: Int64)]) throws -> String {
        let version = try controlVersion()
        return columns.map { $0.since <= version ? $0.name : "NULL" }.joined(separator: ", ")
    }

    /// Runs a statement with values for its parameters; gives its rows.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue]) throws(SQLiteError) -> [[SQLValue]] {
        let statement = try prepare(sql, isKept: false)
        for (index, value) in values.enumerated() { try statement.bind(value, at: index + 1) }
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append(statement.row) }
        return rows
    }
}

extension SQLValue {
    init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }
    init(_ time: Timestamp?) { self = time.map { .integer($0.milliseconds) } ?? .null }

    var asText: String? { if case .text(let text) = self { text } else { nil } }
    var asInteger: Int64? { if case .integer(let number) = self { number } else { nil } }
    var asTime: Timestamp? { asInteger.map { Timestamp(milliseconds: $0) } }
    var asCount: Int? { asInteger.flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil } }
}
