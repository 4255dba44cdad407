import Diario
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema

/// The command `diario show`.
enum ShowCommand {
    /// Where an event stands, and its hash.
    private struct Place {
        var position: UInt64?
        var replica: ReplicaID
        var hash: Hash32
    }

    static func run(_ call: Invocation) throws(Failure) {
        let text = call.arguments.operands[0]
        let origin = Origin(text: text)
        let position = UInt64(text).flatMap { 1...UInt64(Int64.max) ~= $0 ? $0 : nil }
        guard origin != nil || position != nil else {
            throw .usage(
                "\(CellText.oneLine(text)) is neither an origin, as 7zk3m9q2c1f4a-17, nor a "
                    + "position from 1. Try: diario help show"
            )
        }
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            guard let (line, hash) = try find(origin, position, in: space) else {
                throw .failed(try missing(origin, position, in: space))
            }
            if call.arguments.has("json") {
                try printJSON(line, hash, call.output)
            } else {
                try print(line, hash, call.output)
            }
        }
    }

    /// Why there is no such event.
    private static func missing(
        _ origin: Origin?,
        _ position: UInt64?,
        in space: Space
    ) throws(Failure) -> String {
        if let origin {
            return "there is no event with the origin \(origin.text). Look for it: diario log"
        }
        let text = position.map { "\($0)" } ?? ""
        let manifest = try reportingLog { () throws(LogError) in
            try space.store.status(of: space.id).manifest
        }
        if let position, manifest.lost.runs.contains(where: { $0.contains(position) }) {
            return "the event at position \(text) was lost to damage, as `diario repair` found. "
                + "All that were: diario verify"
        }
        return "there is no event with the position \(text). Look for it: diario log"
    }

    private static func find(
        _ origin: Origin?,
        _ position: UInt64?,
        in space: Space
    ) throws(Failure) -> (EventLine, Hash32)? {
        guard let place = try place(origin, position, in: space) else { return nil }
        var filter = EventFilter.everything
        filter.replica = place.replica
        if let position = place.position {
            filter.positions = position...position
            filter.part = .canonical
        } else {
            filter.part = .pending
        }
        let wanted = filter
        var reader = try reporting { () throws(DiarioError) in try EventReader(space, wanted) }
        while let line = try reporting({ () throws(DiarioError) in try reader.next() }) {
            if origin == nil || line.origin == origin { return (line, place.hash) }
        }
        return nil
    }

    /// Looks through the rows, which is much cheaper than to read the events.
    private static func place(
        _ origin: Origin?,
        _ position: UInt64?,
        in space: Space
    ) throws(Failure) -> Place? {
        try reportingLog { () throws(LogError) in
            let positions = position.map { $0...$0 }
            var cursor = try space.store.cursor(
                space.id,
                positions: positions,
                positions == nil ? .all : .canonical
            )
            while let events = try cursor.next() {
                let found = events.rows.first { origin == nil || $0.row.origin == origin }
                guard let found else { continue }
                return Place(
                    position: found.position,
                    replica: found.row.replica,
                    hash: try space.store.eventHash(of: found.row, in: events, of: space.id)
                )
            }
            return nil
        }
    }

    /// The event as `export` writes it, with its hash as one more key.
    private static func printJSON(
        _ line: EventLine,
        _ hash: Hash32,
        _ output: Output
    ) throws(Failure) {
        try output.append { bytes in
            EventLineWriter.append(line, to: &bytes)
            bytes.removeLast()
            bytes += Array(",\"eventHash\":\"\(hash.text)\"}".utf8)
            bytes.append(0x0a)
        }
    }

    private static func print(
        _ line: EventLine,
        _ hash: Hash32,
        _ output: Output
    ) throws(Failure) {
        let fields = EventFields(line)
        let position = line.position == nil ? "pending" : fields.position
        let clock = line.clock.map { Show.clock($0.rawValue) }
        let base = line.base.map { "\($0)" }
        var lines: [(name: String, value: String)] = [
            ("type", "\(fields.type), version \(fields.version)"),
            ("origin", fields.origin),
            ("position", position),
            ("subject", fields.subject),
            ("actor", fields.actor),
            ("at", fields.at),
            ("accepted at", fields.acceptedAt),
            ("clock", clock ?? "-"),
            ("base", base ?? "-"),
        ]
        if line.ifUnchanged { lines.append(("if unchanged", "yes")) }
        if let batch = line.batch {
            lines.append(("batch", String(decoding: line.arena[batch], as: UTF8.self)))
        }
        lines.append(("hash", hash.text))
        for (name, value) in lines where value != "-" {
            try output.line(name + pad(name) + value)
        }
        try output.line("payload")
        for field in line.type.fields {
            guard let value = fields.value(field.name) else { continue }
            let unit = field.unit.map { " \($0)" } ?? ""
            let mark = field.isPersonal ? " (personal)" : ""
            try output.line("  \(field.name): \(value)\(unit)\(mark)")
        }
    }

    private static func pad(_ name: String) -> String {
        String(repeating: " ", count: max(1, 14 - name.utf8.count))
    }
}
