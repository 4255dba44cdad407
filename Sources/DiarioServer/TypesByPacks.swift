import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioLog
import Synchronization

/// Types of spaces, made once for all spaces that adopted the same packs in the same order, on
/// which alone they depend.
///
/// A server has many spaces and few packs, and types take more memory than all else of a quiet
/// space.
final class TypesByPacks<Types: Sendable>: Sendable {
    private let known = Mutex<[[Hash32]: Types]>([:])
    private let countMax = 64

    func types(of adoptions: [Hash32]) -> Types? { known.withLock { $0[adoptions] } }

    func keep(_ types: Types, of adoptions: [Hash32]) {
        known.withLock { known in
            if known.count >= countMax { known.removeAll() }
            known[adoptions] = types
        }
    }
}

extension TypesByPacks: TypeShelf where Types == DiarioEngine.SpaceTypes {}

/// The types by which authorities judge pushes.
package final class SharedTypes: Sendable {
    private let known = TypesByPacks<SpaceTypes>()

    package init() {}

    func types(of space: SpaceID, in store: LogStore) throws -> SpaceTypes {
        let adoptions = try store[space].adoptions().map(\.fingerprint)
        if let found = known.types(of: adoptions) { return found }
        let made = try SpaceTypes(of: adoptions, in: store)
        known.keep(made, of: adoptions)
        return made
    }
}
