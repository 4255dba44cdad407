package import DiarioEngine
import Synchronization

/// The newest copy of a space, for several threads.
package final class SharedSpace: Sendable {
    private let kept: Mutex<Space>

    package init(_ space: Space) { kept = Mutex(space) }

    package var current: Space { kept.withLock { $0 } }

    /// Runs `body` with a copy, and keeps what becomes of it, also when `body` throws.
    ///
    /// Of two threads that do so at once the last one wins; what the other one found is found
    /// again.
    package func update<Value>(
        _ body: (inout Space) throws -> Value
    ) throws -> Value {
        let known = current
        var space = known
        defer {
            if space.id != known.id || space.types !== known.types || space.gate !== known.gate {
                kept.withLock { $0 = space }
            }
        }
        return try body(&space)
    }

    /// Remembers what the server lets this replica do, if it says so.
    package func take(_ permission: Permission?) throws {
        guard let permission, permission != current.gate?.permission else { return }
        try update { try $0.setPermission(permission) }
    }

    /// The space with the types of packs that were adopted meanwhile.
    package func refreshed() throws -> Space {
        try update { space in
            try space.takeUpAdoptions()
            return space
        }
    }
}
