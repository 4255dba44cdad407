package import Diario
import DiarioHTTP
import DiarioHost

/// Why a command ends without having done its work.
package enum Failure: Error, Equatable, Sendable {
    /// It could not be done; a message with the place and the remedy.
    case failed(String)
    /// Files are damaged: where, and a message as above.
    case damaged(Fault, String)
    /// The words of the command line are wrong.
    case usage(String)
    /// The reader of the output has gone: nobody is there to be told.
    case outputClosed
    /// The fault was printed already, as the result.
    case found

    /// The failure of a command that threw `error`: the one place where errors get their words.
    package init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as ServerError: self = .failed(error.message)
        case is CancellationError: self = .failed("it was interrupted")
        default:
            let error = DiarioError(error)
            let text = error.remedy.map { "\(error.message) \($0)" } ?? error.message
            self = error.fault.map { .damaged($0, text) } ?? .failed(text)
        }
    }

    package var exitCode: ExitCode {
        switch self {
        case .failed, .damaged, .found: .failed
        case .usage: .usage
        case .outputClosed: .done
        }
    }

    /// The text that is printed on stderr after `diario: `.
    package var message: String? {
        switch self {
        case .failed(let message), .damaged(_, let message), .usage(let message): message
        case .outputClosed, .found: nil
        }
    }
}

/// The exit codes of the program.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case done = 0
    case failed = 1
    case usage = 2

    package var meaning: String {
        switch self {
        case .done: "it was done, and nothing wrong was found"
        case .failed: "it failed, or found something wrong; stderr or the output says why"
        case .usage: "the words of the command line were wrong; nothing was done"
        }
    }
}
