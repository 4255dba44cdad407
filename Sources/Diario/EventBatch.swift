public import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioSchema
import Synchronization

/// Events that are recorded together, all or none: at most 1,000 of them, and 1 MiB.
public struct EventBatch: Sendable {
    /// Always one.
    ///
    /// A batch is one reference, so that passing it to another thread counts no others. Threads
    /// that count the same references slow each other down.
    private var contents: [Contents]

    struct Contents: Sendable {
        /// The types that it was made with.
        let source: SpaceTypes
        /// Tells ids of this batch from those of others.
        let number: UInt64
        var reader = PayloadReader()
        var line = EventLine()
        var fields = EventFields()
        /// The types of the Swift types that were added, the last one last.
        var types: [(of: ObjectIdentifier, type: EventType)] = []
        var draft: DraftBatch
    }

    /// An empty batch, which need not get to know the types again.
    init(_ types: SpaceTypes) {
        let number = Self.numbers.add(1, ordering: .relaxed).newValue
        contents = [Contents(source: types, number: number, draft: types.draft)]
    }

    private static let numbers = Atomic<UInt64>(0)

    /// The number of events.
    public var count: Int { contents[0].draft.events.count }
    /// True if no event was added yet.
    public var isEmpty: Bool { contents[0].draft.isEmpty }

    /// The batch as the log takes it.
    var draft: DraftBatch { contents[0].draft }

    /// The types that it was made with.
    var source: SpaceTypes { contents[0].source }

    /// Makes sure that there is an event, and that each of them may say when it happened.
    func check(now: Timestamp) throws(DiarioError) {
        guard !isEmpty else {
            throw DiarioError(.invalid, "The batch is empty. Add an event to it first.")
        }
        for event in draft.events {
            try EventTime.check(event.atMilliseconds.map { Timestamp(milliseconds: $0) }, now: now)
        }
    }

    /// Adds an event of the type `name`, whose payload is given as JSON and checked here.
    ///
    /// A field that refers to an event of this batch may hold `"#3"`: the id that its third event
    /// makes. When this throws, the batch is as it was.
    ///
    /// - Parameters:
    ///   - name: The full name of the type, such as `meals.food.logged`.
    ///   - version: The version of the type; the newest if nil.
    ///   - json: The payload.
    ///   - at: When it happened; the time of recording if nil.
    ///   - actor: Who did it: an opaque id, never a name.
    ///   - subject: What it is about, where the type itself does not say it.
    ///   - ifUnchanged: Whether to refuse the event if another replica wrote to its subject.
    /// - Throws: ``DiarioError`` that names the field, the rule and the value.
    public mutating func add(
        _ name: String,
        version: Int? = nil,
        json: String,
        at: Timestamp? = nil,
        actor: String? = nil,
        subject: String? = nil,
        ifUnchanged: Bool = false
    ) throws {
        try contents[0].add(
            json,
            as: try contents[0].type(name, version: version),
            Envelope(
                at: at,
                actor: actor,
                subject: subject,
                ifUnchanged: ifUnchanged
            )
        )
    }

    /// Adds an event as a Swift value; its fields are checked here.
    ///
    /// When this throws, the batch is as it was.
    ///
    /// - Parameters:
    ///   - event: A value of a type that the plugin `DiarioEvents` made.
    ///   - at: When it happened; the time of recording if nil.
    ///   - actor: Who did it: an opaque id, never a name.
    ///   - subject: What it is about, where the type itself does not say it.
    ///   - ifUnchanged: Whether to refuse the event if another replica wrote to its subject.
    /// - Returns: The id of the thing that the event makes, for later events of this batch. Of an
    ///   event that makes none it is of no use: a field that holds it is refused.
    /// - Throws: ``DiarioError`` that names the field, the rule and the value.
    @discardableResult
    public mutating func add(
        _ event: some TypedEvent,
        at: Timestamp? = nil,
        actor: String? = nil,
        subject: String? = nil,
        ifUnchanged: Bool = false
    ) throws -> ThingID {
        try contents[0].add(
            event,
            Envelope(
                at: at,
                actor: actor,
                subject: subject,
                ifUnchanged: ifUnchanged
            )
        )
        return ThingID(event: count, ofBatch: contents[0].number)
    }

    /// The parts of an event besides its type and payload.
    struct Envelope {
        let at: Timestamp?
        let actor: String?
        let subject: String?
        let ifUnchanged: Bool
    }
}

extension EventBatch.Contents {
    /// The type of that name which events are recorded of.
    func type(_ name: String, version: Int?) throws(DiarioError) -> EventType {
        guard
            let type = version.map({ source.catalog.type(name, version: $0) })
                ?? source.catalog.newest(name)
        else {
            throw DiarioError(
                .notFound,
                "No adopted pack has the event type \(name)"
                    + (version.map { ", version \($0)" } ?? "") + "."
            )
        }
        try refuseEngine(type)
        return type
    }

    private func refuseEngine(_ type: EventType) throws(DiarioError) {
        guard type.pack == "engine" else { return }
        throw DiarioError(
            .invalid,
            "\(type.name) is of the pack engine, whose events only the engine records. "
                + "Record an event of another pack.",
            rule: "engine-type"
        )
    }

    /// Adds an event whose payload is given as JSON.
    mutating func add(
        _ json: String,
        as type: EventType,
        _ envelope: EventBatch.Envelope
    ) throws(DiarioError) {
        fill(envelope, type)
        do throws(SchemaError) {
            try reader.read(
                Array(json.utf8).span,
                as: type,
                options: [.batchReferences],
                into: &line.payload
            )
        } catch {
            throw DiarioError(error)
        }
        try append(line.payload, type)
    }

    /// Adds an event whose payload is given as a Swift value.
    mutating func add<Event: TypedEvent>(_ event: Event, _ envelope: EventBatch.Envelope) throws {
        let type = try type(of: Event.self)
        fill(envelope, type)
        fields.batch = number
        fields.builder.begin(type)
        try event.encode(into: &fields)
        do throws(SchemaError) { try fields.builder.finish() } catch { throw DiarioError(error) }
        try append(fields.builder.payload, type)
    }

    /// The event type of a Swift type; searched once in each batch.
    private mutating func type<Event: TypedEvent>(
        of event: Event.Type
    ) throws(DiarioError) -> EventType {
        let key = ObjectIdentifier(event)
        if let last = types.last, last.of == key { return last.type }
        if let known = types.firstIndex(where: { $0.of == key }) {
            types.swapAt(known, types.count - 1)
            return types[types.count - 1].type
        }
        let type = try Event.schema.type(in: source.catalog)
        try refuseEngine(type)
        types.append((key, type))
        return type
    }

    private mutating func fill(_ envelope: EventBatch.Envelope, _ type: EventType) {
        line.reset()
        line.at = envelope.at
        line.ifUnchanged = envelope.ifUnchanged
        if let actor = envelope.actor { line.actor = line.keep(actor) }
        if let subject = envelope.subject { line.subject = line.keep(subject) }
    }

    private mutating func append(_ payload: Payload, _ type: EventType) throws(DiarioError) {
        let arena = line.arena
        var actor: Span<UInt8>?
        if let range = line.actor { actor = arena.span.extracting(range) }
        var subject: Span<UInt8>?
        if let range = line.subject { subject = arena.span.extracting(range) }
        do throws(FormatError) {
            try draft.append(
                payload,
                type: type,
                at: line.at,
                actor: actor,
                subject: subject,
                ifUnchanged: line.ifUnchanged
            )
        } catch {
            throw DiarioError(error)
        }
    }
}

extension EventLine {
    /// Appends a text to the arena, for `subject` or `actor`.
    fileprivate mutating func keep(_ text: String) -> Range<Int> {
        let start = arena.count
        arena.append(contentsOf: text.utf8)
        return start..<arena.count
    }
}
