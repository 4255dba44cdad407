import DiarioCore
import DiarioLog
import DiarioSchema

/// Events that come together, as in the body of a request: all are checked before one is recorded.
package struct EventBody {
    /// The forms of a body.
    package enum Form: Sendable {
        /// One event, or an array of them.
        case json
        /// One event in each line.
        case lines
        /// One CloudEvent, or an array of them.
        case cloudEvents
    }

    private let space: Space
    private let policy: ActorPolicy
    private var recorder: LineRecorder
    private var cloudEvents: [CloudEvent] = []

    /// A CloudEvent as a line of an export, under the origin that it has or that is made of its
    /// source and id.
    private struct CloudEvent {
        let text: [UInt8]
        let origin: Origin
    }

    /// The number of events.
    package var count: Int { recorder.count + cloudEvents.count }

    /// The events, if they have origins of a client's own.
    package var named: NamedEvents? { recorder.named }

    /// True if each of the events is recorded once, as an import records it.
    package var areCloudEvents: Bool { !cloudEvents.isEmpty }

    /// Reads and checks `bytes`.
    ///
    /// - Throws: ``DiarioError`` with the line or element of the first event that is not right.
    package init(
        _ bytes: [UInt8],
        _ form: Form,
        by policy: ActorPolicy,
        to space: Space
    ) throws(DiarioError) {
        self.space = space
        self.policy = policy
        recorder = LineRecorder(
            space,
            policy: policy,
            options: [.batchReferences, .originKeys]
        )
        switch form {
        case .lines: try readLines(bytes)
        case .json:
            try Self.eachElement(of: bytes) { (text, place) throws(DiarioError) in
                try recorder.add(text.span, at: place)
            }
        case .cloudEvents: try readCloudEvents(bytes)
        }
        recorder.finish()
    }

    /// Records the events under origins of this replica, durably.
    package mutating func commit() throws(DiarioError) -> RecordedEvents {
        let batches = try recorder.commitBatches()
        return RecordedEvents(
            origins: batches.flatMap { $0.origins },
            positions: batches.flatMap { batch in
                (0..<UInt64(batch.count)).map { (batch.firstPosition ?? 0) + $0 }
            }
        )
    }

    /// Records those CloudEvents that are not known yet, durably; `origins` are those that the
    /// authority of this space imported, as far as they were read.
    ///
    /// An event that was refused before has the position 0.
    package func importOnce(
        _ origins: inout ImportedOrigins
    ) throws(DiarioError) -> (RecordedEvents, isNew: Bool) {
        try origins.follow(space)
        let replicas = Set(cloudEvents.map { $0.origin.replica })
        let own = replicas.map { ($0, space.store[space.id].lastSequence(of: $0)) }
        var recorder = ImportRecorder(
            space,
            origins,
            own: Dictionary(uniqueKeysWithValues: own.filter { $0.1 > 0 }),
            by: policy
        )
        for event in cloudEvents { try recorder.take(event.text.span) }
        try recorder.finish()
        let here = cloudEvents.map { recorder.origins[$0.origin] ?? $0.origin }
        return (try space.recorded(here), recorder.imported > 0)
    }

    private mutating func readLines(_ bytes: [UInt8]) throws(DiarioError) {
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
            try recorder.add(bytes.span.extracting(start..<end))
            start = end + 1
        }
    }

    private mutating func readCloudEvents(_ bytes: [UInt8]) throws(DiarioError) {
        var reader = CloudEventReader(space.catalog, takesForeign: true)
        var checker = ImportRecorder(
            space,
            ImportedOrigins(),
            own: [:],
            by: policy
        )
        try Self.eachElement(of: bytes) { (element, place) throws(DiarioError) in
            let text = try reader.read(element, place)
            guard let origin = try checker.check(text.span, place) else { return }
            cloudEvents.append(CloudEvent(text: text, origin: origin))
        }
    }

    /// Gives the elements of an array, or what is there in place of one, to `body`.
    private static func eachElement(
        of bytes: [UInt8],
        _ body: ([UInt8], InputPlace) throws(DiarioError) -> Void
    ) throws(DiarioError) {
        let item: JSON.Item
        do throws(SchemaError) { item = try JSON.parse(bytes) } catch {
            throw DiarioError(error, line: error.line)
        }
        let items: [JSON.Item]
        if case .array(let elements) = item.value { items = elements } else { items = [item] }
        for (index, item) in items.enumerated() {
            var place = InputPlace(line: item.line)
            if items.count > 1 { place.number = index + 1 }
            var text: [UInt8] = []
            item.value.appendCanonical(to: &text)
            try body(text, place)
        }
    }
}

extension Space {
    /// The places of the events with these origins.
    fileprivate func recorded(_ origins: [Origin]) throws(DiarioError) -> RecordedEvents {
        var positions: [Origin: UInt64] = [:]
        for (replica, own) in Dictionary(grouping: origins, by: { $0.replica }) {
            let sequences = Set(own.map { $0.sequence })
            try readEvents(sequences, of: replica) { (line, _) throws(DiarioError) in
                guard let origin = line.origin else { return }
                positions[origin] = line.position
            }
        }
        return RecordedEvents(origins: origins, positions: origins.map { positions[$0] ?? 0 })
    }
}

/// By whom the events of a request may be.
package struct ActorPolicy: Sendable {
    /// The caller's actor; nil if it has none.
    private let own: String?
    private let mayNameOthers: Bool

    package init(own: String?, mayNameOthers: Bool) {
        self.own = own
        self.mayNameOthers = mayNameOthers
    }

    /// Fills in the caller's actor if an event has none, and refuses other actors.
    func settle(_ line: inout EventLine, at place: InputPlace) throws(DiarioError) {
        guard let own else { return }
        guard let actor = line.actor else {
            line.actor = line.keep(Array(own.utf8).span)
            return
        }
        guard mayNameOthers || line.arena[actor].elementsEqual(own.utf8) else {
            throw DiarioError(
                .unauthorized,
                "\(place.text): the token is that of another actor. Leave `actor` out, or ask "
                    + "for a token that may relay.",
                line: place.line,
                rule: "actor",
                field: "actor"
            )
        }
    }
}
