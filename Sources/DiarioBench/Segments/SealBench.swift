import CBaseline
import DiarioFormat

/// `diario-bench seal`: what sealing costs, from rows and from smaller segments.
enum SealBench {
    static let help = """
        diario-bench seal [OPTIONS]
          Processor time of this thread's work for each event: rows of blocks into segments of
          65,536; the same into segments of 4,096; and sixteen of those merged into one. And the
          bytes of three kinds of space by one plan, in turn, against one plan for each.

          --events N      events (1000000)
          --runs N        runs (3)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --origins many|one   fifty replicas that sync, or one that imports (many)
          --part all|large|small|merged|spaces   what is measured (all)
          --json          one JSON object instead of a table

        """

    private enum Part: String, CaseIterable {
        case all, large, small, merged, spaces
    }

    static func run(_ arguments: inout Arguments) throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let runs = try arguments.count("--runs", 1...1000) ?? 3
        let origins = try arguments.choice("--origins", SegmentWorkload.Origins.self) ?? .many
        let part = try arguments.choice("--part", Part.self) ?? .all
        let options = try WorkloadCommand.options(&arguments, defaultCount: 1_000_000)
        try arguments.finish()
        let workload = try SegmentWorkload(options, origins)
        var measurements: [Measurement] = []
        func measure(
            _ own: Part,
            _ name: String,
            _ body: (inout SegmentPlan) throws(FormatError) -> Void
        ) throws(BenchError) {
            guard part == .all || part == own else { return }
            let times = try StorageBench.formatting { () throws(FormatError) in
                var plan = SegmentPlan()
                var times: [Double] = []
                for _ in 0..<runs { times.append(try time(workload, &plan, body)) }
                return times
            }
            measurements.append(
                Measurement(name, unit: "us", value: Spread(times), goal: .atMost(1))
            )
        }
        try measure(.large, "sealed by 65,536") { (plan) throws(FormatError) in
            _ = try workload.seal(65_536, &plan)
        }
        try measure(.small, "sealed by 4,096") { (plan) throws(FormatError) in
            _ = try workload.seal(4096, &plan)
        }
        if part == .all || part == .merged {
            let parts = try StorageBench.formatting { () throws(FormatError) in
                var plan = SegmentPlan()
                return try workload.seal(4096, &plan)
            }
            try measure(.merged, "merged by 16") { (plan) throws(FormatError) in
                try merge(parts, workload, &plan)
            }
        }
        if part == .all || part == .spaces { measurements += try measureSpaces(options) }
        Report(
            benchmark: "seal",
            settings: [
                ("events", "\(workload.eventCount)"), ("runs", "\(runs)"),
                ("ids", options.identifiers.rawValue), ("mix", options.mix.rawValue),
                ("origins", origins.rawValue),
            ],
            measurements: measurements
        ).show(asJSON: asJSON)
    }

    /// What it costs in bytes that spaces of all kinds have one plan.
    private static func measureSpaces(
        _ options: WorkloadOptions
    ) throws(BenchError) -> [Measurement] {
        var kinds: [SegmentWorkload] = []
        for (index, mix) in [options.mix, options.mix, .second].enumerated() {
            var own = options
            own.eventCount /= 3
            own.seed += UInt64(index)
            own.mix = mix
            kinds.append(try SegmentWorkload(own, index == 1 ? .one : .many))
        }
        var measurements: [Measurement] = []
        for count in [4096, 65_536] {
            let (own, shared) = try StorageBench.formatting { () throws(FormatError) in
                var own = 0
                for kind in kinds {
                    var plan = SegmentPlan()
                    own += try kind.seal(count, &plan).reduce(0) { $0 + $1.size }
                }
                // As they come: first short runs of each, then long ones.
                var plan = SegmentPlan()
                var shared = 0
                for kind in kinds { _ = try kind.sealRun(0, of: 4096, &plan) }
                for place in 0..<(kinds.map { $0.runCount(count) }.max() ?? 0) {
                    for kind in kinds where place < kind.runCount(count) {
                        shared += try kind.sealRun(place, of: count, &plan).size
                    }
                }
                return (own, shared)
            }
            measurements.append(
                Measurement(
                    "bytes by one plan, by \(count)",
                    unit: "MB",
                    Double(shared) / 1e6,
                    against: Double(own) / 1e6,
                    goal: .atMost(1.01)
                )
            )
        }
        return measurements
    }

    /// Microseconds for each event.
    private static func time(
        _ workload: SegmentWorkload,
        _ plan: inout SegmentPlan,
        _ body: (inout SegmentPlan) throws(FormatError) -> Void
    ) throws(FormatError) -> Double {
        let before = baseline_process_nanoseconds()
        try body(&plan)
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
        var builder = SegmentBuilder(firstPosition: position, expected: 4096 * parts.count)
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

extension SealedSegment {
    fileprivate var size: Int { segment.count + sidecar.count }
}
