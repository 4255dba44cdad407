import Diario
import DiarioCrypto
import DiarioLog

/// `diario stats`
enum StatsCommand {
    static func run(_ call: Invocation) throws(Failure) {
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let stats = try reporting { () throws(DiarioError) in try space.stats() }
            if call.arguments.has("json") {
                try call.output.json { fill(&$0, stats) }
            } else {
                try print(stats, call.output)
            }
        }
    }

    private static func fill(_ json: inout JSONText, _ stats: SpaceStats) {
        let status = stats.status
        json.add("space", status.manifest.space.text)
        json.add("lineage", status.manifest.lineage.text)
        json.add("replica", status.replica.text)
        json.add("events", status.events)
        json.add("head", status.head)
        json.add("pending", status.pending)
        json.add("bytes", stats.bytes)
        json.add("bytesPerEvent", hundredths(stats.bytesPerEvent))
        json.add("walBytes", stats.logBytes)
        json.add("segments", stats.segmentCount)
        json.add("tailEvents", stats.tailCount)
        json.add("root", stats.root.text)
    }

    private static func print(_ stats: SpaceStats, _ output: Output) throws(Failure) {
        let status = stats.status
        func grouped(_ value: Int) -> String { ProgressLine.grouped(UInt64(max(0, value))) }
        let lines = [
            ("space", status.manifest.space.text),
            ("lineage", status.manifest.lineage.text),
            ("replica", status.replica.text),
            ("events", grouped(status.events)),
            ("head", ProgressLine.grouped(status.head)),
            ("pending", grouped(status.pending)),
            ("bytes", grouped(stats.bytes)),
            ("bytes per event", "\(hundredths(stats.bytesPerEvent))"),
            ("write-ahead log", "\(grouped(stats.logBytes)) bytes"),
            ("segments", grouped(stats.segmentCount)),
            ("events in the tail", grouped(stats.tailCount)),
            ("root", stats.root.text),
        ]
        for (name, value) in lines {
            let pad = String(repeating: " ", count: 20 - name.utf8.count)
            try output.line("\(name)\(pad)\(value)")
        }
    }

    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
