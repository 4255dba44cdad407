package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
package import DiarioLog
package import DiarioSchema

/// The event types of simulated worlds, and how events become drafts and come back from rows.
package struct EventKinds: Sendable {
    package let engine: EngineReader
    private let plans: [SimulatedEvent.Kind: PayloadPlan]

    private static let noteSchema = """
        { "title": "sim.note.made", "x-diario-version": 1, "type": "object",
          "additionalProperties": false, "required": ["number", "text"],
          "properties": {
            "number": { "type": "integer" },
            "text": { "type": "string" },
            "secret": { "type": "string", "minLength": 1, "x-diario-personal": true } } }
        """
    private static let itemSchema = """
        { "title": "sim.item.counted", "x-diario-version": 2, "type": "object",
          "x-diario-subject": "itemId",
          "additionalProperties": false, "required": ["number", "text"],
          "properties": {
            "itemId": { "type": "string", "minLength": 1, "maxLength": 64, "x-diario-id": "new" },
            "number": { "type": "integer" },
            "text": { "type": "string" } } }
        """
    private static let adoptionSchema = """
        { "title": "engine.pack.adopted", "x-diario-version": 1, "type": "object",
          "x-diario-subject": "pack",
          "additionalProperties": false, "required": ["pack", "version", "fingerprint"],
          "properties": {
            "pack": { "type": "string" },
            "version": { "type": "integer", "minimum": 1 },
            "fingerprint": { "type": "string", "pattern": "^[0-9a-f]{64}$" } } }
        """

    package init() {
        let schemas: [(SimulatedEvent.Kind, String)] = [
            (.note, Self.noteSchema), (.item, Self.itemSchema), (.adoption, Self.adoptionSchema),
        ]
        var plans: [SimulatedEvent.Kind: PayloadPlan] = [:]
        for (kind, schema) in schemas { plans[kind] = PayloadPlan(EventType(simulated: schema)) }
        self.plans = plans
        guard let type = plans[.adoption]?.type, let engine = EngineReader([type]) else {
            preconditionFailure("the schema above has what the reader looks for")
        }
        self.engine = engine
    }

    /// All types of the events.
    package var types: [EventType] {
        SimulatedEvent.Kind.allCases.map { plan($0).type }
    }

    private func plan(_ kind: SimulatedEvent.Kind) -> PayloadPlan {
        guard let plan = plans[kind] else { preconditionFailure("every kind has a type") }
        return plan
    }

    // MARK: Writing

    /// A batch of `events`.
    package func batch(_ events: [SimulatedEvent]) -> DraftBatch {
        var batch = DraftBatch()
        for event in events { append(event, to: &batch, origin: nil) }
        return batch
    }

    /// Adds one event to a batch; with `origin`, as one that keeps its own.
    package func append(_ event: SimulatedEvent, to batch: inout DraftBatch, origin: Origin?) {
        let type = plan(event.kind).type
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        func set(_ name: String, _ bytes: [UInt8]) {
            guard let index = type.fieldIndex(name) else { return }
            payload.setBytes(bytes.span, at: index)
        }
        if let index = type.fieldIndex("number") ?? type.fieldIndex("version") {
            payload.slots[index] = .integer(event.number)
        }
        set("text", event.text)
        if let secret = event.secret { set("secret", secret) }
        set("pack", Array("sim".utf8))
        set("fingerprint", Array(Self.fingerprint(of: event.number).text.utf8))
        do throws(FormatError) {
            try add(payload, of: type, event, to: &batch, origin)
        } catch {
            preconditionFailure("a simulated event is within all limits: \(error)")
        }
    }

    private func add(
        _ payload: Payload,
        of type: EventType,
        _ event: SimulatedEvent,
        to batch: inout DraftBatch,
        _ origin: Origin?
    ) throws(FormatError) {
        let at = event.at.map { Timestamp(milliseconds: $0) }
        if let actor = event.actor {
            try batch.append(payload, type: type, at: at, actor: actor.span, origin: origin)
        } else {
            try batch.append(payload, type: type, at: at, origin: origin)
        }
    }

    /// The fingerprint of the pack that the adoption of that number names.
    package static func fingerprint(of number: Int64) -> Hash32 {
        Hash32(words: (UInt64(bitPattern: number), 1, 2, 3))
    }

    // MARK: Reading

    /// The event that a row holds; throws if the row is not one of ours.
    package func event(
        _ row: BlockRow,
        _ part: PublicPart,
        of block: Span<UInt8>,
        type entry: TypeEntry
    ) throws(FormatError) -> SimulatedEvent {
        let found = SimulatedEvent.Kind.allCases.first { kind in
            let type = self.plan(kind).type
            return type.nameBytes == entry.name && type.version == entry.version
        }
        guard let known = found else { throw .malformed(.types, at: 0) }
        let plan = self.plan(known)
        var payload = Payload()
        try PayloadCodec.decode(block, row, part, plan: plan, into: &payload)
        func bytes(_ name: String) -> [UInt8]? {
            plan.type.fieldIndex(name).flatMap { payload.bytes(at: $0) }.map(Array.init)
        }
        guard let index = plan.type.fieldIndex("number") ?? plan.type.fieldIndex("version"),
            case .integer(let number) = payload.slots[index]
        else { throw .malformed(.row, at: part.payload.lowerBound) }
        let isOwnTime = part.envelope.at.milliseconds == part.envelope.clock.milliseconds
        return SimulatedEvent(
            kind: known,
            number: number,
            text: bytes("text") ?? [],
            secret: bytes("secret"),
            actor: part.actor.map { range in range.map { block[$0] } },
            at: isOwnTime ? nil : part.envelope.at.milliseconds
        )
    }
}

extension EventType {
    /// Of a schema of the simulator.
    convenience init(simulated schema: String) {
        var budget = PatternBudget()
        do throws(PackError) {
            try self.init(schema: Array(schema.utf8), file: "simulated", budget: &budget)
        } catch {
            preconditionFailure("a schema of the simulator is wrong: \(error.problems)")
        }
    }
}
