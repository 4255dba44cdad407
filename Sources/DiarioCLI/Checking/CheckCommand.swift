import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage

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
    /// The facts that the user knows of the log from elsewhere.
    private struct Known {
        let root: Hash32?
        let size: UInt64?
        let fromRoot: Hash32?
        let needsEvent: Bool

        init(_ arguments: Arguments) throws {
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
            root = try hash("root")
            fromRoot = try hash("from-root")
            size = try arguments.count("size", from: 0)
            needsEvent = arguments.has("event")
        }

        /// The contradiction with the proof, as a clause; nil if there is none.
        func fault(_ proof: ProofText) -> String? {
            if let size, proof.size != size {
                return "it is about a log of \(proof.size) events, not of \(size)"
            }
            if let root, proof.root != root { return "it is about the root \(proof.root.text)" }
            switch proof.claim {
            case .inclusion(_, _, let event):
                if fromRoot != nil { return "it is about one event, so it begins with no root" }
                if needsEvent, event == nil {
                    return "it does not carry the event; make one with diario prove --event"
                }
            case .consistency(_, let proven):
                if let fromRoot, proven != fromRoot {
                    return "it begins with the root \(proven.text)"
                }
                if needsEvent { return "it is about no single event" }
            }
            return nil
        }
    }

    static func run(_ call: Invocation) throws {
        let known = try Known(call.arguments)
        let path = call.operands[0]
        let file = try path == "-" ? InputFile.spooled() : InputFile.open(path)
        var bytes: [UInt8] = []
        // One byte more than a proof may have is enough to refuse it.
        try file.read(at: 0, count: ProofText.sizeMax + 1, into: &bytes)
        var proof: ProofText?
        var fault: String?
        do {
            let read = try ProofText(bytes)
            proof = read
            fault = known.fault(read)
            do { try read.check() } catch { fault = error.message }
        } catch {
            fault = "it is no proof: \(error.message)"
        }
        if call.isJSON {
            let result: Fields = ["ok": fault == nil, "reason": ifKnown(fault)]
            try call.output.json(result + (proof.map { fields($0) } ?? [:]))
        } else if let fault {
            try call.output.line("does not hold: \(CellText.oneLine(fault))")
        } else if let proof {
            try print(proof, showsEvent: known.needsEvent, call.output)
        }
        guard fault == nil else { throw Failure.found }
    }

    // MARK: Showing

    private static func fields(_ proof: ProofText) -> Fields {
        let fields: Fields = [
            "lineage": proof.lineage, "size": proof.size, "root": proof.root.text,
        ]
        switch proof.claim {
        case .inclusion(let inclusion, _, let event):
            return fields + [
                "position": inclusion.index + 1, "event": ifKnown(event.map { self.fields($0) }),
            ]
        case .consistency(let consistency, let fromRoot):
            return fields + ["fromSize": consistency.fromSize, "fromRoot": fromRoot.text]
        }
    }

    private static func print(_ proof: ProofText, showsEvent: Bool, _ output: Output) throws {
        switch proof.claim {
        case .inclusion(let inclusion, _, let event):
            try output.line(
                "ok, position \(inclusion.index + 1) is among the first "
                    + "\(Show.count(inclusion.size, "event")), root \(proof.root.text)"
            )
            guard showsEvent, let event else { return }
            try output.pairs(
                [("type", event.row.typeName), ("version", "\(event.row.typeVersion)")]
                    + pairs(event).map { ($0, CellText.oneLine($1)) }
            )
        case .consistency(let consistency, let fromRoot):
            try output.line(
                "ok, the log of \(Show.count(consistency.size, "event")), root "
                    + "\(proof.root.text), begins with the log of "
                    + "\(Show.count(consistency.fromSize, "event")), root \(fromRoot.text)"
            )
        }
    }

    private static func fields(_ event: ProofEvent) -> Fields {
        var fields: Fields = ["type": event.row.typeName, "version": event.row.typeVersion]
        for (name, value) in pairs(event) { fields = fields + [name: value] }
        return fields
    }

    /// The parts of a row that are known without its schema, after its type.
    private static func pairs(_ event: ProofEvent) -> [(name: String, value: String)] {
        let (row, part) = (event.row, event.row.part)
        var pairs = [(name: "origin", value: part.envelope.origin.text)]
        for (name, range) in [("subject", part.subject), ("actor", part.actor)] {
            guard let range else { continue }
            pairs.append((name, String(decoding: row.bytes[range], as: UTF8.self)))
        }
        pairs.append(("at", Show.time(part.envelope.at)))
        pairs.append(("acceptedAt", Show.time(event.acceptedAt)))
        if let commitment = row.commitment { pairs.append(("commitment", commitment.text)) }
        return pairs
    }
}
