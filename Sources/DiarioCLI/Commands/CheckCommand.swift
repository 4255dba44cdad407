import DiarioSchema
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage

/// The command `diario check`.
enum CheckCommand {
    /// What the user knows of the log from elsewhere.
    private struct Known {
        let root: Hash32?
        let size: UInt64?
        let fromRoot: Hash32?
        let needsEvent: Bool

        init(_ arguments: Arguments) throws(Failure) {
            root = try Self.hash("root", arguments)
            fromRoot = try Self.hash("from-root", arguments)
            size = try checkingUsage { () throws(UsageError) in
                try arguments.count("size", from: 0)
            }
            needsEvent = arguments.has("event")
        }

        private static func hash(
            _ name: String,
            _ arguments: Arguments
        ) throws(Failure) -> Hash32? {
            guard let text = arguments.value(name) else { return nil }
            guard let hash = Hash32(text: text) else {
                throw .usage(
                    "--\(name) \(CellText.oneLine(text)) is not right; give 64 digits of "
                        + "lower-case hexadecimal. Try: diario help check"
                )
            }
            return hash
        }

        /// What does not fit, as a clause; nil if everything does.
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

    static func run(_ call: Invocation) throws(Failure) {
        let known = try Known(call.arguments)
        let bytes = try read(call.arguments.operands[0])
        var proof: ProofText?
        var fault: String?
        do throws(ProofTextError) {
            let read = try ProofText(bytes)
            proof = read
            fault = known.fault(read)
            do throws(ProofFault) { try read.check() } catch { fault = error.message }
        } catch {
            fault = "it is no proof: \(error.message)"
        }
        if call.arguments.has("json") {
            try call.output.json { fill(&$0, proof, fault) }
        } else if let fault {
            try call.output.line("does not hold: \(CellText.oneLine(fault))")
        } else if let proof {
            try print(proof, showsEvent: known.needsEvent, call.output)
        }
        guard fault == nil else { throw .found }
    }

    /// All of the file, or of the input; one byte more than a proof may have is enough to refuse.
    private static func read(_ path: String) throws(Failure) -> [UInt8] {
        let file = try path == "-" ? InputFile.spooled() : InputFile.open(path)
        var bytes: [UInt8] = []
        do throws(StorageError) {
            try file.read(at: 0, count: ProofText.sizeMax + 1, into: &bytes)
        } catch {
            throw .failed(error.message)
        }
        return bytes
    }

    // MARK: Showing

    private static func fill(_ json: inout JSONObjectWriter, _ proof: ProofText?, _ fault: String?)
    {
        json.add("ok", fault == nil)
        if let fault { json.add("reason", fault) }
        guard let proof else { return }
        json.add("lineage", proof.lineage)
        json.add("size", proof.size)
        json.add("root", proof.root.text)
        switch proof.claim {
        case .inclusion(let inclusion, _, let event):
            json.add("position", inclusion.index + 1)
            guard let event else { return }
            json.add("event", json: JSONObjectWriter.object { fill(&$0, event) })
        case .consistency(let consistency, let fromRoot):
            json.add("fromSize", consistency.fromSize)
            json.add("fromRoot", fromRoot.text)
        }
    }

    private static func fill(_ json: inout JSONObjectWriter, _ event: ProofEvent) {
        for (name, value) in fields(event) {
            if name == "version" {
                json.add(name, event.row.typeVersion)
            } else {
                json.add(name, value)
            }
        }
    }

    private static func print(
        _ proof: ProofText,
        showsEvent: Bool,
        _ output: Output
    ) throws(Failure) {
        switch proof.claim {
        case .inclusion(let inclusion, _, let event):
            try output.line(
                "ok, position \(inclusion.index + 1) is among the first "
                    + "\(Show.count(inclusion.size, "event")), root \(proof.root.text)"
            )
            guard showsEvent, let event else { return }
            for (name, value) in fields(event) {
                let pad = String(repeating: " ", count: max(1, 14 - name.utf8.count))
                try output.line(name + pad + CellText.oneLine(value))
            }
        case .consistency(let consistency, let fromRoot):
            try output.line(
                "ok, the log of \(Show.count(consistency.size, "event")), root "
                    + "\(proof.root.text), begins with the log of "
                    + "\(Show.count(consistency.fromSize, "event")), root \(fromRoot.text)"
            )
        }
    }

    /// What a row says without its schema.
    private static func fields(_ event: ProofEvent) -> [(name: String, value: String)] {
        let (row, part) = (event.row, event.row.part)
        var fields = [
            ("type", row.typeName), ("version", "\(row.typeVersion)"),
            ("origin", part.envelope.origin.text),
        ]
        for (name, range) in [("subject", part.subject), ("actor", part.actor)] {
            guard let range else { continue }
            fields.append((name, String(decoding: row.bytes[range], as: UTF8.self)))
        }
        fields.append(("at", Show.time(part.envelope.at.milliseconds)))
        fields.append(("acceptedAt", Show.time(event.acceptedAt)))
        if let commitment = row.commitment { fields.append(("commitment", commitment.text)) }
        return fields
    }
}
