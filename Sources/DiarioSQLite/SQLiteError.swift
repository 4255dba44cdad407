import CSQLite

/// A failure as SQLite reported it.
package struct SQLiteError: Error, Hashable, Sendable {
    /// The kind of failure, for callers that act on it.
    package enum Kind: Hashable, Sendable {
        /// Another connection holds a lock, and waiting did not help.
        case busy
        /// The time, the memory or the steps that were allowed are used up.
        case interrupted
        /// A rule of the tables is broken: NOT NULL, UNIQUE, CHECK, a foreign key, a STRICT type.
        case constraint
        /// The authorizer refused what a statement does.
        case refused
        /// The disk is full.
        case full
        /// The file is damaged, or no database.
        case damaged
        /// The file, or its folder, may only be read.
        case readOnly
        /// The file cannot be opened, read or written.
        case unavailable
        /// A statement is not valid SQL, or names something that does not exist.
        case invalid
        /// A value, a text or a statement is too large.
        case tooLarge
        case noMemory
        /// The library found at start is older than 3.40.
        case tooOld
        case other
    }

    package let kind: Kind
    /// The extended result code, as SQLite documents it.
    package let code: Int32
    /// SQLite's message, without a full stop.
    package let message: String
    /// The byte offset of the mistake in the statement; nil if SQLite does not know.
    package let offset: Int?

    init(code: Int32, message: String, offset: Int? = nil) {
        // For a function the library has no code of its own.
        kind = message.hasPrefix("not authorized") ? .refused : Self.kind(of: code)
        self.code = code
        self.message = message
        self.offset = offset
    }

    private init(kind: Kind, code: Int32, message: String) {
        self.kind = kind
        self.code = code
        self.message = message
        offset = nil
    }

    /// The message that belongs to `code`, read at once, because the next call replaces it.
    init(code: Int32, of handle: OpaquePointer?) {
        // Safe: the library gives a text that lasts until its next call; it is copied here.
        let message = unsafe sqlite3_errmsg(handle).map { unsafe String(cString: $0) }
        let offset = unsafe handle == nil ? -1 : sqlite3_error_offset(handle)
        self.init(
            code: code,
            message: message ?? Self.text(of: code),
            offset: offset >= 0 ? Int(offset) : nil
        )
    }

    /// The same with possible reasons why a file cannot be opened, since SQLite names none.
    var ofOpening: SQLiteError {
        guard code & 0xff == SQLITE_CANTOPEN else { return self }
        if code == Self.linkCode {
            return SQLiteError(
                code: code,
                message: "the file is a link, which is not followed. Put the file itself there"
            )
        }
        return SQLiteError(
            code: code,
            message: message + "; its path may be longer than SQLite's 500 bytes, the folder "
                + "closed to this user, or too many files open (ulimit -n)"
        )
    }

    private static func text(of code: Int32) -> String {
        // Safe: the library gives a constant text for any code.
        unsafe String(cString: sqlite3_errstr(code))
    }

    /// `SQLITE_IOERR_SHMSIZE`: the file's shared memory cannot get its size, which only a full disk
    /// refuses.
    private static let sharedSizeCode = SQLITE_IOERR | 19 << 8

    /// `SQLITE_CANTOPEN_SYMLINK`.
    private static let linkCode = SQLITE_CANTOPEN | 6 << 8

    private static func kind(of code: Int32) -> Kind {
        if code == sharedSizeCode { return .full }
        return switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_INTERRUPT: .interrupted
        case SQLITE_CONSTRAINT, SQLITE_MISMATCH: .constraint
        case SQLITE_AUTH: .refused
        case SQLITE_FULL: .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
        case SQLITE_READONLY: .readOnly
        case SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_PERM: .unavailable
        case SQLITE_ERROR, SQLITE_RANGE: .invalid
        case SQLITE_TOOBIG: .tooLarge
        case SQLITE_NOMEM: .noMemory
        default: .other
        }
    }

    /// Checks the library that this program found at its start.
    static func checkLibrary() throws(SQLiteError) {
        let version = sqlite3_libversion_number()
        guard version >= 3_040_000 else {
            // Safe: the library gives a constant text.
            let found = unsafe String(cString: sqlite3_libversion())
            throw SQLiteError(
                kind: .tooOld,
                code: SQLITE_ERROR,
                message: "this program needs SQLite 3.40 or later and found \(found); update it"
            )
        }
    }
}
