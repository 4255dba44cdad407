import DiarioSchema
import Diario
import DiarioCrypto
import DiarioLog

/// The command `diario stats`.
enum StatsCommand {
    static func run(_ call: Invocation) throws(Failure) {
        let bound = try call.arguments.value("warn-above").map { (text) throws(Failure) in
            try checkingUsage { () throws(UsageError) in try bytes(text) }
        }
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            var stats = try reporting { () throws(DiarioError) in try space.stats() }
            stats.includesAuthority = call.arguments.has("all")
            var sizes: SealedSizes?
            if call.arguments.has("types") {
                sizes = try reporting { () throws(DiarioError) in try space.sealedSizes() }
            }
            if call.arguments.has("json") {
                try call.output.json { fill(&$0, stats, sizes) }
            } else {
                try print(stats, call.output)
                if let sizes { try print(sizes, call.output) }
            }
            if let bound, stats.bytes > bound {
                throw .failed(
                    "the space takes \(ProgressLine.grouped(UInt64(stats.bytes))) bytes, more than "
                        + "\(ProgressLine.grouped(UInt64(bound))). diario stats --types shows "
                        + "what takes the room"
                )
            }
        }
    }

    /// A number of bytes as people write it: `500M`.
    package static func bytes(_ text: String) throws(UsageError) -> Int {
        let factors: [Character: Int] = ["K": 1000, "M": 1_000_000, "G": 1_000_000_000]
        let factor = text.last.flatMap { factors[$0] }
        let digits = factor == nil ? text[...] : text.dropLast()
        let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { (48...57).contains($0) }
        guard isNumber, let count = Int(digits) else {
            throw UsageError("\(text) is no size. Give bytes, such as 250000 or 500M")
        }
        let (bytes, overflows) = count.multipliedReportingOverflow(by: factor ?? 1)
        guard !overflows else { throw UsageError("\(text) is more than there can be") }
        return bytes
    }

    private static func fill(
        _ json: inout JSONObjectWriter,
        _ stats: SpaceStats,
        _ sizes: SealedSizes?
    ) {
        let status = stats.status
        json.add("space", status.manifest.space.text)
        json.add("lineage", status.manifest.lineage.text)
        json.add("replica", status.replica.text)
        json.add("events", stats.events)
        json.add("lost", status.manifest.lost.reduce(0) { $0 + $1.count })
        json.add("head", status.head)
        json.add("pending", status.pending)
        json.add("inbox", stats.inboxCount)
        json.add("bytes", stats.bytes)
        json.add("bytesPerEvent", hundredths(stats.bytesPerEvent))
        json.add("walBytes", stats.logBytes)
        json.add("segments", stats.segmentCount)
        json.add("tailEvents", stats.tailCount)
        json.add("root", stats.root.text)
        if let sizes { fill(&json, sizes) }
    }

    private static func print(_ stats: SpaceStats, _ output: Output) throws(Failure) {
        let status = stats.status
        func grouped(_ value: Int) -> String { ProgressLine.grouped(UInt64(max(0, value))) }
        let lost = status.manifest.lost.reduce(0) { $0 + $1.count }
        var lines = [
            ("space", status.manifest.space.text),
            ("lineage", status.manifest.lineage.text),
            ("replica", status.replica.text),
            ("events", grouped(stats.events)),
            ("head", ProgressLine.grouped(status.head)),
            ("pending", grouped(status.pending)),
            ("inbox", grouped(stats.inboxCount)),
            ("bytes", grouped(stats.bytes)),
            ("bytes per event", "\(hundredths(stats.bytesPerEvent))"),
            ("write-ahead log", "\(grouped(stats.logBytes)) bytes"),
            ("segments", grouped(stats.segmentCount)),
            ("events in the tail", grouped(stats.tailCount)),
            ("root", stats.root.text),
        ]
        // Where all is well nobody need read of it.
        if lost > 0 { lines.insert(("lost", ProgressLine.grouped(lost)), at: 4) }
        for (name, value) in lines {
            let pad = String(repeating: " ", count: 20 - name.utf8.count)
            try output.line("\(name)\(pad)\(value)")
        }
    }

    static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
