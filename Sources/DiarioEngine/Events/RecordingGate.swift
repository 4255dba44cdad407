package import DiarioCore
package import DiarioSchema

// Who may record what: schema/format/sync.md, section 6, rule `who`.

/// An event that is about to be recorded, as far as it matters who records it.
package struct AskedEvent: Sendable {
    package let entry: RecordingPlan.Entry
    package let type: String
    package let actor: ArraySlice<UInt8>?
    /// What it is about, if that is asked; `#n` if the event n of its batch makes that.
    package let subject: ArraySlice<UInt8>?
    /// The id that it makes; nil if that is its own origin.
    package let new: ArraySlice<UInt8>?
    /// What it is about, if the first event about that makes it.
    package let first: ArraySlice<UInt8>?
    /// Nil if it gets the next one of whoever records it.
    package let origin: Origin?
    /// Its number in its batch, counted from 1.
    package let number: Int
    /// Where it stands in what was given to record; nil if that is over.
    private(set) var place: InputPlace?

    package init(
        _ entry: RecordingPlan.Entry,
        _ type: EventType,
        _ payload: Payload,
        actor: ArraySlice<UInt8>?,
        origin: Origin?,
        number: Int = 1
    ) {
        func id(_ field: RecordingPlan.IDField?) -> ArraySlice<UInt8>? {
            guard let field else { return nil }
            if let reference = payload.references.first(where: { $0.fieldIndex == field.index }) {
                return Array("#\(reference.number)".utf8)[...]
            }
            return payload.idBytes(at: field.index)
        }
        self.entry = entry
        self.type = type.name
        self.actor = actor
        self.origin = origin
        self.number = number
        subject = id(entry.subject)
        first = id(entry.first)
        let new = id(entry.new)
        let isOwn = origin.map { own in new.map { $0.elementsEqual(own.text.utf8) } ?? true }
        self.new = isOwn == true ? nil : new
    }

    /// The event of a line; nil if it does not matter who records it.
    init?(
        _ line: EventLine,
        in space: Space,
        origin: Origin? = nil,
        number: Int,
        at place: InputPlace? = nil
    ) {
        guard space.gate != nil, let entry = space.types[line.type]?.asked else {
            return nil
        }
        self.init(
            entry,
            line.type,
            line.payload,
            actor: line.actor.map { line.arena[$0] },
            origin: origin,
            number: number
        )
        self.place = place
    }
}

/// The ids in the form of an origin that a replica may give: those of its own events, as far as
/// they are recorded.
package struct OwnOrigins: Sendable {
    package let replica: ReplicaID
    package let through: UInt64

    package init(_ replica: ReplicaID, through: UInt64) {
        self.replica = replica
        self.through = through
    }

    /// True for every id of another form, too.
    package func mayMake(_ id: ArraySlice<UInt8>) -> Bool {
        // Shorter ones are no origins, and nothing is read of most ids.
        guard id.count > 14, let origin = Origin(text: String(decoding: id, as: UTF8.self)) else {
            return true
        }
        return origin.replica == replica && origin.sequence <= through
    }
}

/// The author of what an event is about, for whoever records it.
package enum Authorship: Sendable {
    case nobodyMadeIt
    case ownWork
    case workOfOthers
}

/// Why somebody may not record an event.
package enum RecordingFault: Sendable {
    case noActor
    case notAuthor
    case noRole
    /// The new id has the form of an origin that is not the event's to give.
    case foreignID
    /// The same of what the first event is about.
    case foreignSubject
}

/// What of an event decides who may record it.
package struct RecordingFacts: Sendable {
    /// True if it has an actor, and whoever records it has one.
    package let isNamed: Bool
    /// True if it gives an id that is not its own to give.
    package let isForeignID: Bool
    /// True if the first event about its subject makes that, and it is not this one's to make.
    package let isForeignSubject: Bool
    /// True if it makes what it is about, unless that is there already.
    package let makesSubject: Bool

    package init(
        isNamed: Bool,
        isForeignID: Bool,
        isForeignSubject: Bool,
        makesSubject: Bool
    ) {
        self.isNamed = isNamed
        self.isForeignID = isForeignID
        self.isForeignSubject = isForeignSubject
        self.makesSubject = makesSubject
    }

    /// Why somebody with these roles may not record the event; nil if nothing forbids it.
    ///
    /// `authorship` is asked of the subject, and only if it matters.
    package func fault<Failure>(
        _ entry: RecordingPlan.Entry,
        roles: [String],
        _ authorship: () throws(Failure) -> Authorship
    ) throws(Failure) -> RecordingFault? {
        guard !isForeignID else { return .foreignID }
        guard let rule = entry.rule else { return nil }
        guard isNamed else { return .noActor }
        if rule.roles.contains(where: { wanted in roles.contains { $0.hasBytes(of: wanted) } }) {
            return nil
        }
        guard rule.asksAuthor else { return .noRole }
        switch try authorship() {
        case .ownWork: return nil
        case .workOfOthers: return .notAuthor
        case .nobodyMadeIt:
            guard makesSubject else { return .notAuthor }
            return isForeignSubject ? .foreignSubject : nil
        }
    }
}

extension RecordingPlan.Entry {
    /// True if an event makes what it is about, unless that is there already.
    package var makesSubject: Bool {
        guard let subject else { return false }
        return first != nil || new?.index == subject.index
    }
}

extension AskedEvent {
    /// Why the event may not be recorded by somebody with these roles; nil if it may.
    ///
    /// `isNamed` says that whoever records it has an actor. `authorship` is asked of the subject,
    /// and only if it matters.
    package func fault<Failure>(
        isNamed: Bool,
        roles: [String],
        _ own: OwnOrigins,
        _ authorship: () throws(Failure) -> Authorship
    ) throws(Failure) -> RecordingFault? {
        let facts = RecordingFacts(
            isNamed: isNamed && actor?.isEmpty == false,
            isForeignID: new.map { !own.mayMake($0) } ?? false,
            isForeignSubject: first.map { !own.mayMake($0) } ?? false,
            makesSubject: entry.makesSubject
        )
        return try facts.fault(entry, roles: roles, authorship)
    }

    /// What is wrong, and what to do, in two sentences or more.
    package func message(_ fault: RecordingFault) -> (text: String, remedy: String) {
        let roles = (entry.rule?.roles ?? []).joined(separator: " or ")
        switch fault {
        case .noActor:
            return (
                "\(type) is recorded in somebody's name, and the event has no actor.",
                "Record it with a token that names an actor, or say who acts on this replica: "
                    + "diario actor set ID"
            )
        case .notAuthor:
            let id = subject.map { String(decoding: $0, as: UTF8.self) } ?? ""
            return (
                "\(type) is for the author of \(id.prefix(64)) alone"
                    + (roles.isEmpty ? "" : ", and for the role \(roles)") + ".",
                "Ask its author"
                    + (roles.isEmpty
                        ? "." : ", or the space's administrator for a token with the role.")
            )
        case .noRole:
            return (
                "\(type) is for the role \(roles), which the token does not give.",
                "Ask the space's administrator for one that does: diario token create --role "
                    + "\(entry.rule?.roles.first ?? "")"
            )
        case .foreignID, .foreignSubject:
            let id = String(decoding: new ?? first ?? [], as: UTF8.self)
            return (
                "The id \(id.prefix(64)) has the form of an origin, and only the replica that it "
                    + "names may give it, and not beforehand.",
                "Leave the id out, or choose one of another form."
            )
        }
    }
}

/// Asked before events are recorded, on behalf of whoever records them.
package protocol RecordingGate: AnyObject, Sendable {
    /// The actor of events of which it matters who records them, and that name none.
    var actor: String? { get }
    /// What is asked on a replica; nil at an authority.
    var permission: Permission? { get }
    /// The first of the events that may not be recorded, and why; nil if all may.
    ///
    /// Events of one batch stand together, in order.
    func fault(
        in events: [AskedEvent],
        of space: Space
    ) throws(DiarioError) -> (index: Int, fault: RecordingFault)?
}

extension Space {
    /// Throws why the first of the events may not be recorded that may not.
    func check(_ events: [AskedEvent]) throws(DiarioError) {
        guard let gate, !events.isEmpty, let found = try gate.fault(in: events, of: self) else {
            return
        }
        throw DiarioError(found.fault, events[found.index])
    }
}

/// What events make that are not recorded yet, with their actors.
package struct MadeBefore: Sendable {
    private var actors: [Key: [UInt8]] = [:]

    private struct Key: Hashable {
        let kind: Int
        let id: [UInt8]
    }

    package init() {}

    /// The actor of the event that makes an id, empty for none; nil if none of them does.
    package func actor(_ id: ArraySlice<UInt8>, kind: Int) -> [UInt8]? {
        actors[Key(kind: kind, id: Array(id))]
    }

    /// Notes what an event makes; `isMade` says of other ids whether they are there already.
    package mutating func note<Failure>(
        _ event: AskedEvent,
        _ own: OwnOrigins,
        isMade: (ArraySlice<UInt8>, Int) throws(Failure) -> Bool
    ) throws(Failure) {
        // A batch has its own numbers.
        if event.number == 1 { actors = actors.filter { $0.key.id.first != UInt8(ascii: "#") } }
        let actor = event.actor.map { Array($0) } ?? []
        if let field = event.entry.new {
            let number = Array("#\(event.number)".utf8)
            actors[Key(kind: field.kind, id: number)] = actor
            if let id = event.new {
                try add(id, field.kind, actor, isMade)
            } else if let origin = event.origin {
                actors[Key(kind: field.kind, id: Array(origin.text.utf8))] = actor
            }
        }
        if let field = event.entry.first, let id = event.first, own.mayMake(id) {
            try add(id, field.kind, actor, isMade)
        }
    }

    private mutating func add<Failure>(
        _ id: ArraySlice<UInt8>,
        _ kind: Int,
        _ actor: [UInt8],
        _ isMade: (ArraySlice<UInt8>, Int) throws(Failure) -> Bool
    ) throws(Failure) {
        let key = Key(kind: kind, id: Array(id))
        guard actors[key] == nil, try !isMade(id, kind) else { return }
        actors[key] = actor
    }
}

extension DiarioError {
    /// Who may record an event forbids it.
    init(_ fault: RecordingFault, _ event: AskedEvent) {
        let place = event.place
        let (text, remedy) = event.message(fault)
        self.init(
            .rule,
            place.map { "\($0.text): \(text)" } ?? text,
            line: place?.line,
            rule: "who",
            remedy: remedy
        )
    }
}
