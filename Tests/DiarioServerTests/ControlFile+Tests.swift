import DiarioCore
import DiarioLog
import DiarioServer

extension ControlFile {
    /// A token, and its space if there is none of that name; it is made when it is first used.
    func makeTokenAndSpace(
        _ draft: TokenDraft,
        drawnFrom entropy: any EntropySource,
        at now: Timestamp
    ) throws(ControlError) -> (key: TokenKey, token: Token) {
        if try space(draft.space) == nil {
            try name(SpaceID(drawnFrom: entropy), draft.space, at: now)
        }
        return try makeToken(draft, drawnFrom: entropy, at: now)
    }
}
