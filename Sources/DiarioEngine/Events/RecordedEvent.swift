public import DiarioCore
package import DiarioSchema

/// An event of the log.
public struct RecordedEvent: Sendable {
    package let eventType: EventType
    package let payload: Payload
    /// The row's own subject; nil where a field of the payload says it.
    package let ownSubject: String?
    /// Its author and its number among the author's events; never changes.
    public let origin: Origin
    /// Its place in the canonical log, from 1; nil while it is pending.
    public let position: UInt64?
    /// When the author says it happened.
    public let at: Timestamp
    /// The author's own clock, which increases with each of its events.
    public let clock: HybridTime
    /// When it got its position; nil while it is pending.
    public let acceptedAt: Timestamp?
    /// The highest position that its author knew.
    public let base: UInt64
    /// The actor, as an opaque id.
    public let actor: String?

    /// The full name of the type, such as `meals.food.logged`.
    public var type: String { eventType.name }
    /// The version of the type.
    public var version: Int { eventType.version }

    /// The thing that it is about, if it has a subject.
    public var subject: String? {
        guard let index = eventType.subjectFieldIndex else { return ownSubject }
        if case .integer(let value) = payload.slots[index] { return String(value) }
        guard let bytes = payload.bytes(at: index) else { return nil }
        guard case .uuid = eventType.fields[index].kind else {
            return String(decoding: bytes, as: UTF8.self)
        }
        var text: [UInt8] = []
        TextEncodings.appendUUIDText(Array(bytes).span, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The payload as canonical JSON; nil if the schema of its type is not here.
    public var json: String? {
        guard !eventType.isUnknown else { return nil }
        var bytes: [UInt8] = []
        PayloadWriter.append(payload, of: eventType, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension RecordedEvent {
    /// The event that was read last, if it is in the log.
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
