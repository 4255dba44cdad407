import DiarioFormat
import DiarioLog
import DiarioStorage
package import DiarioSync

extension Refusal {
    /// The refusal of a request that threw `error`: the one place where errors become refusals.
    package init(_ error: any Error) {
        switch error {
        case let refusal as Refusal: self = refusal
        case let error as LogError: self.init(error)
        case let error as FormatError: self.init(LogError.format(error))
        case let error as ControlError: self.init(unavailable: error.message)
        default: self.init(unavailable: "\(error)")
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
        default: self.init(unavailable: error.message)
        }
    }

    private init(unavailable message: String) {
        self.init(.unavailable, number: 5, "The server cannot do this now: \(message)")
    }
}
