import Diario
import DiarioLog
import DiarioStorage

/// A command as it was called: its words, where its space is, and where its results go.
struct Invocation {
    let arguments: Arguments
    let location: SpaceLocation
    let output: Output
    let errors: Output

    /// Opens the space, runs `body` and closes it again.
    func withSpace(
        _ access: LogStore.Access,
        _ body: (Space) throws(Failure) -> Void
    ) throws(Failure) {
        let folder = try location.find()
        let space = try reporting { () throws(DiarioError) in
            try Space.open(at: folder, access: access)
        }
        do throws(Failure) {
            try body(space)
        } catch {
            // The first failure is the one to report.
            try? space.close()
            throw error
        }
        try reporting { () throws(DiarioError) in try space.close() }
    }

    /// Prints something that is no result.
    func remark(_ text: String) {
        // Who cannot be told does not stop the command.
        try? errors.line("diario: \(text)")
        try? errors.flush()
    }
}

/// Runs calls of the library and turns their errors into ours.
func reporting<Value: ~Copyable>(
    _ body: () throws(DiarioError) -> Value
) throws(Failure) -> Value {
    do { return try body() } catch { throw .failed(error.message) }
}

/// Runs calls of the log and turns their errors into ours.
func reportingLog<Value: ~Copyable>(
    _ body: () throws(LogError) -> Value
) throws(Failure) -> Value {
    do { return try body() } catch { throw .failed(error.message) }
}
