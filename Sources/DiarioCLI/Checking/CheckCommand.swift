import Diario
import DiarioCrypto
import DiarioHost

extension Command {
    static let check = Command(
        "check",
        "check a proof that `prove` made",
        on: .nothing,
        takes: [.one("FILE|-", .file)],
        details: """
            Checks the proof in FILE, or in the input. Needs no space. Ends with 0 if the proof
            holds and 1 if not, with the reason. An event's row that it carries is checked too.

            That a proof holds means that its event, or the smaller log, belongs to the root it
            names. Only you can know whether that is the root of the log you mean: give what you
            know with --root and --size.
            """,
        options: [
            .value("root HASH", "refuse a proof about another root"),
            .value("size N", "refuse a proof about a log of another size"),
            .value("from-root HASH", "refuse a proof that begins with another root"),
            .flag("event", "show the event, and refuse a proof that does not carry it"),
            .json,
        ],
        examples: [
            "diario check proof.json --event": "a proof and its event",
            "diario check - --size 1 < proof.json":
                "a proof about the log when it had one event",
        ],
        run: { try CheckCommand.run($0) }
    )
}

/// The command `diario check`.
enum CheckCommand {
    static func run(_ call: Invocation) throws {
        let known = try known(call.arguments)
        let path = call.operands[0]
        let file = try path == "-" ? InputFile.spooled() : InputFile.open(path)
        // One byte more than a proof may have is enough to refuse it.
        let bytes = try InputFile.bytes(of: file, countMax: ProofCheck.sizeMax + 1)
        let check = ProofCheck(bytes, knowing: known)
        if call.isJSON {
            let result: Fields = ["ok": check.fault == nil, "reason": ifKnown(check.fault)]
            try call.output.json(result + (check.claim.map { fields($0) } ?? [:]))
        } else if let fault = check.fault {
            try call.output.line("does not hold: \(CellText.oneLine(fault))")
        } else if let claim = check.claim {
            try print(claim, showsEvent: known.needsEvent, call.output)
        }
        guard check.fault == nil else { throw Failure.found }
    }

    /// The facts that the user knows of the log from elsewhere.
    private static func known(_ arguments: Arguments) throws -> KnownLog {
        func hash(_ name: String) throws -> Hash32? {
            guard let text = arguments.value(name) else { return nil }
            guard let hash = Hash32(text: text) else {
                throw Failure.usage(
                    "--\(name) \(CellText.oneLine(text)) is not right; give 64 digits of "
                        + "lower-case hexadecimal",
                    in: arguments.command
                )
            }
            return hash
        }
        return KnownLog(
            root: try hash("root"),
            size: try arguments.count("size", from: 0),
            fromRoot: try hash("from-root"),
            needsEvent: arguments.has("event")
        )
    }

    // MARK: Showing

    private static func fields(_ claim: ProofClaim) -> Fields {
        let fields: Fields = [
            "lineage": claim.lineage, "size": claim.size, "root": claim.root.text,
        ]
        switch claim.kind {
        case .inclusion(let position, let event):
            return fields + [
                "position": position, "event": ifKnown(event.map { self.fields($0) }),
            ]
        case .consistency(let fromSize, let fromRoot):
            return fields + ["fromSize": fromSize, "fromRoot": fromRoot.text]
        }
    }

    private static func print(_ claim: ProofClaim, showsEvent: Bool, _ output: Output) throws {
        switch claim.kind {
        case .inclusion(let position, let event):
            try output.line(
                "ok, position \(position) is among the first \(Show.count(claim.size, "event")), "
                    + "root \(claim.root.text)"
            )
            guard showsEvent, let event else { return }
            try output.pairs(
                [("type", event.type), ("version", "\(event.version)")]
                    + pairs(event).map { ($0, CellText.oneLine($1)) }
            )
        case .consistency(let fromSize, let fromRoot):
            try output.line(
                "ok, the log of \(Show.count(claim.size, "event")), root \(claim.root.text), "
                    + "begins with the log of \(Show.count(fromSize, "event")), root "
                    + fromRoot.text
            )
        }
    }

    private static func fields(_ event: ProvenEvent) -> Fields {
        var fields: Fields = ["type": event.type, "version": event.version]
        for (name, value) in pairs(event) { fields = fields + [name: value] }
        return fields
    }

    private static func pairs(_ event: ProvenEvent) -> [(name: String, value: String)] {
        let all: [(name: String, value: String?)] = [
            ("origin", event.origin.text), ("subject", event.subject), ("actor", event.actor),
            ("at", Show.time(event.at)), ("acceptedAt", Show.time(event.acceptedAt)),
            ("commitment", event.commitment?.text),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}
