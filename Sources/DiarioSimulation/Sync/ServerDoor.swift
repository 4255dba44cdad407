import DiarioCore
import DiarioEngine
import DiarioLog
import DiarioServer

/// Somebody who sends events to a server that are not pushed, but come as JSON.
struct ServerDoor {
    private let server: Server
    private let kinds: SyncKinds
    private let ledger: Ledger
    private let caller: Caller

    init(
        _ server: Server,
        _ kinds: SyncKinds,
        _ ledger: Ledger,
        _ draw: inout SeededRandom
    ) {
        self.server = server
        self.kinds = kinds
        self.ledger = ledger
        caller = Caller(
            rights: draw.oneIn(6) ? [.append, .relay] : [.append],
            actor: draw.oneIn(5) ? nil : "alice",
            roles: draw.oneIn(2) ? [] : [draw.pick(Makers.roles)]
        )
    }

    /// Records events, or nothing if the rule `who` forbids one; breaks a promise if it should
    /// have done the other thing.
    func record(_ events: [SyncEvent], in space: SpaceID) throws -> [Origin]? {
        guard let store = server.store, let authority = server.authority else { return nil }
        let isForbidden = try isForbidden(events)
        let origins: [Origin]
        do {
            var space = try Space(store: store, id: space)
            space.gate = AuthorityGate(authority, caller)
            var lines = LineRecorder(space)
            for event in events { try lines.add(kinds.line(event).span) }
            lines.finish()
            origins = try lines.commit()
        } catch {
            guard isForbidden, error.rule == "who" else {
                throw Broken(.works, "events sent to the server: \(error.message)")
            }
            return nil
        }
        guard !isForbidden else {
            throw Broken(.verdicts, "\(origins[0].text) is recorded against the rule who")
        }
        return origins
    }

    private func isForbidden(_ events: [SyncEvent]) throws -> Bool {
        let own = try server.read("the author") { try $0[server.space].author() }
        let recorder = Makers.Recorder(own.0, through: own.1)
        var makers = ledger.makers
        for event in events {
            let version = ledger.versionInUse
            if makers.forbid(event, by: recorder, from: caller, version: version) { return true }
            makers.note(event, by: recorder)
        }
        return false
    }
}
