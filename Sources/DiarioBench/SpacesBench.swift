import Diario
import DiarioCore
import DiarioFormat
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
          --json          one JSON object instead of a table

        """
    static let makeName = "spaces-make-child"
    static let runName = "spaces-run-child"

    let spaceCount: Int
    let eventCount: Int
    let runs: Int
    let seed: UInt64
    let scratch: Scratch
    /// Makes folders without syncs.
    let library: String

    private enum Shape: String, CaseIterable {
        case all, batches, groups
    }

    /// What is seen of a run beside its time.
    private static let figures: [(name: String, unit: String, goal: Goal)] = [
        ("most memory", "MB", .atMost(256)), ("open files", "files", .atMost(256)),
        ("turnovers", "of the log", .atLeast(3)), ("segments", "files", .none),
        ("log", "MB", .none),
    ]

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let batch = try arguments.count("--batch", 1...1000) ?? 100
        let group = try arguments.count("--group", 1...10_000) ?? 64
        let shape = try arguments.choice("--shape", Shape.self) ?? .all
        let scratch = try Scratch()
        let bench = SpacesBench(
            spaceCount: try arguments.count("--spaces", 1...1_000_000) ?? 10_000,
            eventCount: try arguments.count("--events", 1...100_000_000) ?? 12_000_000,
            runs: try arguments.count("--runs", 1...1000) ?? 1,
            seed: UInt64(try arguments.count("--seed", 0...Int.max) ?? 1),
            scratch: scratch,
            library: try PreloadedLibrary.none.make(in: scratch)
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
        report.show(asJSON: asJSON)
    }

    private func measure(
        _ name: String,
        _ appends: Int,
        _ events: Int
    ) async throws(BenchError) -> [Measurement] {
        var pairs: [(ours: Sample, baseline: Sample)] = []
        // Runs are long, so nothing has to warm up.
        for _ in 0..<runs {
            let many = try await runOnce(spaces: spaceCount, appends, events)
            pairs.append((many, try await runOnce(spaces: 1, appends, events)))
        }
        let rows = Self.figures.enumerated().map { index, figure in
            Measurement(
                "\(name): \(figure.name)",
                unit: figure.unit,
                value: Spread(pairs.map { $0.ours.figures[index].value }),
                goal: figure.goal
            )
        }
        return [Measurement(name, pairs, goal: .atLeast(0.8))] + rows
    }

    private func runOnce(
        spaces: Int,
        _ appends: Int,
        _ events: Int
    ) async throws(BenchError) -> Sample {
        try await scratch.withFolder("spaces") { (path) throws(BenchError) in
            _ = try Child.numbers(
                [Self.makeName, path, "\(spaces)"],
                preload: library,
                in: scratch
            )
            // Else the syncs that are measured would have to write what was made here.
            try Child.runTool("sync", [])
            let numbers = try Child.numbers(
                [Self.runName, path, "\(eventCount)", "\(appends)", "\(events)", "\(seed)"],
                in: scratch
            )
            guard numbers.count == 1 + Self.figures.count else {
                throw .failed("a run has \(numbers.count) figures")
            }
            return Sample(
                seconds: numbers[0],
                events: eventCount,
                figures: zip(Self.figures, numbers.dropFirst()).map { ($0.name, $1) }
            )
        }
    }

    // MARK: The other processes

    static func makeSpaces(_ arguments: inout Arguments) throws(BenchError) {
        guard let path = arguments.next(), let count = Int(arguments.next() ?? "") else {
            throw .usage("where, and how many?")
        }
        let store = try BenchSpace.store(at: path, isNew: true)
        for _ in 0..<count {
            try BenchSpace.log { () throws(LogError) in _ = try store.makeSpace(isAuthority: true) }
        }
        try BenchSpace.log { () throws(LogError) in try store.close() }
    }

    static func appendEvents(_ arguments: inout Arguments) throws(BenchError) {
        guard let path = arguments.next(), let count = Int(arguments.next() ?? ""),
            let appends = Int(arguments.next() ?? ""), let size = Int(arguments.next() ?? ""),
            let seed = UInt64(arguments.next() ?? "")
        else { throw .usage("where, how many, and how?") }
        // A prime number, so that no space is given the same events again and again.
        let events = try PreparedEvents(WorkloadOptions(eventCount: 20_011, seed: seed))
        let store = try BenchSpace.store(at: path, isNew: false)
        let spaces = try BenchSpace.log { () throws(LogError) in try store.manifests() }.map(
            \.space
        )
        var next = 0
        var drafts = [DraftBatch](repeating: DraftBatch(), count: appends)
        let start = ContinuousClock.now
        var commit = 0
        var openFileCount = 0
        while next < count {
            var list: [Append] = []
            for append in 0..<appends {
                drafts[append].removeAll()
                for _ in 0..<size {
                    drafts[append].add(events.lines[next % events.count])
                    next += 1
                }
                let space = spaces[(commit * appends + append) % spaces.count]
                list.append(
                    Append(space: space, content: .batch(drafts[append]))
                )
            }
            let outcomes = try BenchSpace.log { () throws(LogError) in try store.append(list) }
            for outcome in outcomes {
                _ = try BenchSpace.log { () throws(LogError) in try outcome.get() }
            }
            commit += 1
            if commit % 256 == 0 { openFileCount = max(openFileCount, Machine.openFileCount) }
        }
        let seconds = seconds(since: start)
        let memory = Double(Machine.kilobytes("VmHWM")) / 1000
        if let failure = store.sealFailure { throw .failed("sealing fails: \(failure)") }
        let (segments, logBytes) = try BenchSpace.log { () throws(LogError) in
            var segments = 0
            for space in spaces { segments += try store.segments(of: space).count }
            return (segments, try store.logBytes())
        }
        let turnovers = try turnovers(of: path)
        System.say(
            "\(seconds) \(memory) \(openFileCount) \(turnovers) \(segments) "
                + "\(Double(logBytes) / 1e6)",
            to: System.standardOutput
        )
        try BenchSpace.log { () throws(LogError) in try store.close() }
    }

    /// How often the write-ahead log was written from end to end.
    private static func turnovers(of path: String) throws(BenchError) -> Double {
        do throws(StorageError) {
            let directory = try POSIXDirectory(
                path: path + "/" + LogPaths.directoryName,
                access: .read
            )
            let numbers = try directory.list(LogPaths.log).compactMap(LogPaths.logFileNumber)
            return Double(numbers.max() ?? 0) / Double(max(1, numbers.count))
        } catch {
            throw .failed("\(error)")
        }
    }
}
