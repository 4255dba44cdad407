package import DiarioCore
import DiarioCrypto

/// A token without its secret: schema/format/control.md, section 5.
package struct Token: Hashable, Sendable {
    package let id: TokenID
    package let space: SpaceName
    package let rights: Caller.Rights
    /// The actor of the bearer; nil if the token names none.
    package let actor: String?
    /// The roles of the bearer, as `fish.curator`, in byte order.
    package let roles: [String]
    /// The queries that it is for; none unless its right is `ask`.
    package let queries: [QueryPattern]
    /// Its label for people.
    package let label: String?
    package let created: Timestamp
    package let expires: Timestamp?
    package var revoked: Timestamp?
    /// To the hour.
    package var used: Timestamp?
    package let rates: TokenRates
    let hash: Hash32

    /// To whom a replica belongs that is first pushed with it.
    package var holder: Holder { actor.map { .actor($0) } ?? .token(id) }

    func isValid(at now: Timestamp) -> Bool {
        guard revoked == nil else { return false }
        guard let expires else { return true }
        return now < expires
    }
}

/// To whom a replica belongs: schema/format/control.md, section 7.
package enum Holder: Hashable, Sendable {
    case actor(String)
    /// One that names no actor.
    case token(TokenID)
}

/// The properties of a new token.
package struct TokenDraft: Sendable {
    package var space: SpaceName
    package var rights: Caller.Rights
    package var actor: String?
    package var roles: [String] = []
    /// Given if `rights` is `ask`.
    package var queries: [QueryPattern] = []
    package var label: String?
    package var expires: Timestamp?
    package var requestsPerSecond: Int?
    package var eventsPerSecond: Int?
    package var blobBytesMax: Int?

    package init(space: SpaceName, rights: Caller.Rights) {
        self.space = space
        self.rights = rights
    }
}

/// The rates of a token, requests and events in a second, and the bytes of blobs in all.
package struct TokenRates: Hashable, Sendable {
    package var requestsPerSecond = Limits.tokenRequestRateMax
    package var eventsPerSecond = Limits.tokenEventRateMax
    package var blobBytes = Int(Limits.tokenBlobSizeMax)

    package init() {}
}

extension Caller {
    /// The bearer of a token.
    package init(_ token: Token) {
        self.init(rights: token.rights, actor: token.actor, roles: token.roles)
    }
}

extension Caller.Rights {
    /// The rights by their names, in the order in which they are shown.
    private static let names: [(String, Caller.Rights)] = [
        ("read", .read), ("append", .append), ("relay", .relay), ("admin", .admin),
        ("ask", .ask),
    ]

    /// Reads `read,append`; nil if a word is no right, or none is there.
    package init?(text: some StringProtocol) {
        var rights: Caller.Rights = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let right = Self.names.first(where: { $0.0 == word })?.1 else { return nil }
            rights.insert(right)
        }
        self = rights
    }

    package var words: [String] { Self.names.filter { contains($0.1) }.map(\.0) }

    /// True if one may push events of others.
    package var mayRelay: Bool { contains(.relay) || contains(.admin) }
}
