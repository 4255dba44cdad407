import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioSync

/// The event that says from where on another authority gives the positions of a space.
enum MovedEvent {
    static let name = "engine.authority.moved"

    static func draft(_ publish: Publish, of store: LogStore) throws -> DraftBatch {
        guard let type = store.broughtTypes.last(where: { $0.name == name }) else {
            throw LogError.unknownType(name: name, version: 1)
        }
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        for (index, field) in type.fields.enumerated() {
            switch field.name {
            case "size": payload.slots[index] = .integer(Int64(publish.standing.size))
            case "root":
                payload.setBytes(Array(publish.standing.root.text.utf8).span, at: index)
            case "attempt": payload.setBytes(Array(publish.attempt.text.utf8).span, at: index)
            default: preconditionFailure("the engine's pack has no other field here")
            }
        }
        var draft = DraftBatch()
        try draft.append(payload, type: type)
        return draft
    }
}
