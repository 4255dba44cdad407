import DiarioLog

extension SpaceStatus {
    /// Whether the space has seen events of replicas; else another one may have its name.
    var isUsed: Bool { pending > 0 || tallies.contains { !$0.isAuthority } }
}
