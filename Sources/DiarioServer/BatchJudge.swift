import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioSchema

/// Says which batches of a push are refused, and why: schema/format/sync.md, section 6.
struct BatchJudge {
    private let events: PushedEvents
    private let types: SpaceTypes
    private let caller: Caller
    private var payload = Payload()
    private var again = Payload()
    private var reader = PayloadReader()
    private var text: [UInt8] = []
    /// What was refused before this push, and what of this push was.
    private let refusals: KnownRefusals
    private var refusedSequences: Set<UInt64> = []
    private var refusedIDs: Set<[UInt8]> = []
    /// What accepted events of this push made, and those of the batch at hand, with its authors.
    private(set) var made: [UInt64: UInt64] = [:]
    /// By key, with the author before: an event makes its own origin whatever came before.
    private var madeByBatch: [(key: UInt64, before: UInt64?)] = []
    /// Nil where no authors matter.
    private let keys: AuthorIndex.Keys?
    /// Of the batch at hand: what matters of its events to who may record them.
    private var questions: [Question] = []
    /// That of the last event, which mostly is that of the next.
    private var lastActor = Actor(bytes: [], hash: AuthorIndex.nobody)
    /// By the index of the block that they are of.
    private var blockTypes: (block: Int, types: [SpaceType?]) = (-1, [])
    /// Of the batch at hand: ids that its events make, and subjects that must not have changed.
    private var newIDs: [[UInt8]] = []
    private var asked: [Asked] = []
    private var changes: SubjectChanges?
    /// The last position that was looked at for changes, behind which the push must stand; nil if
    /// no event asked.
    private(set) var head: UInt64?

    /// An event that asks that nobody else wrote to its subject.
    private struct Asked {
        let subject: [UInt8]
        let base: UInt64
        let sequence: UInt64
    }

    /// The actor of an event, and its hash where authors matter.
    private struct Actor {
        let bytes: [UInt8]
        let hash: UInt64
    }

    /// An event of which it matters who records it.
    private struct Question {
        /// The index of its row in the block, and of its type.
        let row: Int
        let type: Int
        let facts: RecordingFacts
        /// The hash of its actor.
        let actor: UInt64
        /// The keys of what it is about, and makes.
        let subject: UInt64?
        let new: UInt64?
        let isOwnOrigin: Bool
        let first: UInt64?
    }

    /// `keys` are those of the authors of the space; nil where no authors matter.
    init(
        of events: PushedEvents,
        _ types: SpaceTypes,
        _ refusals: KnownRefusals,
        _ caller: Caller,
        _ keys: AuthorIndex.Keys?
    ) {
        self.keys = keys
        self.events = events
        self.types = types
        self.refusals = refusals
        self.caller = caller
    }

    /// The first rule that an event of the batch breaks; nil if the batch is accepted.
    ///
    /// Batches are asked about in order: what one of them makes, a later one may be about.
    mutating func objection(
        to batch: PushedBatch,
        in store: LogStore,
        _ space: SpaceID,
        _ authors: inout KnownAuthors
    ) throws -> Objection? {
        var found = judge(batch)
        if found == nil { found = try recorders(of: batch, in: store, space, &authors) }
        if found == nil { found = try change(in: store, space) }
        settle(batch, isRefused: found != nil)
        return found
    }

    /// Notes what a batch makes that got its verdict before: a push that comes again has one with
    /// what is about that.
    mutating func note(_ batch: PushedBatch, isRefused: Bool) {
        _ = judge(batch)
        settle(batch, isRefused: isRefused)
    }

    /// Looks at the events of a batch, apart from what the log says.
    private mutating func judge(_ batch: PushedBatch) -> Objection? {
        newIDs.removeAll(keepingCapacity: true)
        asked.removeAll(keepingCapacity: true)
        questions.removeAll(keepingCapacity: true)
        var found: Objection?
        settleTypes(of: batch)
        let block = events.blocks[batch.block]
        for row in block.rows[batch.rows] {
            guard let objection = judge(row, of: block) else { continue }
            found = found ?? objection
        }
        return found
    }

    /// Finds the types of a block once, and not for each of its rows.
    private mutating func settleTypes(of batch: PushedBatch) {
        guard blockTypes.block != batch.block else { return }
        blockTypes = (batch.block, events.blocks[batch.block].head.types.map { types[$0] })
    }

    private mutating func settle(_ batch: PushedBatch, isRefused: Bool) {
        if isRefused {
            refusedIDs.formUnion(newIDs)
            refusedSequences.formUnion(batch.firstSequence...batch.lastSequence)
            for one in madeByBatch.reversed() { made[one.key] = one.before }
        } else {
            refusedIDs.subtract(newIDs)
        }
        madeByBatch.removeAll(keepingCapacity: true)
    }

    /// Looks at one event, and notes what later ones are judged by.
    private mutating func judge(_ row: BlockRow, of block: PushedBlock) -> Objection? {
        do throws(FormatError) {
            return try objection(to: row, of: block)
        } catch {
            // What the bytes of a payload are not: the block itself was checked.
            return Objection(
                rule: .invalid,
                message: "A payload cannot be read: \(error.message).",
                sequence: row.sequence
            )
        }
    }

    private mutating func objection(
        to row: BlockRow,
        of block: PushedBlock
    ) throws(FormatError) -> Objection? {
        let entry = block.head.types[row.typeIndex]
        func objection(_ rule: Objection.Rule, _ message: String) -> Objection {
            Objection(rule: rule, message: message, sequence: row.sequence)
        }
        guard !entry.isAuthority else {
            return objection(.engineType, "\(entry.text) is recorded by the authority alone.")
        }
        guard let known = blockTypes.types[row.typeIndex] else {
            return objection(
                .unknownType,
                "No adopted pack has \(entry.text) version \(entry.version). Adopt one that does, "
                    + "and record the event again."
            )
        }
        guard known.fingerprint == entry.fingerprint else {
            return objection(
                .schema,
                "\(entry.text) version \(entry.version) has another schema in this space."
            )
        }
        let bytes = block.bytes.span
        let part = try PublicPart.parse(bytes, row)
        try PayloadCodec.decode(bytes, row, part, plan: known.plan, into: &payload)
        let isUnchanged = part.flags.contains(.ifUnchanged)
        // Mostly nothing was refused, and what an event is about does not matter.
        let subject =
            isUnchanged || mayBeRefused ? known.subject(of: payload, part, bytes) : nil
        if let index = known.type.newIDFieldIndex, let id = payload.bytes(at: index) {
            newIDs.append(Array(id))
        }
        if let subject, isUnchanged {
            asked.append(
                Asked(subject: subject, base: part.envelope.base, sequence: row.sequence)
            )
        }
        if let fault = fault(of: known.type) { return objection(.invalid, fault) }
        var actor: Actor?
        if let range = part.actor { actor = self.actor(bytes, range) }
        guard caller.mayAppend(as: actor?.bytes[...]) else {
            return objection(.actor, "The event has an actor that the token does not name.")
        }
        // Beyond the head is right after the authority was restored from a backup.
        guard part.envelope.base <= LogNumber.max else {
            return objection(.base, "\(part.envelope.base) is no position.")
        }
        if let subject, isRefused(subject) {
            return objection(.cascade, "The event is about something that a refused event made.")
        }
        if let entry = known.asked { note(entry, row, part, actor) }
        return nil
    }

    /// Notes what matters of the event at hand to who may record it.
    private mutating func note(
        _ entry: RecordingPlan.Entry,
        _ row: BlockRow,
        _ part: PublicPart,
        _ actor: Actor?
    ) {
        let own = OwnOrigins(row.replica, through: row.sequence)
        let isDerived = part.flags.contains(.derived)
        func key(_ field: RecordingPlan.IDField?) -> UInt64? {
            guard let keys, let field else { return nil }
            guard case .bytes(let start, let count) = payload.slots[field.index] else {
                return payload.idBytes(at: field.index).map {
                    keys.key(Array($0).span, kind: field.kind)
                }
            }
            let range = Int(start)..<Int(start) + Int(count)
            return keys.key(payload.arena.span.extracting(range), kind: field.kind)
        }
        func isForeign(_ field: RecordingPlan.IDField?) -> Bool {
            guard let field, let id = payload.idBytes(at: field.index) else { return false }
            return !own.mayMake(id)
        }
        questions.append(
            Question(
                row: row.index,
                type: row.typeIndex,
                facts: RecordingFacts(
                    isNamed: caller.actor != nil && actor?.bytes.isEmpty == false,
                    isForeignID: !isDerived && isForeign(entry.new),
                    isForeignSubject: isForeign(entry.first),
                    makesSubject: entry.makesSubject
                ),
                actor: actor?.hash ?? AuthorIndex.nobody,
                subject: key(entry.subject),
                new: key(entry.new),
                isOwnOrigin: isDerived,
                first: key(entry.first)
            )
        )
    }

    /// The actor that stands in a range of a block.
    private mutating func actor(_ block: Span<UInt8>, _ range: Range<Int>) -> Actor {
        let bytes = block.extracting(range)
        if !bytes.hasBytes(of: lastActor.bytes.span) {
            let hash = keys?.author(bytes) ?? AuthorIndex.nobody
            lastActor = Actor(bytes: Array(block, range), hash: hash)
        }
        return lastActor
    }

    /// What the schema says against the payload at hand; nil if it lets it pass.
    ///
    /// It is written out and read again, as it would be if it had come as JSON: so there is one
    /// judge of payloads and not two.
    private mutating func fault(of type: EventType) -> String? {
        text.removeAll(keepingCapacity: true)
        PayloadWriter.append(payload, of: type, to: &text)
        let written = text
        do throws(SchemaError) {
            try reader.read(written.span, as: type, into: &again)
        } catch {
            return error.message
        }
        return again == payload ? nil : "The payload is not in its canonical form."
    }

    /// Whether anything was refused that an event can be about.
    private var mayBeRefused: Bool {
        !refusedIDs.isEmpty || !refusedSequences.isEmpty || !refusals.isEmpty
    }

    /// Whether a subject is the id that a refused event made.
    private func isRefused(_ subject: [UInt8]) -> Bool {
        if refusedIDs.contains(subject) { return true }
        guard let origin = Origin(text: String(decoding: subject, as: UTF8.self)) else {
            return false
        }
        if origin.replica == events.replica, refusedSequences.contains(origin.sequence) {
            return true
        }
        return refusals.run(of: origin) != nil
    }

    // MARK: Who may record what

    /// Notes what the events of a batch make; says why the caller may not record them, or nil.
    private mutating func recorders(
        of batch: PushedBatch,
        in store: LogStore,
        _ space: SpaceID,
        _ authors: inout KnownAuthors
    ) throws -> Objection? {
        for question in questions {
            guard let entry = blockTypes.types[question.type]?.asked else { continue }
            if !caller.mayVouch {
                let fault = try question.facts.fault(entry, roles: caller.roles) {
                    guard let key = question.subject,
                        let author = try made[key]
                            ?? authors.author(of: key, space, in: store, types)
                    else { return .nobodyMadeIt }
                    return author == question.actor ? .ownWork : .workOfOthers
                }
                if let fault { return try objection(fault, question, of: batch) }
            }
            if let key = question.new {
                try note(key, question, isOwn: question.isOwnOrigin, store, space, &authors)
            }
            if let key = question.first, !question.facts.isForeignSubject {
                try note(key, question, isOwn: false, store, space, &authors)
            }
        }
        return nil
    }

    /// Notes that an event makes something, unless that is there already.
    private mutating func note(
        _ key: UInt64,
        _ question: Question,
        isOwn: Bool,
        _ store: LogStore,
        _ space: SpaceID,
        _ authors: inout KnownAuthors
    ) throws {
        let before = made[key]
        guard
            try isOwn
                || before == nil && authors.author(of: key, space, in: store, types) == nil
        else { return }
        made[key] = question.actor
        madeByBatch.append((key, before))
    }

    /// The refusal of a batch for what keeps the caller from recording one of its events.
    private mutating func objection(
        _ fault: RecordingFault,
        _ question: Question,
        of batch: PushedBatch
    ) throws -> Objection? {
        let block = events.blocks[batch.block]
        let row = block.rows[question.row]
        guard let known = blockTypes.types[question.type], let entry = known.asked else {
            return nil
        }
        let part = try PublicPart.parse(block.bytes.span, row)
        try PayloadCodec.decode(
            block.bytes.span,
            row,
            part,
            plan: known.plan,
            into: &payload
        )
        let event = AskedEvent(entry, known.type, payload, actor: nil, origin: row.origin)
        let (text, remedy) = event.message(fault)
        return Objection(rule: .who, message: "\(text) \(remedy)", sequence: row.sequence)
    }

    // MARK: ifUnchanged

    /// Whether another replica wrote to a subject behind the base of an event that asks.
    private mutating func change(
        in store: LogStore,
        _ space: SpaceID
    ) throws -> Objection? {
        guard !asked.isEmpty else { return nil }
        if changes == nil {
            // What other processes wrote comes before this push.
            try store.catchUp()
            let head = store[space].head()
            self.head = head
            // Once for the whole push: the log behind the lowest base is read a single time.
            changes = try SubjectChanges(
                askedBy: events,
                types,
                in: store,
                space,
                through: head
            )
        }
        for event in asked {
            guard let position = changes?.lastPosition(of: event.subject), position > event.base
            else { continue }
            return Objection(
                rule: .changed,
                message: "Another replica wrote to this subject at position \(position), and the "
                    + "event was recorded without knowing that.",
                sequence: event.sequence,
                position: position
            )
        }
        return nil
    }
}

extension TypeEntry {
    fileprivate var text: String { String(decoding: name, as: UTF8.self) }
}
