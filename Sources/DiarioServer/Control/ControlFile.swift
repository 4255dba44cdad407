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

    private let state: Mutex<State>

    struct State: ~Copyable {
        let connection: Connection
        let dataVersion: Statement
        /// What was read while `dataVersion` was this.
        var seen: Int64 = 0
        var tokens: [TokenID: Token] = [:]
        var spaces: [SpaceName: NamedSpace] = [:]
        var owners: [Replica: Owner] = [:]
        /// Nil if they were not asked for since.
        var revocations: Revocations?

        init(_ connection: consuming Connection) throws {
            dataVersion = try connection.prepare("PRAGMA data_version")
            self.connection = connection
        }

        /// Forgets what was read, if another connection has written since.
        mutating func refresh() throws {
            let version = try dataVersion.step() ? dataVersion.integer(at: 0) : 0
            dataVersion.reset()
            guard version != seen || owners.count > ControlFile.keptCountMax else { return }
            forget()
            seen = version
        }

        /// Forgets what was read, because this connection writes.
        mutating func forget() {
            tokens.removeAll(keepingCapacity: true)
            spaces.removeAll(keepingCapacity: true)
            owners.removeAll(keepingCapacity: true)
            revocations = nil
        }
    }

    /// Rows that are kept in memory at most.
    private static let keptCountMax = 100_000

    /// Opens the file in the folder `.diario` at `path`; with `create` it is made if it is missing.
    package init(folder path: String, _ mode: Connection.Mode) throws {
        let opened = try Self.open(path, mode)
        state = Mutex(opened)
    }

    /// Opens the file in the folder `.diario` at `path` to read it, also where nothing may be
    /// written.
    package init(reading path: String) throws {
        let opened = try Self.openToRead(path)
        state = Mutex(opened)
    }

    private static func openToRead(_ folder: String) throws -> sending State {
        do { return try open(folder, .readWrite) } catch ControlError.sqlite(let reason)
            where reason.isOfMedium
        {
            do {
                let connection = try connectToRead(folder)
                // It can be looked at as it is, unless a newer program wrote it.
                _ = try connection.controlVersion()
                return try State(connection)
            } catch {
                // What is told is what keeps it from being opened as ever.
                throw ControlError.sqlite(reason)
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

    private static func open(_ folder: String, _ mode: Connection.Mode) throws -> sending State {
        do {
            let connection = try Connection(path: folder + "/" + name, mode)
            try connection.prepareControl()
            return try State(connection)
        } catch let error as SQLiteError {
            switch place(of: name, in: folder) {
            case .nothing where mode != .create: throw ControlError.missing
            case .noFile: throw ControlError.damaged(what: "what is there is no file")
            case .nothing, .file, .unknown: throw ControlError.sqlite(error)
            }
        }
    }

    /// Runs `body` with what is known, which is up to date.
    func reading<Value: Sendable>(
        _ body: @Sendable (inout State) throws -> Value
    ) throws -> Value {
        do {
            return try state.withLock { state in
                try state.refresh()
                return try body(&state)
            }
        } catch {
            throw ControlError(error)
        }
    }

    /// Runs `body` in a transaction that writes, and forgets what was read; durable when it
    /// returns.
    @discardableResult
    func writing<Value: Sendable>(
        _ body: @Sendable (borrowing Connection) throws -> Value
    ) throws -> Value {
        do {
            return try state.withLock { state in
                defer { state.forget() }
                return try state.connection.transaction(wrapping: { $0 as any Error }) {
                    () throws(any Error) in
                    try body(state.connection)
                }
            }
        } catch {
            throw ControlError(error)
        }
    }
}

extension SQLiteError {
    /// Whether where the file lies is the reason, and not what is in it.
    var isOfMedium: Bool { kind == .unavailable || kind == .readOnly || kind == .full }
}
