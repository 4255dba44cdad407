import DiarioCore
import DiarioEngine
import DiarioLog

extension Command {
    static let seal = Command(
        "seal",
        "put events into compressed segments now",
        details: """
            Events that have a position are sealed by themselves in the background, 4,096 at a time.
            This seals the rest, too, in a short segment that a later one replaces: before a backup,
            or when a space rests for long. Other programs may read and record meanwhile.
            """,
        options: [.flag("complete", "seal only runs that are complete"), .json],
        examples: ["diario seal": "as small as the space can be"],
        run: { try SealCommand.run($0) }
    )
}

/// The command `diario seal`.
enum SealCommand {
    static func run(_ call: Invocation) throws {
        try call.writing { space in
            let report = try space.store.seal(
                space.id,
                all: !call.has("complete"),
                waitSeconds: Limits.lockWaitSecondsMax
            )
            try call.answer(
                text(report),
                [
                    "segments": report.segmentCount, "events": report.eventCount,
                    "bytes": report.byteCount, "replaced": report.replacedCount,
                    "sealedEnd": report.sealedEnd, "sealedPending": report.sealedPending,
                ]
            )
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
        return
            "sealed \(end): \(segments) with \(events) in \(Show.grouped(report.byteCount)) bytes"
    }
}
