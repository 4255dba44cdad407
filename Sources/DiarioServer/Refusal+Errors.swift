import DiarioFormat
import DiarioLog
import DiarioSQLite
import DiarioStorage
package import DiarioSync

extension Refusal {
    /// The refusal of a request that threw `error`: the one place where errors become refusals.
    package init(_ error: any Error) {
        switch error {
        case let refusal as Refusal: self = refusal
        case let error as LogError: self.init(error)
        case let error as FormatError: self.init(LogError.format(error))
        case ControlError.sqlite(let error) where error.kind == .full:
            self.init(.full, "The disk of the server is full.")
        case is ControlError:
            self.init(unavailable: "its names and tokens cannot be read or written.")
        default: self.init(unavailable: "it failed.")
        }
    }

    /// The refusal of a request that threw an error of the log; nil if it is another error.
    package init?(ofLog error: any Error) {
        guard let error = error as? LogError else { return nil }
        self.init(error)
    }

    private init(_ error: LogError) {
        switch error {
        case .unknownSpace: self.init(.unknownSpace, "There is no such space.")
        case .storage(.full): self.init(.full, "The disk of the server is full.")
        case .tooManyReplicas, .tooLarge: self.init(.full, error.message)
        default: self.init(unavailable: Self.words(for: error))
        }
    }

    /// Whoever asks over a network is told no paths of the server; its log has them.
    private static func words(for error: LogError) -> String {
        switch error {
        case .corrupt, .format: "files of the space are damaged. Tell the server's operator."
        case .storage, .stopped: "its disk cannot be read or written."
        case .readOnly, .closed: "its log can only be read."
        case .moved, .sealing: "its files change at this moment."
        default: error.message
        }
    }

    private init(unavailable message: String) {
        self.init(.unavailable, number: 5, "The server cannot do this now: \(message)")
    }
}
