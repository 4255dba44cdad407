import DiarioCore
import DiarioServer
import Synchronization

/// When replicas were heard of, until it is written down.
final class Contacts: Sendable {
    private let seen = Mutex<[Key: Timestamp]>([:])

    private struct Key: Hashable, Sendable {
        let space: SpaceName
        let replica: ReplicaID
    }

    func note(_ replica: ReplicaID, in space: SpaceName, at now: Timestamp) {
        let key = Key(space: space, replica: replica)
        seen.withLock { seen in
            guard seen[key] != nil || seen.count < Limits.holderReplicaCountMax else { return }
            seen[key] = now
        }
    }

    /// Gives what was noted, and forgets it.
    func take() -> [Contact] {
        let taken = seen.withLock { seen in
            defer { seen.removeAll() }
            return seen
        }
        return taken.map { key, time in
            Contact(space: key.space, replica: key.replica, seen: time)
        }
    }
}
