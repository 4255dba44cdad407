import DiarioCore
package import DiarioSchema

/// A type with what encoding its events needs; one object for all batches that know it.
package final class KnownType: Sendable {
    package let plan: PayloadPlan
    package let entry: TypeEntry

    package init(_ type: EventType) {
        plan = PayloadPlan(type)
        entry = TypeEntry(
            name: type.nameBytes,
            version: type.version,
            fingerprint: Fingerprint.schema(type)
        )
    }
}

/// The contents of a `DraftBatch`.
struct DraftContents: Sendable {
    /// The types of the events, each once; the first one apart, since mostly it is the only one.
    private var firstType: KnownType?
    private var otherTypes: [KnownType] = []
    private(set) var events: [DraftEvent] = []
    /// Flags, actors, subjects and payloads, laid out as `DraftEvent` says.
    private(set) var bytes: [UInt8] = []
    private(set) var references: [DraftReference] = []
    /// True if an event has personal fields.
    private(set) var hasPersonal = false
    /// The types of this batch and of earlier ones; finding one again saves hashing its schema.
    private var known: [KnownType] = []
    /// The index of each type in `known`.
    private var knownIndices = ObjectIndices<EventType>()
    /// Which number each type has in this batch.
    private var listedIndices = ObjectIndices<KnownType>()

    /// Bytes that a block grows by when it lists the types.
    private(set) var typesSize = 0

    /// The type of the event that was added last, as most often also of the next.
    private var last: (known: KnownType, index: Int32)?

    private static let knownCountMax = 256

    private let countMax: Int
    private let sizeMax: Int

    init(isContainer: Bool) {
        countMax = isContainer ? 2 * Limits.batchCountMax : Limits.batchCountMax
        sizeMax = isContainer ? Limits.batchSizeMax * 3 / 2 : Limits.batchSizeMax
    }

    var isEmpty: Bool { events.isEmpty }

    /// The types of the events, each once.
    var types: [EventType] { (0..<typeCount).map { listed($0).plan.type } }

    /// The entries of the types in a block.
    var entries: [TypeEntry] { (0..<typeCount).map { entry($0) } }

    /// The number of types of the events.
    var typeCount: Int { firstType == nil ? 0 : 1 + otherTypes.count }

    /// The entry of a type in a block.
    func entry(_ index: Int) -> TypeEntry { listed(index).entry }

    /// One of the types that the events have.
    func listed(_ index: Int) -> KnownType {
        guard index == 0, let firstType else { return otherTypes[index - 1] }
        return firstType
    }

    /// Gets to know types beforehand, so that copies of this batch know them too.
    mutating func learn(_ types: [KnownType]) {
        for type in types { add(type) }
    }

    /// Bytes of the events, with the longest ids where ids are filled in later.
    var size: Int { bytes.count + references.count * DraftReference.sizeMax }

    /// Forgets all events.
    mutating func removeAll(keepingCapacity: Bool = true) {
        firstType = nil
        if !otherTypes.isEmpty { otherTypes.removeAll(keepingCapacity: keepingCapacity) }
        typesSize = 0
        hasPersonal = false
        events.removeAll(keepingCapacity: keepingCapacity)
        bytes.removeAll(keepingCapacity: keepingCapacity)
        if !references.isEmpty { references.removeAll(keepingCapacity: keepingCapacity) }
        listedIndices.removeAll()
        last = nil
        if known.count > Self.knownCountMax {
            known.removeAll()
            knownIndices.removeAll()
        }
    }

    /// Adds an event; when it throws, nothing is added.
    ///
    /// Where a field refers to `#n`, event n of this batch, counted from 1, must already be here
    /// and make an id. A row that keeps its own values gives its `origin`, so that an id that is
    /// the own origin can be told from others.
    mutating func append(
        _ payload: Payload,
        type: EventType,
        at: Timestamp? = nil,
        actor: Span<UInt8>? = nil,
        subject: Span<UInt8>? = nil,
        ifUnchanged: Bool = false,
        origin: Origin? = nil
    ) throws(FormatError) {
        let known = knownType(type)
        let plan = known.plan
        precondition(
            payload.slots.count == plan.fieldCount,
            "a payload has a slot for each field"
        )
        guard events.count < countMax else {
            throw .tooManyEvents(count: events.count + 1)
        }
        if let at, !CivilTime.contains(at) { throw .invalidTime(milliseconds: at.milliseconds) }
        var event = DraftEvent(
            flags: ifUnchanged ? .ifUnchanged : [],
            time: at?.milliseconds,
            start: bytes.count,
            firstReference: references.count
        )
        if let actor {
            guard Self.isText(actor, max: Limits.actorSizeMax) else {
                throw .invalidActor(size: actor.count)
            }
            event.flags.insert(.actor)
        }
        if let subject {
            guard Self.isText(subject, max: Limits.subjectSizeMax), !plan.hasSubjectField else {
                throw .invalidSubject(size: subject.count)
            }
            event.flags.insert(.subject)
        }
        if Self.isDerived(payload, plan, origin) { event.flags.insert(.derived) }
        let resolved = payload.references.isEmpty ? [] : try resolve(payload, type)
        let bounds = PayloadBounds(of: payload, texts: resolved.reduce(0) { $0 + $1.text.count })
        guard bounds.contentSize <= Limits.eventSizeMax else {
            throw .eventTooLarge(size: bounds.contentSize)
        }
        let found = try encode(
            payload,
            plan,
            &event,
            actor: actor,
            subject: subject,
            resolved: resolved,
            sizeMax: bounds.sizeMax
        )
        event.referenceCount = Int32(found.count)
        try checkSize(event)
        if !found.isEmpty { references += found }
        event.typeIndex = index(of: known)
        hasPersonal = hasPersonal || event.flags.contains(.personal)
        events.append(event)
    }

    /// Adds the event that a line tells; when it throws, nothing is added.
    mutating func append(_ line: EventLine) throws(FormatError) {
        let arena = line.arena
        var actor: Span<UInt8>?
        if let range = line.actor { actor = arena.span.extracting(range) }
        var subject: Span<UInt8>?
        if let range = line.subject { subject = arena.span.extracting(range) }
        try append(
            line.payload,
            type: line.type,
            at: line.at,
            actor: actor,
            subject: subject,
            ifUnchanged: line.ifUnchanged,
            origin: line.origin
        )
    }

    /// Takes the event's bytes away again if it, or the batch with it, is too large.
    private mutating func checkSize(_ event: DraftEvent) throws(FormatError) {
        let size = event.size + Int(event.referenceCount) * DraftReference.sizeMax
        let batchSize = self.size + Int(event.referenceCount) * DraftReference.sizeMax
        guard size > Limits.eventSizeMax || batchSize > sizeMax else { return }
        bytes.removeSubrange(Int(event.start)...)
        if size > Limits.eventSizeMax { throw .eventTooLarge(size: size) }
        throw .batchTooLarge(size: batchSize)
    }

    /// Appends the bytes of an event; when it throws, none are.
    private mutating func encode(
        _ payload: Payload,
        _ plan: PayloadPlan,
        _ event: inout DraftEvent,
        actor: Span<UInt8>?,
        subject: Span<UInt8>?,
        resolved: [ResolvedReference],
        sizeMax: Int
    ) throws(FormatError) -> [DraftReference] {
        let start = bytes.count
        var encoder = PayloadEncoder(
            slots: payload.slots.span,
            arena: payload.arena.span.raw,
            resolved: resolved.span,
            plan: plan,
            isDerived: event.flags.contains(.derived),
            start: start
        )
        let (publicFields, personalFields) = (plan.publicFields, plan.personalFields)
        // The flags and two texts with their lengths lie in front of the payload. No more room than
        // that: most batches have one event, and large pieces of memory are dear.
        let room = sizeMax + 1 + 2 + (actor?.count ?? 0) + 2 + (subject?.count ?? 0)
        try bytes.append(addingCapacity: room) { (output) throws(FormatError) in
            output.append(0)
            if let actor {
                output.append(counted: actor.raw)
                event.setActor(size: actor.count, endingAt: start + output.count)
            }
            if let subject {
                output.append(counted: subject.raw)
                event.setSubject(size: subject.count, endingAt: start + output.count)
            }
            event.payloadStart = Int32(start + output.count)
            do throws(FormatError) {
                try encoder.encode(publicFields.span, into: &output)
                event.personalStart = Int32(start + output.count)
                if encoder.hasValue(in: personalFields.span) {
                    event.flags.insert(.personal)
                    try encoder.encode(personalFields.span, into: &output)
                }
            } catch {
                // Nothing of the event stays.
                output.removeAll()
                throw error
            }
            event.end = Int32(start + output.count)
            var bytes = output.mutableSpan
            bytes[0] = event.flags.rawValue
        }
        if let given = encoder.given { event.setGiven(given) }
        return encoder.references
    }

    /// The ids that the fields of `payload` with `#n` refer to.
    private func resolve(
        _ payload: Payload,
        _ type: EventType
    ) throws(FormatError) -> [ResolvedReference] {
        var resolved: [ResolvedReference] = []
        for reference in payload.references {
            let field = reference.fieldIndex
            guard type.fields.indices ~= field, type.fields[field].kind == .string,
                !type.fields[field].isNewID, payload.bytes(at: field) != nil
            else { throw .invalidField(index: field) }
            guard reference.number >= 1, reference.number <= events.count else {
                throw .unresolvedReference(number: reference.number)
            }
            let target = events[reference.number - 1]
            let given = target.given.map { Array(bytes[$0]) }
            guard given != nil || target.flags.contains(.derived) else {
                throw .unresolvedReference(number: reference.number)
            }
            resolved.append(
                ResolvedReference(
                    fieldIndex: field,
                    target: Int32(reference.number - 1),
                    text: given ?? []
                )
            )
        }
        return resolved
    }

    /// True if the field marked "new" is absent, or is the event's own origin.
    private static func isDerived(
        _ payload: Payload,
        _ plan: PayloadPlan,
        _ origin: Origin?
    ) -> Bool {
        guard plan.newIDField >= 0 else { return false }
        switch payload.slots[plan.newIDField] {
        case .absent: return true
        case .integer, .number: return false
        case .bytes(let start, let count):
            guard let origin else { return false }
            let range = Int(start)..<Int(start) + Int(count)
            return OriginText.matches(origin, payload.arena.span, range)
        }
    }

    private static func isText(_ bytes: Span<UInt8>, max: Int) -> Bool {
        1...max ~= bytes.count && Text.isValid(bytes.raw, 0..<bytes.count)
    }

    /// The index of the type in this batch, which lists it from now on.
    private mutating func index(of known: KnownType) -> Int32 {
        if known === last?.known, let index = last?.index { return index }
        if firstType == nil {
            firstType = known
            typesSize = known.entry.size
            last = (known, 0)
            return 0
        }
        let index: Int32
        if known === firstType {
            index = 0
        } else if let listed = listedIndices.find(known) {
            index = listed
        } else {
            index = listedIndex(of: known)
            listedIndices.insert(known, index)
        }
        last = (known, index)
        return index
    }

    private mutating func listedIndex(of known: KnownType) -> Int32 {
        for index in 0..<typeCount where listed(index).entry.isSameType(as: known.entry) {
            precondition(
                listed(index).entry == known.entry,
                "a version of a type has one schema"
            )
            return Int32(index)
        }
        otherTypes.append(known)
        typesSize += known.entry.size
        return Int32(typeCount - 1)
    }

    private mutating func knownType(_ type: EventType) -> KnownType {
        if let last, last.known.plan.type === type { return last.known }
        if let index = knownIndices.find(type) { return known[Int(index)] }
        let new = KnownType(type)
        add(new)
        return new
    }

    private mutating func add(_ type: KnownType) {
        knownIndices.insert(type.plan.type, Int32(known.count))
        known.append(type)
    }
}

extension DraftContents {
    /// An upper bound of the bytes that the rows take in a block.
    var rowsSizeMax: Int {
        size + events.count * (RowSize.headMax + PublicPart.prefixSizeMax)
    }

    /// An upper bound of the bytes that a block grows by when it takes the batch.
    var sizeInBlockMax: Int {
        // The last summands are a run and a replica.
        rowsSizeMax + typesSize + BlockBuilder.runSizeMax + 8
    }

    func references(of event: DraftEvent) -> ArraySlice<DraftReference> {
        let first = Int(event.firstReference)
        return references[first..<first + Int(event.referenceCount)]
    }
}
