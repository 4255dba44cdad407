import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema

/// The event types that a space has by now, as its log says.
struct SpaceTypes: Sendable {
    /// How many packs were adopted when this was made.
    let adoptionCount: Int
    /// What the packs in use say of who may record events.
    let recordingPlan: RecordingPlan
    /// The names of the types that make things whose authors matter.
    let makingTypes: Set<[UInt8]>
    private let types: [Key: Known]
    private let refusal: EventType?

    private struct Key: Hashable {
        let name: [UInt8]
        let version: Int
    }

    /// A type and what is needed to look at its events.
    ///
    /// A class, since it is passed on for each event.
    final class Known: Sendable {
        let type: EventType
        let plan: PayloadPlan
        let fingerprint: Hash32
        /// Nil if nobody asks who records it.
        let asked: RecordingPlan.Entry?

        fileprivate init(_ type: EventType, _ asked: RecordingPlan.Entry?) {
            self.type = type
            self.asked = asked
            plan = PayloadPlan(type)
            fingerprint = Fingerprint.schema(type)
        }

        /// What an event is about, as text; nil if about nothing.
        func subject(
            of payload: Payload,
            _ part: PublicPart,
            _ block: Span<UInt8>
        ) -> [UInt8]? {
            guard let index = type.subjectFieldIndex else {
                return part.subject.map { Array(block, $0) }
            }
            return payload.bytes(at: index).map { Array($0) }
        }

        /// The same, of a row whose payload is still to be decoded.
        func subject(
            of row: BlockRow,
            _ part: PublicPart,
            _ block: Span<UInt8>,
            _ payload: inout Payload
        ) throws(FormatError) -> [UInt8]? {
            guard type.subjectFieldIndex != nil else {
                return part.subject.map { Array(block, $0) }
            }
            try PayloadCodec.decode(block, row, part, plan: plan, into: &payload)
            return subject(of: payload, part, block)
        }
    }

    /// The types of packs that were adopted in this order.
    init(of adoptions: [Hash32], in store: LogStore) throws {
        var known: [Key: EventType] = [:]
        func note(_ types: [EventType]) {
            // The first schema of a type and version in a space wins.
            for type in types {
                let key = Key(name: type.nameBytes, version: type.version)
                known[key] = known[key] ?? type
            }
        }
        note(store.broughtTypes)
        var used: [String: Pack] = [:]
        for adoption in adoptions {
            let pack = try store.packs.pack(adoption)
            used[pack.name] = pack
            note(pack.types)
        }
        let plan = RecordingPlan(of: Array(used.values), types: Array(known.values))
        types = known.mapValues { Known($0, plan.entry(of: $0)) }
        let making = types.filter { $0.value.asked?.new != nil || $0.value.asked?.first != nil }
        makingTypes = Set(making.keys.map(\.name))
        recordingPlan = plan
        refusal = store.broughtTypes.last { $0.name == EngineReader.refusalName }
        adoptionCount = adoptions.count
    }

    subscript(entry: TypeEntry) -> Known? {
        types[Key(name: entry.name, version: entry.version)]
    }

    /// What the space knows under the name and version of a type.
    subscript(type: EventType) -> Known? {
        types[Key(name: type.nameBytes, version: type.version)]
    }

    /// The event that says that a batch was refused.
    func refusalDraft(
        _ replica: ReplicaID,
        _ batch: PushedBatch,
        _ reason: Objection
    ) -> DraftBatch {
        guard let refusal else {
            preconditionFailure("the engine's pack says how events are refused")
        }
        var payload = Payload()
        payload.reset(fieldCount: refusal.fields.count)
        for (index, field) in refusal.fields.enumerated() {
            switch field.name {
            case "replica": payload.setBytes(Array(replica.text.utf8).span, at: index)
            case "first": payload.slots[index] = .integer(Int64(batch.firstSequence))
            case "count": payload.slots[index] = .integer(Int64(batch.count))
            case "rule": payload.setBytes(Array(reason.rule.rawValue.utf8).span, at: index)
            case "message":
                let text = String(reason.message.unicodeScalars.prefix(Self.messageLengthMax))
                payload.setBytes(Array(text.utf8).span, at: index)
            case "sequence": payload.slots[index] = .integer(Int64(reason.sequence))
            case "position":
                if let position = reason.position {
                    payload.slots[index] = .integer(Int64(position))
                }
            default: preconditionFailure("the engine's pack has no other field here")
            }
        }
        var draft = DraftBatch()
        do throws(FormatError) { try draft.append(payload, type: refusal) } catch {
            preconditionFailure("what the engine writes obeys its schema: \(error.message)")
        }
        return draft
    }

    private static let messageLengthMax = 1024
}
