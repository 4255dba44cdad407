import CSQLite
package import DiarioCore
import Synchronization

/// A connection to one SQLite file, or to one in memory; used by one thread at a time.
// Usable from inline, or other modules do not find its `deinit` in Embedded Swift (6.3.1).
@safe @usableFromInline package struct Connection: ~Copyable {
    /// The way in which a file is opened.
    package enum Mode: Sendable {
        /// The file must be there, and nothing is written to it.
        case readOnly
        /// As `readOnly`, for a file that does not change, in a folder that cannot be written.
        case immutable
        /// The file must be there.
        case readWrite
        /// The file is made if it is not there.
        case create
    }

    // Opened by `init`, closed by `deinit`, handed to statements only to ask it for messages.
    private let handle: OpaquePointer
    private let callbacks = Callbacks()

    /// Bytes of a piece of memory that is set aside, as by default.
    private static let asideSize: Int32 = 1200
    /// Pieces; by default the library has 40.
    private static let asideCount: Int32 = 400

    /// Opens the file at `path`, which must not be a link; `:memory:` is a new database in memory.
    package init(path: String, _ mode: Mode) throws(SQLiteError) {
        try SQLiteError.checkLibrary()
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        switch mode {
        case .readOnly: flags |= SQLITE_OPEN_READONLY
        case .immutable: flags |= SQLITE_OPEN_READONLY
        case .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        }
        var opened: OpaquePointer?
        let place = try Self.place(of: path)
        // A path that looks like a URI is none; it only has to be told from one.
        let name =
            switch mode {
            case .immutable: "file:\(Self.escaped(place))?immutable=1"
            case .readOnly, .readWrite, .create: place.hasPrefix("file:") ? "./" + place : place
            }
        let code = unsafe sqlite3_open_v2(
            name,
            &opened,
            flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOFOLLOW,
            nil
        )
        guard code == SQLITE_OK, let handle = unsafe opened else {
            let error = unsafe SQLiteError(code: code, of: opened)
            _ = unsafe sqlite3_close_v2(opened)
            throw error.ofOpening
        }
        unsafe self.handle = handle
        if mode == .readWrite || mode == .create {
            // Statements allocate and free memory for each value. These slots are the connection's
            // own; other memory is under a lock that all connections of the process share.
            _ = unsafe diario_sqlite_set_aside(handle, Self.asideSize, Self.asideCount)
        }
        // A connection that makes, checks or leaves the file has it to itself for a moment.
        let wait = Int32(Limits.lockWaitSecondsMax * 1000)
        _ = unsafe sqlite3_busy_timeout(handle, wait)
        // The schema of a file, such as a view or a default, may not call every function.
        configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, isOn: false)
        configure(SQLITE_DBCONFIG_DEFENSIVE, isOn: true)
        // In double quotes is a name, never a text.
        configure(SQLITE_DBCONFIG_DQS_DML, isOn: false)
        configure(SQLITE_DBCONFIG_DQS_DDL, isOn: false)
    }

    deinit {
        // Statements that are still there keep the handle; it goes with the last of them.
        _ = unsafe sqlite3_close_v2(handle)
    }

    /// The path of a file, with all links in its folders resolved.
    private static func place(of path: String) throws(SQLiteError) -> String {
        guard path != ":memory:" else { return path }
        guard let place = unsafe diario_sqlite_place(path) else {
            throw SQLiteError(
                code: SQLITE_CANTOPEN,
                message: "the file, or one beside it of its name and -wal, -shm or -journal, is a "
                    + "pipe or a device. Take that away"
            )
        }
        defer { unsafe sqlite3_free(place) }
        return unsafe String(cString: place)
    }

    /// A path as a URI writes it.
    private static func escaped(_ path: String) -> String {
        var text = ""
        for byte in path.utf8 {
            let isPlain =
                0x61...0x7a ~= byte || 0x41...0x5a ~= byte || 0x2d...0x39 ~= byte || byte == 0x5f
            let digits = String(byte, radix: 16)
            text += isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + digits
        }
        return text
    }

    private func configure(_ option: Int32, isOn: Bool) {
        _ = unsafe diario_sqlite_configure(handle, option, isOn ? 1 : 0)
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw unsafe SQLiteError(code: code, of: handle) }
    }

    // MARK: Statements

    /// Prepares one statement.
    ///
    /// With `isKept` it is one that will be used many times. Nothing but space and comments may
    /// follow it.
    package func prepare(_ sql: String, isKept: Bool = true) throws(SQLiteError) -> Statement {
        let bytes = Array(sql.utf8)
        var end = 0
        guard let statement = try unsafe next(in: bytes, &end, isKept: isKept) else {
            throw SQLiteError(code: SQLITE_ERROR, message: "there is no statement", offset: 0)
        }
        let made = unsafe Statement(statement, callbacks)
        var restEnd = end
        if let other = try unsafe next(in: bytes, &restEnd, isKept: false) {
            _ = unsafe sqlite3_finalize(other)
            throw SQLiteError(
                code: SQLITE_ERROR,
                message: "there is more than one statement",
                offset: end
            )
        }
        return made
    }

    /// Runs all statements of a text, one after the other, without parameters and results.
    package func execute(_ sql: String) throws(SQLiteError) {
        let bytes = Array(sql.utf8)
        var offset = 0
        while let statement = try unsafe next(in: bytes, &offset, isKept: false) {
            try unsafe Statement(statement, callbacks).run()
        }
    }

    /// Prepares the statement at `offset` and moves that past it; nil if none is left.
    private func next(
        in bytes: [UInt8],
        _ offset: inout Int,
        isKept: Bool
    ) throws(SQLiteError) -> OpaquePointer? {
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        while offset < bytes.count {
            let start = offset
            var statement: OpaquePointer?
            // Safe: the library reads no more than the bytes there are, and says where it stopped.
            let code = unsafe bytes[start...].withUnsafeBytes { rest in
                var tail: UnsafePointer<CChar>?
                let text = unsafe rest.assumingMemoryBound(to: CChar.self)
                let code = unsafe diario_sqlite_prepare(
                    handle,
                    text.baseAddress,
                    Int32(clamping: text.count),
                    flags,
                    Int64(Limits.sqlPrepareMemorySizeMax),
                    &statement,
                    &tail
                )
                if let base = text.baseAddress, let stop = unsafe tail {
                    offset = start + (unsafe stop - base)
                }
                return code
            }
            guard code != DIARIO_SQLITE_TOO_INVOLVED else {
                throw SQLiteError(
                    code: SQLITE_TOOBIG,
                    message: "the statement is too involved: it takes more than "
                        + "\(Limits.sqlPrepareMemorySizeMax / 1024 / 1024) MiB to prepare it",
                    offset: start
                )
            }
            if code != SQLITE_OK {
                let error = unsafe SQLiteError(code: code, of: handle)
                throw SQLiteError(
                    code: code,
                    message: error.message,
                    offset: error.offset.map { $0 + start }
                )
            }
            if let found = unsafe statement { return unsafe found }
            // Only space and comments.
            guard offset > start else { return nil }
        }
        return nil
    }

    /// The first column of the first row of a statement; nil if it gives none.
    package func value(_ sql: String) throws(SQLiteError) -> SQLValue? {
        let statement = try prepare(sql, isKept: false)
        return try statement.step() ? statement.value(at: 0) : nil
    }

    /// All rows that a statement gives.
    package func rows(_ sql: String) throws(SQLiteError) -> [[SQLValue]] {
        let statement = try prepare(sql, isKept: false)
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append(statement.row) }
        return rows
    }

    /// Runs `body` in a transaction that begins as a writer, and takes all back when it throws.
    package func transaction<Result: ~Copyable, Failure: Error>(
        wrapping: (SQLiteError) -> Failure,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        do throws(SQLiteError) { try execute("BEGIN IMMEDIATE") } catch { throw wrapping(error) }
        let result: Result
        do throws(Failure) { result = try body() } catch {
            // Some failures have ended the transaction already.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
        do throws(SQLiteError) { try execute("COMMIT") } catch {
            if isInTransaction { try? execute("ROLLBACK") }
            throw wrapping(error)
        }
        return result
    }

    /// Attaches the tables of another file under a name.
    package func attach(_ path: String, as name: String, _ mode: Mode) throws(SQLiteError) {
        let access = mode == .immutable ? "immutable=1" : "mode=ro"
        let statement = try prepare("ATTACH :uri AS :name", isKept: false)
        let place = try Self.place(of: path)
        try statement.bind(.text("file:\(Self.escaped(place))?\(access)"), at: 1)
        try statement.bind(.text(name), at: 2)
        try statement.run()
    }

    /// Copies all of this database over that of another connection, as it is at one moment.
    package func copy(to other: borrowing Connection) throws(SQLiteError) {
        guard let backup = unsafe sqlite3_backup_init(other.handle, "main", handle, "main") else {
            throw unsafe SQLiteError(
                code: sqlite3_extended_errcode(other.handle),
                of: other.handle
            )
        }
        let code = unsafe sqlite3_backup_step(backup, -1)
        let end = unsafe sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw unsafe SQLiteError(code: code, of: other.handle) }
        try other.check(end)
    }

    /// Checks every page of the file, and throws if one is damaged.
    package func checkPages() throws(SQLiteError) {
        guard case .text(let found)? = try value("PRAGMA quick_check(1)"), found != "ok" else {
            return
        }
        throw SQLiteError(code: SQLITE_CORRUPT, message: found)
    }

    // MARK: Memory

    private static let isCountedByThread = Atomic(false)

    /// Lets each thread of this process count the bytes that its connections take.
    ///
    /// By default the library counts them under a lock that all connections share, which makes two
    /// threads slower than one. This changes the whole process, so only a program may call it, and
    /// before its first connection; later it does nothing.
    package static func countMemoryByThread() {
        guard diario_sqlite_count_by_thread() == SQLITE_OK else { return }
        isCountedByThread.store(true, ordering: .relaxed)
    }

    /// Bytes that the library has taken: on this thread if each counts its own, else in all of this
    /// process.
    package static var memoryUsed: Int {
        isCountedByThread.load(ordering: .relaxed)
            ? Int(diario_sqlite_thread_bytes()) : Int(clamping: sqlite3_memory_used())
    }

    package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// True if no deferred foreign key is broken now.
    package var keepsForeignKeys: Bool {
        var (count, highest): (Int32, Int32) = (0, 0)
        // Safe: the call fills in both numbers.
        unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
        return count == 0
    }

    // MARK: Settings

    /// Lowers a bound of the library for this connection.
    package func setLimit(_ limit: Limit, to value: Int) {
        _ = unsafe sqlite3_limit(handle, limit.code, Int32(clamping: value))
    }

    /// Sets the check of each statement when it is prepared; nil removes it.
    package func setAuthorizer(_ body: ((Access) -> AccessAnswer)?) {
        callbacks.authorize = body
        unsafe callbacks.setAuthorizer(of: handle)
    }

    /// Sets a check every so many steps; if it returns true, the statement fails as interrupted.
    package func setProgress(everySteps steps: Int, _ body: (() -> Bool)?) {
        callbacks.isOver = body
        unsafe callbacks.setProgress(of: handle, steps: steps)
    }

    /// Reports each row of a plain table before it is changed; nil ends that.
    ///
    /// Statements prepared before this call may not report a deletion of all rows at once.
    package func setChangeHook(_ body: ((borrowing RowChange) -> Void)?) {
        callbacks.willChange = body
        unsafe callbacks.setPreupdateHook(of: handle)
    }

    /// Adds a function to SQL that gives the same for the same arguments.
    package func addFunction(
        _ name: String,
        argumentCount: Int,
        _ body: @escaping ([SQLValue]) throws(FunctionError) -> SQLValue
    ) throws(SQLiteError) {
        try check(unsafe Function(body).add(to: handle, name: name, argumentCount: argumentCount))
    }
}

extension Connection {
    /// A bound that the library keeps for each connection.
    package enum Limit: Sendable {
        /// Bytes of a text, a blob or a row.
        case length
        /// Bytes of a statement.
        case statementLength
        case columnCount
        case expressionDepth
        case compoundSelectCount
        /// Instructions of a prepared statement.
        case programLength
        case functionArgumentCount
        case attachedCount
        case patternLength
        case variableNumber
        case triggerDepth
        case workerThreads

        fileprivate var code: Int32 {
            switch self {
            case .length: SQLITE_LIMIT_LENGTH
            case .statementLength: SQLITE_LIMIT_SQL_LENGTH
            case .columnCount: SQLITE_LIMIT_COLUMN
            case .expressionDepth: SQLITE_LIMIT_EXPR_DEPTH
            case .compoundSelectCount: SQLITE_LIMIT_COMPOUND_SELECT
            case .programLength: SQLITE_LIMIT_VDBE_OP
            case .functionArgumentCount: SQLITE_LIMIT_FUNCTION_ARG
            case .attachedCount: SQLITE_LIMIT_ATTACHED
            case .patternLength: SQLITE_LIMIT_LIKE_PATTERN_LENGTH
            case .variableNumber: SQLITE_LIMIT_VARIABLE_NUMBER
            case .triggerDepth: SQLITE_LIMIT_TRIGGER_DEPTH
            case .workerThreads: SQLITE_LIMIT_WORKER_THREADS
            }
        }
    }
}
