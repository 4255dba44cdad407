import Diario

/// `diario-bench noop`: what it costs to find out that there is nothing to exchange.
struct NoopBench {
    static let help = """
        diario-bench noop [OPTIONS]
          A replica that has everything asks `diario serve` over HTTP on this machine: requests and
          bytes each way, headers among them, for a space with few events and one with many.

          --events N      events of the larger space (200000)
          --few N         events of the smaller one (1000)
          --rounds N      how often it asks (200)
          --program FILE  the server (diario, beside this program)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --json          one JSON object instead of a table

        """

    let program: String
    let roundCount: Int
    let scratch: Scratch
    /// Makes folders without syncs.
    let library: String

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let fewCount = try arguments.count("--few", 1...1_000_000) ?? 1000
        let scratch = try Scratch()
        let bench = NoopBench(
            program: try Child.program(&arguments),
            roundCount: try arguments.count("--rounds", 1...100_000) ?? 200,
            scratch: scratch,
            library: try PreloadedLibrary.none.make(in: scratch)
        )
        let many = try WorkloadCommand.options(&arguments, defaultCount: 200_000)
        try arguments.finish()
        var few = many
        few.eventCount = fewCount
        let asked = [try await bench.ask(few), try await bench.ask(many)]
        var report = Report(
            benchmark: "noop",
            settings: [
                ("events", "\(many.eventCount)"), ("few", "\(fewCount)"),
                ("rounds", "\(bench.roundCount)"), ("ids", many.identifiers.rawValue),
                ("mix", many.mix.rawValue), ("seed", "\(many.seed)"),
            ]
        )
        for exchange in asked { report.measurements += exchange.measurements }
        report.show(asJSON: asJSON)
    }

    /// What asking took, for each time.
    private struct Asked {
        let eventCount: Int
        var requests: [Double] = []
        var sent: [Double] = []
        var received: [Double] = []
        var milliseconds: [Double] = []

        var measurements: [Measurement] {
            let name = "\(number(Double(eventCount))) events"
            var requests = Measurement(
                "\(name): requests",
                unit: "",
                value: Spread(self.requests),
                goal: .atMost(1)
            )
            requests.figures = [("ms by the clock", Spread(milliseconds))]
            return [
                requests,
                Measurement(
                    "\(name): sent",
                    unit: "B",
                    value: Spread(sent),
                    goal: .atMost(399)
                ),
                Measurement(
                    "\(name): received",
                    unit: "B",
                    value: Spread(received),
                    goal: .atMost(399)
                ),
            ]
        }
    }

    private func ask(_ options: WorkloadOptions) async throws(BenchError) -> Asked {
        try await MadeSpace.with(options, library: library, in: scratch) {
            (made) throws(BenchError) in
            try made.removeLines()
            let server = try await BenchServer(program, serving: made, in: scratch)
            let replica = try await server.replica(at: made.path + "/replica")
            try await replica.sync()
            var asked = Asked(eventCount: options.eventCount)
            for _ in 0..<roundCount {
                let start = ContinuousClock.now
                let report = try await replica.sync()
                asked.milliseconds.append(seconds(since: start) * 1000)
                asked.requests.append(Double(report.requests))
                asked.sent.append(Double(report.bytesSent))
                asked.received.append(Double(report.bytesReceived))
                guard report.pulled == 0, report.pushed == 0 else {
                    throw .failed("there was something to exchange: \(report)")
                }
            }
            try await replica.close()
            server.process.end()
            return asked
        }
    }
}
