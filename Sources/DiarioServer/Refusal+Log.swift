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
        case .lost(let lost):
            self.init(
                .unavailable,
                number: 3600,
                "The server lost events that are asked for: \(lost.message). A backup of it may "
                    + "have them; else go on in a new space: diario export --all on the server, "
                    + "and import --gaps there"
            )
        default:
            self.init(.unavailable, number: 5, "The server cannot do this now: \(error.message)")
        }
    }
}
