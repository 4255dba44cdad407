public import DiarioCore
package import DiarioSchema

/// An event as it stands in the log.
public struct RecordedEvent: Sendable {
    let eventType: EventType
    let payload: Payload
    /// The row's own subject; nil where a field of the payload says it.
    let ownSubject: String?
    /// Who wrote it, and as which of its events; never changes.
    public let origin: Origin
    /// Where it stands in the canonical log, from 1; nil while it is pending.
    public let position: UInt64?
    /// When the author says it happened.
    public let at: Timestamp
    /// The author's own clock, which increases with each of its events.
    public let clock: HybridTime
    /// When it got its position; nil while it is pending.
    public let acceptedAt: Timestamp?
    /// The highest position that its author knew.
    public let base: UInt64
    /// Who did it: an opaque id.
    public let actor: String?

    /// The full name of the type, such as `meals.food.logged`.
    public var type: String { eventType.name }
    /// The version of the type.
    public var version: Int { eventType.version }

    /// What it is about, if anything is said of that.
    public var subject: String? {
        guard let index = eventType.subjectFieldIndex else { return ownSubject }
        let fields = EventFields(payload, of: eventType)
        return switch eventType.fields[index].kind {
        case .integer: fields.integer(at: index).map { String($0) }
        case .uuid: fields.uniqueID(at: index)?.text
        default: fields.text(at: index)
        }
    }

    /// The payload as canonical JSON; nil if the schema of its type is not here.
    public var json: String? {
        guard !eventType.isUnknown else { return nil }
        var bytes: [UInt8] = []
        PayloadWriter.append(payload, of: eventType, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The event as a Swift value; nil if it is of another type, or of another version of it.
    ///
    /// - Throws: ``DiarioError`` if the Swift type was made from another schema than the event, or
    ///   if a field is absent that the schema requires.
    public func decode<Event: TypedEvent>(as event: Event.Type) throws -> Event? {
        let schema = event.schema
        guard !eventType.isUnknown, eventType.name == schema.name,
            eventType.version == schema.version
        else { return nil }
        try schema.check(eventType)
        return try Event(from: EventFields(payload, of: eventType))
    }
}

extension RecordedEvent {
    /// The event that was read last, which stands in the log.
    package init?(_ line: EventLine) {
        guard let origin = line.origin, let clock = line.clock else { return nil }
        eventType = line.type
        payload = line.payload
        ownSubject = line.subject.map { String(decoding: line.arena[$0], as: UTF8.self) }
        actor = line.actor.map { String(decoding: line.arena[$0], as: UTF8.self) }
        self.origin = origin
        self.clock = clock
        position = line.position
        at = line.at ?? Timestamp(milliseconds: clock.milliseconds)
        acceptedAt = line.acceptedAt
        base = line.base ?? 0
    }
}
