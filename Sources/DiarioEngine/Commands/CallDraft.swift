import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema

/// What a command is about to record, with the origins that its events will have.
struct CallDraft {
    private(set) var batch: DraftBatch
    /// The events of which it matters who records them.
    private(set) var asked: [AskedEvent] = []
    private var events: [CallAnswer.Event] = []
    private let result: [UInt8]
    private let head: UInt64

    var isEmpty: Bool { events.isEmpty }

    init(
        _ outcome: RawOutcome,
        _ prepared: PreparedCall,
        _ moment: Moment,
        in space: Space
    ) throws(DiarioError) {
        batch = space.types.draft
        head = moment.head
        var payloads: [CommandValues] = []
        var ids: [String?] = []
        for (index, event) in outcome.events.enumerated() {
            guard let type = space.catalog.type(event.name, version: event.version) else {
                throw Self.fault(
                    prepared,
                    "it records \(event.name), version \(event.version), which the pack has not"
                )
            }
            let line = try Self.append(event.payload, type, prepared, to: &batch)
            if !prepared.call.takesStayingBlobs { try Self.checkBlobs(of: line, prepared) }
            let own = moment.origin(index)
            if let one = AskedEvent(line, in: space, origin: own, number: index + 1) {
                asked.append(one)
            }
            var payload = event.payload
            payload.resolveReferences(of: type, ids)
            let origin = prepared.call.isDryRun ? nil : moment.origin(index)
            if let field = type.newIDFieldIndex, let origin,
                payload[type.fields[field].name] == nil
            {
                payload.set(type.fields[field].name, origin.text)
            }
            payloads.append(payload)
            ids.append(payload.id(of: event, space))
            events.append(
                CallAnswer.Event(
                    type: event.name,
                    origin: origin,
                    position: nil,
                    payload: payload.json
                )
            )
        }
        var result = outcome.result
        for field in prepared.declaration.result.fields where result[field.name] == nil {
            if let value = payloads.lazy.compactMap({ $0[field.name] }).first {
                result.set(field.name, to: value)
            }
        }
        self.result = result.json
        do throws(SchemaError) { try prepared.check(self.result) } catch {
            throw Self.fault(prepared, "its result is not as declared", error)
        }
    }

    private static func append(
        _ values: CommandValues,
        _ type: EventType,
        _ prepared: PreparedCall,
        to batch: inout DraftBatch
    ) throws(DiarioError) -> EventLine {
        var line = EventLine()
        var reader = PayloadReader()
        do throws(SchemaError) {
            try reader.read(
                values.json.span,
                as: type,
                options: [.batchReferences],
                into: &line.payload
            )
        } catch {
            throw fault(prepared, "an event is not as its type has it", error)
        }
        line.type = type
        line.at = prepared.call.at
        if let actor = prepared.call.actor {
            line.actor = 0..<actor.utf8.count
            line.arena = Array(actor.utf8)
        }
        do throws(FormatError) { try batch.append(line) } catch { throw DiarioError(error) }
        return line
    }

    /// Refuses an event whose blob would have to stay on the server.
    private static func checkBlobs(
        of line: EventLine,
        _ prepared: PreparedCall
    ) throws(DiarioError) {
        let staying = line.type.blobs.first { blob in
            prepared.pack.stays.contains("\(line.type.name).\(blob.name)")
                && line.payload.bytes(at: blob.idIndex) != nil
        }
        guard let staying else { return }
        let broken = BrokenRule(
            "stays",
            field: staying.name,
            Texts(
                "It stays on the device that records it, and over HTTP that is the server.",
                it: "Resta sul dispositivo che la registra, e via HTTP quello \u{e8} il server."
            ),
            remedy: Texts(
                "Leave it out, or record it on the device and sync.",
                it: "Toglila dalla chiamata, o registrala sul dispositivo e sincronizza."
            )
        )
        throw DiarioError(broken, in: prepared.call.language)
    }

    /// A mistake in the rules of a domain.
    private static func fault(
        _ prepared: PreparedCall,
        _ what: String,
        _ error: SchemaError? = nil
    ) -> DiarioError {
        // Its words may cite what others recorded.
        let more = error.flatMap { prepared.call.mayRead ? ": \($0.message)" : nil } ?? ""
        return DiarioError(
            .system,
            "The rules of \(prepared.call.name) have a fault: \(what)\(more). Nothing was "
                + "recorded. Tell the makers of this program."
        )
    }

    /// Notes where the events are recorded.
    mutating func note(_ appended: AppendedBatch) {
        guard let position = appended.firstPosition else { return }
        events = events.enumerated().map { index, event in
            CallAnswer.Event(
                type: event.type,
                origin: event.origin,
                position: position + UInt64(index),
                payload: event.payload
            )
        }
    }

    func answer(isNew: Bool) -> CallAnswer {
        var answer = CallAnswer(result: result, head: max(head, events.last?.position ?? 0))
        answer.events = events
        answer.isNew = isNew
        return answer
    }
}

extension CommandValues {
    /// The id of the thing that an event makes, once it is filled in.
    fileprivate func id(of event: RecordedValues, _ space: Space) -> String? {
        guard let type = space.catalog.type(event.name, version: event.version),
            let field = type.newIDFieldIndex
        else { return nil }
        return text(type.fields[field].name)
    }

    /// Puts ids in the place of `#1`, the id that the first event of the batch makes.
    fileprivate mutating func resolveReferences(of type: EventType, _ ids: [String?]) {
        for index in type.idFieldIndices {
            let name = type.fields[index].name
            guard let text = text(name), text.hasPrefix("#"), let number = Int(text.dropFirst()),
                number >= 1, number <= ids.count, let id = ids[number - 1]
            else { continue }
            set(name, id)
        }
    }
}
