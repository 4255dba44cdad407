import Diario
import DiarioHost

extension Command {
    static let quarantineList = Command(
        "quarantine list",
        "list the events that a read model could not take",
        details: """
            Such an event is kept like any other, and all other read models have it. It is listed
            with the read model that left it out and why.
            """,
        options: [.json, .noProgress],
        examples: ["diario quarantine list": "empty if all is well"],
        run: { try QuarantineCommand.list($0) }
    )

    static let quarantineShow = Command(
        "quarantine show",
        "show why read models could not take an event",
        takes: [.one("ORIGIN")],
        details: "Shows the event, and each read model that left it out with the reason.",
        options: [.json, .noProgress],
        examples: [
            "diario quarantine show 7zk3m9q2c1f4a-17": "one of those that `quarantine list` names"
        ],
        run: { try QuarantineCommand.show($0) }
    )

    static let quarantineRetry = Command(
        "quarantine retry",
        "let read models try events in quarantine again",
        takes: [.any("PACK")],
        details: """
            Rebuilds the read models of the packs that have events in quarantine, as `rebuild` does:
            an event is taken in its own place, not after later ones.
            """,
        options: [.json, .noProgress],
        examples: ["diario quarantine retry": "after a pack was corrected"],
        run: { try QuarantineCommand.retry($0) }
    )
}

/// The commands `diario quarantine list`, `show` and `retry`.
enum QuarantineCommand {
    static func list(_ call: Invocation) throws {
        try withUpdatedModels(call) { models in
            let none = "every read model has taken every event"
            try call.answer(try models.quarantined(), none: none, fields) { entries in
                for (pack, event) in entries {
                    let place = event.position.map { "position \($0)" } ?? "pending"
                    try call.output.line(
                        "\(event.origin.text)  \(place)  \(event.type) \(event.version)  "
                            + "\(pack).\(event.model): \(CellText.oneLine(event.message))"
                    )
                }
            }
        }
    }

    /// Opens the read models, brought up to what the log holds.
    private static func withUpdatedModels(
        _ call: Invocation,
        _ body: (ReadModels) throws -> Void
    ) throws {
        try QueryCommand.withModels(call) { models, bar in
            try models.update { _, done, total in bar.update(done: done, total: total) }
            bar.finish()
            for note in models.notes { call.remark(note) }
            try body(models)
        }
    }

    static func show(_ call: Invocation) throws {
        let origin = try call.origin(call.arguments.operands[0], listedBy: "quarantine list")
        try withUpdatedModels(call) { models in
            let own = try models.quarantined().filter { $0.event.origin == origin }
            guard !own.isEmpty else {
                throw Failure.failed(
                    "no event \(origin.text) is in quarantine. See: diario quarantine list"
                )
            }
            try call.answer(own, fields) { own in
                for (pack, event) in own {
                    try call.output.pairs([
                        ("read model", "\(pack).\(event.model)"), ("rule", event.rule),
                        ("why", CellText.oneLine(event.message)),
                    ])
                }
            }
        }
        if !call.isJSON { try ShowCommand.run(call) }
    }

    static func retry(_ call: Invocation) throws {
        try call.reading { space in
            let models = try ReadModels(space)
            let entries = try models.quarantined()
            let names = try RebuildCommand.packs(call, models).filter { name in
                entries.contains { $0.pack == name }
            }
            guard !names.isEmpty else {
                return try call.answer("nothing is in quarantine", ["models": [Fields]()])
            }
            try RebuildCommand.rebuild(call, models, names)
        }
    }

    private static func fields(_ pack: String, _ event: QuarantinedEvent) -> Fields {
        [
            "pack": pack, "model": event.model, "origin": event.origin.text,
            "position": event.position, "type": event.type, "version": event.version,
            "rule": event.rule, "message": event.message,
        ]
    }
}
