import CBaseline
import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSchema

/// `diario-bench rebuild`: what building read models anew costs.
enum RebuildBench {
    static let help = """
        diario-bench rebuild [OPTIONS]
          Builds the read models of packs anew from an imported and sealed space, as `diario
          rebuild` does; against C that makes the same tables and issues the same prepared
          statements, with values that were decoded beforehand and the same settings. Processor
          time of the whole process on both sides.

          --events N      events (200000)
          --runs N        runs of each side, in turn (3)
          --pack NAME     one pack; else each of them in turn
          --seed S, --ids given|derived, --mix main|second|making   of the workload
          --json          one JSON object instead of a table

        """

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let runs = try arguments.count("--runs", 1...1000) ?? 3
        let pack = try arguments.value("--pack")
        let options = try WorkloadCommand.options(&arguments, defaultCount: 200_000)
        try arguments.finish()
        let scratch = try Scratch()
        let report = try await scratch.withFolder("space") { (path) throws(BenchError) in
            let eventCount = try VerifyBench.fill(path, options, scratch)
            let space = try BenchSpace.diario { () throws(DiarioError) in
                try Space.open(at: path, access: .readOnly)
            }
            let models = try BenchSpace.diario { () throws(DiarioError) in try ReadModels(space) }
            var measurements: [Measurement] = []
            for name in models.packs.map(\.name) where pack == nil || pack == name {
                measurements.append(try await measure(name, models, space, scratch, runs: runs))
            }
            try BenchSpace.diario { () throws(DiarioError) in try space.close() }
            return Report(
                benchmark: "rebuild",
                settings: [
                    ("events", "\(eventCount)"), ("runs", "\(runs)"),
                    ("ids", options.identifiers.rawValue), ("mix", options.mix.rawValue),
                    ("seed", "\(options.seed)"),
                ],
                measurements: measurements
            )
        }
        report.show(asJSON: asJSON)
    }

    private static func measure(
        _ name: String,
        _ models: ReadModels,
        _ space: Space,
        _ scratch: Scratch,
        runs: Int
    ) async throws(BenchError) -> Measurement {
        guard let pack = models.packs.first(where: { $0.name == name }) else {
            throw .failed("there is no pack \(name)")
        }
        let plan = PackPlan(pack)
        var calls = RecordedCalls(plan)
        let types = plan.types(of: Set(plan.models.map(\.model.name))).sorted()
        try BenchSpace.diario { () throws(DiarioError) in
            var reader = try EventReader(space, EventFilter(types: types))
            while let event = try reader.next() { calls.add(event) }
        }
        let recorded = calls
        var failures: UInt64 = 0
        let pairs = try await compare(runs: runs) { () throws(BenchError) in
            let before = baseline_process_nanoseconds()
            let reports = try BenchSpace.diario { () throws(DiarioError) in
                try models.rebuild([name], measuresRows: false)
            }
            let time = baseline_process_nanoseconds() - before
            let quarantined = reports.flatMap(\.models).reduce(0) { $0 + $1.quarantined }
            return Sample(
                seconds: Double(time) / 1e9,
                events: recorded.eventCount,
                figures: [("in quarantine", Double(quarantined))]
            )
        } baseline: { () throws(BenchError) in
            let file = "baseline.sqlite"
            defer { for suffix in ["", "-wal", "-shm"] { scratch.remove(file + suffix) } }
            let result = try recorded.run(scratch.path + "/" + file, batch: 50_000)
            failures = result.failures
            return Sample(seconds: result.seconds, events: recorded.eventCount)
        }
        if failures > 0 { print("\(name): \(failures) statements fail, in C as well") }
        return Measurement(name, pairs, goal: .atLeast(0.9))
    }
}
