import CBaseline
import Diario
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSchema

/// `diario-bench rebuild`: what it costs to rebuild read models, and to let them follow the log.
struct RebuildBench {
    static let help = """
        diario-bench rebuild [OPTIONS]
          Read models against C that makes the same tables and runs the same prepared statements,
          with values that were decoded beforehand and the same settings, row by row.

          --only LIST     some of: packs, all, following (all)
          --events N      events (1000000)
          --following N   events that read models follow one by one (2000)
          --runs N        runs of each side, in turn (3)
          --pack NAME     one pack only
          \(WorkloadOptions.help)

          packs      rebuilds each pack of an imported and sealed space: processor time of the
                     whole process
          all        rebuilds all packs, on all cores, against C that does one after the other:
                     what passes on the clock
          following  records events of a pack (meals), and updates its read models after each:
                     processor time without the recording

        """

    private enum Part: String, CaseIterable {
        case packs, all, following
    }

    let options: WorkloadOptions
    let followingCount: Int
    let runs: Int
    let packs: [Pack]
    let scratch: Scratch

    static func run(_ arguments: inout Arguments) async throws -> Report {
        let parts = try arguments.choices("--only", Part.self) ?? Part.allCases
        let name = try arguments.value("--pack")
        let bench = RebuildBench(
            options: try WorkloadOptions(&arguments, defaultCount: 1_000_000),
            followingCount: try arguments.count("--following", 1...1_000_000) ?? 2000,
            runs: try arguments.count("--runs", 1...1000) ?? 3,
            packs: try BenchSpace.packs().filter { $0.name == name ?? $0.name },
            scratch: try Scratch()
        )
        try arguments.finish()
        var report = Report(
            benchmark: "rebuild",
            settings: bench.options.settings + [("runs", "\(bench.runs)")]
        )
        if parts != [.following] { report.measurements += try await bench.measureSealed(parts) }
        if parts.contains(.following) {
            report.measurements.append(try await bench.measureFollowing())
        }
        return report
    }

    private func measureSealed(_ parts: [Part]) async throws -> [Measurement] {
        try await scratch.withFolder("space") { path in
            try BenchSpace.sealed(path, options).close()
            let space = try Space.open(at: path, access: .readOnly)
            let models = try ReadModels(space)
            let recorded = try packs.map { ($0.name, try RecordedCalls($0, of: space)) }
            var measurements: [Measurement] = []
            if parts.contains(.packs) {
                for (name, calls) in recorded {
                    measurements.append(try await measure(name, models, calls))
                }
            }
            if parts.contains(.all) {
                measurements.append(try await measureAll(models, recorded.map(\.1)))
            }
            try space.close()
            return measurements
        }
    }

    private static let goals = ["maps": 1.9, "meals": 2.0, "music": 1.6]

    private func measure(
        _ name: String,
        _ models: ReadModels,
        _ calls: RecordedCalls
    ) async throws -> Measurement {
        let pairs = try await compare(runs: runs) {
            let before = baseline_process_nanoseconds()
            let reports = try models.rebuild([name], measuresRows: false)
            let time = baseline_process_nanoseconds() - before
            let quarantined = reports.flatMap(\.models).reduce(0) { $0 + $1.quarantined }
            guard quarantined == 0 else {
                throw BenchError.failed("\(quarantined) events of \(name) are in quarantine")
            }
            return Sample(seconds: Double(time) / 1e9, events: calls.eventCount)
        } baseline: {
            let seconds = try calls.run(in: scratch, batch: 50_000)
            return Sample(seconds: seconds, events: calls.eventCount)
        }
        return Measurement(name, pairs, goal: .atLeast(Self.goals[name] ?? 0.85))
    }

    private func measureAll(
        _ models: ReadModels,
        _ all: [RecordedCalls]
    ) async throws -> Measurement {
        let eventCount = all.reduce(0) { $0 + $1.eventCount }
        let names = packs.map(\.name)
        let pairs = try await compare(runs: runs) {
            let start = ContinuousClock.now
            _ = try models.rebuild(names, measuresRows: false)
            return Sample(seconds: seconds(since: start), events: eventCount)
        } baseline: {
            let start = ContinuousClock.now
            for calls in all { _ = try calls.run(in: scratch, batch: 50_000) }
            return Sample(seconds: seconds(since: start), events: eventCount)
        }
        return Measurement("all packs, side by side", pairs, goal: .atLeast(3.0))
    }

    // MARK: Read models that follow

    private func measureFollowing() async throws -> Measurement {
        guard let pack = packs.first(where: { $0.name == "meals" }) ?? packs.first else {
            throw BenchError.failed("there is no such pack")
        }
        var few = options
        few.eventCount = 10 * followingCount
        let events = try PreparedEvents(few)
        let own = events.lines.indices.filter { events.lines[$0].type.pack == pack.name }
            .prefix(followingCount)
        let pairs = try await compare(runs: runs) {
            try await scratch.withFolder("following") { path in
                let space = try BenchSpace.make(path)
                let models = try ReadModels(space)
                try models.update([pack.name])
                var time: Int64 = 0
                for index in own {
                    try space.append(.new([events.draft([index])], .replicaSingly))
                    let before = baseline_process_nanoseconds()
                    try models.update([pack.name])
                    time += baseline_process_nanoseconds() - before
                }
                try space.close()
                return Sample(seconds: Double(time) / 1e9, events: own.count)
            }
        } baseline: {
            try await scratch.withFolder("following") { path in
                let space = try BenchSpace.make(path)
                for index in own { try space.append(.new([events.draft([index])], .replicaSingly)) }
                let calls = try RecordedCalls(pack, of: space)
                try space.close()
                return Sample(seconds: try calls.run(in: scratch, batch: 1), events: own.count)
            }
        }
        return Measurement("following one event", pairs, goal: .atLeast(0.4))
    }
}
