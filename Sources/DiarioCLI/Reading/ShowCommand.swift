import Diario
import DiarioCrypto
import DiarioSchema

extension Command {
    static let show = Command(
        "show",
        "show all of one event",
        takes: [.one("ORIGIN|POSITION")],
        details: """
            Shows everything about the event with this origin, as 7zk3m9q2c1f4a-17, or at this
            position, with its hash.
            """,
        options: [.json],
        examples: ["diario show 1": "the first event, mostly the adoption of a pack"],
        run: { try ShowCommand.run($0) }
    )
}

/// The command `diario show`.
enum ShowCommand {
    static func run(_ call: Invocation) throws {
        let text = call.operands[0]
        guard let name = EventName(text) else {
            throw Failure.usage("\(CellText.oneLine(text)) \(EventName.rules)", in: call.command)
        }
        try call.reading { space in
            guard let (line, hash) = try space.event(name) else {
                throw Failure.failed(missing(name))
            }
            guard call.isJSON else { return try print(line, hash, call.output) }
            // As `export` writes it, with the hash as one more key.
            try call.output.append { bytes in
                EventLineWriter.append(line, to: &bytes)
                bytes.removeLast()
                bytes += Array(",\"eventHash\":\"\(hash.text)\"}\n".utf8)
            }
        }
    }

    /// Why there is no such event.
    private static func missing(_ name: EventName) -> String {
        let text =
            switch name {
            case .origin(let origin): "origin \(origin.text)"
            case .position(let position): "position \(position)"
            }
        return "there is no event with the \(text). Look for it: diario log"
    }

    private static func print(_ line: EventLine, _ hash: Hash32, _ output: Output) throws {
        let fields = EventFields(line)
        let batch = line.batch.map { String(decoding: line.arena[$0], as: UTF8.self) }
        let pairs = [
            (name: "type", value: "\(fields.type), version \(fields.version)"),
            (name: "origin", value: fields.origin),
            (name: "position", value: line.position == nil ? "pending" : fields.position),
            (name: "subject", value: fields.subject), (name: "actor", value: fields.actor),
            (name: "at", value: fields.at), (name: "accepted at", value: fields.acceptedAt),
            (name: "clock", value: line.clock.map { Show.clock($0.rawValue) } ?? "-"),
            (name: "base", value: line.base.map { "\($0)" } ?? "-"),
            (name: "if unchanged", value: line.ifUnchanged ? "yes" : "-"),
            (name: "batch", value: batch ?? "-"), (name: "hash", value: hash.text),
        ]
        try output.pairs(pairs.filter { $0.value != "-" })
        try output.line("payload")
        for field in line.type.fields {
            guard let value = fields.value(field.name) else { continue }
            let unit = field.unit.map { " \($0)" } ?? ""
            let mark = field.isPersonal ? " (personal)" : ""
            try output.line("  \(field.name): \(value)\(unit)\(mark)")
        }
    }
}
