import Diario
import DiarioCore
import DiarioLog
import DiarioSchema

/// The commands `diario inbox list`, `show`, `retry` and `drop`.
enum InboxCommand {
    static func list(_ call: Invocation) throws(Failure) {
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let (batches, fault) = try reporting { () throws(DiarioError) in
                try space.readInbox()
            }
            if call.arguments.has("json") {
                try call.output.jsonList(
                    batches.map { batch in JSONObjectWriter.object { fill(&$0, batch) } }
                )
            } else if batches.isEmpty, fault == nil {
                try call.output.line("nothing is in the inbox")
            } else {
                for batch in batches { try call.output.line(summary(batch)) }
            }
            if let fault { throw .failed(fault.message) }
        }
    }

    static func show(_ call: Invocation) throws(Failure) {
        let origin = try origin(call.arguments.operands[0])
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let batch = try batch(origin, in: space)
            let (lines, others) = try reporting { () throws(DiarioError) in
                (
                    try space.inboxLines(of: batch),
                    try space.concurrentLines(with: batch, limit: concurrentCountMax)
                )
            }
            if call.arguments.has("json") {
                try call.output.json { json in
                    fill(&json, batch)
                    json.add("events", list: lines.map { event($0) })
                    json.add("concurrent", list: others.map { event($0) })
                }
            } else {
                try print(batch, lines, others, call.output)
            }
        }
    }

    static func retry(_ call: Invocation) throws(Failure) {
        let origins = try origins(call)
        let isForced = call.arguments.has("force")
        try call.withSpace(.readWrite) { (space) throws(Failure) in
            for given in origins {
                let retried = try reporting { () throws(DiarioError) in
                    try space.retry(given, evenIfChanged: isForced)
                }
                if call.arguments.has("json") {
                    try call.output.json { json in
                        json.add("origin", retried.old.text)
                        json.add("recordedAs", retried.new.text)
                        json.add("events", retried.count)
                        json.add("wasRecorded", retried.wasRecorded)
                    }
                } else {
                    let what = retried.wasRecorded ? "had been recorded as" : "recorded as"
                    try call.output.line(
                        "\(retried.old.text)  \(what) \(retried.new.text), "
                            + Show.count(UInt64(retried.count), "event")
                    )
                }
            }
        }
    }

    static func drop(_ call: Invocation) throws(Failure) {
        let origins = try origins(call)
        let isMeant = call.arguments.has("yes")
        try call.withSpace(isMeant ? .readWrite : .readOnly) { (space) throws(Failure) in
            for given in origins {
                let (first, count): (Origin, Int)
                if isMeant {
                    (first, count) = try reporting { () throws(DiarioError) in
                        try space.drop(given)
                    }
                } else {
                    let batch = try batch(given, in: space)
                    (first, count) = (batch.origin, batch.events.count)
                }
                if call.arguments.has("json") {
                    try call.output.json { json in
                        json.add("origin", first.text)
                        json.add("events", count)
                        json.add("dropped", isMeant)
                    }
                } else {
                    let what = isMeant ? "dropped" : "would drop"
                    let events = Show.count(UInt64(count), "event")
                    try call.output.line("\(first.text)  \(what) \(events)")
                }
            }
        }
        guard isMeant else {
            throw .failed("nothing was changed; to remove them for good, add --yes")
        }
    }

    /// Events of others that are shown with a batch.
    private static let concurrentCountMax = 100

    // MARK: Finding

    private static func origins(_ call: Invocation) throws(Failure) -> [Origin] {
        var found: [Origin] = []
        for text in call.arguments.operands { found.append(try origin(text)) }
        return found
    }

    private static func origin(_ text: String) throws(Failure) -> Origin {
        guard let origin = Origin(text: text) else {
            throw .usage(
                "\(CellText.oneLine(text)) is no origin, as 7zk3m9q2c1f4a-17. They are listed by: "
                    + "diario inbox list"
            )
        }
        return origin
    }

    private static func batch(
        _ origin: Origin,
        in space: Space
    ) throws(Failure) -> InboxBatch {
        let (batches, fault) = try reporting { () throws(DiarioError) in try space.readInbox() }
        let found = batches.first { batch in
            batch.replica == origin.replica && batch.sequences.contains(origin.sequence)
        }
        if let found { return found }
        if let fault { throw .failed(fault.message) }
        throw .failed("no event \(origin.text) is in the inbox. See: diario inbox list")
    }

    // MARK: Showing

    private static func summary(_ batch: InboxBatch) -> String {
        let events = Show.count(UInt64(batch.events.count), "event")
        let type = batch.events.first?.type ?? "-"
        return "\(batch.origin.text)  \(events)  \(type)  \(CellText.oneLine(reason(batch)))"
    }

    private static func reason(_ batch: InboxBatch) -> String {
        if let new = batch.recordedAgain {
            return "recorded again as \(new.text); retry it once more to remove it here"
        }
        guard let refusal = batch.refusal else {
            return "no refusal is known: another copy of this replica used these origins, or what "
                + "the log said was lost"
        }
        return "\(refusal.rule): \(refusal.message)"
    }

    private static func print(
        _ batch: InboxBatch,
        _ lines: [EventLine],
        _ others: [EventLine],
        _ output: Output
    ) throws(Failure) {
        let last = Origin(replica: batch.replica, sequence: batch.sequences.upperBound)
        var rows = [
            ("batch", "\(batch.origin.text) to \(last.text)"),
            ("kept at", Show.time(batch.keptAt.milliseconds)),
        ]
        if let refusal = batch.refusal {
            rows.append(("refused at", "position \(refusal.position)"))
            rows.append(("rule", refusal.rule))
            rows.append(("why", refusal.message))
            if let origin = refusal.origin { rows.append(("event", origin.text)) }
            if let position = refusal.conflict { rows.append(("conflict", "position \(position)")) }
        } else {
            rows.append(("why", reason(batch)))
        }
        if let new = batch.recordedAgain { rows.append(("recorded as", new.text)) }
        for (name, value) in rows {
            let pad = String(repeating: " ", count: 13 - name.utf8.count)
            try output.line(name + pad + CellText.oneLine(value))
        }
        try output.line("events")
        for line in lines { try output.line("  " + text(line, "")) }
        try output.line(others.isEmpty ? "no concurrent events" : "concurrent events")
        for line in others {
            try output.line("  " + text(line, "position \(line.position ?? 0)  "))
        }
    }

    private static func text(_ line: EventLine, _ place: String) -> String {
        let fields = EventFields(line)
        let payload = line.type.isUnknown ? "(its schema is not here)" : fields.payload
        return
            "\(place)\(fields.origin)  \(fields.at)  \(fields.type) \(fields.version)  \(payload)"
    }

    private static func fill(_ json: inout JSONObjectWriter, _ batch: InboxBatch) {
        json.add("origin", batch.origin.text)
        json.add("replica", batch.replica.text)
        json.add("first", batch.sequences.lowerBound)
        json.add("count", batch.events.count)
        json.add("type", batch.events.first?.type ?? "")
        json.add("keptAt", Show.time(batch.keptAt.milliseconds))
        json.add("refusalKnown", batch.isRefusalKnown)
        if let refusal = batch.refusal {
            json.add("position", refusal.position)
            json.add("rule", refusal.rule)
            json.add("message", refusal.message)
            if let origin = refusal.origin { json.add("event", origin.text) }
            if let position = refusal.conflict { json.add("conflict", position) }
        }
        if let new = batch.recordedAgain { json.add("recordedAs", new.text) }
    }

    /// An event as `export` writes it; of an unknown type without the payload.
    private static func event(_ line: EventLine) -> [UInt8] {
        var bytes: [UInt8] = []
        EventLineWriter.append(line, to: &bytes)
        return bytes
    }
}
