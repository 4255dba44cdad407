import Diario
import DiarioCore

extension Command {
    static let actorSet = Command(
        "actor set",
        "say who acts on this replica where nobody is named",
        takes: [.one("ID")],
        details: """
            Commands of packs that belong to a person are run for ID, unless --actor names another
            one. ID is opaque, never a name: what is in an event stays there. It is kept beside the
            replica and not in the log, so each replica has its own.
            """,
        options: [.json],
        examples: ["diario actor set u-4711": "the user of this device"],
        run: { try ActorCommand.set($0) }
    )

    static let actorShow = Command(
        "actor show",
        "show who acts on this replica",
        details: "Prints the id that `actor set` gave.",
        options: [.json],
        examples: ["diario actor show": "the user of this device"],
        run: { try ActorCommand.show($0) }
    )

    static let actorRemove = Command(
        "actor remove",
        "forget who acts on this replica",
        details: "What was recorded keeps its actor.",
        options: [.json],
        examples: ["diario actor remove": "before another person uses the device"],
        run: { try ActorCommand.remove($0) }
    )
}

/// The commands `diario actor set`, `show` and `remove`.
enum ActorCommand {
    static func set(_ call: Invocation) throws {
        let actor = call.operands[0]
        guard 1...Limits.actorSizeMax ~= actor.utf8.count,
            actor.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
        else {
            throw Failure.usage(
                "an actor has from 1 to \(Limits.actorSizeMax) bytes, on one line",
                in: call.command
            )
        }
        try call.writing { space in
            try space.setDefaultActor(actor)
            try show(actor, call)
        }
    }

    static func show(_ call: Invocation) throws {
        try call.reading { space in
            if let actor = try space.defaultActor() { return try show(actor, call) }
            try call.answer(
                "nobody is named. Say who acts here: diario actor set ID",
                ["actor": String?.none]
            )
        }
    }

    static func remove(_ call: Invocation) throws {
        try call.writing { space in
            // A file that is damaged can be removed as well.
            let known = try? space.defaultActor()
            try space.setDefaultActor(nil)
            try call.answer(
                known.map { "forgot \(CellText.oneLine($0))" } ?? "nobody was named",
                ["removed": known != nil]
            )
        }
    }

    private static func show(_ actor: String, _ call: Invocation) throws {
        try call.answer(CellText.oneLine(actor), ["actor": actor])
    }
}
