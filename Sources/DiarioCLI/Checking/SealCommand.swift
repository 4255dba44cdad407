import Diario

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
            let (segments, events, bytes, replaced, end, pending) = try space.seal(
                all: !call.has("complete")
            )
            var sealed = "up to position \(ProgressLine.grouped(end))"
            if pending > 0 { sealed += ", and \(Show.count(UInt64(pending), "pending event"))" }
            var text =
                "sealed \(sealed): \(Show.count(UInt64(segments), "segment")) with "
                + "\(Show.count(events, "event")) in \(Show.grouped(bytes)) bytes"
            if segments == 0 {
                text =
                    end == 0 && pending == 0
                    ? "nothing to seal yet" : "nothing to seal: sealed \(sealed) already"
            }
            try call.answer(
                text,
                [
                    "segments": segments, "events": events, "bytes": bytes, "replaced": replaced,
                    "sealedEnd": end, "sealedPending": pending,
                ]
            )
        }
    }
}
