import CBaseline
import DiarioFormat
import DiarioSchema

/// `diario-bench storage`: how many bytes sealed events take.
enum StorageBench {
    static let help = """
        diario-bench storage [OPTIONS]
          The standard workload in a space of its own, imported and sealed: bytes of all its files
          for each event, against `zstd -19 --long=27` over the same lines, which takes minutes.

          --events N      events (1000000)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --origins many|one   fifty replicas that sync, or one that imports (many)
          --quick         leave zstd out
          --blocks        a line for each kind of block and each field as well
          --json          one JSON object instead of a table

        """

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let isQuick = arguments.flag("--quick")
        let showsBlocks = arguments.flag("--blocks")
        let origins = try arguments.choice("--origins", SegmentWorkload.Origins.self) ?? .many
        let options = try WorkloadCommand.options(&arguments, defaultCount: 1_000_000)
        try arguments.finish()
        let scratch = try Scratch()
        let library = try PreloadedLibrary.none.make(in: scratch)
        try await MadeSpace.with(options, origins, library: library, in: scratch) {
            (made) throws(BenchError) in
            let count = Double(options.eventCount)
            let files = try SpaceFiles(of: made)
            Report(
                benchmark: "storage",
                settings: [
                    ("events", "\(options.eventCount)"), ("ids", options.identifiers.rawValue),
                    ("mix", options.mix.rawValue), ("origins", origins.rawValue),
                    ("seed", "\(options.seed)"),
                ],
                measurements: try measure(made, files, options, isQuick: isQuick)
            ).show(asJSON: asJSON)
            if showsBlocks { try showBlocks(try files.segments(), count) }
        }
    }

    private static func measure(
        _ made: MadeSpace,
        _ files: SpaceFiles,
        _ options: WorkloadOptions,
        isQuick: Bool
    ) throws(BenchError) -> [Measurement] {
        let count = Double(options.eventCount)
        let total = Double(files.total) / count
        func row(_ name: String, _ bytes: Int, _ goal: Goal = .none) -> Measurement {
            let value = Spread([Double(bytes) / count])
            return Measurement(name, unit: "B/event", value: value, goal: goal)
        }
        let goal: Double = options.identifiers == .derived ? 11.5 : 16
        var rows = [row("all files", files.total, .atMost(goal))]
        if !isQuick {
            var size: UInt64 = 0
            // Safe: a plain call into C, which keeps no pointer.
            let seconds = unsafe baseline_zstd(made.lines, 19, 27, &size)
            guard seconds >= 0 else { throw .failed("zstd fails: \(seconds)") }
            let baseline = Double(size) / count
            rows.append(
                Measurement(
                    "against zstd -19 --long=27",
                    unit: "B/event",
                    total,
                    against: baseline,
                    goal: .atMost(0.67)
                )
            )
        }
        rows += files.kinds.map { row($0.name, $0.bytes) }
        return rows + [
            row("not counted: free log files", files.freeBytes),
            row("lines of JSON", made.lineBytes),
        ]
    }

    static func formatting<Value>(
        _ body: () throws(FormatError) -> Value
    ) throws(BenchError) -> Value {
        do throws(FormatError) { return try body() } catch { throw .failed(error.message) }
    }

    static func reading<Value>(
        _ body: () throws(SegmentError) -> Value
    ) throws(BenchError) -> Value {
        do throws(SegmentError) { return try body() } catch { throw .failed(error.message) }
    }

    private static func showBlocks(
        _ sealed: [SealedSegment],
        _ count: Double
    ) throws(BenchError) {
        var sizes: [String: Int] = [:]
        for segment in sealed {
            try reading { () throws(SegmentError) in
                try add(segment, to: &sizes)
            }
        }
        var text = "\n"
        for (name, size) in sizes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            let value = "\((Double(size) / count * 10_000).rounded() / 10_000)"
            text += value + String(repeating: " ", count: max(1, 9 - value.count)) + name + "\n"
        }
        System.say(text, to: System.standardOutput)
    }

    private static func add(
        _ segment: SealedSegment,
        to sizes: inout [String: Int]
    ) throws(SegmentError) {
        var reader = try SegmentReader(
            SegmentMemory(.segment, segment.segment),
            sidecar: SegmentMemory(.sidecar, segment.sidecar)
        )
        sizes["index", default: 0] += reader.header.blocksOffset
        sizes["sidecar: index", default: 0] += reader.sidecarHeader?.blocksOffset ?? 0
        for (number, block) in reader.index.blocks.enumerated() {
            guard let kind = SegmentBlockKind(rawValue: block.kind) else { continue }
            sizes["\(kind)", default: 0] += block.storedSize
            guard kind == .fields else { continue }
            let type = try reader.eventType(block.key)
            sizes["fields \(type.name)", default: 0] += block.storedSize
            let columns = try reader.fields(inBlock: number)
            for column in columns.columns {
                let name = "\(type.name) \(type.fields[column.field].name)"
                sizes[name, default: 0] += column.storedSize
            }
            guard let own = try reader.personalFields(inBlock: number) else { continue }
            for column in own.columns {
                let name = "sidecar: \(type.name) \(type.fields[column.field].name)"
                sizes[name, default: 0] += column.storedSize
            }
        }
    }
}
