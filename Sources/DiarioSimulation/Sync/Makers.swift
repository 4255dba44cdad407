import DiarioCore
import DiarioServer

/// Who made the things and spots of a world, and who may record what of them: the rule `who` of
/// schema/format/sync.md, section 6, once more and as plainly as possible.
struct Makers {
    /// By ids; empty for nobody.
    private var things: [[UInt8]: [UInt8]] = [:]
    private var spots: [[UInt8]: [UInt8]] = [:]

    static let roles = ["world.keeper", "world.guest"]

    /// The replica that records an event, and the last of its sequences that it may give as an id.
    struct Recorder {
        let replica: ReplicaID
        let through: UInt64
        /// The origin of the event, if it is known before.
        let origin: Origin?

        init(_ origin: Origin) {
            replica = origin.replica
            through = origin.sequence
            self.origin = origin
        }

        init(_ replica: ReplicaID, through: UInt64) {
            self.replica = replica
            self.through = through
            origin = nil
        }

        func mayMake(_ id: [UInt8]) -> Bool {
            guard let other = Origin(text: String(decoding: id, as: UTF8.self)) else { return true }
            return other.replica == replica && other.sequence <= through
        }

        func isOrigin(_ id: [UInt8]) -> Bool { origin.map { Array($0.text.utf8) } == id }
    }

    mutating func note(_ event: SyncEvent, by recorder: Recorder) {
        let actor = event.actor ?? []
        switch event.kind {
        case .thing:
            if let id = event.id, !recorder.isOrigin(id) {
                if things[id] == nil { things[id] = actor }
            } else if let origin = recorder.origin {
                things[Array(origin.text.utf8)] = actor
            }
        case .spot:
            if let id = event.subject, recorder.mayMake(id), spots[id] == nil { spots[id] = actor }
        case .note, .newNote, .name, .mark, .stray, .other: break
        }
    }

    /// True if a caller may not record an event by the rules of a version of the pack.
    func forbid(
        _ event: SyncEvent,
        by recorder: Recorder,
        from caller: Caller,
        version: Int
    ) -> Bool {
        guard version > 1, !caller.mayVouch else { return false }
        if event.kind == .thing, let id = event.id {
            return !recorder.isOrigin(id) && !recorder.mayMake(id)
        }
        guard event.kind == .name || version > 2 && (event.kind == .spot || event.kind == .mark)
        else { return false }
        guard caller.actor != nil, let actor = event.actor, !actor.isEmpty else { return true }
        if version > 2, event.kind != .spot, caller.roles.contains("world.keeper") { return false }
        guard event.kind != .mark, let subject = event.subject else { return true }
        guard let author = (event.kind == .spot ? spots : things)[subject] else {
            return event.kind != .spot || !recorder.mayMake(subject)
        }
        return author != actor
    }
}
