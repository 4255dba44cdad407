import DiarioSchema
import Diario
import DiarioCore
import DiarioLog
import DiarioProjection

/// The commands `diario quarantine list`, `show` and `retry`.
enum QuarantineCommand {
    private typealias Entry = (pack: String, event: QuarantinedEvent)

    static func list(_ call: Invocation) throws(Failure) {
        try withEntries(call) { (entries) throws(Failure) in
            if call.arguments.has("json") {
                return try call.output.jsonList(entries.map { json($0.pack, $0.event) })
            }
            guard !entries.isEmpty else {
                return try call.output.line("every read model has taken every event")
            }
            for (pack, event) in entries {
                let place = event.position.map { "position \($0)" } ?? "pending"
                try call.output.line(
                    "\(event.origin.text)  \(place)  \(event.type) \(event.version)  "
                        + "\(pack).\(event.model): \(CellText.oneLine(event.message))"
                )
            }
        }
    }

    static func show(_ call: Invocation) throws(Failure) {
        guard let origin = Origin(text: call.arguments.operands[0]) else {
            throw .usage(
                "\(CellText.oneLine(call.arguments.operands[0])) is no origin, as "
                    + "7zk3m9q2c1f4a-17. They are listed by: diario quarantine list"
            )
        }
        var isThere = false
        try withEntries(call) { (entries) throws(Failure) in
            let own = entries.filter { $0.event.origin == origin }
            isThere = !own.isEmpty
            if call.arguments.has("json"), isThere {
                return try call.output.jsonList(own.map { json($0.pack, $0.event) })
            }
            for (pack, event) in own {
                try call.output.line("read model  \(pack).\(event.model)")
                try call.output.line("rule        \(event.rule)")
                try call.output.line("why         \(CellText.oneLine(event.message))")
            }
        }
        guard isThere else {
            throw .failed("no event \(origin.text) is in quarantine. See: diario quarantine list")
        }
        if !call.arguments.has("json") { try ShowCommand.run(call) }
    }

    static func retry(_ call: Invocation) throws(Failure) {
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let models = try reporting { () throws(DiarioError) in try ReadModels(space) }
            let named = try RebuildCommand.packs(call, models)
            let entries = try reporting { () throws(DiarioError) in try models.quarantined() }
            let names = named.filter { name in entries.contains { $0.pack == name } }
            guard !names.isEmpty else {
                if call.arguments.has("json") {
                    return try call.output.json { $0.add("models", list: []) }
                }
                return try call.output.line("nothing is in quarantine")
            }
            try RebuildCommand.rebuild(call, models, names)
        }
    }

    private static func withEntries(
        _ call: Invocation,
        _ body: ([Entry]) throws(Failure) -> Void
    ) throws(Failure) {
        try QueryCommand.withModels(call) { (models) throws(Failure) in
            let entries = try reporting { () throws(DiarioError) in try models.quarantined() }
            try body(entries)
        }
    }

    private static func json(_ pack: String, _ event: QuarantinedEvent) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("pack", pack)
            json.add("model", event.model)
            json.add("origin", event.origin.text)
            if let position = event.position {
                json.add("position", position)
            } else {
                json.addNull("position")
            }
            json.add("type", event.type)
            json.add("version", event.version)
            json.add("rule", event.rule)
            json.add("message", event.message)
        }
    }
}
