import DiarioSchema
import Diario
import DiarioCore
import DiarioLog

/// The command `diario seal`.
enum SealCommand {
    static func run(_ call: Invocation) throws(Failure) {
        try call.withSpace(.readWrite) { (space) throws(Failure) in
            let isAll = !call.arguments.has("complete")
            let report = try reportingLog { () throws(LogError) in
                try space.store.seal(
                    space.id,
                    all: isAll,
                    waitSeconds: Limits.lockWaitSecondsMax
                )
            }
            if call.arguments.has("json") {
                try call.output.json { json in
                    json.add("segments", report.segmentCount)
                    json.add("events", report.eventCount)
                    json.add("bytes", report.byteCount)
                    json.add("replaced", report.replacedCount)
                    json.add("sealedEnd", report.sealedEnd)
                    json.add("sealedPending", report.sealedPending)
                }
            } else {
                try call.output.line(text(report))
            }
        }
    }

    private static func text(_ report: SealReport) -> String {
        var end = "up to position \(ProgressLine.grouped(report.sealedEnd))"
        if report.sealedPending > 0 {
            end += ", and \(Show.count(UInt64(report.sealedPending), "pending event"))"
        }
        guard report.segmentCount > 0 else {
            return report.sealedEnd == 0 && report.sealedPending == 0
                ? "nothing to seal yet" : "nothing to seal: sealed \(end) already"
        }
        let segments = Show.count(UInt64(report.segmentCount), "segment")
        let events = Show.count(report.eventCount, "event")
        let bytes = ProgressLine.grouped(UInt64(max(0, report.byteCount)))
        return "sealed \(end): \(segments) with \(events) in \(bytes) bytes"
    }
}
