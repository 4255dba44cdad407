import DiarioSchema

/// The caller of a request, as far as the carrier of messages knows it.
package struct Caller: Hashable, Sendable {
    /// The rights of a caller.
    package struct Rights: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let read = Rights(rawValue: 1)
        package static let append = Rights(rawValue: 2)
        /// Append events of other actors, and of replicas that belong to others.
        package static let relay = Rights(rawValue: 4)
        package static let admin = Rights(rawValue: 8)
        /// Ask the named queries that the token lists, and nothing else; stands alone.
        package static let ask = Rights(rawValue: 16)

        /// Those that a token may have together.
        package static let all: Rights = [.read, .append, .relay, .admin]

        /// The name of one right.
        package var word: String {
            switch self {
            case .read: "read"
            case .append: "append"
            case .relay: "relay"
            case .ask: "ask"
            default: "admin"
            }
        }
    }

    package var rights: Rights
    /// The actor of the caller; nil if events may name any.
    package var actor: [UInt8]?
    /// The roles of the caller, as `fish.curator`, in byte order.
    package var roles: [String]
    /// The newest format of packs that the caller's program reads.
    package var packFormat = Pack.formatMax

    package init(rights: Rights, actor: String? = nil, roles: [String] = []) {
        self.rights = rights
        self.actor = actor.map { Array($0.utf8) }
        self.roles = roles
    }

    /// True if the caller answers for what others record: nobody asks then who did.
    package var mayVouch: Bool { rights.contains(.relay) || rights.contains(.admin) }

    /// True if events of an actor may be appended; nil for an event without one.
    func mayAppend(as other: ArraySlice<UInt8>?) -> Bool {
        guard let actor, let other else { return true }
        return mayVouch || other.elementsEqual(actor)
    }
}
