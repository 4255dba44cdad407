/// The program: finds the benchmark that the first argument names, and runs it.
enum BenchProgram {
    private struct Command: Sendable {
        let name: String
        let summary: String
        let help: String
        let run: @Sendable (inout Arguments) async throws(BenchError) -> Void
    }

    private static let commands: [Command] = [
        Command(
            name: "workload",
            summary: "writes the standard workload as lines of JSON",
            help: WorkloadCommand.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try WorkloadCommand.run(&arguments)
        },
        Command(
            name: "append",
            summary: "one event, many tasks, and batches that are synced",
            help: AppendBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await AppendBench.run(&arguments)
        },
        Command(
            name: "typed",
            summary: "events as Swift values, appended and not synced",
            help: TypedBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await TypedBench.run(&arguments)
        },
        Command(
            name: "sync",
            summary: "replicas and the authority of their space, in process",
            help: SyncBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await SyncBench.run(&arguments)
        },
        Command(
            name: "push",
            summary: "events to a server over HTTP",
            help: PushBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await PushBench.run(&arguments)
        },
        Command(
            name: "pull",
            summary: "events from a server over HTTP",
            help: PullBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await PullBench.run(&arguments)
        },
        Command(
            name: "clone",
            summary: "a copy of a space of a server, until it answers",
            help: CloneBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await CloneBench.run(&arguments)
        },
        Command(
            name: "noop",
            summary: "nothing to exchange with a server, over HTTP",
            help: NoopBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await NoopBench.run(&arguments)
        },
        Command(
            name: "live",
            summary: "readers that wait for events of a server",
            help: LiveBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await LiveBench.run(&arguments)
        },
        Command(
            name: "contention",
            summary: "replicas that push to one space of a server at once",
            help: ContentionBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await ContentionBench.run(&arguments)
        },
        Command(
            name: "starve",
            summary: "one space that is asked without end, beside another one",
            help: StarveBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await StarveBench.run(&arguments)
        },
        Command(
            name: "import",
            summary: "lines of an export, checked, hashed and on disk",
            help: ImportBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await ImportBench.run(&arguments)
        },
        Command(
            name: "storage",
            summary: "bytes of sealed events",
            help: StorageBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await StorageBench.run(&arguments)
        },
        Command(
            name: "seal",
            summary: "rows into segments, and segments into larger ones",
            help: SealBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try SealBench.run(&arguments)
        },
        Command(
            name: "scan",
            summary: "segments into typed arrays, and into rows",
            help: ScanBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await ScanBench.run(&arguments)
        },
        Command(
            name: "verify",
            summary: "every checksum, rule and hash of a sealed space",
            help: VerifyBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await VerifyBench.run(&arguments)
        },
        Command(
            name: "rebuild",
            summary: "read models, built anew",
            help: RebuildBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await RebuildBench.run(&arguments)
        },
        Command(
            name: "apply",
            summary: "read models that follow what is recorded",
            help: ApplyBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await ApplyBench.run(&arguments)
        },
        Command(
            name: "lane",
            summary: "effects of pending events, taken back and applied again",
            help: LaneBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await LaneBench.run(&arguments)
        },
        Command(
            name: "spaces",
            summary: "many spaces in one data directory",
            help: SpacesBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await SpacesBench.run(&arguments)
        },
        Command(
            name: "open",
            summary: "opening a long log after a clean stop and after a kill",
            help: OpenBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await OpenBench.run(&arguments)
        },
        Command(
            name: "proofs",
            summary: "showing something about a long log",
            help: ProofsBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await ProofsBench.run(&arguments)
        },
        Command(
            name: "scaling",
            summary: "memory and time of commands as events get more",
            help: ScalingBench.help
        ) { (arguments: inout Arguments) async throws(BenchError) in
            try await ScalingBench.run(&arguments)
        },
    ]

    /// What the program calls itself for; not shown.
    private static let children: [Command] = [
        Command(name: AppendBench.childName, summary: "", help: "") {
            (arguments: inout Arguments) async throws(BenchError) in
            try await AppendBench.runChild(&arguments)
        },
        Command(name: SpacesBench.makeName, summary: "", help: "") {
            (arguments: inout Arguments) async throws(BenchError) in
            try SpacesBench.makeSpaces(&arguments)
        },
        Command(name: SpacesBench.runName, summary: "", help: "") {
            (arguments: inout Arguments) async throws(BenchError) in
            try SpacesBench.appendEvents(&arguments)
        },
        Command(name: OpenBench.childName, summary: "", help: "") {
            (arguments: inout Arguments) async throws(BenchError) in
            try OpenBench.makeLog(&arguments)
        },
        Command(name: BareServer.childName, summary: "", help: "") {
            (arguments: inout Arguments) async throws(BenchError) in
            try BareServer.run(&arguments)
        },
        Command(name: MadeSpace.childName, summary: "", help: "") {
            (arguments: inout Arguments) async throws(BenchError) in
            try MadeSpace.make(&arguments)
        },
    ]

    /// The exit code: 0 all went well, 1 something failed, 2 the call is wrong.
    static func run(_ arguments: [String]) async -> Int32 {
        do throws(BenchError) {
            try await dispatch(arguments)
            return 0
        } catch {
            switch error {
            case .usage(let message):
                System.say("diario-bench: \(message). Try: diario-bench --help\n")
                return 2
            case .failed(let message):
                System.say("diario-bench: \(message)\n")
                return 1
            }
        }
    }

    private static func dispatch(_ arguments: [String]) async throws(BenchError) {
        guard let name = arguments.first else { throw .usage("which benchmark?") }
        if name == "list" {
            let lines = commands.map { "\($0.name)  \($0.summary)\n" }.joined()
            return System.say(lines, to: System.standardOutput)
        }
        if name == "--help" || name == "-h" || name == "help" {
            return System.say(help, to: System.standardOutput)
        }
        guard let command = (commands + children).first(where: { $0.name == name }) else {
            throw .usage("there is no benchmark \(name)")
        }
        var rest = Arguments(Array(arguments.dropFirst()))
        if rest.flag("--help") || rest.flag("-h") {
            return System.say(command.help, to: System.standardOutput)
        }
        try await command.run(&rest)
    }

    private static var help: String {
        var text = "diario-bench NAME [OPTIONS]; diario-bench NAME --help says more.\n\n"
        for command in commands {
            let padding = String(repeating: " ", count: max(1, 12 - command.name.utf8.count))
            text += "  \(command.name)\(padding)\(command.summary)\n"
        }
        return text + "  list        names them all\n"
    }
}
