import Diario
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioStorage

/// `diario-bench spaces`: many spaces of one data directory, written to in turn.
struct SpacesBench {
    static let help = """
        diario-bench spaces [OPTIONS]
          Events for many spaces in turn against as many for one, with commits of the same size,
          while they are sealed in the background. Each run is a process of its own, which begins
          with empty spaces, and whose memory and open files are looked at. A log is turned over
          when as many files were begun as it has.

          --spaces N      spaces (10000)
          --events N      events for each run; by default the log turns over three times (12000000)
          --shape all|batches|groups   what is measured (all)
          --batch N       events of a batch, for one space, in each commit (100)
          --group N       events of one event each, for as many spaces, in each commit (64)
          --runs N        runs of each side, in turn (1)
          --seed S        of the workload (1)

        """
    static let makeName = "spaces-make-child"
    static let runName = "spaces-run-child"

    let spaceCount: Int
    let eventCount: Int
    let runs: Int
    let seed: Int
    let scratch: Scratch
    /// Makes folders without syncs.
    let library: String

    private enum Shape: String, CaseIterable {
        case all, batches, groups
    }

    static func run(_ arguments: inout Arguments) async throws -> Report {
        let batch = try arguments.count("--batch", 1...1000) ?? 100
        let group = try arguments.count("--group", 1...10_000) ?? 64
        let shape = try arguments.choice("--shape", Shape.self) ?? .all
        let scratch = try Scratch()
        let bench = SpacesBench(
            spaceCount: try arguments.count("--spaces", 1...1_000_000) ?? 10_000,
            eventCount: try arguments.count("--events", 1...100_000_000) ?? 12_000_000,
            runs: try arguments.count("--runs", 1...1000) ?? 1,
            seed: try arguments.count("--seed", 0...Int.max) ?? 1,
            scratch: scratch,
            library: try PreloadedLibrary.make(in: scratch)
        )
        try arguments.finish()
        var report = Report(
            benchmark: "spaces",
            settings: [
                ("spaces", "\(bench.spaceCount)"), ("events", "\(bench.eventCount)"),
                ("batch", "\(batch)"), ("group", "\(group)"), ("runs", "\(bench.runs)"),
                ("seed", "\(bench.seed)"),
            ]
        )
        if shape != .groups {
            report.measurements += try await bench.measure("batches of \(batch)", 1, batch)
        }
        if shape != .batches {
            report.measurements += try await bench.measure("groups of \(group)", group, 1)
        }
        return report
    }

    private func measure(_ name: String, _ appends: Int, _ size: Int) async throws -> [Measurement]
    {
        var pairs: [(ours: Sample, baseline: Sample)] = []
        // Runs are long, so nothing has to warm up.
        for _ in 0..<runs {
            let many = try await runOnce(spaces: spaceCount, appends, size)
            pairs.append((many, try await runOnce(spaces: 1, appends, size)))
        }
        return [
            Measurement(name, pairs, goal: .atLeast(0.35)),
            Measurement(
                "\(name): most memory",
                unit: "MB",
                value: Spread(pairs.map { $0.ours.figures[0].value }),
                goal: .atMost(256)
            ),
        ]
    }

    private func runOnce(spaces: Int, _ appends: Int, _ size: Int) async throws -> Sample {
        try await scratch.withFolder("spaces") { path in
            let make = [Self.makeName, path, "\(spaces)"]
            _ = try Child.numbers(make, preload: library, in: scratch)
            // Else the syncs that are measured would have to write what was made here.
            try Child.runTool("sync", [])
            let numbers = try Child.numbers(
                [Self.runName, path, "\(eventCount)", "\(appends)", "\(size)", "\(seed)"],
                in: scratch
            )
            let names = ["most memory", "open files", "turnovers of the log", "segments"]
            return Sample(
                seconds: numbers[0],
                events: eventCount,
                figures: zip(names, numbers.dropFirst()).map { ($0, $1) }
            )
        }
    }

    // MARK: The other processes

    static func makeSpaces(_ arguments: inout Arguments) throws {
        guard let path = arguments.next(), let count = Int(arguments.next() ?? "") else {
            throw BenchError.usage("where, and how many?")
        }
        let store = try BenchSpace.store(at: path, isNew: true)
        for _ in 0..<count { _ = try store.makeSpace(isAuthority: true) }
        try store.close()
    }

    static func appendEvents(_ arguments: inout Arguments) throws {
        guard let path = arguments.next(), let count = Int(arguments.next() ?? ""),
            let appends = Int(arguments.next() ?? ""), let size = Int(arguments.next() ?? ""),
            let seed = UInt64(arguments.next() ?? "")
        else { throw BenchError.usage("where, how many, and how?") }
        // A prime number, so that no space is given the same events again and again.
        let events = try PreparedEvents(WorkloadOptions(eventCount: 20_011, seed: seed))
        let store = try BenchSpace.store(at: path)
        let spaces = try store.manifests().map(\.space)
        var drafts = [DraftBatch](repeating: DraftBatch(), count: appends)
        var (next, commit, openFileCount) = (0, 0, 0)
        let start = ContinuousClock.now
        while next < count {
            var list: [Append] = []
            for append in 0..<appends {
                drafts[append].removeAll()
                for _ in 0..<size {
                    events.add(next, to: &drafts[append])
                    next += 1
                }
                let space = spaces[(commit * appends + append) % spaces.count]
                list.append(
                    Append(space: space, content: .new([drafts[append]]))
                )
            }
            for outcome in store.commit(list) { _ = try outcome.get() }
            store.helper?.pace()
            commit += 1
            if commit % 256 == 0 { openFileCount = max(openFileCount, Machine.openFileCount) }
        }
        let seconds = seconds(since: start)
        let memory = Double(Machine.kilobytes("VmHWM")) / 1000
        if let failure = store.sealFailure { throw BenchError.failed("sealing fails: \(failure)") }
        let segments = try spaces.reduce(0) { try $0 + store[$1].segments().count }
        let turnovers = try turnovers(of: path)
        System.say(
            "\(seconds) \(memory) \(openFileCount) \(turnovers) \(segments)",
            to: System.standardOutput
        )
        try store.close()
    }

    /// How often the write-ahead log was written from end to end.
    private static func turnovers(of path: String) throws -> Double {
        let names = try BenchSpace.directory(path).list(FramePaths.folder)
        let numbers = names.compactMap(FramePaths.number)
        return Double(numbers.max() ?? 0) / Double(max(1, numbers.count))
    }
}
