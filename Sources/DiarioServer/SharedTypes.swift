import DiarioCore
import DiarioCrypto
import DiarioLog
import Synchronization

/// The event types of spaces, made once for all spaces that adopted the same packs.
///
/// A server has many spaces and few packs, and types take more memory than all else of a quiet
/// space.
package final class SharedTypes: Sendable {
    /// By the packs that were adopted, in their order, on which alone the types depend.
    private let known = Mutex<[[Hash32]: SpaceTypes]>([:])
    private static let countMax = 64

    package init() {}

    func types(of space: SpaceID, in store: LogStore) throws -> SpaceTypes {
        let adoptions = try store.adoptions(of: space).map(\.fingerprint)
        if let found = known.withLock({ $0[adoptions] }) { return found }
        let made = try SpaceTypes(of: adoptions, in: store)
        return known.withLock { known in
            // Another space may have been faster; all have the same ones.
            if let found = known[adoptions] { return found }
            if known.count >= Self.countMax { known.removeAll() }
            known[adoptions] = made
            return made
        }
    }
}
