import DiarioCore
import CSQLite

/// Why a function of SQL gives no value.
package struct FunctionError: Error, Hashable, Sendable {
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// A function that SQL can call; SQLite holds it until the connection goes.
final class Function {
    private let body: ([SQLValue]) throws(FunctionError) -> SQLValue

    init(_ body: @escaping ([SQLValue]) throws(FunctionError) -> SQLValue) { self.body = body }

    /// Gives it to the library, which releases it even if it does not accept it.
    func add(to handle: OpaquePointer, name: String, argumentCount: Int) -> Int32 {
        // Safe: the library is given one hold on this object and ends it by the last closure; the
        // arguments are as many as it says, and live during the call.
        unsafe sqlite3_create_function_v2(
            handle,
            name,
            Int32(argumentCount),
            // Not from views and triggers of a file that we did not write, unless it is harmless.
            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
            Unmanaged.passRetained(self).toOpaque(),
            { context, count, arguments in
                guard let data = unsafe sqlite3_user_data(context) else { return }
                let function = unsafe Unmanaged<Function>.fromOpaque(data).takeUnretainedValue()
                var values: [SQLValue] = []
                for index in 0..<Int(count) {
                    guard let value = unsafe arguments?[index] else { return }
                    values.append(unsafe SQLValue(value))
                }
                unsafe function.call(values, context)
            },
            nil,
            nil,
            { data in
                guard let data = unsafe data else { return }
                unsafe Unmanaged<Function>.fromOpaque(data).release()
            }
        )
    }

    private func call(_ arguments: [SQLValue], _ context: OpaquePointer?) {
        do throws(FunctionError) {
            switch try body(arguments) {
            case .null: unsafe sqlite3_result_null(context)
            case .integer(let value): unsafe sqlite3_result_int64(context, value)
            case .real(let value): unsafe sqlite3_result_double(context, value)
            case .text(let value):
                var text = value
                // Safe: the library copies the bytes before the call returns.
                text.withUTF8 { bytes in
                    unsafe diario_sqlite_result_text(
                        context,
                        bytes.baseAddress,
                        Int32(clamping: bytes.count)
                    )
                }
            case .blob(let value):
                // Safe: as above.
                unsafe value.withUnsafeBytes { bytes in
                    unsafe diario_sqlite_result_blob(
                        context,
                        bytes.baseAddress,
                        Int32(clamping: bytes.count)
                    )
                }
            }
        } catch {
            // Safe: the text is copied during the call.
            unsafe sqlite3_result_error(context, error.message, -1)
        }
    }
}
