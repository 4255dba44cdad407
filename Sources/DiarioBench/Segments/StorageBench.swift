import DiarioFormat
import DiarioSchema

/// `diario-bench storage`: how many bytes sealed events take.
enum StorageBench {
    static let help = """
        diario-bench storage [OPTIONS]
          The standard workload in segments of 65,536: bytes of all files for each event.

          --events N      events (1000000)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --origins many|one   fifty replicas that sync, or one that imports (many)
          --blocks        a line for each kind of block and each field as well
          --json          one JSON object instead of a table

        """

    static func run(_ arguments: inout Arguments) throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let showsBlocks = arguments.flag("--blocks")
        let origins = try arguments.choice("--origins", SegmentWorkload.Origins.self) ?? .many
        let options = try WorkloadCommand.options(&arguments, defaultCount: 1_000_000)
        try arguments.finish()
        let workload = try SegmentWorkload(options, origins)
        var plan = SegmentPlan()
        let sealed = try formatting { () throws(FormatError) in
            try workload.seal(65_536, &plan)
        }
        let count = Double(workload.eventCount)
        func perEvent(_ size: (SealedSegment) -> Int) -> Spread {
            Spread([Double(sealed.reduce(0) { $0 + size($1) }) / count])
        }
        let goal: Double = options.identifiers == .derived ? 11.5 : 16
        Report(
            benchmark: "storage",
            settings: [
                ("events", "\(workload.eventCount)"), ("ids", options.identifiers.rawValue),
                ("mix", options.mix.rawValue), ("origins", origins.rawValue),
                ("seed", "\(options.seed)"),
            ],
            measurements: [
                Measurement(
                    "both files",
                    unit: "B/event",
                    value: perEvent { $0.segment.count + $0.sidecar.count },
                    goal: .atMost(goal)
                ),
                Measurement("segments", unit: "B/event", value: perEvent { $0.segment.count }),
                Measurement("sidecars", unit: "B/event", value: perEvent { $0.sidecar.count }),
                Measurement(
                    "lines of JSON",
                    unit: "B/event",
                    value: Spread([Double(workload.lineBytes) / count])
                ),
            ]
        ).show(asJSON: asJSON)
        if showsBlocks { try showBlocks(sealed, count) }
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
