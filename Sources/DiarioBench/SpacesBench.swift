import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioStorage

/// `diario-bench spaces`: many spaces of one data directory, written to in turn.
struct SpacesBench {
    static let help = """
        diario-bench spaces [OPTIONS]
          Events for many spaces in turn against as many for one, with commits of the same size.
          Each run is a process of its own, which begins with an empty log, and whose memory and
          open files are looked at when it is done.

          --spaces N      spaces (10000)
          --events N      events for each run (1000000)
          --batch N       events of a batch, for one space, in each commit (100)
          --group N       events of one event each, for as many spaces, in each commit (64)
          --runs N        runs of each side, in turn (3)
          --json          one JSON object instead of a table

        """
    static let makeName = "spaces-make-child"
    static let runName = "spaces-run-child"

    let spaceCount: Int
    let eventCount: Int
    let runs: Int
    let scratch: Scratch
    /// Makes folders without syncs.
    let library: String

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let batch = try arguments.count("--batch", 1...1000) ?? 100
        let group = try arguments.count("--group", 1...10_000) ?? 64
        let scratch = try Scratch()
        let bench = SpacesBench(
            spaceCount: try arguments.count("--spaces", 1...1_000_000) ?? 10_000,
            eventCount: try arguments.count("--events", 1...100_000_000) ?? 1_000_000,
            runs: try arguments.count("--runs", 1...1000) ?? 3,
            scratch: scratch,
            library: try PreloadedLibrary.none.make(in: scratch)
        )
        try arguments.finish()
        var report = Report(
            benchmark: "spaces",
            settings: [
                ("spaces", "\(bench.spaceCount)"), ("events", "\(bench.eventCount)"),
                ("batch", "\(batch)"), ("group", "\(group)"), ("runs", "\(bench.runs)"),
            ]
        )
        let shapes = [
            ("batches of \(batch)", "1", "\(batch)"), ("groups of \(group)", "\(group)", "1"),
        ]
        let (many, one) = (scratch.path + "/many", scratch.path + "/one")
        try bench.make(many, spaces: bench.spaceCount)
        try bench.make(one, spaces: 1)
        for (name, appends, events) in shapes {
            let pairs = try await compare(runs: bench.runs) { () throws(BenchError) in
                try bench.runOnce(many, [appends, events])
            } baseline: { () throws(BenchError) in
                try bench.runOnce(one, [appends, events])
            }
            var measurement = Measurement(name, pairs, goal: .atLeast(0.8))
            measurement.figures = []
            report.measurements.append(measurement)
            for (index, figure) in pairs[0].ours.figures.enumerated() {
                report.measurements.append(
                    Measurement(
                        figure.name,
                        unit: index == 0 ? "MB" : "files",
                        value: Spread(pairs.map { $0.ours.figures[index].value }),
                        goal: .atMost(256)
                    )
                )
            }
        }
        report.show(asJSON: asJSON)
    }

    /// Makes a data directory with empty spaces.
    private func make(_ path: String, spaces: Int) throws(BenchError) {
        let made = try Child.run([Self.makeName, path, "\(spaces)"], preload: library, in: scratch)
        guard made.code == 0 else { throw .failed("making spaces ends with \(made.code)") }
        // Else the syncs that are measured would have to write what was made here.
        try Child.runTool("sync", [], in: scratch)
    }

    private func runOnce(_ path: String, _ shape: [String]) throws(BenchError) -> Sample {
        try removeLog(path)
        let ran = try Child.run([Self.runName, path, "\(eventCount)"] + shape, in: scratch)
        let numbers = ran.output.split(separator: " ").compactMap { Double($0) }
        guard ran.code == 0, numbers.count == 3 else {
            throw .failed("appending ends with \(ran.code): \(ran.output)")
        }
        return Sample(
            seconds: numbers[0],
            events: eventCount,
            figures: [("most memory", numbers[1] / 1000), ("open files", numbers[2])]
        )
    }

    /// Takes all events away; the spaces stay.
    private func removeLog(_ path: String) throws(BenchError) {
        do throws(StorageError) {
            let log = try POSIXDirectory(
                path: path + "/" + LogPaths.directoryName + "/wal",
                access: .readWrite
            )
            for name in try log.list("") { try log.remove(name) }
            try log.syncDirectory("")
        } catch {
            throw .failed("\(error)")
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
            let appends = Int(arguments.next() ?? ""), let size = Int(arguments.next() ?? "")
        else { throw .usage("where, how many, and how?") }
        let events = try PreparedEvents(WorkloadOptions(eventCount: 2000, seed: 1))
        let store = try BenchSpace.store(at: path, isNew: false)
        let spaces = try BenchSpace.log { () throws(LogError) in try store.manifests() }.map(
            \.space
        )
        var next = 0
        var drafts = [DraftBatch](repeating: DraftBatch(), count: appends)
        let start = ContinuousClock.now
        var commit = 0
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
                    Append(space: space, content: .batches([drafts[append]]), durability: .synced)
                )
            }
            let outcomes = try BenchSpace.log { () throws(LogError) in try store.append(list) }
            for outcome in outcomes {
                _ = try BenchSpace.log { () throws(LogError) in try outcome.get() }
            }
            commit += 1
        }
        let seconds = seconds(since: start)
        System.say(
            "\(seconds) \(Machine.kilobytes("VmHWM")) \(Machine.openFileCount)",
            to: System.standardOutput
        )
        try BenchSpace.log { () throws(LogError) in try store.close() }
    }
}
