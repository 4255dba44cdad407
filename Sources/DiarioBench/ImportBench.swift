import CBaseline
import Diario
import DiarioLog
import DiarioStorage

/// `diario-bench import`: what an event costs that comes as a line of an export.
enum ImportBench {
    static let help = """
        diario-bench import [OPTIONS]
          Lines of the standard workload, imported into a new space: parsed, checked, hashed and
          on disk. Gives the processor time of the whole process for each event, and the speed. What
          the thread takes that seals meanwhile is told apart: `seal` measures that.

          --events N      lines (500000)
          --runs N        runs (5)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --json          one JSON object instead of a table

        """

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let runs = try arguments.count("--runs", 1...1000) ?? 5
        let options = try WorkloadCommand.options(&arguments, defaultCount: 500_000)
        try arguments.finish()
        let scratch = try Scratch()
        let file = scratch.path + "/events.jsonl"
        try WorkloadCommand.write(options, to: file)
        var samples: [Sample] = []
        for run in 0...runs {
            let sample = try await scratch.withFolder("space") { (path) throws(BenchError) in
                try importFile("events.jsonl", of: scratch, into: path)
            }
            guard sample.events == options.eventCount else {
                throw .failed("\(sample.events) of \(options.eventCount) events were imported")
            }
            // The first one warms up.
            if run > 0 { samples.append(sample) }
        }
        let report = Report(
            benchmark: "import",
            settings: [
                ("events", "\(options.eventCount)"), ("runs", "\(runs)"),
                ("ids", options.identifiers.rawValue), ("mix", options.mix.rawValue),
                ("seed", "\(options.seed)"),
            ],
            measurements: [
                Measurement(
                    "processor time for each event",
                    unit: "us",
                    value: Spread(samples.map { $0.figures[0].value }),
                    goal: .atMost(2)
                ),
                Measurement(
                    "sealing in the background beside it",
                    unit: "us",
                    value: Spread(samples.map { $0.figures[1].value })
                ),
                Measurement(
                    "speed",
                    unit: "events/s",
                    value: Spread(samples.map(\.eventsPerSecond))
                ),
            ]
        )
        report.show(asJSON: asJSON)
    }

    /// Imports a file into a new space, up to and including the root of its tree.
    private static func importFile(
        _ name: String,
        of scratch: Scratch,
        into path: String
    ) throws(BenchError) -> Sample {
        let space = try BenchSpace.make(path)
        let file: any LogFile
        do throws(StorageError) {
            file = try POSIXDirectory(path: scratch.path, access: .read).open(name, .read)
        } catch {
            throw .failed("\(error)")
        }
        let processBefore = baseline_process_nanoseconds()
        let start = ContinuousClock.now
        let summary = try BenchSpace.diario { () throws(DiarioError) in
            try space.importLines(of: file) { _, _ in }
        }
        _ = try BenchSpace.log { () throws(LogError) in
            try summary.space.store.root(of: summary.space.id)
        }
        var sample = Sample(seconds: seconds(since: start), events: summary.imported)
        let processTime = baseline_process_nanoseconds() - processBefore
        // Safe: a plain call into C; a static string ends with a zero byte.
        let sealTime = unsafe baseline_thread_nanoseconds("diario-seal")
        sample.figures = [processTime - sealTime, sealTime].map { time in
            ("us", Double(time) / 1000 / Double(summary.imported))
        }
        try BenchSpace.diario { () throws(DiarioError) in try space.close() }
        return sample
    }
}
