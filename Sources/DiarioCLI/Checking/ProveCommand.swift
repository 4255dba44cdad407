import Diario

extension Command {
    static let prove = Command(
        "prove",
        "prove that an event is in the log, or that the log only grew",
        takes: [.optional("POSITION|ORIGIN")],
        details: """
            Prints a proof that the event at this position, or with this origin, is in the log with
            this root: a few hashes, for somebody who has no copy of the log but knows its root.
            With --from in place of an event, a proof that the log begins with its first M events as
            they were then: nothing was changed since.

            `diario check` verifies it, and so does any program that follows
            schema/format/proofs.md.
            """,
        options: [
            .value("size N", "prove it of the log as it was with N events; else of all of it"),
            .flag("event", "put the event's row into the proof, without its personal values"),
            .value("from M", "prove that the log begins with its first M events"),
            .value("to N", "with --from: the log as it was with N events; else all of it"),
            .flag("json", "print the proof on one line"),
        ],
        examples: [
            "diario prove 1 --event > proof.json": "that the first event is in the log, with it",
            "diario prove --from 1 --json": "that the log still begins with its first event",
        ],
        run: { try ProveCommand.run($0) }
    )
}

/// The command `diario prove`.
enum ProveCommand {
    /// The claim that is to be proven.
    private enum Wish {
        case event(EventName, size: UInt64?)
        case growth(from: UInt64, to: UInt64?)
    }

    static func run(_ call: Invocation) throws {
        let wish = try wish(call.arguments)
        let includesEvent = call.has("event")
        try call.reading { space in
            let proof =
                switch wish {
                case .event(let name, let size):
                    try space.proveInclusion(
                        of: space.position(of: name),
                        size: size,
                        includesEvent: includesEvent
                    )
                case .growth(let from, let to): try space.proveConsistency(from: from, to: to)
                }
            try call.output.append { $0 += proof.bytes(isIndented: !call.isJSON) }
        }
    }

    private static func wish(_ arguments: Arguments) throws -> Wish {
        func wrong(_ message: String) -> Failure { .usage(message, in: arguments.command) }
        let from = try arguments.count("from", from: 0)
        let to = try arguments.count("to", from: 0)
        let size = try arguments.count("size", from: 1)
        guard let text = arguments.operands.first else {
            guard let from else { throw wrong("prove needs POSITION|ORIGIN, or --from M") }
            guard size == nil else {
                throw wrong("with --from, the size of the log is given by --to N")
            }
            guard !arguments.has("event") else {
                throw wrong("--event needs an event: POSITION|ORIGIN")
            }
            if let to, to < from {
                throw wrong("--to \(to) is less than --from \(from); swap them")
            }
            return .growth(from: from, to: to)
        }
        guard from == nil, to == nil else { throw wrong("give either an event or --from and --to") }
        guard let name = EventName(text) else {
            throw wrong("\(CellText.oneLine(text)) \(EventName.rules)")
        }
        return .event(name, size: size)
    }
}
