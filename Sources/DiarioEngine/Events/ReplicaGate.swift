import DiarioCore
package import DiarioLog
import DiarioSchema

/// What a server lets the bearer of a token do.
package struct Permission: Hashable, Sendable {
    /// In whose name the token is; nil for nobody.
    package let actor: String?
    package let rights: [String]
    /// The full names of the roles that it gives.
    package let roles: [String]

    package init(actor: String?, rights: [String], roles: [String]) {
        self.actor = actor
        self.rights = rights
        self.roles = roles
    }

    init(_ file: PermissionFile) {
        self.init(actor: file.actor, rights: file.rights, roles: file.roles)
    }

    /// True if the bearer answers for what others record: nobody asks then who did.
    var mayVouch: Bool {
        rights.contains { $0.hasBytes(of: "relay") || $0.hasBytes(of: "admin") }
    }
}

extension PermissionFile {
    package init(_ permission: Permission) {
        self.init(
            actor: permission.actor,
            rights: permission.rights,
            roles: permission.roles
        )
    }
}

/// Asks on a replica what its server would say of events, so that people hear it at once and
/// without a network; the server decides.
final class ReplicaGate: RecordingGate {
    private let known: Permission
    let actor: String?

    var permission: Permission? { known }

    init(_ permission: Permission, actor: String?) {
        known = permission
        self.actor = actor
    }

    func fault(
        in events: [AskedEvent],
        of space: Space
    ) throws(DiarioError) -> (index: Int, fault: RecordingFault)? {
        guard !known.mayVouch else { return nil }
        let (replica, last): (ReplicaID, UInt64)
        do throws(LogError) {
            replica = try space.store[space.id].status().replica
            last = space.store[space.id].lastSequence(of: replica)
        } catch {
            throw DiarioError(error)
        }
        var made = MadeBefore()
        var search = AuthorSearch(space)
        for (index, event) in events.enumerated() {
            let own = OwnOrigins(
                event.origin?.replica ?? replica,
                through: event.origin?.sequence ?? last
            )
            let fault = try event.fault(
                isNamed: known.actor != nil,
                roles: known.roles,
                own
            ) { () throws(DiarioError) in
                guard let subject = event.subject, let kind = event.entry.subject?.kind else {
                    return .nobodyMadeIt
                }
                var author = made.actor(subject, kind: kind)
                if author == nil { author = try search.author(of: subject, kind: kind) }
                guard let author else { return .nobodyMadeIt }
                return event.actor?.elementsEqual(author) == true ? .ownWork : .workOfOthers
            }
            if let fault { return (index, fault) }
            try made.note(event, own) { (id, kind) throws(DiarioError) in
                try search.author(of: id, kind: kind) != nil
            }
        }
        return nil
    }
}

/// Looks in the log of a replica for who made what an event is about.
private struct AuthorSearch {
    private let space: Space
    /// Of each kind the types that make its ids.
    private var makers: [[(type: EventType, field: Int)]]
    private var found: [Key: [UInt8]?] = [:]

    private struct Key: Hashable {
        let kind: Int
        let id: [UInt8]
    }

    init(_ space: Space) {
        self.space = space
        let plan = space.types.recordingPlan
        makers = plan.kinds.map { _ in [] }
        for type in space.catalog.types {
            guard let entry = space.types[type]?.asked else { continue }
            if let new = entry.new { makers[new.kind].append((type, new.index)) }
            if let first = entry.first { makers[first.kind].append((type, first.index)) }
        }
    }

    /// The actor of the event that made an id, empty for none; nil if no event here did.
    mutating func author(
        of id: ArraySlice<UInt8>,
        kind: Int
    ) throws(DiarioError) -> [UInt8]? {
        let key = Key(kind: kind, id: Array(id))
        if let known = found[key] { return known }
        var author = try byOrigin(key)
        if author == nil { author = try bySubject(key) }
        found[key] = .some(author)
        return author
    }

    private func byOrigin(_ key: Key) throws(DiarioError) -> [UInt8]? {
        guard let origin = Origin(text: String(decoding: key.id, as: UTF8.self)) else {
            return nil
        }
        var author: [UInt8]?
        try space.readEvents([origin.sequence], of: origin.replica) {
            (line, _) throws(DiarioError) in
            author = author ?? actor(line, ifItMakes: key)
        }
        return author
    }

    private func bySubject(_ key: Key) throws(DiarioError) -> [UInt8]? {
        let makers = makers[key.kind]
        guard !makers.isEmpty else { return nil }
        var filter = EventFilter(types: makers.map { $0.type.name })
        if makers.allSatisfy({ $0.type.subjectFieldIndex == $0.field }) {
            filter.subject = String(decoding: key.id, as: UTF8.self)
        }
        var reader = try EventReader(space, filter, for: .use, isReversed: false)
        while try reader.advance() {
            if let author = actor(reader.line, ifItMakes: key) { return author }
        }
        return nil
    }

    private func actor(_ line: EventLine, ifItMakes key: Key) -> [UInt8]? {
        let field = makers[key.kind].first { $0.type === line.type }?.field
        guard let field, line.payload.idBytes(at: field)?.elementsEqual(key.id) == true else {
            return nil
        }
        return line.actor.map { Array(line.arena[$0]) } ?? []
    }
}
