import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioSchema

extension SpaceType {
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

extension SpaceTypes {
    /// The event that says that a batch was refused.
    func refusalDraft(
        _ replica: ReplicaID,
        _ batch: PushedBatch,
        _ reason: Objection
    ) -> DraftBatch {
        guard let refusal = catalog.newest(EngineReader.refusalName) else {
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
