import DiarioCore
package import DiarioLog
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
    private var recorder: LineRecorder

    /// How many events there are.
    package var count: Int { recorder.count }

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
        recorder = LineRecorder(
            space,
            durability: .synced,
            policy: policy,
            options: form == .cloudEvents ? [.exportKeys] : [.batchReferences]
        )
        switch form {
        case .lines: try readLines(bytes)
        case .json, .cloudEvents: try readElements(bytes, areCloudEvents: form == .cloudEvents)
        }
        recorder.finish()
    }

    /// Records the events, durably.
    package mutating func commit() throws(DiarioError) -> [AppendedBatch] {
        try recorder.commitBatches()
    }

    private mutating func readLines(_ bytes: [UInt8]) throws(DiarioError) {
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
            try recorder.add(bytes.span.extracting(start..<end))
            start = end + 1
        }
    }

    private mutating func readElements(
        _ bytes: [UInt8],
        areCloudEvents: Bool
    ) throws(DiarioError) {
        let item: JSON.Item
        do throws(SchemaError) { item = try JSON.parse(bytes) } catch {
            throw DiarioError(error, line: error.line)
        }
        let items: [JSON.Item]
        if case .array(let elements) = item.value { items = elements } else { items = [item] }
        var reader = CloudEventReader(space.catalog, takesForeign: true)
        for (index, item) in items.enumerated() {
            var place = InputPlace(line: item.line)
            if items.count > 1 { place.number = index + 1 }
            var text: [UInt8] = []
            item.value.appendCanonical(to: &text)
            if areCloudEvents { text = try reader.read(text, place) }
            try recorder.add(text.span, at: place)
        }
    }
}

/// By whom the events of a request may be.
package struct ActorPolicy: Sendable {
    /// Who asks; nil if nobody knows.
    private let own: String?
    private let mayNameOthers: Bool

    package init(own: String?, mayNameOthers: Bool) {
        self.own = own
        self.mayNameOthers = mayNameOthers
    }

    /// Names who asks where an event names nobody, and refuses others.
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
