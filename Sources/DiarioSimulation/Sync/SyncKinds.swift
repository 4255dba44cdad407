import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSchema

/// The packs and types of sync worlds, and how events become drafts and come back from rows.
package struct SyncKinds: Sendable {
    let engine: EngineReader
    let engineTypes: [EventType]
    /// By version, from 1.
    let packs: [Pack]
    let plans: [PackPlan]
    private let types: [SyncEvent.Kind: PayloadPlan]
    private let refusal: PayloadPlan
    private let adoption: PayloadPlan
    private let kindsByType: [TypeKey: SyncEvent.Kind]

    private struct TypeKey: Hashable {
        let name: [UInt8]
        let schema: Hash32
    }

    package init() {
        do throws(DiarioError) { engineTypes = try PackSource.engine().types } catch {
            preconditionFailure("the program carries its own pack with it: \(error.message)")
        }
        packs = (1...SyncPacks.versionMax).map { SyncPacks.pack(version: $0) }
        plans = packs.map { PackPlan($0) }
        let all = packs[packs.count - 1].types
        func plan(_ name: String, _ version: Int) -> PayloadPlan {
            guard let type = all.first(where: { $0.name == name && $0.version == version }) else {
                preconditionFailure("the last pack has all types")
            }
            return PayloadPlan(type)
        }
        let strangers = SyncPacks.strangers
        types = [
            .note: plan("world.note.made", 1), .newNote: plan("world.note.made", 2),
            .thing: plan("world.thing.made", 1), .name: plan("world.thing.named", 1),
            .mark: plan("world.mark.set", 1), .spot: plan("world.spot.seen", 1),
            .stray: PayloadPlan(strangers.stray), .other: PayloadPlan(strangers.other),
        ]
        var kindsByType: [TypeKey: SyncEvent.Kind] = [:]
        for kind in SyncEvent.Kind.allCases {
            guard let type = types[kind]?.type else { continue }
            // The contents of a schema do not depend on its name.
            let key = TypeKey(name: type.nameBytes, schema: Fingerprint.schema(type))
            kindsByType[key] = kind
        }
        self.kindsByType = kindsByType
        guard let engine = EngineReader(engineTypes),
            let refusal = engineTypes.last(where: { $0.name == EngineReader.refusalName }),
            let adoption = engineTypes.last(where: { $0.name == EngineReader.adoptionName })
        else { preconditionFailure("the engine's pack has what the reader looks for") }
        self.engine = engine
        self.refusal = PayloadPlan(refusal)
        self.adoption = PayloadPlan(adoption)
    }

    private func plan(_ kind: SyncEvent.Kind) -> PayloadPlan {
        guard let plan = types[kind] else { preconditionFailure("every kind has a type") }
        return plan
    }

    // MARK: Writing

    /// A batch of `events`.
    func batch(_ events: [SyncEvent]) -> DraftBatch {
        var batch = DraftBatch()
        for event in events {
            do throws(FormatError) { try append(event, to: &batch) } catch {
                preconditionFailure("a simulated event is within all limits: \(error)")
            }
        }
        return batch
    }

    private func append(
        _ event: SyncEvent,
        to batch: inout DraftBatch
    ) throws(FormatError) {
        let type = plan(event.kind).type
        var line = EventLine(type: type)
        line.payload.reset(fieldCount: type.fields.count)
        func set(_ name: String, _ bytes: [UInt8]?) {
            guard let index = type.fieldIndex(name), let bytes else { return }
            line.payload.setBytes(bytes.span, at: index)
        }
        func set(_ name: String, _ number: Int64) {
            guard let index = type.fieldIndex(name) else { return }
            line.payload.slots[index] = .integer(number)
        }
        set("token", event.token)
        set("mood", event.token % 10)
        set("text", event.text)
        set("secret", event.secret)
        set("thingId", event.kind == .name ? event.subject : event.id)
        if event.kind == .spot { set("spotId", event.subject) }
        if event.kind == .mark, let subject = event.subject {
            line.subject = line.keep(subject.span)
        }
        line.actor = event.actor.map { line.keep($0.span) }
        line.ifUnchanged = event.ifUnchanged
        try batch.append(line)
    }

    /// The same as a line of JSON, of a batch with the others.
    func line(_ event: SyncEvent) -> [UInt8] {
        let type = plan(event.kind).type
        var fields = ["\"token\":\(event.token)"]
        func set(_ name: String, _ bytes: [UInt8]?) {
            guard type.fieldIndex(name) != nil, let bytes else { return }
            fields.append("\"\(name)\":\"\(String(decoding: bytes, as: UTF8.self))\"")
        }
        if event.kind == .newNote { fields.append("\"mood\":\(event.token % 10)") }
        set("text", event.text)
        set("secret", event.secret)
        set("thingId", event.kind == .name ? event.subject : event.id)
        set("spotId", event.subject)
        var line = "{\"type\":\"\(type.name)\",\"version\":\(type.version),\"batch\":\"one\""
        line += ",\"payload\":{\(fields.joined(separator: ","))}"
        if let actor = event.actor {
            line += ",\"actor\":\"\(String(decoding: actor, as: UTF8.self))\""
        }
        if event.kind == .mark, let subject = event.subject {
            line += ",\"subject\":\"\(String(decoding: subject, as: UTF8.self))\""
        }
        return Array((line + "}").utf8)
    }

    // MARK: Reading

    /// The content of a row.
    enum Content: Hashable, Sendable {
        case event(SyncEvent)
        case adopted(Hash32)
        case refused(ReplicaID, first: UInt64, count: UInt64, rule: String)
    }

    /// A row that was read.
    struct Row: Hashable, Sendable {
        var content: Content
        var envelope: Envelope

        struct Envelope: Hashable, Sendable {
            var origin: Origin
            var base: UInt64
            var batchFirst: UInt64
            var batchCount: Int
            var clock: UInt64
        }
    }

    /// A row of a log; throws if it is not one of ours.
    func read(_ stored: StoredRow, of events: StoredEvents) throws -> Row {
        let type = events.types[stored.row.typeIndex]
        return try read(stored.row, of: events.bytes.span, type: type)
    }

    /// The rows in a block, or in columns, of a message or of the inbox, in order.
    func rows(in block: [UInt8], _ unpacker: inout BlockUnpacker) throws -> [Row] {
        var rows: [Row] = []
        for (bytes, head) in try unpacker.unpackAll(block) {
            var cursor = RowCursor(bytes.span, head.summary)
            while let next = try cursor.next() {
                rows.append(try read(next, of: bytes.span, type: head.types[next.typeIndex]))
            }
        }
        return rows
    }

    /// The content of a row of a block or a segment; throws if it is not one of ours.
    func read(
        _ row: BlockRow,
        of block: Span<UInt8>,
        type entry: TypeEntry
    ) throws(FormatError) -> Row {
        let part = try PublicPart.parse(block, row)
        let envelope = Row.Envelope(
            origin: row.origin,
            base: part.envelope.base,
            batchFirst: part.envelope.batchFirst,
            batchCount: part.envelope.batchCount,
            clock: part.envelope.clock.rawValue
        )
        return Row(content: try content(row, part, of: block, entry), envelope: envelope)
    }

    private func content(
        _ row: BlockRow,
        _ part: PublicPart,
        of block: Span<UInt8>,
        _ entry: TypeEntry
    ) throws(FormatError) -> Content {
        var payload = Payload()
        func bytes(_ name: String, _ plan: PayloadPlan) -> [UInt8]? {
            plan.type.fieldIndex(name).flatMap { payload.bytes(at: $0) }.map(Array.init)
        }
        func number(_ name: String, _ plan: PayloadPlan) throws(FormatError) -> Int64 {
            guard let index = plan.type.fieldIndex(name),
                case .integer(let value) = payload.slots[index]
            else { throw .malformed(.row, at: part.payload.lowerBound) }
            return value
        }
        if let kind = kindsByType[TypeKey(name: entry.name, schema: entry.fingerprint)] {
            let plan = self.plan(kind)
            try PayloadCodec.decode(block, row, part, plan: plan, into: &payload)
            let own = part.subject.map { range in range.map { block[$0] } }
            return .event(
                SyncEvent(
                    kind: kind,
                    token: try number("token", plan),
                    text: bytes("text", plan) ?? [],
                    secret: bytes("secret", plan),
                    actor: part.actor.map { range in range.map { block[$0] } },
                    // Where the id is the origin, none was given.
                    id: kind == .thing && !part.flags.contains(.derived)
                        ? bytes("thingId", plan) : nil,
                    subject: kind == .name
                        ? bytes("thingId", plan) : bytes("spotId", plan) ?? own,
                    ifUnchanged: part.flags.contains(.ifUnchanged)
                )
            )
        }
        if entry.name.elementsEqual(EngineReader.adoptionName.utf8) {
            try PayloadCodec.decode(block, row, part, plan: adoption, into: &payload)
            let text = bytes("fingerprint", adoption).map { String(decoding: $0, as: UTF8.self) }
            guard let fingerprint = text.flatMap({ Hash32(text: $0) }) else {
                throw .malformed(.row, at: part.payload.lowerBound)
            }
            return .adopted(fingerprint)
        }
        guard entry.name.elementsEqual(EngineReader.refusalName.utf8) else {
            throw .malformed(.types, at: 0)
        }
        try PayloadCodec.decode(block, row, part, plan: refusal, into: &payload)
        let text = bytes("replica", refusal).map { String(decoding: $0, as: UTF8.self) }
        guard let replica = text.flatMap({ ReplicaID(text: $0) }) else {
            throw .malformed(.row, at: part.payload.lowerBound)
        }
        return .refused(
            replica,
            first: UInt64(try number("first", refusal)),
            count: UInt64(try number("count", refusal)),
            rule: String(decoding: bytes("rule", refusal) ?? [], as: UTF8.self)
        )
    }
}
