import CBaseline
import Diario
import DiarioFormat
import DiarioLog
import DiarioStorage

/// `diario-bench open`: how long a space takes to open whose log is long.
struct OpenBench {
    static let help = """
        diario-bench open [OPTIONS]
          Opening a space after a clean stop, and after its process was killed, against a C function
          that reads the same files of the log with pread, 1 MiB at a time. The files are in the
          page cache.

          --events N      events that are sealed before: measured with none if N is 0, else with a
                          tenth of them and with all, which should make no difference (0)
          --megabytes N   of the live log (256)
          --small N       of 100 bytes, how many lie in frames of one event; the others lie in
                          frames of 1,000 events (50)
          --runs N        runs of each side, in turn (11)
          --seed S        of the workload (1)
          --json          one JSON object instead of a table

        """
    static let childName = "open-make-child"

    private let megabytes: Int
    private let small: Int
    private let runs: Int
    private let seed: UInt64
    private let scratch: Scratch
    /// Makes folders without syncs.
    private let library: String

    /// How a process ended.
    private enum Ending: String, CaseIterable {
        case clean, killed
    }

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let eventCount = try arguments.count("--events", 0...100_000_000) ?? 0
        let scratch = try Scratch()
        let bench = OpenBench(
            megabytes: try arguments.count("--megabytes", 1...100_000) ?? 256,
            small: try arguments.count("--small", 0...100) ?? 50,
            runs: try arguments.count("--runs", 1...1000) ?? 11,
            seed: UInt64(try arguments.count("--seed", 0...Int.max) ?? 1),
            scratch: scratch,
            library: try PreloadedLibrary.none.make(in: scratch)
        )
        try arguments.finish()
        var report = Report(
            benchmark: "open",
            settings: [
                ("events", "\(eventCount)"), ("megabytes", "\(bench.megabytes)"),
                ("small", "\(bench.small) %"), ("runs", "\(bench.runs)"),
                ("seed", "\(bench.seed)"),
            ]
        )
        let counts = eventCount == 0 ? [0] : [max(1, eventCount / 10), eventCount]
        var found: [[Measurement]] = []
        for count in counts { found.append(try await bench.measure(sealed: count)) }
        report.measurements = found.flatMap { $0 }
        if found.count == 2 {
            for (few, many) in zip(found[0], found[1]) {
                report.measurements.append(
                    Measurement(
                        "with all against a tenth: \(many.name)",
                        unit: "of C",
                        many.judged.median,
                        against: few.judged.median,
                        goal: .atMost(1.2)
                    )
                )
            }
        }
        report.show(asJSON: asJSON)
    }

    /// Both endings, in a directory with so many sealed events.
    private func measure(sealed count: Int) async throws(BenchError) -> [Measurement] {
        guard count > 0 else {
            return try await scratch.withFolder("empty") { (path) throws(BenchError) in
                _ = try BenchSpace.diario { () throws(DiarioError) in
                    try Space.create(at: path, packs: try PackSource.builtIn()).close()
                }
                return try await measure(in: path, name: "")
            }
        }
        let options = WorkloadOptions(eventCount: count, seed: seed)
        return try await MadeSpace.with(options, library: library, in: scratch) {
            (made) throws(BenchError) in
            try made.removeLines()
            return try await measure(in: made.path, name: "\(number(Double(count))) sealed, ")
        }
    }

    private func measure(
        in path: String,
        name: String
    ) async throws(BenchError) -> [Measurement] {
        let made = try Child.run(
            [Self.childName, path, "\(megabytes)", "\(small)", "\(seed)"],
            preload: library,
            in: scratch
        )
        guard made.code == 0, let count = Int(made.output) else {
            throw .failed("making the log ends with \(made.code): \(made.output)")
        }
        try Child.runTool("sync", [])
        var measurements: [Measurement] = []
        for ending in Ending.allCases {
            measurements.append(
                try await measure(ending, path, name: name, eventCount: count)
            )
        }
        return measurements
    }

    private func measure(
        _ ending: Ending,
        _ path: String,
        name: String,
        eventCount: Int
    ) async throws(BenchError) -> Measurement {
        let pairs = try await compare(runs: runs) { () throws(BenchError) in
            // What is left of a clean stop: a process that is killed leaves all but this mark.
            if ending == .killed { try Self.removeMark(path) }
            let processBefore = baseline_process_nanoseconds()
            let start = ContinuousClock.now
            let space = try BenchSpace.diario { () throws(DiarioError) in
                try Space.open(at: path, access: .readWrite)
            }
            var sample = Sample(seconds: seconds(since: start), events: eventCount)
            sample.figures = [
                (
                    "processor ms",
                    Double(baseline_process_nanoseconds() - processBefore) / 1_000_000
                )
            ]
            let status = try BenchSpace.log { () throws(LogError) in
                try space.store.status(of: space.id)
            }
            guard status.events == eventCount else {
                throw .failed("\(status.events) of \(eventCount) events are there")
            }
            try BenchSpace.diario { () throws(DiarioError) in try space.close() }
            return sample
        } baseline: { () throws(BenchError) in
            try Self.read(path, eventCount: eventCount)
        }
        let goal = Goal.atMost(5)
        return Measurement("\(name)\(ending.rawValue) end", pairs, goal: goal, isTime: true)
    }

    private static func log(_ path: String) throws(StorageError) -> POSIXDirectory {
        try POSIXDirectory(path: path + "/" + LogPaths.directoryName + "/wal", access: .readWrite)
    }

    private static func removeMark(_ path: String) throws(BenchError) {
        do throws(StorageError) {
            let directory = try log(path)
            if try directory.exists("synced") { try directory.remove("synced") }
        } catch {
            throw .failed("\(error)")
        }
    }

    private static func read(_ path: String, eventCount: Int) throws(BenchError) -> Sample {
        let names: [String]
        do throws(StorageError) { names = try log(path).list("") } catch {
            throw .failed("\(error)")
        }
        var total: UInt64 = 0
        var seconds = 0.0
        for name in names where name.hasSuffix(".dwal") {
            let file = path + "/" + LogPaths.directoryName + "/wal/" + name
            // Safe: a plain call into C, which keeps no pointer.
            seconds += unsafe baseline_read(file, &total)
        }
        guard seconds > 0 else { throw .failed("the log cannot be read") }
        return Sample(
            seconds: seconds,
            events: eventCount,
            figures: [("megabytes", Double(total) / 1e6)]
        )
    }

    // MARK: The other process

    /// Fills the log of a space with events that nobody seals, and tells how many it has then.
    static func makeLog(_ arguments: inout Arguments) throws(BenchError) {
        guard let path = arguments.next(), let megabytes = Int(arguments.next() ?? ""),
            let small = Int(arguments.next() ?? ""), let seed = UInt64(arguments.next() ?? "")
        else { throw .usage("where, and how long?") }
        let events = try PreparedEvents(WorkloadOptions(eventCount: 20_000, seed: seed))
        let store = try BenchSpace.store(at: path, background: .none)
        let space = try BenchSpace.onlySpace(of: store)
        var draft = DraftBatch()
        var next = 0
        func liveBytes() throws(BenchError) -> Int {
            try BenchSpace.log { () throws(LogError) in try store.status(of: space).liveBytes }
        }
        var size = try liveBytes()
        while size < megabytes << 20 {
            // A megabyte of frames of one kind, then of the other.
            for (share, batches, count) in [(small, 100, 1), (100 - small, 1, 1000)] {
                let target = size + (1 << 20) * share / 100
                while size < target {
                    for _ in 0..<batches {
                        draft.removeAll()
                        for _ in 0..<count {
                            draft.add(events.lines[next % events.count])
                            next += 1
                        }
                        try BenchSpace.log { () throws(LogError) in
                            _ = try store.append(
                                Append(
                                    space: space,
                                    content: .batch(draft)
                                )
                            )
                        }
                    }
                    size = try liveBytes()
                }
            }
        }
        let count = try BenchSpace.log { () throws(LogError) in
            try store.status(of: space).events
        }
        System.say("\(count)", to: System.standardOutput)
        try BenchSpace.log { () throws(LogError) in try store.close() }
    }
}
