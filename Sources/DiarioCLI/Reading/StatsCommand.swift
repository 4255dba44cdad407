import Diario
import DiarioCrypto

extension Command {
    static let stats = Command(
        "stats",
        "show how much the space holds, and its size",
        details: """
            Events are counted without those that the authority wrote itself, unless with --all;
            head is the last position of all. bytes are those that the space keeps alive, walBytes
            the files of the write-ahead log on disk.

            With --types it reads all sealed events and shows their sizes: by type and field, and by
            column what all events have in common. The sum is the size of the files of segments.
            With --warn-above it ends with 1 if the space takes more, for a job that watches spaces
            grow. SIZE is in bytes, or ends with K, M or G for 1,000, a million or a thousand
            million of them.
            """,
        options: [
            .all,
            .flag("types", "also show sizes by type and column"),
            .value("warn-above SIZE", "end with 1 if the space takes more bytes"),
            .json,
        ],
        examples: [
            "diario stats --json": "the numbers for a program",
            "diario stats --types": "the types and fields that take the room",
            "diario stats --warn-above 500M": "for a job that watches",
        ],
        run: { try StatsCommand.run($0) }
    )
}

/// The command `diario stats`.
enum StatsCommand {
    static func run(_ call: Invocation) throws {
        let bound = try call.value("warn-above").map { try bytes($0) }
        try call.reading { space in
            var stats = try space.stats()
            stats.includesAuthority = call.has("all")
            let sizes = call.has("types") ? try space.sealedSizes() : nil
            if call.isJSON {
                try call.output.json(fields(stats) + (sizes.map { Fields($0) } ?? [:]))
            } else {
                try call.output.pairs(pairs(stats))
                if let sizes { try sizes.print(call.output) }
            }
            if let bound, stats.bytes > bound {
                throw Failure.failed(
                    "the space takes \(Show.grouped(stats.bytes)) bytes, more than "
                        + "\(Show.grouped(bound)). diario stats --types shows what takes the room"
                )
            }
        }
    }

    /// A number of bytes as people write it: `500M`.
    package static func bytes(_ text: String) throws -> Int {
        let factors: [Character: Int] = ["K": 1000, "M": 1_000_000, "G": 1_000_000_000]
        let factor = text.last.flatMap { factors[$0] }
        let digits = factor == nil ? text[...] : text.dropLast()
        let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { (48...57).contains($0) }
        guard isNumber, let count = Int(digits) else {
            throw Failure.usage("\(text) is no size. Give bytes, such as 250000 or 500M")
        }
        let (bytes, overflows) = count.multipliedReportingOverflow(by: factor ?? 1)
        guard !overflows else { throw Failure.usage("\(text) is more than there can be") }
        return bytes
    }

    private static func fields(_ stats: SpaceStats) -> Fields {
        let state = stats.state
        return [
            "space": state.space.text, "lineage": state.lineage.text,
            "replica": state.replica.text, "events": stats.events,
            "head": state.head, "pending": state.pending, "inbox": stats.inboxCount,
            "bytes": stats.bytes, "bytesPerEvent": hundredths(stats.bytesPerEvent),
            "walBytes": stats.logBytes, "segments": stats.segmentCount,
            "tailEvents": stats.tailCount, "root": stats.root.text,
        ]
    }

    private static func pairs(_ stats: SpaceStats) -> [(name: String, value: String)] {
        let state = stats.state
        return [
            (name: "space", value: state.space.text),
            (name: "lineage", value: state.lineage.text),
            (name: "replica", value: state.replica.text),
            (name: "events", value: Show.grouped(stats.events)),
            (name: "head", value: ProgressLine.grouped(state.head)),
            (name: "pending", value: Show.grouped(state.pending)),
            (name: "inbox", value: Show.grouped(stats.inboxCount)),
            (name: "bytes", value: Show.grouped(stats.bytes)),
            (name: "bytes per event", value: "\(hundredths(stats.bytesPerEvent))"),
            (name: "write-ahead log", value: "\(Show.grouped(stats.logBytes)) bytes"),
            (name: "segments", value: Show.grouped(stats.segmentCount)),
            (name: "events in the tail", value: Show.grouped(stats.tailCount)),
            (name: "root", value: stats.root.text),
        ]
    }

    static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
