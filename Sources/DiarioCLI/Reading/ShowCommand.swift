import Diario
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
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
        let origin = Origin(text: text)
        let position = UInt64(text).flatMap { 1...UInt64(Int64.max) ~= $0 ? $0 : nil }
        guard origin != nil || position != nil else {
            throw Failure.usage(
                "\(CellText.oneLine(text)) is neither an origin, as 7zk3m9q2c1f4a-17, nor a "
                    + "position from 1",
                in: call.command
            )
        }
        try call.reading { space in
            guard let (line, hash) = try find(origin, position, in: space) else {
                throw Failure.failed(try missing(origin, position, in: space))
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
    private static func missing(
        _ origin: Origin?,
        _ position: UInt64?,
        in space: Space
    ) throws -> String {
        if let origin {
            return "there is no event with the origin \(origin.text). Look for it: diario log"
        }
        let text = position.map { "\($0)" } ?? ""
        return "there is no event with the position \(text). Look for it: diario log"
    }

    /// Looks through the rows first, which is much cheaper than to read the events.
    private static func find(
        _ origin: Origin?,
        _ position: UInt64?,
        in space: Space
    ) throws -> (EventLine, Hash32)? {
        let positions = position.map { $0...$0 }
        var cursor = try space.store.cursor(
            space.id,
            positions: positions,
            positions == nil ? .all : .canonical
        )
        while let events = try cursor.next() {
            let found = events.rows.first { origin == nil || $0.row.origin == origin }
            guard let found else { continue }
            let hash = try space.store.eventHash(of: found.row, in: events, of: space.id)
            var filter = EventFilter.everything
            filter.replica = found.row.replica
            filter.positions = found.position.map { $0...$0 }
            filter.part = found.position == nil ? .pending : .canonical
            var reader = try EventReader(space, filter)
            while let line = try reader.next() {
                if origin == nil || line.origin == origin { return (line, hash) }
            }
            return nil
        }
        return nil
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
