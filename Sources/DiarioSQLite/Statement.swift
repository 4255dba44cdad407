package import DiarioCore
import CSQLite

/// A prepared statement: bound, stepped through, and bound again.
///
/// Made by a `Connection`, used by one thread at a time, and freed when it goes.
// Usable from inline, or other modules do not find its `deinit` in Embedded Swift (6.3.1).
@safe @usableFromInline package struct Statement: ~Copyable {
    // Made by `sqlite3_prepare_v3`, freed by `deinit`, never passed outside.
    let handle: OpaquePointer
    /// Keeps the callbacks of the connection alive while a statement may call them.
    private let callbacks: Callbacks
    let parameters = Parameters()

    /// The last binding of the parameters.
    final class Parameters {
        /// The number of the `RowBinding` that set all of them last; 0 if others did.
        var binding: UInt64 = 0
    }

    init(_ handle: OpaquePointer, _ callbacks: Callbacks) {
        unsafe self.handle = handle
        self.callbacks = callbacks
    }

    deinit { _ = unsafe sqlite3_finalize(handle) }

    @inline(__always)
    func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    private func failure(_ code: Int32) -> SQLiteError {
        unsafe SQLiteError(code: code, of: sqlite3_db_handle(handle))
    }

    // MARK: What it is

    /// True if it changes nothing in any database.
    package var isReadOnly: Bool { unsafe sqlite3_stmt_readonly(handle) != 0 }

    package var parameterCount: Int { Int(unsafe sqlite3_bind_parameter_count(handle)) }

    /// The name of the parameter at `index` (from 1), with its sign; nil if it has none.
    package func parameterName(at index: Int) -> String? {
        // Safe: the text lasts as long as the statement and is copied here.
        unsafe sqlite3_bind_parameter_name(handle, Int32(index)).map { unsafe String(cString: $0) }
    }

    package var columnCount: Int { Int(unsafe sqlite3_column_count(handle)) }

    /// The name of the result's column at `index` (from 0).
    package func columnName(at index: Int) -> String {
        // Safe: the text lasts until the statement is prepared again and is copied here.
        unsafe sqlite3_column_name(handle, Int32(index)).map { unsafe String(cString: $0) } ?? ""
    }

    // MARK: Binding, to parameters counted from 1

    package func bind(_ value: Int64, at index: Int) throws(SQLiteError) {
        parameters.binding = 0
        try check(unsafe sqlite3_bind_int64(handle, Int32(index), value))
    }

    package func bind(_ value: Double, at index: Int) throws(SQLiteError) {
        parameters.binding = 0
        try check(unsafe sqlite3_bind_double(handle, Int32(index), value))
    }

    package func bindNull(at index: Int) throws(SQLiteError) {
        parameters.binding = 0
        try check(unsafe sqlite3_bind_null(handle, Int32(index)))
    }

    /// Binds a text of UTF-8, which is copied.
    package func bind(text: Span<UInt8>, at index: Int) throws(SQLiteError) {
        parameters.binding = 0
        try checkSize(text.count)
        // Safe: the library copies the bytes before the call returns. For no bytes a pointer to
        // something is given, because none at all would mean NULL.
        let code = unsafe text.withUnsafeBytes { bytes in
            var empty: UInt8 = 0
            guard let base = bytes.baseAddress else {
                return unsafe diario_sqlite_bind_text(handle, Int32(index), &empty, 0)
            }
            return unsafe diario_sqlite_bind_text(
                handle,
                Int32(index),
                base,
                Int32(bytes.count)
            )
        }
        try check(code)
    }

    /// Binds bytes, which are copied.
    package func bind(blob: Span<UInt8>, at index: Int) throws(SQLiteError) {
        parameters.binding = 0
        try checkSize(blob.count)
        // Safe: the library copies the bytes before the call returns.
        let code = unsafe blob.withUnsafeBytes { bytes in
            unsafe diario_sqlite_bind_blob(
                handle,
                Int32(index),
                bytes.baseAddress,
                Int32(bytes.count)
            )
        }
        try check(code)
    }

    private func checkSize(_ count: Int) throws(SQLiteError) {
        guard count <= Int(Int32.max) else {
            throw SQLiteError(code: SQLITE_TOOBIG, message: "\(count) bytes are too many")
        }
    }

    package func bind(_ value: SQLValue, at index: Int) throws(SQLiteError) {
        switch value {
        case .null: try bindNull(at: index)
        case .integer(let value): try bind(value, at: index)
        case .real(let value): try bind(value, at: index)
        case .text(let value): try bind(text: Array(value.utf8).span, at: index)
        case .blob(let value): try bind(blob: value.span, at: index)
        }
    }

    // MARK: Stepping

    /// Goes to the next row; false after the last one.
    ///
    /// After a failure the statement is ready to be bound and run again.
    package func step() throws(SQLiteError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            // Read before the reset, which may replace it.
            let error = failure(code)
            _ = unsafe sqlite3_reset(handle)
            throw error
        }
    }

    /// Makes it ready to run again; bindings stay.
    package func reset() { _ = unsafe sqlite3_reset(handle) }

    /// Runs it to its end, whatever rows it gives, and makes it ready to run again.
    package func run() throws(SQLiteError) {
        while try step() {}
        reset()
    }

    // MARK: The current row, columns counted from 0

    package func kind(at column: Int) -> ValueKind {
        switch unsafe sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    package func integer(at column: Int) -> Int64 {
        unsafe sqlite3_column_int64(handle, Int32(column))
    }

    package func real(at column: Int) -> Double {
        unsafe sqlite3_column_double(handle, Int32(column))
    }

    /// Lends the bytes of a text or a blob to `body`.
    package func withBytes<Result>(at column: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        // Safe: the bytes last until the column is read in another way or the statement moves, and
        // `body` can keep no span. The count is asked for after the pointer, as SQLite wants it.
        let isText = unsafe sqlite3_column_type(handle, Int32(column)) == SQLITE_TEXT
        let base: UnsafeRawPointer? =
            unsafe isText
            ? UnsafeRawPointer(sqlite3_column_text(handle, Int32(column)))
            : sqlite3_column_blob(handle, Int32(column))
        let count = Int(unsafe sqlite3_column_bytes(handle, Int32(column)))
        let bytes = unsafe UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : count)
        return unsafe bytes.withMemoryRebound(to: UInt8.self) { body(unsafe $0.span) }
    }

    package func text(at column: Int) -> String {
        withBytes(at: column) { bytes in
            var copy: [UInt8] = []
            copy.reserveCapacity(bytes.count)
            for index in bytes.indices { copy.append(bytes[index]) }
            return String(decoding: copy, as: UTF8.self)
        }
    }

    package func blob(at column: Int) -> [UInt8] {
        withBytes(at: column) { bytes in
            var copy: [UInt8] = []
            copy.reserveCapacity(bytes.count)
            for index in bytes.indices { copy.append(bytes[index]) }
            return copy
        }
    }

    package func value(at column: Int) -> SQLValue {
        switch kind(at: column) {
        case .null: .null
        case .integer: .integer(integer(at: column))
        case .real: .real(real(at: column))
        case .text: .text(text(at: column))
        case .blob: .blob(blob(at: column))
        }
    }

    /// All columns of the row.
    package var row: [SQLValue] { (0..<columnCount).map { value(at: $0) } }
}
