import Diario
import DiarioCore
import DiarioLog
import DiarioStorage

/// `diario-bench clone`: what it takes until a new device can ask.
struct CloneBench {
    static let help = """
        diario-bench clone [OPTIONS]
          Copies a space from `diario serve` over HTTP on this machine, and builds its read models,
          so that queries are answered. Against curl that fetches the same files, `diario verify`,
          and `diario rebuild` of all packs, one after the other: what passes on the clock.

          --events N      events (200000)
          --runs N        runs of each side, in turn (2)
          --program FILE  the server (diario, beside this program)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --json          one JSON object instead of a table

        """

    let program: String
    let options: WorkloadOptions
    let runs: Int
    let scratch: Scratch

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let bench = CloneBench(
            program: try Child.program(&arguments),
            options: try WorkloadCommand.options(&arguments, defaultCount: 200_000),
            runs: try arguments.count("--runs", 1...100) ?? 2,
            scratch: try Scratch()
        )
        try arguments.finish()
        let options = bench.options
        Report(
            benchmark: "clone",
            settings: [
                ("events", "\(options.eventCount)"), ("runs", "\(bench.runs)"),
                ("ids", options.identifiers.rawValue), ("mix", options.mix.rawValue),
                ("seed", "\(options.seed)"),
            ],
            measurements: try await bench.measure()
        ).show(asJSON: asJSON)
    }

    private func measure() async throws(BenchError) -> [Measurement] {
        let library = try PreloadedLibrary.none.make(in: scratch)
        return try await MadeSpace.with(options, library: library, in: scratch) {
            (made) throws(BenchError) in
            try made.removeLines()
            let server = try await BenchServer(program, serving: made, in: scratch)
            var pairs: [(ours: Sample, baseline: Sample)] = []
            var shares: [Double] = []
            // Runs are long, so nothing has to warm up.
            for run in 0..<runs {
                let path = made.path + "/\(run)"
                let (ours, received) = try await clone(server, to: path)
                let (baseline, size) = try await fetch(server, what: path)
                pairs.append((ours, baseline))
                shares.append(Double(received) / Double(size))
            }
            server.process.end()
            return [
                Measurement(
                    "until queries are answered, against curl, verify and rebuild",
                    pairs,
                    goal: .atMost(1.3),
                    isTime: true
                ),
                Measurement(
                    "bytes on the wire, against those of the segments",
                    unit: "",
                    value: Spread(shares),
                    goal: .atMost(1.05)
                ),
            ]
        }
    }

    /// Makes a copy that answers; gives what it received.
    private func clone(
        _ server: BenchServer,
        to path: String
    ) async throws(BenchError) -> (Sample, Int) {
        let transport = try await server.transport()
        let start = ContinuousClock.now
        try await server.clone(to: path, by: transport)
        let copied = seconds(since: start)
        try BenchSpace.diario { () throws(DiarioError) in
            let space = try Space.open(at: path, access: .readWrite)
            try ReadModels(space).update()
            try space.close()
        }
        let sample = Sample(
            seconds: seconds(since: start),
            events: options.eventCount,
            figures: [("s until it was copied", copied)]
        )
        return (sample, transport.traffic?.bytesReceived ?? 0)
    }

    /// Fetches what a copy was made of, verifies that, and rebuilds its read models; gives the
    /// bytes of the files.
    private func fetch(
        _ server: BenchServer,
        what path: String
    ) async throws(BenchError) -> (Sample, Int) {
        let space = try BenchSpace.diario { () throws(DiarioError) in
            try Space.open(at: path, access: .readWrite)
        }
        let folder = path + "/" + LogPaths.directoryName + "/" + LogPaths.segments(space.id)
        let (names, size) = try Self.files(in: folder)
        try server.writeCurlFile(for: names, in: path)
        var steps: [(name: String, value: Double)] = []
        let start = ContinuousClock.now
        try Child.runTool("curl", ["--config", path + "/curl"])
        steps.append(("s of curl", seconds(since: start)))
        try BenchSpace.diario { () throws(DiarioError) in
            let verifying = ContinuousClock.now
            let result = try space.verify { _ in }
            guard result.isOK else { throw DiarioError(.corrupt, "\(result.faults)") }
            steps.append(("s of verifying", seconds(since: verifying)))
            let rebuilding = ContinuousClock.now
            _ = try ReadModels(space).rebuild(measuresRows: false)
            steps.append(("s of rebuilding", seconds(since: rebuilding)))
        }
        let time = seconds(since: start)
        try BenchSpace.diario { () throws(DiarioError) in try space.close() }
        return (Sample(seconds: time, events: options.eventCount, figures: steps), size)
    }

    /// The names of the files of a folder, and what all have in bytes.
    private static func files(in folder: String) throws(BenchError) -> ([String], Int) {
        do throws(StorageError) {
            let directory = try POSIXDirectory(path: folder, access: .read)
            let names = try directory.list("").sorted()
            var size = 0
            for name in names { size += try directory.open(name, .read).size() }
            return (names, size)
        } catch {
            throw .failed("\(error)")
        }
    }
}
