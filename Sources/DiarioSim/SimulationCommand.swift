import DiarioSimulation
import DiarioStorage

/// What the program was asked for.
struct SimulationCommand {
    private enum Request {
        case help
        case seeds(Range<UInt64>)
        case trace(UInt64)
        case crashes
        case mistake(String)
    }

    private let request: Request

    private static let usage = """
        Lives through simulated data directories and checks what the log promises.

        use: diario-sim --seeds A..B           the worlds of seeds A to B - 1
             diario-sim --seed N               one world
             diario-sim --seed N --trace       one world, and each of its operations
             diario-sim --crashes              short scripts, cut at each of their operations

        Exit status: 0 if all promises held, 1 if one did not, 2 if the arguments are wrong.
        """

    init(_ arguments: [String]) { request = Self.parse(arguments) }

    private static func parse(_ arguments: [String]) -> Request {
        var seeds: Range<UInt64>?
        var hasTrace = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": return .help
            case "--trace": hasTrace = true
            case "--crashes": return .crashes
            case "--seed":
                guard let text = rest.popFirst(), let seed = UInt64(text), seed < .max else {
                    return .mistake("--seed needs a number, as in --seed 7")
                }
                seeds = seed..<seed + 1
            case "--seeds":
                guard let text = rest.popFirst(), let range = range(text) else {
                    return .mistake("--seeds needs two numbers, as in --seeds 0..100")
                }
                seeds = range
            default: return .mistake("unknown argument: \(argument)")
            }
        }
        guard let seeds else { return .mistake("a seed is missing") }
        guard hasTrace else { return .seeds(seeds) }
        guard seeds.count == 1 else { return .mistake("--trace is for one seed: --seed N") }
        return .trace(seeds.lowerBound)
    }

    private static func range(_ text: String) -> Range<UInt64>? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].isEmpty, let first = UInt64(parts[0]),
            let end = UInt64(parts[2]), first < end
        else { return nil }
        return first..<end
    }

    /// Does it, and gives the exit status.
    func run() -> Int32 {
        switch request {
        case .help:
            print(Self.usage)
            return 0
        case .mistake(let what):
            StandardError.say("diario-sim: \(what)\n\(Self.usage)\n")
            return 2
        case .trace(let seed): return runTrace(seed)
        case .seeds(let seeds): return run(seeds)
        case .crashes: return runCrashes()
        }
    }

    private func runTrace(_ seed: UInt64) -> Int32 {
        let result = Simulation().run(seed: seed, keepsAll: true)
        for line in result.lines { print(line) }
        print("seed \(seed): \(result.operationCount) operations, trace \(hash(result))")
        guard let violation = result.violation else { return 0 }
        print("BROKEN: \(violation)")
        return 1
    }

    private func run(_ seeds: Range<UInt64>) -> Int32 {
        let simulation = Simulation()
        let isTerminal = StandardError.isTerminal
        let start = ContinuousClock.now
        var operationCount = 0
        var failed: [UInt64] = []
        for seed in seeds {
            if isTerminal, seed.isMultiple(of: 10) { StandardError.say("\rseed \(seed) ") }
            let result = simulation.run(seed: seed)
            operationCount += result.operationCount
            guard let violation = result.violation else { continue }
            failed.append(seed)
            if isTerminal { StandardError.say("\r") }
            show(result, violation)
        }
        if isTerminal { StandardError.say("\r                         \r") }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        print(
            "\(seeds.count) seeds, \(operationCount) operations, \(failed.count) failed, "
                + "\(Double(Int(seconds * 10)) / 10) s"
        )
        return failed.isEmpty ? 0 : 1
    }

    private func runCrashes() -> Int32 {
        let kinds = EventKinds()
        var cutCount = 0
        var failureCount = 0
        for script in CrashScript.all {
            for end in CrashScript.End.allCases {
                for moment in CrashDisk.CutMoment.allCases {
                    do { cutCount += try script.run(moment, end, kinds: kinds) } catch {
                        failureCount += 1
                        print("BROKEN: \((error as? Violation)?.what ?? "\(error)")")
                    }
                }
            }
        }
        print("\(CrashScript.all.count) scripts, \(cutCount) cuts, \(failureCount) failed")
        return failureCount == 0 ? 0 : 1
    }

    private func show(_ result: SimulationResult, _ violation: String) {
        print("seed \(result.seed) BROKEN: \(violation)")
        for line in result.lines { print("  \(line)") }
        print("replay: diario-sim --seed \(result.seed) --trace")
    }

    private func hash(_ result: SimulationResult) -> String {
        let digits = String(result.traceHash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
