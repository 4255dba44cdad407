/// `diario-bench scaling`: what commands take as events get more.
struct ScalingBench {
    static let help = """
        diario-bench scaling [OPTIONS]
          The real program imports, seals, scans (`diario log`), verifies and exports the standard
          workload in a tenth of the size, a fifth, a half and the whole: the most memory that each
          command had resident, and its processor time. Memory must not grow with the events, and
          time no faster than they. What is imported is sealed on the way, so `seal` does the rest.

          --events N      events of the largest (10000000)
          --program FILE  the program (diario, beside this one)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --json          one JSON object instead of a table

        """

    /// A command in turn; `file` is that of the lines.
    private struct Step: Sendable {
        let name: String
        let words: @Sendable (_ file: String) -> [String]
    }

    private static let steps = [
        Step(name: "import") { ["import", $0] },
        Step(name: "seal") { _ in ["seal"] },
        Step(name: "scan") { _ in ["log"] },
        Step(name: "verify") { _ in ["verify"] },
        Step(name: "export") { _ in ["export"] },
    ]

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let program = try Child.program(&arguments)
        let options = try WorkloadCommand.options(&arguments, defaultCount: 10_000_000)
        try arguments.finish()
        let scratch = try Scratch()
        let counts = [10, 5, 2, 1].map { max(1, options.eventCount / $0) }
        var runs: [[Child.End]] = []
        for count in counts {
            var part = options
            part.eventCount = count
            runs.append(
                try await scratch.withFolder("space") { (path) throws(BenchError) in
                    try run(program, part, in: path, scratch)
                }
            )
        }
        Report(
            benchmark: "scaling",
            settings: [
                ("events", counts.map { "\($0)" }.joined(separator: " ")),
                ("ids", options.identifiers.rawValue), ("mix", options.mix.rawValue),
                ("seed", "\(options.seed)"),
            ],
            measurements: Self.steps.indices.flatMap { step in
                rows(Self.steps[step].name, runs.map { $0[step] }, counts)
            }
        ).show(asJSON: asJSON)
    }

    /// What each step took.
    private static func run(
        _ program: String,
        _ options: WorkloadOptions,
        in path: String,
        _ scratch: Scratch
    ) throws(BenchError) -> [Child.End] {
        let file = path + "/events.jsonl"
        // By another process: the most memory of this one counts as that of its children.
        _ = try Child.numbers(["workload", "--output", file] + options.words, in: scratch)
        try Child.runTool(program, ["init", path, "--pack", "all"])
        var ends: [Child.End] = []
        for step in Self.steps {
            ends.append(try Child.runTool(program, ["-C", path] + step.words(file)))
        }
        return ends
    }

    private static func rows(
        _ name: String,
        _ ends: [Child.End],
        _ counts: [Int]
    ) -> [Measurement] {
        let last = ends.count - 1
        var rows = ends.indices.map { index in
            Measurement(
                "\(name), \(number(Double(counts[index]))): memory",
                unit: "MB",
                value: Spread([ends[index].megabytes]),
                goal: .atMost(256)
            )
        }
        rows.append(
            Measurement(
                "\(name): memory, all against a tenth",
                unit: "MB",
                ends[last].megabytes,
                against: ends[0].megabytes,
                goal: .atMost(1.2)
            )
        )
        for (few, many) in [(0, 1), (last - 1, last)] {
            let title = "\(name): \(number(Double(counts[many]))) against half of them"
            var row = Measurement(
                title,
                unit: "s of processor",
                ends[many].processorSeconds,
                against: ends[few].processorSeconds,
                goal: .atMost(2.2)
            )
            row.figures = [("s by the clock", Spread([ends[many].seconds]))]
            rows.append(row)
        }
        return rows
    }
}
