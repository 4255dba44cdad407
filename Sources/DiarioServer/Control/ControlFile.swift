import DiarioCore
import DiarioLog
package import DiarioSQLite
import DiarioStorage
import Synchronization

// Who may do what in the spaces of a data directory. Specified in schema/format/control.md.

/// The file `control.sqlite`: names of spaces, tokens, and to whom replicas belong.
///
/// Safe to use from any thread, and beside other processes: whatever they write is seen by the next
/// call.
package final class ControlFile: Sendable {
    package static let name = LogPaths.control
    static let version: Int64 = 1
    /// `dctl`, so that the file can be told from other databases.
    private static let applicationID: Int64 = 0x6463_746c

    private let state: Mutex<State>

    struct State: ~Copyable {
        let connection: Connection
        let dataVersion: Statement
        /// What was read while `dataVersion` was this.
        var seen: Int64 = 0
        var tokens: [TokenID: Token] = [:]
        var spaces: [SpaceName: NamedSpace] = [:]
        var bindings: [Replica: Binding] = [:]

        init(_ connection: consuming Connection) throws(SQLiteError) {
            dataVersion = try connection.prepare("PRAGMA data_version")
            self.connection = connection
        }

        /// Forgets what was read, if another connection has written since.
        mutating func refresh() throws(SQLiteError) {
            let version = try dataVersion.step() ? dataVersion.integer(at: 0) : 0
            dataVersion.reset()
            guard version != seen || bindings.count > ControlFile.keptCountMax else { return }
            forget()
            seen = version
        }

        /// Runs `body` in a transaction, and forgets what was read.
        mutating func write<Value>(
            _ body: (borrowing Connection) throws(ControlError) -> Value
        ) throws(ControlError) -> Value {
            defer { forget() }
            return try connection.transaction(wrapping: { ControlError.sqlite($0) }) {
                () throws(ControlError) in
                try body(connection)
            }
        }

        /// Forgets what was read, because this connection writes.
        mutating func forget() {
            tokens.removeAll(keepingCapacity: true)
            spaces.removeAll(keepingCapacity: true)
            bindings.removeAll(keepingCapacity: true)
        }
    }

    struct Replica: Hashable, Sendable {
        let space: SpaceName
        let id: ReplicaID
    }

    /// Rows that are kept in memory at most.
    private static let keptCountMax = 100_000

    /// Opens the file in the folder `.diario` at `path`; with `create` it is made if it is missing.
    package init(folder path: String, _ mode: Connection.Mode) throws(ControlError) {
        let opened = try Self.open(path, mode)
        state = Mutex(opened)
    }

    /// Opens the file in the folder `.diario` at `path` to read it, also where nothing may be
    /// written.
    package init(reading path: String) throws(ControlError) {
        let opened = try Self.openToRead(path)
        state = Mutex(opened)
    }

    private static func openToRead(_ folder: String) throws(ControlError) -> sending State {
        do throws(ControlError) { return try open(folder, .readWrite) } catch {
            guard case .sqlite(let reason) = error, reason.isOfMedium else { throw error }
            do throws(SQLiteError) {
                let connection = try connectToRead(folder)
                // It can be looked at as it is, unless a newer program wrote it.
                do throws(ControlError) { _ = try version(of: connection) } catch { throw reason }
                return try State(connection)
            } catch {
                // What is told is what keeps it from being opened as ever.
                throw .sqlite(reason)
            }
        }
    }

    /// Connects to the file in a folder so that it can be read.
    ///
    /// Readers of a file that others may write to have a file of their own beside it, which may be
    /// refused; without that only a file whose log is empty can be read.
    static func connectToRead(_ folder: String) throws(SQLiteError) -> Connection {
        let path = folder + "/" + name
        do throws(SQLiteError) {
            // Of a file that may only be read the library makes a connection that only reads.
            let connection = try Connection(path: path, .readWrite)
            _ = try connection.value("PRAGMA user_version")
            return connection
        } catch {
            guard error.isOfMedium, !hasLog(folder) else { throw error }
            return try Connection(path: path, .immutable)
        }
    }

    /// What is in the place of a file.
    private enum Place {
        case nothing, noFile, unknown
        case file(size: Int64)
    }

    private static func place(of file: String, in folder: String) -> Place {
        do throws(StorageError) {
            let directory = try POSIXDirectory(path: folder, access: .read)
            let opened = try directory.open(file, .read)
            // A folder can be opened like a file, and only says so when it is read.
            var first: [UInt8] = []
            try opened.read(at: 0, count: 1, into: &first)
            return .file(size: try opened.size())
        } catch {
            switch error {
            case .notFound, .notDirectory: return .nothing
            case .notFile: return .noFile
            default: return .unknown
            }
        }
    }

    /// Whether changes lie beside the file; true if nobody can tell.
    private static func hasLog(_ folder: String) -> Bool {
        switch place(of: name + "-wal", in: folder) {
        case .nothing: false
        case .file(let size): size > 0
        case .noFile, .unknown: true
        }
    }

    private static func open(
        _ folder: String,
        _ mode: Connection.Mode
    ) throws(ControlError) -> sending State {
        let connection: Connection
        do throws(SQLiteError) {
            connection = try Connection(path: folder + "/" + name, mode)
        } catch {
            switch place(of: name, in: folder) {
            case .nothing where mode != .create: throw .missing
            case .noFile: throw .damaged(what: "what is there is no file")
            case .nothing, .file, .unknown: throw .sqlite(error)
            }
        }
        try prepare(connection)
        do throws(SQLiteError) { return try State(connection) } catch { throw .sqlite(error) }
    }

    /// Checks what the file is, and makes its tables if it is new.
    static func prepare(_ connection: borrowing Connection) throws(ControlError) {
        do throws(SQLiteError) {
            try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
            try connection.execute("PRAGMA foreign_keys = ON")
        } catch {
            throw error.kind == .damaged ? .foreign : .sqlite(error)
        }
        if try version(of: connection) == version { return }
        try connection.transaction(wrapping: { ControlError.sqlite($0) }) {
            () throws(ControlError) in
            // Another process may have been faster.
            let found = try version(of: connection)
            guard found < version else { return }
            do throws(SQLiteError) {
                try connection.execute(tables)
                try connection.execute(
                    "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)"
                )
            } catch {
                throw .sqlite(error)
            }
        }
    }

    /// The version that the file has; 0 if it is new.
    static func version(
        of connection: borrowing Connection
    ) throws(ControlError) -> Int64 {
        let (application, version): (Value?, Value?)
        let isEmpty: Bool
        do throws(SQLiteError) {
            application = try connection.value("PRAGMA application_id")
            version = try connection.value("PRAGMA user_version")
            isEmpty = try connection.rows("SELECT 1 FROM sqlite_schema LIMIT 1").isEmpty
        } catch {
            throw error.kind == .damaged ? .foreign : .sqlite(error)
        }
        guard case .integer(let application) = application, case .integer(let version) = version
        else { throw .foreign }
        if isEmpty, application == 0, version == 0 { return 0 }
        guard application == applicationID, version > 0 else { throw .foreign }
        guard version <= Self.version else { throw .newer(version: version) }
        return version
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

    /// Runs `body` with what is known, which is up to date.
    func reading<Value: Sendable>(
        _ body: @Sendable (inout State) throws(ControlError) -> Value
    ) throws(ControlError) -> Value {
        try state.withLock { (state) throws(ControlError) in
            do throws(SQLiteError) { try state.refresh() } catch { throw .sqlite(error) }
            return try body(&state)
        }
    }

    /// Runs `body` in a transaction that writes; durable when it returns.
    func writing<Value: Sendable>(
        _ body: @Sendable (borrowing Connection) throws(ControlError) -> Value
    ) throws(ControlError) -> Value {
        try state.withLock { (state) throws(ControlError) in try state.write(body) }
    }
}

extension SQLiteError {
    /// Whether where the file lies is the reason, and not what is in it.
    var isOfMedium: Bool { kind == .unavailable || kind == .readOnly || kind == .full }
}

extension Connection {
    /// Runs a statement with values for its parameters.
    func run(_ sql: String, _ values: [Value]) throws(ControlError) {
        do throws(SQLiteError) {
            let statement = try prepare(sql, isKept: false)
            for (index, value) in values.enumerated() { try statement.bind(value, at: index + 1) }
            try statement.run()
        } catch {
            throw .sqlite(error)
        }
    }

    /// The rows that a statement gives for values of its parameters.
    func rows(_ sql: String, _ values: [Value]) throws(ControlError) -> [[Value]] {
        do throws(SQLiteError) {
            let statement = try prepare(sql, isKept: false)
            for (index, value) in values.enumerated() { try statement.bind(value, at: index + 1) }
            var rows: [[Value]] = []
            while try statement.step() { rows.append(statement.row) }
            return rows
        } catch {
            throw .sqlite(error)
        }
    }
}

extension Value {
    init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }
    init(_ time: Timestamp?) { self = time.map { .integer($0.milliseconds) } ?? .null }

    var asText: String? { if case .text(let text) = self { text } else { nil } }
    var asInteger: Int64? { if case .integer(let number) = self { number } else { nil } }
    var asTime: Timestamp? { asInteger.map { Timestamp(milliseconds: $0) } }
    var asCount: Int? { asInteger.flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil } }
}
