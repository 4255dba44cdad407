package import DiarioCore
import CSQLite

// Callbacks of SQLite. All of them run on the thread that uses the connection, inside one of
// its calls. The connection and each of its statements hold the `Callbacks`; SQLite is given a
// pointer that holds nothing. A statement that outlives its connection keeps the library's handle
// alive as well, and with it these.

/// One access of a statement that is prepared.
package struct Access: Hashable, Sendable {
    /// One of SQLite's action codes: `SQLITE_READ`, `SQLITE_FUNCTION` and so on.
    package let action: AccessAction
    /// The object of the action, by its code: a table, a function, a pragma ...
    package let first: String?
    /// The column, the function's name, the pragma's argument ...
    package let second: String?
    /// `main`, `temp`, or the name under which a database was attached.
    package let database: String?
    /// The innermost trigger or view that does it; nil if the statement itself does.
    package let source: String?
}

/// The answer of an authorizer.
package enum AccessAnswer: Sendable {
    case allowed
    /// The statement is not prepared, with an error of kind `.refused`.
    case refused
    /// A column reads as NULL.
    case hidden
}

/// A row that is about to be changed in a plain table.
@safe package struct RowChange: ~Copyable {
    package enum Operation: Sendable { case insert, update, delete }

    private let handle: OpaquePointer
    package let operation: Operation
    package let database: String
    package let table: String
    /// The row's id before the change; of no meaning in a table without row ids.
    package let oldRowID: Int64
    package let newRowID: Int64

    fileprivate init(
        _ handle: OpaquePointer,
        _ operation: Operation,
        _ database: String,
        _ table: String,
        _ oldRowID: Int64,
        _ newRowID: Int64
    ) {
        unsafe self.handle = handle
        self.operation = operation
        self.database = database
        self.table = table
        self.oldRowID = oldRowID
        self.newRowID = newRowID
    }

    package var columnCount: Int { Int(unsafe sqlite3_preupdate_count(handle)) }

    /// The depth in triggers: 0 for the statement itself.
    package var depth: Int { Int(unsafe sqlite3_preupdate_depth(handle)) }

    /// The value of a column before the change; nil for an inserted row.
    package func old(_ column: Int) -> SQLValue? {
        guard operation != .insert else { return nil }
        var value: OpaquePointer?
        guard unsafe sqlite3_preupdate_old(handle, Int32(column), &value) == SQLITE_OK,
            let value = unsafe value
        else { return nil }
        return unsafe SQLValue(value)
    }

    /// The value of a column after the change; nil for a deleted row.
    package func new(_ column: Int) -> SQLValue? {
        guard operation != .delete else { return nil }
        var value: OpaquePointer?
        guard unsafe sqlite3_preupdate_new(handle, Int32(column), &value) == SQLITE_OK,
            let value = unsafe value
        else { return nil }
        return unsafe SQLValue(value)
    }
}

/// The callbacks of a connection.
final class Callbacks {
    var authorize: ((Access) -> AccessAnswer)?
    var isOver: (() -> Bool)?
    var willChange: ((borrowing RowChange) -> Void)?

    /// The pointer that SQLite is given; it holds nothing.
    private var context: UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(self).toOpaque()
    }

    /// Makes `handle` ask before it prepares a statement, or no more.
    func setAuthorizer(of handle: OpaquePointer) {
        guard authorize != nil else {
            _ = unsafe sqlite3_set_authorizer(handle, nil, nil)
            return
        }
        // Safe: the texts are copied during the call; the context lives as long as the handle.
        _ = unsafe sqlite3_set_authorizer(
            handle,
            { context, action, first, second, database, source in
                guard let context = unsafe context else { return SQLITE_DENY }
                let callbacks = unsafe Unmanaged<Callbacks>.fromOpaque(context)
                    .takeUnretainedValue()
                let access = Access(
                    action: AccessAction(code: action),
                    first: unsafe first.map { unsafe String(cString: $0) },
                    second: unsafe second.map { unsafe String(cString: $0) },
                    database: unsafe database.map { unsafe String(cString: $0) },
                    source: unsafe source.map { unsafe String(cString: $0) }
                )
                switch callbacks.authorize?(access) ?? .allowed {
                case .allowed: return SQLITE_OK
                case .refused: return SQLITE_DENY
                case .hidden: return SQLITE_IGNORE
                }
            },
            context
        )
    }

    /// Makes `handle` call back every `steps` steps of its machine; the answer can stop it.
    func setProgress(of handle: OpaquePointer, steps: Int) {
        guard isOver != nil else { return unsafe sqlite3_progress_handler(handle, 0, nil, nil) }
        // Safe: the context lives as long as the handle.
        unsafe sqlite3_progress_handler(
            handle,
            Int32(clamping: steps),
            { context in
                guard let context = unsafe context else { return 1 }
                let callbacks = unsafe Unmanaged<Callbacks>.fromOpaque(context)
                    .takeUnretainedValue()
                return callbacks.isOver?() ?? false ? 1 : 0
            },
            context
        )
    }

    /// Makes `handle` tell of every row before it is changed.
    func setPreupdateHook(of handle: OpaquePointer) {
        guard willChange != nil else {
            _ = unsafe sqlite3_preupdate_hook(handle, nil, nil)
            return
        }
        // Safe: the names are copied during the call; the context lives as long as the handle.
        _ = unsafe sqlite3_preupdate_hook(
            handle,
            { context, handle, operation, database, table, oldRowID, newRowID in
                guard let context = unsafe context, let handle = unsafe handle,
                    let database = unsafe database, let table = unsafe table
                else { return }
                let callbacks = unsafe Unmanaged<Callbacks>.fromOpaque(context)
                    .takeUnretainedValue()
                let kind: RowChange.Operation =
                    switch operation {
                    case SQLITE_INSERT: .insert
                    case SQLITE_DELETE: .delete
                    default: .update
                    }
                let change = unsafe RowChange(
                    handle,
                    kind,
                    String(cString: database),
                    String(cString: table),
                    oldRowID,
                    newRowID
                )
                callbacks.willChange?(change)
            },
            context
        )
    }
}

extension SQLValue {
    /// A copy of the value of a handle.
    init(_ handle: OpaquePointer) {
        switch unsafe sqlite3_value_type(handle) {
        case SQLITE_INTEGER: self = .integer(unsafe sqlite3_value_int64(handle))
        case SQLITE_FLOAT: self = .real(unsafe sqlite3_value_double(handle))
        case SQLITE_TEXT:
            // Safe: the bytes last until the next conversion and are copied here.
            let text = unsafe UnsafeBufferPointer(
                start: sqlite3_value_text(handle),
                count: Int(sqlite3_value_bytes(handle))
            )
            self = .text(unsafe String(decoding: text, as: UTF8.self))
        case SQLITE_BLOB:
            // Safe: as above; no bytes have no pointer.
            let bytes = unsafe UnsafeRawBufferPointer(
                start: sqlite3_value_blob(handle),
                count: Int(sqlite3_value_bytes(handle))
            )
            self = .blob(unsafe Array(bytes))
        default: self = .null
        }
    }
}
