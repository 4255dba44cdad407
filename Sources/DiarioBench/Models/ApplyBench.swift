import CBaseline
import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSchema

/// `diario-bench apply`: what it costs that read models follow what is recorded.
enum ApplyBench {
    static let help = """
        diario-bench apply [OPTIONS]
          Records events of one pack and brings its read models up to date after each batch, and
          after each single event; against C that issues the same prepared statements with decoded
          values, a transaction for each batch, or each event. Processor time of the whole
          process, recording apart.

          --events N      events in batches of 1,000 (20000); a tenth of them one by one
          --runs N        runs of each side, in turn (3)
          --pack NAME     the pack (meals)
          --seed S, --ids given|derived, --mix main|second|making   of the workload
          --json          one JSON object instead of a table

        """

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let runs = try arguments.count("--runs", 1...1000) ?? 3
        let name = try arguments.value("--pack") ?? "meals"
        let options = try WorkloadCommand.options(&arguments, defaultCount: 20_000)
        try arguments.finish()
        let scratch = try Scratch()
        let packs = try BenchSpace.packs(of: nil)
        guard let pack = packs.first(where: { $0.name == name }) else {
            throw .failed("there is no pack \(name)")
        }
        let events = try PreparedEvents(options)
        let own = events.lines.indices.filter { events.lines[$0].type.pack == name }
        let parts = [("batches of 1,000", 1000, own), ("one event", 1, Array(own.prefix(2000)))]
        var measurements: [Measurement] = []
        for (label, batch, indices) in parts {
            let pairs = try await compare(runs: runs) { () throws(BenchError) in
                try await scratch.withFolder("apply") { (path) throws(BenchError) in
                    let space = try BenchSpace.make(path)
                    return try follow(space, name, events, indices, batch: batch)
                }
            } baseline: { () throws(BenchError) in
                try await scratch.withFolder("apply") { (path) throws(BenchError) in
                    let space = try BenchSpace.make(path)
                    try record(space, events, indices)
                    return try baseline(space, pack, scratch, batch: batch)
                }
            }
            let goal = Goal.atLeast(batch == 1 ? 0.5 : 0.75)
            measurements.append(Measurement(label, pairs, goal: goal))
        }
        let report = Report(
            benchmark: "apply",
            settings: [
                ("events", "\(own.count)"), ("runs", "\(runs)"), ("pack", name),
                ("ids", options.identifiers.rawValue), ("mix", options.mix.rawValue),
                ("seed", "\(options.seed)"),
            ],
            measurements: measurements
        )
        report.show(asJSON: asJSON)
    }

    private static func append(
        _ indices: ArraySlice<Int>,
        of events: PreparedEvents,
        to space: Space
    ) throws(BenchError) {
        var draft = DraftBatch()
        for index in indices { events.add(index, to: &draft) }
        try LaneReplica.append(.singles([draft]), to: space)
    }

    private static func record(
        _ space: Space,
        _ events: PreparedEvents,
        _ indices: [Int]
    ) throws(BenchError) {
        for start in stride(from: 0, to: indices.count, by: 1000) {
            try append(indices[start..<min(indices.count, start + 1000)], of: events, to: space)
        }
    }

    private static func follow(
        _ space: Space,
        _ pack: String,
        _ events: PreparedEvents,
        _ indices: [Int],
        batch: Int
    ) throws(BenchError) -> Sample {
        let models = try BenchSpace.diario { () throws(DiarioError) in try ReadModels(space) }
        try BenchSpace.diario { () throws(DiarioError) in try models.update([pack]) }
        var time: Int64 = 0
        for start in stride(from: 0, to: indices.count, by: batch) {
            try append(indices[start..<min(indices.count, start + batch)], of: events, to: space)
            let before = baseline_process_nanoseconds()
            try BenchSpace.diario { () throws(DiarioError) in try models.update([pack]) }
            time += baseline_process_nanoseconds() - before
        }
        try BenchSpace.diario { () throws(DiarioError) in try space.close() }
        return Sample(seconds: Double(time) / 1e9, events: indices.count)
    }

    private static func baseline(
        _ space: Space,
        _ pack: Pack,
        _ scratch: Scratch,
        batch: Int
    ) throws(BenchError) -> Sample {
        let calls = try RecordedCalls.all(PackPlan(pack), of: space)
        try BenchSpace.diario { () throws(DiarioError) in try space.close() }
        let file = "baseline.sqlite"
        defer { for suffix in ["", "-wal", "-shm"] { scratch.remove(file + suffix) } }
        let result = try calls.run(scratch.path + "/" + file, batch: batch)
        return Sample(seconds: result.seconds, events: calls.eventCount)
    }
}
