import CBaseline
import DiarioFormat

/// `diario-bench seal`: what sealing costs, from rows and from smaller segments.
enum SealBench {
    static let help = """
        diario-bench seal [OPTIONS]
          Processor time of this thread's work for each event: rows of blocks into segments of
          65,536; the same into segments of 4,096; and sixteen of those merged into one.

          --events N      events (1000000)
          --runs N        runs (3)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --origins many|one   fifty replicas that sync, or one that imports (many)
          --json          one JSON object instead of a table

        """

    static func run(_ arguments: inout Arguments) throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let runs = try arguments.count("--runs", 1...1000) ?? 3
        let origins = try arguments.choice("--origins", SegmentWorkload.Origins.self) ?? .many
        let options = try WorkloadCommand.options(&arguments, defaultCount: 1_000_000)
        try arguments.finish()
        let workload = try SegmentWorkload(options, origins)
        var large: [Double] = []
        var small: [Double] = []
        var merged: [Double] = []
        for _ in 0..<runs {
            try StorageBench.formatting { () throws(FormatError) in
                var plan = SegmentPlan()
                large.append(
                    try time(workload) { () throws(FormatError) in
                        _ = try workload.seal(65_536, &plan)
                    }
                )
                var parts: [SealedSegment] = []
                small.append(
                    try time(workload) { () throws(FormatError) in
                        parts = try workload.seal(4096, &plan)
                    }
                )
                merged.append(
                    try time(workload) { () throws(FormatError) in
                        try merge(parts, workload, &plan)
                    }
                )
            }
        }
        Report(
            benchmark: "seal",
            settings: [
                ("events", "\(workload.eventCount)"), ("runs", "\(runs)"),
                ("ids", options.identifiers.rawValue), ("mix", options.mix.rawValue),
                ("origins", origins.rawValue),
            ],
            measurements: [
                Measurement("sealed by 65,536", unit: "us", value: Spread(large), goal: .atMost(1)),
                Measurement("sealed by 4,096", unit: "us", value: Spread(small), goal: .atMost(1)),
                Measurement("merged by 16", unit: "us", value: Spread(merged), goal: .atMost(1)),
            ]
        ).show(asJSON: asJSON)
    }

    /// Microseconds for each event.
    private static func time(
        _ workload: SegmentWorkload,
        _ body: () throws(FormatError) -> Void
    ) throws(FormatError) -> Double {
        let before = baseline_process_nanoseconds()
        try body()
        let time = baseline_process_nanoseconds() - before
        return Double(time) / 1000 / Double(workload.eventCount)
    }

    private static func merge(
        _ parts: [SealedSegment],
        _ workload: SegmentWorkload,
        _ plan: inout SegmentPlan
    ) throws(FormatError) {
        var first = 0
        while first < parts.count {
            let end = min(first + 16, parts.count)
            do throws(SegmentError) {
                let position = UInt64(first * 4096 + 1)
                _ = try merge(parts[first..<end], at: position, workload, &plan)
            } catch {
                preconditionFailure("what was sealed is read: \(error.message)")
            }
            first = end
        }
    }

    private static func merge(
        _ parts: ArraySlice<SealedSegment>,
        at position: UInt64,
        _ workload: SegmentWorkload,
        _ plan: inout SegmentPlan
    ) throws(SegmentError) -> SealedSegment {
        var builder = SegmentBuilder(firstPosition: position)
        for part in parts {
            let reader = try SegmentReader(
                SegmentMemory(.segment, part.segment),
                sidecar: SegmentMemory(.sidecar, part.sidecar),
                known: workload.types
            )
            var rows = try SegmentRows(reader)
            let types = try rows.reader.eventTypes()
            while let row = try rows.next() {
                do throws(FormatError) {
                    try builder.append(row.event, of: rows.bytes.span, type: types[row.typeIndex])
                } catch {
                    preconditionFailure("a row of a segment is a row: \(error.message)")
                }
            }
        }
        do throws(FormatError) {
            return try builder.finish(&plan)
        } catch {
            preconditionFailure("rows can be sealed: \(error.message)")
        }
    }
}
