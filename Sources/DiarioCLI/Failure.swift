package import DiarioLog

/// Why a command ends without having done its work.
package enum Failure: Error, Equatable, Sendable {
    /// It could not be done; a message with the place and the remedy.
    case failed(String)
    /// Files are damaged: where, and a message as above.
    case damaged(Fault, String)
    /// It was asked for in a way that has no meaning.
    case usage(String)
    /// Who reads the output has gone: nobody is there to be told.
    case outputClosed
    /// What is wrong was printed already, as the result.
    case found

    package init(_ error: UsageError) { self = .usage(error.message) }

    package var exitCode: ExitCode {
        switch self {
        case .failed, .damaged, .found: .failed
        case .usage: .usage
        case .outputClosed: .done
        }
    }

    /// What is printed on stderr behind `diario: `.
    package var message: String? {
        switch self {
        case .failed(let message), .damaged(_, let message), .usage(let message): message
        case .outputClosed, .found: nil
        }
    }
}

/// Runs what may find the words that were typed wrong.
func checkingUsage<Value>(_ body: () throws(UsageError) -> Value) throws(Failure) -> Value {
    do { return try body() } catch { throw Failure(error) }
}
