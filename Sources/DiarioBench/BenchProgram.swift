import Diario

/// The program: finds the benchmark that the first argument names, and runs it.
enum BenchProgram {
    private struct Benchmark: Sendable {
        let name: String
        let help: String
        let run: @Sendable (inout Arguments) async throws -> Report
    }

    private static let benchmarks: [Benchmark] = [
        Benchmark(name: "append", help: AppendBench.help, run: AppendBench.run),
        Benchmark(name: "storage", help: StorageBench.help, run: StorageBench.run),
        Benchmark(name: "scan", help: ScanBench.help, run: ScanBench.run),
        Benchmark(name: "verify", help: VerifyBench.help, run: VerifyBench.run),
        Benchmark(name: "rebuild", help: RebuildBench.help, run: RebuildBench.run),
        Benchmark(name: "spaces", help: SpacesBench.help, run: SpacesBench.run),
        Benchmark(name: "sync", help: SyncBench.help, run: SyncBench.run),
        Benchmark(name: "push", help: PushBench.help, run: PushBench.run),
        Benchmark(name: "who", help: WhoBench.help, run: WhoBench.run),
        Benchmark(name: "clone", help: CloneBench.help, run: CloneBench.run),
        Benchmark(name: "starve", help: StarveBench.help, run: StarveBench.run),
    ]

    /// What the program calls itself for, in a process of its own; not shown.
    private static let children: [String: @Sendable (inout Arguments) throws -> Void] = [
        SpacesBench.makeName: SpacesBench.makeSpaces,
        SpacesBench.runName: SpacesBench.appendEvents,
        MadeSpace.childName: MadeSpace.make,
        BareServer.childName: BareServer.run,
    ]

    private static var help: String {
        """
        diario-bench NAME [OPTIONS]   runs a benchmark; --json gives one JSON object, not a table
        diario-bench NAME --help      says what it measures
        diario-bench list             names them all
        diario-bench workload [OPTIONS] [--output FILE]
          writes the lines that are measured with: --events N (100000)
          \(WorkloadOptions.help)

        """
    }

    /// The exit code: 0 all went well, 1 something failed, 2 the call is wrong.
    static func run(_ arguments: [String]) async -> Int32 {
        do {
            try await dispatch(arguments)
            return 0
        } catch BenchError.usage(let message) {
            System.say("diario-bench: \(message). Try: diario-bench --help\n")
            return 2
        } catch {
            System.say("diario-bench: \(message(of: error))\n")
            return 1
        }
    }

    private static func message(of error: any Error) -> String {
        switch error {
        case BenchError.failed(let message): message
        case let error as DiarioError: error.message
        default: "\(error)"
        }
    }

    private static func dispatch(_ words: [String]) async throws {
        guard let name = words.first else { throw BenchError.usage("which benchmark?") }
        var arguments = Arguments(Array(words.dropFirst()))
        switch name {
        case "list":
            let names = benchmarks.map { $0.name + "\n" }.joined()
            System.say(names, to: System.standardOutput)
        case "--help", "-h", "help": System.say(help, to: System.standardOutput)
        case "workload":
            let options = try WorkloadOptions(&arguments, defaultCount: 100_000)
            let output = try arguments.value("--output")
            try arguments.finish()
            try options.write(to: output)
        default:
            if let child = children[name] { return try child(&arguments) }
            guard let benchmark = benchmarks.first(where: { $0.name == name }) else {
                throw BenchError.usage("there is no benchmark \(name)")
            }
            if arguments.flag("--help") {
                return System.say(benchmark.help, to: System.standardOutput)
            }
            let asJSON = arguments.flag("--json")
            try await benchmark.run(&arguments).show(asJSON: asJSON)
        }
    }
}
