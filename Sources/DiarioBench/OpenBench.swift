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
          that reads the same files with pread, 1 MiB at a time. The files are in the page cache.

          --megabytes N   of the live log (256)
          --small N       of 100 bytes, how many lie in frames of one event; the others lie in
                          frames of 1,000 events (50)
          --runs N        runs of each side, in turn (11)
          --json          one JSON object instead of a table

        """
    static let makeName = "open-make-child"

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let megabytes = try arguments.count("--megabytes", 1...100_000) ?? 256
        let small = try arguments.count("--small", 0...100) ?? 50
        let runs = try arguments.count("--runs", 1...1000) ?? 11
        try arguments.finish()
        let scratch = try Scratch()
        let library = try PreloadedLibrary.none.make(in: scratch)
        var report = Report(
            benchmark: "open",
            settings: [
                ("megabytes", "\(megabytes)"), ("small", "\(small) %"), ("runs", "\(runs)"),
            ]
        )
        for end in ["clean", "killed"] {
            let measurement = try await scratch.withFolder(end) { (path) throws(BenchError) in
                let made = try Child.run(
                    [makeName, path, "\(megabytes)", "\(small)", end],
                    preload: library,
                    in: scratch
                )
                let expected: Int32 = end == "clean" ? 0 : 128 + 9
                guard made.code == expected, let count = Int(made.output) else {
                    throw .failed("making the log ends with \(made.code): \(made.output)")
                }
                try Child.runTool("sync", [], in: scratch)
                return try await measure(end, path, runs: runs, eventCount: count)
            }
            report.measurements.append(measurement)
        }
        report.show(asJSON: asJSON)
    }

    private static func measure(
        _ end: String,
        _ path: String,
        runs: Int,
        eventCount: Int
    ) async throws(BenchError) -> Measurement {
        let pairs = try await compare(runs: runs) { () throws(BenchError) in
            // Our own clean stop of the last run is taken back.
            if end == "killed" { try removeMark(path) }
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
            try read(path, eventCount: eventCount)
        }
        return Measurement("after a \(end) end", pairs, goal: .atMost(5), isTime: true)
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

    /// Fills a new space, tells how many events it has, and ends as it is told.
    static func makeLog(_ arguments: inout Arguments) throws(BenchError) {
        guard let path = arguments.next(), let megabytes = Int(arguments.next() ?? ""),
            let small = Int(arguments.next() ?? ""), let end = arguments.next()
        else { throw .usage("where, how long, and how?") }
        let events = try PreparedEvents(WorkloadOptions(eventCount: 20_000, seed: 1))
        let space = try BenchSpace.make(path)
        let before = try BenchSpace.log { () throws(LogError) in
            try space.store.status(of: space.id)
        }.events
        var draft = DraftBatch()
        var (next, liveBytes) = (0, 0)
        while liveBytes < megabytes << 20 {
            // A megabyte of frames of one kind, then of the other.
            for isSmall in [true, false] {
                let share = isSmall ? small : 100 - small
                let target = liveBytes + (1 << 20) * share / 100
                while liveBytes < target {
                    let batches = isSmall ? 100 : 1
                    for _ in 0..<batches {
                        draft.removeAll()
                        for _ in 0..<(isSmall ? 1 : 1000) {
                            draft.add(events.lines[next % events.count])
                            next += 1
                        }
                        try BenchSpace.log { () throws(LogError) in
                            _ = try space.store.append(
                                Append(
                                    space: space.id,
                                    content: .batches([draft]),
                                    durability: .synced
                                )
                            )
                        }
                    }
                    liveBytes += isSmall ? 264 * batches : 98_500
                }
            }
        }
        System.say("\(before + next)", to: System.standardOutput)
        if end == "killed" { baseline_kill_self() }
        try BenchSpace.diario { () throws(DiarioError) in try space.close() }
    }
}
