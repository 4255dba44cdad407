import DiarioSimulation
import DiarioStorage

/// The arguments of the program.
struct SimulationCommand {
    private enum Request {
        case help
        case seeds(Range<UInt64>, [WorldKind], WorldRunner, untilBroken: Bool)
        case trace(UInt64, [WorldKind], WorldRunner, steps: Set<Int>?)
        case crashes
        case mistake(String)
    }

    private let request: Request

    private static let usage = """
        Lives through simulated worlds and checks what Diario promises. A seed has two worlds:
        in the one called log, processes use one data directory; in the one called sync, replicas
        and a server exchange events. Disks, clocks, the network and the power fail in them.

        use: diario-sim --seeds A..B           the worlds of seeds A to B - 1
             diario-sim --seed N               the worlds of one seed
             diario-sim --seed N --trace       the same, and all that happens in them
             diario-sim --crashes              short scripts, cut at each of their operations

        --worlds log, sync or blobs leaves out the others. A sync world in which a promise broke
        is made smaller; --steps 3,7-9 lives through these steps of it alone. With --until-broken,
        no further seed is begun then, and nothing is made smaller.

        Exit status: 0 if all promises held, 1 if one did not, 2 if the arguments are wrong.
        """

    init(_ arguments: [String]) { request = Self.parse(arguments) }

    private static func parse(_ arguments: [String]) -> Request {
        var seeds: Range<UInt64>?
        var worlds = WorldKind.allCases
        var steps: Set<Int>?
        var hasTrace = false
        var untilBroken = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": return .help
            case "--trace": hasTrace = true
            case "--until-broken": untilBroken = true
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
            case "--worlds":
                guard let text = rest.popFirst(), let kind = WorldKind(rawValue: text) else {
                    return .mistake("--worlds needs log, sync or blobs")
                }
                worlds = [kind]
            case "--steps":
                guard let text = rest.popFirst(), let numbers = StepList.parse(text) else {
                    return .mistake("--steps needs numbers, as in --steps 3,7-9")
                }
                steps = numbers
            default: return .mistake("unknown argument: \(argument)")
            }
        }
        guard let seeds else { return .mistake("a seed is missing") }
        guard steps == nil || worlds == [.sync] && seeds.count == 1 else {
            return .mistake("--steps is for one world: --seed N --worlds sync")
        }
        let runner = WorldRunner()
        guard hasTrace || steps != nil else {
            return .seeds(seeds, worlds, runner, untilBroken: untilBroken)
        }
        guard seeds.count == 1 else { return .mistake("--trace is for one seed: --seed N") }
        return .trace(seeds.lowerBound, worlds, runner, steps: steps)
    }

    private static func range(_ text: String) -> Range<UInt64>? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].isEmpty, let first = UInt64(parts[0]),
            let end = UInt64(parts[2]), first < end
        else { return nil }
        return first..<end
    }

    /// Does it, and gives the exit status.
    func run() async -> Int32 {
        switch request {
        case .help:
            print(Self.usage)
            return 0
        case .mistake(let what):
            StandardError.say("diario-sim: \(what)\n\(Self.usage)\n")
            return 2
        case .trace(let seed, let worlds, let runner, let steps):
            let outcomes = worlds.map { runner.run($0, seed: seed, steps: steps, keepsAll: true) }
            for outcome in outcomes {
                for line in outcome.lines { print(line) }
                print("\(outcome.title): trace \(outcome.hash)")
                if let violation = outcome.violation { print("BROKEN: \(violation)") }
            }
            return outcomes.contains { $0.violation != nil } ? 1 : 0
        case .seeds(let seeds, let worlds, let runner, let untilBroken):
            return await run(seeds, worlds, runner, untilBroken: untilBroken)
        case .crashes: return runCrashes()
        }
    }

    private func run(
        _ seeds: Range<UInt64>,
        _ worlds: [WorldKind],
        _ runner: WorldRunner,
        untilBroken: Bool
    ) async -> Int32 {
        let start = ContinuousClock.now
        let failedCount = await runner.run(seeds, worlds, untilBroken: untilBroken)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let kinds = worlds.map(\.rawValue).joined(separator: " and ")
        print(
            "\(seeds.count) seeds, worlds \(kinds), \(failedCount) failed, "
                + "\(Double(Int(seconds * 10)) / 10) s"
        )
        return failedCount == 0 ? 0 : 1
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
                        print("BROKEN: \((error as? Broken)?.what ?? "\(error)")")
                    }
                }
            }
        }
        print("\(CrashScript.all.count) scripts, \(cutCount) cuts, \(failureCount) failed")
        return failureCount == 0 ? 0 : 1
    }
}
