import DiarioCore
import DiarioLog
import DiarioSchema
import DiarioStorage

/// `diario-bench clone`: what it takes until a new device can ask.
struct CloneBench {
    static let help = """
        diario-bench clone [OPTIONS]
          `diario clone` of a space from `diario serve` over HTTP on this machine, and
          `diario rebuild`, after which queries are answered; against curl that fetches the same
          files, `diario verify` and `diario rebuild`: what passes on the clock.

          --events N      events (1000000)
          --runs N        runs of each side, in turn (2)
          --program FILE  the server (diario, beside this program)
          \(WorkloadOptions.help)

        """

    let program: String
    let options: WorkloadOptions
    let runs: Int
    let scratch: Scratch

    static func run(_ arguments: inout Arguments) async throws -> Report {
        let bench = CloneBench(
            program: try Child.program(&arguments),
            options: try WorkloadOptions(&arguments, defaultCount: 1_000_000),
            runs: try arguments.count("--runs", 1...100) ?? 2,
            scratch: try Scratch()
        )
        try arguments.finish()
        return Report(
            benchmark: "clone",
            settings: bench.options.settings + [("runs", "\(bench.runs)")],
            measurements: try await bench.measure()
        )
    }

    private func measure() async throws -> [Measurement] {
        try await MadeSpace.with(options, in: scratch) { made in
            let (store, id) = try made.open()
            try store.close()
            let space = try BenchServer.Named(
                naming: id,
                "home",
                program,
                made.path,
                in: scratch
            )
            let server = try await BenchServer(program, made.path, in: scratch)
            let address = server.address(of: space)
            var pairs: [(ours: Sample, baseline: Sample)] = []
            var shares: [Double] = []
            // Runs are long, so nothing has to warm up.
            for run in 0..<runs {
                let path = made.path + "/\(run)"
                let (ours, copy, received) = try clone(address, space.token, to: path)
                let folder = "\(path)/\(LogPaths.directoryName)/\(LogPaths.segments(copy))"
                let (baseline, size) = try fetch(address, space.token, folder, of: path)
                pairs.append((ours, baseline))
                shares.append(Double(received) / Double(size))
            }
            let name = "until queries are answered, against curl, verify and rebuild"
            return [
                Measurement(name, pairs, goal: .atMost(1.3), isTime: true),
                Measurement(
                    "bytes on the wire, against those of the segments",
                    unit: "",
                    value: Spread(shares),
                    goal: .atMost(1.05)
                ),
            ]
        }
    }

    /// Makes a copy that answers; gives the id that the space has there, and the bytes received.
    private func clone(
        _ address: String,
        _ token: String,
        to path: String
    ) throws -> (Sample, SpaceID, Int64) {
        let start = ContinuousClock.now
        let words = ["clone", address, path, "--token", token, "--json"]
        let text = try Child.output(of: program, words, in: scratch)
        let copied = seconds(since: start)
        try Child.runTool(program, ["-C", path, "rebuild"])
        let sample = Sample(
            seconds: seconds(since: start),
            events: options.eventCount,
            figures: [("s until it was copied", copied)]
        )
        let answer = try JSON.parse(Array(text.utf8)).value
        guard case .string(let space)? = answer.member("space")?.item.value,
            let copy = SpaceID(text: space),
            case .integer(let bytes)? = answer.member("bytesReceived")?.item.value
        else { throw BenchError.failed("clone says nothing of space and bytes: \(text)") }
        return (sample, copy, bytes)
    }

    /// Fetches the files that a copy has in a folder, verifies the copy, and rebuilds its read
    /// models; gives the bytes of the files.
    private func fetch(
        _ address: String,
        _ token: String,
        _ folder: String,
        of path: String
    ) throws -> (Sample, Int) {
        let directory = try POSIXDirectory(path: folder, access: .read)
        var size = 0
        var text = "silent\nfail\nheader = \"Authorization: Bearer \(token)\"\n"
        for name in try directory.list("") {
            size += Int(try directory.open(name, .read).size())
            text += "url = \"\(address)/segments/\(name)\"\noutput = \"\(path)/\(name)\"\n"
        }
        try System.write(text, to: path + "/curl")
        let steps = [
            ("s of curl", try Child.runTool("curl", ["--config", path + "/curl"])),
            ("s of verifying", try Child.runTool(program, ["-C", path, "verify"])),
            ("s of rebuilding", try Child.runTool(program, ["-C", path, "rebuild"])),
        ]
        let sample = Sample(
            seconds: steps.reduce(0) { $0 + $1.1 },
            events: options.eventCount,
            figures: steps
        )
        return (sample, size)
    }
}
