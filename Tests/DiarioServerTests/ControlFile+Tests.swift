import DiarioCore
import DiarioLog
import DiarioServer

extension ControlFile {
    /// A token, and its space if there is none of that name; it is made when it is first used.
    func makeTokenAndSpace(
        _ draft: TokenDraft,
        drawnFrom entropy: any EntropySource,
        at now: Timestamp
    ) throws -> (key: TokenKey, token: Token) {
        if try space(draft.space) == nil {
            try name(SpaceID(drawnFrom: entropy), draft.space, at: now)
        }
        return try makeToken(draft, drawnFrom: entropy, at: now)
    }

    /// The token that a text is; nil if it is none that is valid now.
    func token(_ text: some StringProtocol, at now: Timestamp) throws -> Token? {
        try bearer(of: text, at: now)?.token
    }

    /// The holder of a replica; nil if it has none yet.
    func holder(of replica: ReplicaID, in space: SpaceName) throws -> Holder? {
        guard case .holder(let holder, _) = try owner(of: replica, in: space) else { return nil }
        return holder
    }
}
