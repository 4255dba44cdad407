import Diario
import DiarioCore
import DiarioSchema

extension Command {
    static let inboxList = Command(
        "inbox list",
        "list own events that the authority refused",
        details: """
            A batch is refused as a whole. It has no position and no effect on what others see; its
            events are kept here until they are recorded again or dropped. Each is listed with its
            first origin, the number of its events, and the rule that one of them broke. If no
            refusal is known, another copy of this replica recorded other events under the same
            origins.
            """,
        options: [.json],
        examples: ["diario inbox list": "empty if all is well"],
        run: { try InboxCommand.list($0) }
    )

    static let inboxShow = Command(
        "inbox show",
        "show a refused batch, and what others recorded meanwhile",
        takes: [.one("ORIGIN")],
        details: """
            ORIGIN is that of any event of the batch. Shows why it was refused and where the log
            says so, its events with their payloads, and the last 100 events of others about the
            same subjects that its author did not know.
            """,
        options: [.json],
        examples: ["diario inbox show 7zk3m9q2c1f4a-17": "one of those that `inbox list` names"],
        run: { try InboxCommand.show($0) }
    )

    static let inboxRetry = Command(
        "inbox retry",
        "record refused events again, as new ones",
        takes: [.some("ORIGIN")],
        details: """
            Records the events of a batch once more, with the same types, payloads, times, actors
            and subjects, and takes the batch out of the inbox. Their origins are new, and so are
            ids that they make; references to those become references to the new ones. Prints the
            old origin and the new one of the first event. The next sync sends them.

            Events that were to be refused if another replica wrote to their subject still are,
            unless --force is given. A batch of which no refusal is known needs it too, since a sync
            may record such events again by itself. A payload that its schema does not allow any
            more stays in the inbox.
            """,
        options: [.flag("force", "even if others wrote to the subjects meanwhile"), .json],
        examples: [
            "diario inbox retry 7zk3m9q2c1f4a-17 --force": "after looking at what others wrote"
        ],
        run: { try InboxCommand.retry($0) }
    )

    static let inboxDrop = Command(
        "inbox drop",
        "remove refused events for good",
        takes: [.some("ORIGIN")],
        details: """
            Nothing of the events is kept anywhere. Without --yes it only says what would be
            removed, and ends with 1.
            """,
        options: [.flag("yes", "do it"), .json],
        examples: [
            "diario inbox drop 7zk3m9q2c1f4a-17 --yes": "one of those that `inbox list` names"
        ],
        run: { try InboxCommand.drop($0) }
    )
}

/// The commands `diario inbox list`, `show`, `retry` and `drop`.
enum InboxCommand {
    /// Events of others that are shown with a batch.
    private static let concurrentCountMax = 100

    static func list(_ call: Invocation) throws {
        try call.reading { space in
            let (batches, fault) = try SpaceInbox(space).read()
            if call.isJSON {
                try call.output.json(batches.map { fields($0) })
            } else if batches.isEmpty, fault == nil {
                try call.output.line("nothing is in the inbox")
            } else {
                for batch in batches {
                    let events = Show.count(UInt64(batch.events.count), "event")
                    let type = batch.events.first?.type ?? "-"
                    try call.output.line(
                        "\(batch.origin.text)  \(events)  \(type)  "
                            + CellText.oneLine(reason(batch))
                    )
                }
            }
            if let fault { throw Failure.failed(fault.message) }
        }
    }

    static func show(_ call: Invocation) throws {
        let origin = try call.origin(call.operands[0], listedBy: "inbox list")
        try call.reading { space in
            let batch = try batch(origin, in: space)
            let lines = batch.lines
            let inbox = try SpaceInbox(space)
            let others = try inbox.concurrentLines(with: batch, limit: concurrentCountMax)
            guard !call.isJSON else {
                return try call.output.json(
                    fields(batch) + [
                        "events": lines.map { event($0) }, "concurrent": others.map { event($0) },
                    ]
                )
            }
            try call.output.pairs(pairs(batch).map { ($0, CellText.oneLine($1)) })
            try call.output.line("events")
            for line in lines { try call.output.line("  " + text(line)) }
            try call.output.line(others.isEmpty ? "no concurrent events" : "concurrent events")
            for line in others {
                try call.output.line("  position \(line.position ?? 0)  " + text(line))
            }
        }
    }

    static func retry(_ call: Invocation) throws {
        let origins = try origins(call)
        try call.writing { space in
            for given in origins {
                let retried = try SpaceInbox(space).retry(given, evenIfChanged: call.has("force"))
                let verb = retried.wasRecorded ? "had been recorded as" : "recorded as"
                try call.answer(
                    "\(retried.old.text)  \(verb) \(retried.new.text), "
                        + Show.count(UInt64(retried.count), "event"),
                    [
                        "origin": retried.old.text, "recordedAs": retried.new.text,
                        "events": retried.count, "wasRecorded": retried.wasRecorded,
                    ]
                )
            }
        }
    }

    static func drop(_ call: Invocation) throws {
        let origins = try origins(call)
        let isMeant = call.has("yes")
        func tell(_ first: Origin, _ count: Int) throws {
            try call.answer(
                "\(first.text)  \(isMeant ? "dropped" : "would drop") "
                    + Show.count(UInt64(count), "event"),
                ["origin": first.text, "events": count, "dropped": isMeant]
            )
        }
        if isMeant {
            try call.writing { space in
                for given in origins {
                    let (first, count) = try SpaceInbox(space).drop(given)
                    try tell(first, count)
                }
            }
        } else {
            try call.reading { space in
                for given in origins {
                    let batch = try batch(given, in: space)
                    try tell(batch.origin, batch.events.count)
                }
            }
        }
        guard isMeant else {
            throw Failure.failed("nothing was changed; to remove them for good, add --yes")
        }
    }

    // MARK: Finding

    private static func origins(_ call: Invocation) throws -> [Origin] {
        try call.operands.map { try call.origin($0, listedBy: "inbox list") }
    }

    private static func batch(_ origin: Origin, in space: Space) throws -> InboxBatch {
        let (batches, fault) = try SpaceInbox(space).read()
        let found = batches.first { batch in
            batch.replica == origin.replica && batch.sequences.contains(origin.sequence)
        }
        if let found { return found }
        let missing = "no event \(origin.text) is in the inbox. See: diario inbox list"
        throw Failure.failed(fault?.message ?? missing)
    }

    // MARK: Showing

    private static func reason(_ batch: InboxBatch) -> String {
        if let new = batch.recordedAgain {
            return "recorded again as \(new.text); retry it once more to remove it here"
        }
        if let refusal = batch.refusal { return "\(refusal.rule): \(refusal.message)" }
        return "no refusal is known: another copy of this replica used these origins"
    }

    private static func pairs(_ batch: InboxBatch) -> [(name: String, value: String)] {
        let last = Origin(replica: batch.replica, sequence: batch.sequences.upperBound)
        var pairs = [
            (name: "batch", value: "\(batch.origin.text) to \(last.text)"),
            (name: "kept at", value: Show.time(batch.keptAt)),
        ]
        if let refusal = batch.refusal {
            pairs.append(("refused at", "position \(refusal.position)"))
            pairs.append(("rule", refusal.rule))
            pairs.append(("why", refusal.message))
            if let origin = refusal.origin { pairs.append(("event", origin.text)) }
            if let position = refusal.conflict {
                pairs.append(("conflict", "position \(position)"))
            }
        } else {
            pairs.append(("why", reason(batch)))
        }
        if let new = batch.recordedAgain { pairs.append(("recorded as", new.text)) }
        return pairs
    }

    private static func text(_ line: EventLine) -> String {
        let fields = EventFields(line)
        let payload = line.type.isUnknown ? "(its schema is not here)" : fields.payload
        return "\(fields.origin)  \(fields.at)  \(fields.type) \(fields.version)  \(payload)"
    }

    private static func fields(_ batch: InboxBatch) -> Fields {
        let refusal = batch.refusal
        return [
            "origin": batch.origin.text, "replica": batch.replica.text,
            "first": batch.sequences.lowerBound, "count": batch.events.count,
            "type": batch.events.first?.type ?? "", "keptAt": Show.time(batch.keptAt),
            "refusalKnown": batch.isRefusalKnown, "position": ifKnown(refusal?.position),
            "rule": ifKnown(refusal?.rule), "message": ifKnown(refusal?.message),
            "event": ifKnown(refusal?.origin?.text), "conflict": ifKnown(refusal?.conflict),
            "recordedAs": ifKnown(batch.recordedAgain?.text),
        ]
    }

    /// An event as `export` writes it; of an unknown type without the payload.
    private static func event(_ line: EventLine) -> JSONText {
        var bytes: [UInt8] = []
        EventLineWriter.append(line, to: &bytes)
        return JSONText(bytes: bytes)
    }
}

extension Invocation {
    /// The origin of an event that was typed.
    func origin(_ text: String, listedBy command: String) throws -> Origin {
        guard let origin = Origin(text: text) else {
            throw Failure.usage(
                "\(CellText.oneLine(text)) is no origin, as 7zk3m9q2c1f4a-17. They are listed by: "
                    + "diario \(command)"
            )
        }
        return origin
    }
}
