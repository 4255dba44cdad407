import DiarioServer
import Synchronization

/// Notices that tokens were revoked, by whatever process.
final class RevocationWatch: Sendable {
    private let seen = Mutex<ControlFile.Revocations?>(nil)
    private let changes = Atomic(0)

    /// Another number than before if tokens may have been revoked meanwhile: who reads on with one
    /// looks for it again.
    var count: Int { changes.load(ordering: .relaxed) }

    /// True if tokens may have been revoked since this was called last; what cannot be read now is
    /// looked at the next time.
    func look(in control: ControlFile) -> Bool {
        guard let found = try? control.revocations() else { return false }
        let isChange = seen.withLock { seen in
            defer { seen = found }
            return seen != found
        }
        if isChange { changes.add(1, ordering: .relaxed) }
        return isChange
    }
}
