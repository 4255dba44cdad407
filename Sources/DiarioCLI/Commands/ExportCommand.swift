import Diario
import DiarioLog
import DiarioSchema

/// The command `diario export`.
enum ExportCommand {
    static func run(_ call: Invocation) throws(Failure) {
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            guard let path = call.arguments.value("output") else {
                _ = try export(space, to: call.output, call)
                try call.output.flush()
                return
            }
            let file = try NewFile(path)
            let count: UInt64
            do throws(Failure) {
                count = try export(space, to: file.output, call)
                try file.finish()
            } catch {
                file.remove()
                throw error
            }
            let shown = CellText.oneLine(path)
            call.remark("exported \(Show.count(count, "event")) to \(shown)")
        }
    }

    /// Prints all events; gives how many these are.
    private static func export(
        _ space: Space,
        to output: Output,
        _ call: Invocation
    ) throws(Failure) -> UInt64 {
        let status = try reportingLog { () throws(LogError) in
            try space.store.status(of: space.id)
        }
        let total = status.head - status.released + UInt64(status.pending)
        let bar = call.progressBar("Exporting", unit: "events")
        defer { bar.finish() }
        var reader = try reporting { () throws(DiarioError) in
            try EventReader(space, EventFilter())
        }
        var count: UInt64 = 0
        while let line = try reporting({ () throws(DiarioError) in try reader.next() }) {
            try output.append {
                EventLineWriter.append(line, to: &$0)
                $0.append(0x0a)
            }
            count += 1
            if count.isMultiple(of: 1024) { bar.update(done: count, total: total) }
        }
        return count
    }
}
