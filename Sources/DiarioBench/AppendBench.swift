import CBaseline
import Diario
import DiarioFormat
import DiarioLog

/// `diario-bench append`: what one event costs that is to last, alone and among others.
struct AppendBench {
    static let help = """
        diario-bench append [OPTIONS]
          Appends that are synced before they are acknowledged, against C programs that do as much.

          --only LIST     some of: single, awaited, tasks, slow, batches (all)
          --single N      events of one writer, one by one for each run (1000)
          --events N      events of many tasks, and in batches, for each run (100000)
          --tasks N       tasks that append at the same time (64)
          --runs N        runs of each side, in turn (21)
          --seed S        of the workload (1)
          --json          one JSON object instead of a table

          single   one event for each call of LogStore.append, encoded in the measured time, against
                   a C loop that overwrites a file with frames of the same size, fdatasync for each
          awaited  the same through await Diary.append, from JSON text
          tasks    many tasks, await Diary.append with one event for each, encoded before, against
                   that loop with as many records for each commit, and one SHA-256 of each
          slow     the same with syncs that take 5 ms: events for each sync
          batches  1,000 events for each append, the root at the end, against SQLite in C: WAL,
                   synchronous FULL, one prepared statement, one transaction for each batch

        """

    enum Variant: String, CaseIterable {
        case single, awaited, tasks, slow, batches
    }

    let singleCount: Int
    let eventCount: Int
    let taskCount: Int
    let runs: Int
    let events: PreparedEvents
    let scratch: Scratch

    static let batchSize = 1000
    private static let preparedCount = 20_000

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let names = try arguments.value("--only")?.split(separator: ",").map(String.init)
        let variants = try names?.map { (name) throws(BenchError) in
            guard let variant = Variant(rawValue: name) else {
                throw .usage("there is no variant \(name)")
            }
            return variant
        }
        let seed = try arguments.count("--seed", 0...Int.max) ?? 1
        let events = try PreparedEvents(
            WorkloadOptions(eventCount: preparedCount, seed: UInt64(seed))
        )
        let bench = AppendBench(
            singleCount: try arguments.count("--single", 1...10_000_000) ?? 1000,
            eventCount: try arguments.count("--events", 1000...100_000_000) ?? 100_000,
            taskCount: try arguments.count("--tasks", 1...10_000) ?? 64,
            runs: try arguments.count("--runs", 1...1000) ?? 21,
            events: events,
            scratch: try Scratch()
        )
        try arguments.finish()
        var report = Report(
            benchmark: "append",
            settings: [
                ("single", "\(bench.singleCount)"), ("events", "\(bench.eventCount)"),
                ("tasks", "\(bench.taskCount)"), ("runs", "\(bench.runs)"), ("seed", "\(seed)"),
            ]
        )
        for variant in variants ?? Variant.allCases {
            report.measurements.append(try await bench.measure(variant))
        }
        report.show(asJSON: asJSON)
    }

    private func measure(_ variant: Variant) async throws(BenchError) -> Measurement {
        switch variant {
        case .single: return try await measureSingle()
        case .awaited: return try await measureAwaited()
        case .tasks: return try await measureTasks()
        case .slow: return try measureSlow()
        case .batches: return try await measureBatches()
        }
    }

    /// A space and the files of the baseline, which serve for all runs of one variant.
    final class Stage {
        let space: Space
        let path: String
        let loopFile: String
        /// Of what our last run wrote, so that the baseline writes as much.
        var frameSize = 0

        init(space: Space, path: String, loopFile: String) {
            self.space = space
            self.path = path
            self.loopFile = loopFile
        }
    }

    /// Makes what a variant needs, and takes it away at the end.
    func withStage(
        _ body: (Stage) async throws(BenchError) -> Measurement
    ) async throws(BenchError) -> Measurement {
        try await scratch.withFolder("stage") { (path) throws(BenchError) in
            let loopFile = path + "/loop"
            // Safe: a plain call into C, which keeps no pointer.
            guard unsafe baseline_fill(loopFile, 64 << 20) == 0 else {
                throw .failed("\(loopFile) cannot be written")
            }
            let space = try BenchSpace.make(path + "/ours")
            let stage = Stage(space: space, path: path, loopFile: loopFile)
            try stage.warmUp(events)
            let measurement = try await body(stage)
            try BenchSpace.diario { () throws(DiarioError) in try space.close() }
            return measurement
        }
    }
}

extension AppendBench.Stage {
    /// Runs `body`, and tells what it wrote to the space.
    func measure(
        events count: Int,
        _ body: () async throws(BenchError) -> Void
    ) async throws(BenchError) -> Sample {
        try recycle()
        let before = try FrameCount(of: path + "/ours")
        let processBefore = baseline_process_nanoseconds()
        let start = ContinuousClock.now
        try await body()
        var sample = Sample(seconds: seconds(since: start), events: count)
        let processTime = baseline_process_nanoseconds() - processBefore
        let written = try FrameCount(of: path + "/ours", since: before)
        frameSize = written.bytes / written.frames / 8 * 8
        sample.figures = [
            ("events for each sync", Double(count) / Double(written.frames)),
            ("bytes for each sync", Double(written.bytes) / Double(written.frames)),
            ("processor us for each event", Double(processTime) / 1000 / Double(count)),
        ]
        return sample
    }

    /// Lets go of all events, so that their files are written over, as in a log that has been in
    /// use for a while.
    private func recycle() throws(BenchError) {
        try BenchSpace.log { () throws(LogError) in
            let head = try space.store.status(of: space.id).head
            try space.store.release(space.id, upTo: head)
        }
    }

    /// Writes so much that files enough are there to be written over.
    func warmUp(_ events: PreparedEvents) throws(BenchError) {
        var draft = DraftBatch()
        var size = 0
        while size < Self.warmUpSize {
            draft.removeAll()
            for line in events.lines.prefix(AppendBench.batchSize) { draft.add(line) }
            try append(draft)
            size += draft.size
        }
    }

    private static let warmUpSize = 48 << 20

    /// A C loop that writes as much for each commit as our last run did.
    ///
    /// With `locks` it also does what several processes in one directory need.
    func runLoop(
        commits: Int,
        recordsForEach records: Int,
        hashes: Bool,
        locks: Bool = false
    ) throws(BenchError) -> Sample {
        let processBefore = baseline_process_nanoseconds()
        // Safe: a plain call into C, which keeps no pointer.
        let seconds = unsafe baseline_sync_loop(
            loopFile,
            locks ? loopFile + ".lock" : "",
            frameSize,
            commits,
            hashes ? records : 0,
            frameSize / records
        )
        guard seconds > 0 else { throw .failed("the C loop fails with \(-seconds)") }
        let processTime = baseline_process_nanoseconds() - processBefore
        let count = commits * records
        return Sample(
            seconds: seconds,
            events: count,
            figures: [
                ("processor us for each event", Double(processTime) / 1000 / Double(count))
            ]
        )
    }

    /// The C loop for one writer, and beside it how much of its speed is left with a lock.
    func runSingleLoops(commits: Int) throws(BenchError) -> Sample {
        var bare = try runLoop(commits: commits, recordsForEach: 1, hashes: false)
        let locked = try runLoop(commits: commits, recordsForEach: 1, hashes: false, locks: true)
        bare.figures.append(("with flock, of the speed without", bare.seconds / locked.seconds))
        return bare
    }

    func append(_ draft: DraftBatch) throws(BenchError) {
        try BenchSpace.log { () throws(LogError) in
            _ = try space.store.append(
                Append(space: space.id, content: .batch(draft))
            )
        }
    }
}
