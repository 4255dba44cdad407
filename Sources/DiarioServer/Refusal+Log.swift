import DiarioCore
import DiarioLog
import DiarioStorage
import DiarioSync

extension Refusal {
    /// What a replica is told when the log of the authority fails.
    init(_ error: LogError) {
        switch error {
        case .unknownSpace: self.init(.unknownSpace, "There is no such space.")
        case .storage(.full): self.init(.full, "The disk of the server is full.")
        case .tooManyReplicas, .tooLarge: self.init(.full, error.message)
        default:
            self.init(.unavailable, number: 5, "The server cannot do this now: \(error.message)")
        }
    }
}
