import DiarioCore
package import DiarioEngine
import DiarioLog
import DiarioSchema
import Synchronization

/// Asks for the authority of a space whether the bearer of a token may record events that are not
/// pushed, but come as JSON, as CloudEvents or from a command.
package final class AuthorityGate: RecordingGate {
    private let authority: SpaceAuthority
    private let caller: Caller

    package init(_ authority: SpaceAuthority, _ caller: Caller) {
        self.authority = authority
        self.caller = caller
    }

    /// Who sends events is known before they are asked about.
    package var actor: String? { nil }
    package var permission: Permission? { nil }

    package func fault(
        in events: [AskedEvent],
        of space: Space
    ) throws(DiarioError) -> (index: Int, fault: RecordingFault)? {
        guard !caller.mayVouch else { return nil }
        do { return try authority.fault(in: events, from: caller) } catch {
            if let error = error as? DiarioError { throw error }
            if let error = error as? LogError { throw DiarioError(error) }
            throw DiarioError(.system, "It cannot be told who may record this: \(error).")
        }
    }
}

extension SpaceAuthority {
    fileprivate func fault(
        in events: [AskedEvent],
        from caller: Caller
    ) throws -> (index: Int, fault: RecordingFault)? {
        let types = try sharedTypes()
        let (replica, last) = try store[space].author()
        return try authors.withLock { authors in
            try authors.follow(space, in: store, types)
            defer { authors.rest() }
            var made = MadeBefore()
            func author(_ id: ArraySlice<UInt8>, _ kind: Int) throws -> UInt64? {
                try authors.author(of: id, kind: kind, space, in: store, types)
            }
            for (index, event) in events.enumerated() {
                let own = OwnOrigins(
                    event.origin?.replica ?? replica,
                    through: event.origin?.sequence ?? last
                )
                let fault = try event.fault(
                    isNamed: caller.actor != nil,
                    roles: caller.roles,
                    own
                ) { () throws -> Authorship in
                    guard let subject = event.subject, let kind = event.entry.subject?.kind else {
                        return .nobodyMadeIt
                    }
                    if let actor = made.actor(subject, kind: kind) {
                        return event.actor?.elementsEqual(actor) == true ? .ownWork : .workOfOthers
                    }
                    guard let author = try author(subject, kind) else { return .nobodyMadeIt }
                    return author == authors.author(event.actor) ? .ownWork : .workOfOthers
                }
                if let fault { return (index, fault) }
                try made.note(event, own) { (id, kind) throws in try author(id, kind) != nil }
            }
            return nil
        }
    }
}

extension ServedSpaces {
    /// What is asked before somebody records in a space; without a token it is the old app.
    package func gate(of space: NamedSpace, for token: Token?) throws -> any RecordingGate {
        let caller =
            token.map { Caller($0) } ?? Caller(rights: [.append], actor: Self.unnamedActor)
        return AuthorityGate(try authority(of: space), caller)
    }

    /// The actor of what comes without a token.
    package static var unnamedActor: String { "old-app" }
}
