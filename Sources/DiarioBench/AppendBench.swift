import CBaseline
import Diario
import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioSchema
import DiarioStorage

/// `diario-bench append`: what one event costs that is to last, alone and among others.
struct AppendBench {
    static let help = """
        diario-bench append [OPTIONS]
          Appends that are synced before they are acknowledged, against C programs that do as much.

          --only LIST     some of: single, tasks, batches, import (all)
          --single N      events of one writer, one by one for each run (1000)
          --events N      events of many tasks, in batches and in an import, for each run (100000)
          --tasks N       tasks that append at the same time (64)
          --runs N        runs of each side, in turn (21; an import has a quarter of them)
          --seed S        of the workload (1)

          single   one event for each call of LogStore.append, encoded in the measured time, against
                   a C loop that overwrites a file with frames of the same size, fdatasync for each
          tasks    many tasks, await Diary.append with one event for each, encoded before, against
                   that loop with as many records for each commit, and one SHA-256 of each
          batches  1,000 events for each append, the root at the end, against SQLite in C: WAL,
                   synchronous FULL, one prepared statement, one transaction for each batch
          import   lines of five times as many events into a new space: parsed, checked, hashed and
                   on disk; processor time for each, without that of the thread that seals meanwhile

        """

    private enum Part: String, CaseIterable {
        case single, tasks, batches, `import`
    }

    let singleCount: Int
    let eventCount: Int
    let taskCount: Int
    let runs: Int
    let events: PreparedEvents
    let scratch: Scratch

    private static let batchSize = 1000

    static func run(_ arguments: inout Arguments) async throws -> Report {
        let parts = try arguments.choices("--only", Part.self) ?? Part.allCases
        let seed = UInt64(try arguments.count("--seed", 0...Int.max) ?? 1)
        let bench = AppendBench(
            singleCount: try arguments.count("--single", 1...10_000_000) ?? 1000,
            eventCount: try arguments.count("--events", 1000...100_000_000) ?? 100_000,
            taskCount: try arguments.count("--tasks", 1...10_000) ?? 64,
            runs: try arguments.count("--runs", 1...1000) ?? 21,
            events: try PreparedEvents(WorkloadOptions(eventCount: 20_000, seed: seed)),
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
        for part in parts {
            switch part {
            case .single: report.measurements.append(try await bench.measureSingle())
            case .tasks: report.measurements.append(try await bench.measureTasks())
            case .batches: report.measurements.append(try await bench.measureBatches())
            case .import: report.measurements += try await bench.measureImport(seed)
            }
        }
        return report
    }

    private func measureSingle() async throws -> Measurement {
        try await withStage { stage in
            var draft = DraftBatch()
            let pairs = try await compare(runs: runs) {
                try await stage.measure(events: singleCount) {
                    for index in 0..<singleCount {
                        draft.removeAll()
                        events.add(index, to: &draft)
                        try stage.space.append(.new([draft]))
                    }
                }
            } baseline: {
                try stage.runLoop(commits: singleCount, recordsForEach: 1, hashes: false)
            }
            return Measurement("single", pairs, goal: .atLeast(0.92))
        }
    }

    private func measureBatches() async throws -> Measurement {
        let count = eventCount / Self.batchSize * Self.batchSize
        return try await withStage { stage in
            var draft = DraftBatch()
            let pairs = try await compare(runs: runs) {
                try await stage.measure(events: count) {
                    for first in stride(from: 0, to: count, by: Self.batchSize) {
                        draft.removeAll()
                        for index in first..<first + Self.batchSize {
                            events.add(index, to: &draft)
                        }
                        try stage.space.append(.new([draft]))
                    }
                    _ = try stage.space.store[stage.space.id].root()
                }
            } baseline: {
                try await runSQLite(count: count)
            }
            return Measurement("batches", pairs, goal: .atLeast(1.8))
        }
    }

    private func runSQLite(count: Int) async throws -> Sample {
        try await scratch.withFolder("sqlite") { path in
            let lines = events.text.map { CChar(bitPattern: $0) }
            let rounds = max(1, count / events.count)
            // Safe: `ends` are the ends of as many lines of `lines`, and C keeps no pointer.
            let seconds = unsafe baseline_sqlite(
                path + "/events.sqlite",
                lines,
                events.ends,
                events.count,
                rounds,
                Self.batchSize
            )
            guard seconds > 0 else {
                throw BenchError.failed("SQLite fails with \(-seconds - 10_000)")
            }
            return Sample(seconds: seconds, events: rounds * events.count)
        }
    }

    // MARK: Many tasks

    private func measureTasks() async throws -> Measurement {
        try await withStage { stage in
            let diary = Diary(space: stage.space)
            // As few as fit in the processor's cache: an app appends what it has just made.
            let batches = try (0..<min(events.count, 256)).map { index in
                let line = events.lines[index]
                var batch = diary.makeBatch()
                let payload = events.payloadText(index)
                try batch.add(line.type.name, json: payload, at: line.at, actor: "user-17")
                return batch
            }
            let share = eventCount / taskCount
            let pairs = try await compare(runs: runs) {
                try await stage.measure(events: taskCount * share) {
                    try await append(batches, share, to: diary)
                }
            } baseline: {
                try stage.runLoop(commits: share, recordsForEach: taskCount, hashes: true)
            }
            return Measurement("tasks", pairs, goal: .atLeast(0.5))
        }
    }

    /// Many tasks, each of which waits for its event before it appends the next.
    private func append(_ batches: [EventBatch], _ share: Int, to diary: Diary) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<taskCount {
                group.addTask {
                    for index in 0..<share {
                        _ = try await diary.append(batches[(task * share + index) % batches.count])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    // MARK: Import

    private func measureImport(_ seed: UInt64) async throws -> [Measurement] {
        let options = WorkloadOptions(eventCount: 5 * eventCount, seed: seed)
        let lines = scratch.path + "/events.jsonl"
        try options.write(to: lines)
        var samples: [Sample] = []
        for run in 0...max(1, runs / 4) {
            let sample = try await scratch.withFolder("space") { try importLines(lines, into: $0) }
            // The first one warms up.
            if run > 0 { samples.append(sample) }
        }
        var time = Measurement(
            "import: processor time for each event",
            unit: "us",
            value: Spread(samples.map { $0.seconds * 1e6 / Double($0.events) }),
            goal: .atMost(2.2)
        )
        time.figures = Measurement.figures(samples)
        return [time]
    }

    /// Imports a file into a new space, up to and including the root of its tree.
    private func importLines(_ lines: String, into path: String) throws -> Sample {
        let processBefore = baseline_process_nanoseconds()
        let start = ContinuousClock.now
        let space = try BenchSpace.importLines(lines, into: path)
        _ = try space.store[space.id].root()
        let clock = seconds(since: start)
        let processTime = baseline_process_nanoseconds() - processBefore
        // Safe: a plain call into C; a static string ends with a zero byte.
        let sealTime = unsafe baseline_thread_nanoseconds("diario-seal")
        try space.close()
        let count = 5 * eventCount
        return Sample(
            seconds: Double(processTime - sealTime) / 1e9,
            events: count,
            figures: [
                ("us of sealing beside it", Double(sealTime) / 1000 / Double(count)),
                ("events a second", Double(count) / clock),
            ]
        )
    }

    // MARK: What is written to

    /// Makes what a part needs, and takes it away at the end.
    private func withStage(_ body: (Stage) async throws -> Measurement) async throws -> Measurement
    {
        try await scratch.withFolder("stage") { path in
            let loopFile = path + "/loop"
            // Safe: a plain call into C, which keeps no pointer.
            guard unsafe baseline_fill(loopFile, 64 << 20) == 0 else {
                throw BenchError.failed("\(loopFile) cannot be written")
            }
            let space = try BenchSpace.make(path + "/ours")
            let stage = Stage(space: space, path: path, loopFile: loopFile)
            // So much that files enough are there to be written over.
            let draft = events.draft(0..<Self.batchSize)
            for _ in 0..<(48 << 20) / draft.size { try space.append(.new([draft])) }
            let measurement = try await body(stage)
            try space.close()
            return measurement
        }
    }
}

/// A space and the files of the baseline, which serve for all runs of one part.
private final class Stage {
    let space: Space
    private let path: String
    private let loopFile: String
    /// Of what our last run wrote, so that the baseline writes as much.
    private var frameSize = 0

    init(space: Space, path: String, loopFile: String) {
        self.space = space
        self.path = path
        self.loopFile = loopFile
    }

    /// Runs `body`, and says what it wrote to the space.
    func measure(events count: Int, _ body: () async throws -> Void) async throws -> Sample {
        // Without events, the files of the log are written over, as in one in use for a while.
        try space.store[space.id].release(upTo: space.store[space.id].status().head)
        let before = try FrameCount(of: path + "/ours")
        let processBefore = baseline_process_nanoseconds()
        let start = ContinuousClock.now
        try await body()
        var sample = Sample(seconds: seconds(since: start), events: count)
        let processTime = baseline_process_nanoseconds() - processBefore
        let written = try FrameCount(of: path + "/ours", since: before)
        guard written.frames > 0 else { throw BenchError.failed("no frame of the log is found") }
        frameSize = written.bytes / written.frames / 8 * 8
        sample.figures = [
            ("events for each sync", Double(count) / Double(written.frames)),
            ("bytes for each sync", Double(written.bytes) / Double(written.frames)),
            ("processor us for each event", Double(processTime) / 1000 / Double(count)),
        ]
        return sample
    }

    /// A C loop that writes as much for each commit as our last run did.
    func runLoop(commits: Int, recordsForEach records: Int, hashes: Bool) throws -> Sample {
        let processBefore = baseline_process_nanoseconds()
        let hashCount = hashes ? records : 0
        // Safe: a plain call into C, which keeps no pointer.
        let seconds = unsafe baseline_sync_loop(
            loopFile,
            frameSize,
            commits,
            hashCount,
            frameSize / records
        )
        guard seconds > 0 else { throw BenchError.failed("the C loop fails with \(-seconds)") }
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
}

/// The frames in the log of a data directory: what commits cost in bytes.
private struct FrameCount {
    private(set) var frames = 0
    private(set) var bytes = 0
    /// The number of the last frame.
    private var last: UInt64 = 0
    private let first: UInt64

    /// Counts the frames of the space in the folder at `path` that follow those of an earlier
    /// count, laid out as schema/format says.
    init(of path: String, since earlier: FrameCount? = nil) throws {
        first = (earlier?.last ?? 0) + 1
        let directory = try BenchSpace.directory(path)
        for name in try directory.list(FramePaths.folder) where name.hasSuffix(".dwal") {
            count(
                try Files.contents(
                    of: FramePaths.folder + "/" + name,
                    in: directory,
                    sizeMax: 1 << 30
                )
            )
        }
    }

    private mutating func count(_ file: [UInt8]) {
        var offset = 4096
        // Each frame begins with the same letters, and names the file as its head does.
        while offset + 40 <= file.count, file[offset] != 0,
            file[offset..<offset + 4] == file[4096..<4100],
            file[offset + 8..<offset + 16] == file[16..<24]
        {
            let body = (0..<4).reduce(0) { $0 | Int(file[offset + 32 + $1]) << (8 * $1) }
            let size = (40 + body + 7) / 8 * 8
            let number = (0..<8).reduce(0) { $0 | UInt64(file[offset + 16 + $1]) << (8 * $1) }
            if number >= first {
                frames += 1
                bytes += size
            }
            last = max(last, number)
            offset += size
        }
    }
}
