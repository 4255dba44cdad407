import DiarioSchema
public import DiarioEngine

extension RecordedEvent {
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
