import Diario
import DiarioCore
import DiarioLog
import DiarioSchema

/// `diario show`
enum ShowCommand {
    static func run(_ call: Invocation) throws(Failure) {
        let text = call.arguments.operands[0]
        var filter = EventFilter()
        let origin = Origin(text: text)
        if let origin {
            filter.replica = origin.replica
        } else if let position = UInt64(text), 1...UInt64(Int64.max) ~= position {
            filter.positions = position...position
            filter.part = .canonical
        } else {
            throw .usage(
                "\(CellText.oneLine(text)) is neither an origin, as 7zk3m9q2c1f4a-17, nor a "
                    + "position from 1. Try: diario help show"
            )
        }
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let wanted = filter
            var reader = try reporting { () throws(DiarioError) in
                try EventReader(space, wanted)
            }
            while let line = try reporting({ () throws(DiarioError) in try reader.next() }) {
                guard origin == nil || line.origin == origin else { continue }
                try show(line, call)
                return
            }
            let what = origin == nil ? "position" : "origin"
            throw .failed("there is no event with \(what) \(text). Look for it: diario log")
        }
    }

    private static func show(_ line: EventLine, _ call: Invocation) throws(Failure) {
        guard !call.arguments.has("json") else {
            try call.output.append {
                EventLineWriter.append(line, to: &$0)
                $0.append(0x0a)
            }
            return
        }
        let fields = EventFields(line)
        var lines = [
            ("type", "\(fields.type), version \(fields.version)"),
            ("origin", fields.origin),
            ("position", line.position == nil ? "pending" : fields.position),
            ("subject", fields.subject),
            ("actor", fields.actor),
            ("at", fields.at),
            ("accepted at", fields.acceptedAt),
            ("clock", line.clock.map { Show.clock($0.rawValue) } ?? "-"),
            ("base", line.base.map { "\($0)" } ?? "-"),
        ]
        if line.ifUnchanged { lines.append(("if unchanged", "yes")) }
        if let batch = line.batch {
            lines.append(("batch", String(decoding: line.arena[batch], as: UTF8.self)))
        }
        for (name, value) in lines where value != "-" {
            try call.output.line(name + pad(name) + value)
        }
        try call.output.line("payload")
        for field in line.type.fields {
            guard let value = fields.value(field.name) else { continue }
            let unit = field.unit.map { " \($0)" } ?? ""
            let mark = field.isPersonal ? " (personal)" : ""
            try call.output.line("  \(field.name): \(value)\(unit)\(mark)")
        }
    }

    private static func pad(_ name: String) -> String {
        String(repeating: " ", count: max(1, 14 - name.utf8.count))
    }
}
