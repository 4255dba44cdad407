import CBaseline
import Diario
import DiarioSchema

/// `diario-bench typed`: what an event costs that an app records as a value of a Swift type.
enum TypedBench {
    static let help = """
        diario-bench typed [OPTIONS]
          Events of the pack meals as values of the types that the plugin made of it: encoded, and
          appended to the lane of a space whose authority is elsewhere.
          what a C program needs that takes a SHA-256 of each event and writes the same bytes; for
          events one by one it syncs too, since each of ours waits for the sync of the one before.

          --events N      events for each run (100000)
          --batches LIST  events in a batch, several sizes (1000,100,10,1)
          --runs N        runs for each size (11)
          --seed S        of the workload (1)
          --json          one JSON object instead of a table

        """

    /// The aim is for events in batches: one by one, the syncs cost more than all else.
    private static let microsecondsMax = 3.0

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let count = try arguments.count("--events", 1...10_000_000) ?? 100_000
        let runs = try arguments.count("--runs", 1...1000) ?? 11
        let seed = try arguments.count("--seed", 0...Int.max) ?? 1
        let sizes = try (arguments.value("--batches") ?? "1000,100,10,1").split(separator: ",")
            .map { (text) throws(BenchError) in
                guard let size = Int(text), 1...1000 ~= size else {
                    throw .usage("a batch has 1 to 1000 events, not \(text)")
                }
                return size
            }
        try arguments.finish()
        let scratch = try Scratch()
        let events = try await makeEvents(in: scratch, seed: UInt64(seed))
        var report = Report(
            benchmark: "typed",
            settings: [("events", "\(count)"), ("runs", "\(runs)"), ("seed", "\(seed)")]
        )
        for size in sizes {
            report.measurements += try await measure(events, count, size, runs, scratch)
        }
        report.show(asJSON: asJSON)
    }

    /// Events as the workload has them, by way of a diary.
    private static func makeEvents(
        in scratch: Scratch,
        seed: UInt64
    ) async throws(BenchError) -> [any TypedEvent] {
        let prepared = try PreparedEvents(WorkloadOptions(eventCount: 4000, seed: seed))
        return try await scratch.withFolder("made") { (path) throws(BenchError) in
            do {
                let diary = try Diary.open(at: path, packs: [Meals.pack])
                for (index, line) in prepared.lines.enumerated()
                where line.type.pack == "meals" {
                    var batch = diary.makeBatch()
                    try batch.add(line.type.name, json: prepared.payloadText(index), at: line.at)
                    try await diary.append(batch)
                }
                try await diary.close()
                return try await read(path)
            } catch {
                throw .failed("\(error)")
            }
        }
    }

    /// Those that the workload has most of.
    private static let types: [any TypedEvent.Type] = [
        Meals.FoodLogged.self, Meals.FoodMoved.self, Meals.FoodRemoved.self,
        Meals.QuantityChanged.self, Meals.HealthDayRecorded.self, Meals.WeightRecorded.self,
    ]

    private static func read(_ path: String) async throws -> [any TypedEvent] {
        let diary = try Diary.open(at: path, packs: [Meals.pack])
        var events: [any TypedEvent] = []
        for try await event in diary.events(EventFilter(types: ["meals."])) {
            events += try types.compactMap { try $0.decoded(from: event) }
        }
        try await diary.close()
        return events
    }

    private static func measure(
        _ events: [any TypedEvent],
        _ count: Int,
        _ size: Int,
        _ runs: Int,
        _ scratch: Scratch
    ) async throws(BenchError) -> [Measurement] {
        // One by one they cost much more; fewer are enough.
        let count = max(size, (size == 1 ? min(count, 5000) : count) / size * size)
        let packs = try BenchSpace.packs(of: nil)
        var samples: [Sample] = []
        var baselines: [Double] = []
        for run in 0...runs {
            let sample = try await scratch.withFolder("lane") { (path) throws(BenchError) in
                let space = try LaneReplica.make(path, packs)
                return try await append(events, count, size, to: Diary(space: space), path)
            }
            let baseline = try await baseline(sample, count, size, scratch)
            // The first one warms up.
            guard run > 0 else { continue }
            samples.append(sample)
            baselines.append(baseline)
        }
        let name = size == 1 ? "one by one" : "batches of \(size)"
        var ours = Measurement(
            name,
            unit: "us",
            value: Spread(samples.map { $0.figures[0].value }),
            goal: size == 1 ? .none : .atMost(microsecondsMax)
        )
        ours.figures = Measurement.figures(samples)
        let what = size == 1 ? "C: hashed, written, synced" : "C: hashed and written"
        ours.figures.append((what, Spread(baselines)))
        return [ours]
    }

    /// Appends to a lane, and says what it cost.
    private static func append(
        _ events: [any TypedEvent],
        _ count: Int,
        _ size: Int,
        to diary: Diary,
        _ path: String
    ) async throws(BenchError) -> Sample {
        let before = try FrameCount(of: path)
        let start = ContinuousClock.now
        let processBefore = baseline_process_nanoseconds()
        do {
            var index = 0
            for _ in 0..<count / size {
                let batch = try makeBatch(events, &index, size, for: diary)
                try await diary.append(batch)
            }
            let processTime = baseline_process_nanoseconds() - processBefore
            // Safe: plain calls into C; a static string ends with a zero byte.
            let sealTime = unsafe baseline_thread_nanoseconds("diario-seal")
            let syncTime = unsafe baseline_thread_nanoseconds("diario-commit")
            let hashTime = unsafe baseline_thread_nanoseconds("diario-hash")
            var sample = Sample(seconds: seconds(since: start), events: count)
            let encodeBefore = baseline_process_nanoseconds()
            for _ in 0..<count / size { _ = try makeBatch(events, &index, size, for: diary) }
            // Safe: a plain call into C; a static string ends with a zero byte.
            let sealTimeThen = unsafe baseline_thread_nanoseconds("diario-seal")
            let encodeTime =
                baseline_process_nanoseconds() - encodeBefore - (sealTimeThen - sealTime)
            let written = try FrameCount(of: path, since: before)
            let times: [(String, Int64)] = [
                ("processor us, sealing apart", processTime - sealTime),
                ("of that encoding alone", encodeTime), ("synced in the background", syncTime),
                ("hashed in the background", hashTime), ("sealed in the background", sealTime),
            ]
            sample.figures = times.map { ($0, Double($1) / 1000 / Double(count)) }
            sample.figures.append(("bytes written", Double(written.bytes) / Double(count)))
            try await diary.close()
            return sample
        } catch {
            throw .failed("\(error)")
        }
    }

    private static func makeBatch(
        _ events: [any TypedEvent],
        _ index: inout Int,
        _ size: Int,
        for diary: Diary
    ) throws -> EventBatch {
        var batch = diary.makeBatch()
        for _ in 0..<size {
            let event = events[index]
            try batch.add(event, actor: "user-17")
            index = index + 1 == events.count ? 0 : index + 1
        }
        return batch
    }

    /// What C needs for each event of a sample, in microseconds.
    private static func baseline(
        _ sample: Sample,
        _ count: Int,
        _ size: Int,
        _ scratch: Scratch
    ) async throws(BenchError) -> Double {
        let bytes = sample.figures.last?.value ?? 0
        return try await scratch.withFolder("loop") { (path) throws(BenchError) in
            let file = path + "/loop"
            // Safe: plain calls into C, which keep no pointer.
            guard unsafe baseline_fill(file, 16 << 20) == 0 else {
                throw .failed("\(file) cannot be written")
            }
            let frame = max(64, Int(bytes * Double(size)))
            let before = baseline_process_nanoseconds()
            // Safe: plain calls into C, which keep no pointer.
            let seconds =
                size == 1
                ? unsafe baseline_sync_loop(file, file + ".lock", frame, count, 1, frame)
                : unsafe baseline_write_loop(
                    file,
                    file + ".lock",
                    frame,
                    count / size,
                    size,
                    frame / size
                )
            guard seconds > 0 else { throw .failed("the C loop fails with \(-seconds)") }
            return Double(baseline_process_nanoseconds() - before) / 1000 / Double(count)
        }
    }
}

extension TypedEvent {
    /// The event as a value of this type, if it is of it.
    fileprivate static func decoded(from event: RecordedEvent) throws -> (any TypedEvent)? {
        try event.decode(as: Self.self)
    }
}
