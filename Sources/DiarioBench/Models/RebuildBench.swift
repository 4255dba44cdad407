import CBaseline
import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioStorage
import Synchronization

/// `diario-bench rebuild`: what building read models anew costs.
enum RebuildBench {
    static let help = """
        diario-bench rebuild [OPTIONS]
          Builds the read models of packs anew from an imported and sealed space, as `diario
          rebuild` does; against C that makes the same tables and issues the same prepared
          statements, with values that were decoded beforehand and the same settings. Processor
          time of the whole process on both sides. Beside it, what would be reached if C had to
          wait for the columns that it needs of the segments to be read: a bound for whoever reads.
          Then all packs side by side, against C that does them one after the other: what passes
          on the clock. And the longest that a query took which followed the log and read the live
          tables meanwhile.

          --events N      events (1000000)
          --runs N        runs of each side, in turn (3)
          --pack NAME     one pack; else each of them in turn
          --seed S, --ids given|derived, --mix main|second|making   of the workload
          --json          one JSON object instead of a table

        """

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let runs = try arguments.count("--runs", 1...1000) ?? 3
        let pack = try arguments.value("--pack")
        let options = try WorkloadCommand.options(&arguments, defaultCount: 1_000_000)
        try arguments.finish()
        let scratch = try Scratch()
        let report = try await scratch.withFolder("space") { (path) throws(BenchError) in
            let eventCount = try VerifyBench.fill(path, options, scratch)
            let space = try BenchSpace.diario { () throws(DiarioError) in
                try Space.open(at: path, access: .readOnly)
            }
            let models = try BenchSpace.diario { () throws(DiarioError) in try ReadModels(space) }
            var measurements: [Measurement] = []
            for name in models.packs.map(\.name) where pack == nil || pack == name {
                measurements.append(try await measure(name, models, space, scratch, runs: runs))
            }
            if pack == nil {
                measurements.append(try await measureAll(models, space, scratch, runs: runs))
                measurements.append(try measureReader(models, space, runs: runs))
            }
            try BenchSpace.diario { () throws(DiarioError) in try space.close() }
            return Report(
                benchmark: "rebuild",
                settings: [
                    ("events", "\(eventCount)"), ("runs", "\(runs)"),
                    ("ids", options.identifiers.rawValue), ("mix", options.mix.rawValue),
                    ("seed", "\(options.seed)"),
                ],
                measurements: measurements
            )
        }
        report.show(asJSON: asJSON)
    }

    private static func measure(
        _ name: String,
        _ models: ReadModels,
        _ space: Space,
        _ scratch: Scratch,
        runs: Int
    ) async throws(BenchError) -> Measurement {
        guard let pack = models.packs.first(where: { $0.name == name }) else {
            throw .failed("there is no pack \(name)")
        }
        let plan = PackPlan(pack)
        let recorded = try RecordedCalls.all(plan, of: space)
        var failures: UInt64 = 0
        var reading: [Double] = []
        let pairs = try await compare(runs: runs) { () throws(BenchError) in
            let before = baseline_process_nanoseconds()
            let reports = try BenchSpace.diario { () throws(DiarioError) in
                try models.rebuild([name], measuresRows: false)
            }
            let time = baseline_process_nanoseconds() - before
            let quarantined = reports.flatMap(\.models).reduce(0) { $0 + $1.quarantined }
            return Sample(
                seconds: Double(time) / 1e9,
                events: recorded.eventCount,
                figures: [("in quarantine", Double(quarantined))]
            )
        } baseline: { () throws(BenchError) in
            let file = "baseline.sqlite"
            defer { for suffix in ["", "-wal", "-shm"] { scratch.remove(file + suffix) } }
            let result = try recorded.run(scratch.path + "/" + file, batch: 50_000)
            failures = result.failures
            reading.append(try secondsToReadColumns(of: space, for: plan))
            return Sample(seconds: result.seconds, events: recorded.eventCount)
        }
        if failures > 0 { print("\(name): \(failures) statements fail, in C as well") }
        var measurement = Measurement(name, pairs, goal: .atLeast(0.9))
        let bounds = zip(pairs, reading.suffix(pairs.count)).map { pair, seconds in
            pair.baseline.seconds / (pair.baseline.seconds + seconds)
        }
        measurement.figures.append(("C that waits for the columns, of C", Spread(bounds)))
        return measurement
    }

    /// Processor time for the columns of all segments that read models of a pack need, as arrays.
    private static func secondsToReadColumns(
        of space: Space,
        for plan: PackPlan
    ) throws(BenchError) -> Double {
        let before = baseline_process_nanoseconds()
        try BenchSpace.log { () throws(LogError) in
            var cursor = try space.store.cursor(space.id, .canonical)
            while let columns = try cursor.nextColumns(
                plan.envelopeParts,
                { (_, type) in plan.selection(of: type).map { .read($0) } ?? .leaveOut }
            ) {
                var next = columns.positions.lowerBound
                while next < columns.positions.upperBound {
                    let window = try columns.window(from: next)
                    next = columns.position(of: window.events.upperBound)
                }
            }
        }
        return Double(baseline_process_nanoseconds() - before) / 1e9
    }

    // MARK: All packs

    private static func measureAll(
        _ models: ReadModels,
        _ space: Space,
        _ scratch: Scratch,
        runs: Int
    ) async throws(BenchError) -> Measurement {
        var recorded: [RecordedCalls] = []
        for pack in models.packs { recorded.append(try .all(PackPlan(pack), of: space)) }
        let calls = recorded
        let eventCount = calls.reduce(0) { $0 + $1.eventCount }
        let pairs = try await compare(runs: runs) { () throws(BenchError) in
            let start = ContinuousClock.now
            _ = try BenchSpace.diario { () throws(DiarioError) in
                try models.rebuild(measuresRows: false)
            }
            return Sample(seconds: seconds(since: start), events: eventCount)
        } baseline: { () throws(BenchError) in
            let start = ContinuousClock.now
            for calls in calls {
                let file = "baseline.sqlite"
                defer { for suffix in ["", "-wal", "-shm"] { scratch.remove(file + suffix) } }
                _ = try calls.run(scratch.path + "/" + file, batch: 50_000)
            }
            return Sample(seconds: seconds(since: start), events: eventCount)
        }
        return Measurement("all packs, side by side", pairs, goal: .atLeast(1.5))
    }

    /// Asks all the time while all packs are rebuilt.
    private static func measureReader(
        _ models: ReadModels,
        _ space: Space,
        runs: Int
    ) throws(BenchError) -> Measurement {
        var longest: [Double] = []
        for _ in 0..<runs {
            let asking = AskingThread(space)
            _ = try BenchSpace.diario { () throws(DiarioError) in
                try models.rebuild(measuresRows: false)
            }
            longest.append(try asking.stop())
        }
        return Measurement(
            "longest query meanwhile",
            unit: "ms",
            value: Spread(longest),
            goal: .atMost(50)
        )
    }
}

/// A thread that follows the log and reads the live tables, again and again.
private final class AskingThread: Sendable {
    private struct State {
        var isOver = false
        var longest = 0.0
        var fault: String?
    }

    private let state = Mutex(State())
    private let hasEnded = Signal()

    init(_ space: Space) {
        _ = WorkerThread(name: "bench-reader") { [self] in
            ask(space)
            hasEnded.raise()
        }
    }

    private func ask(_ space: Space) {
        do {
            let models = try ReadModels(space)
            while !state.withLock({ $0.isOver }) {
                let start = ContinuousClock.now
                try models.update()
                let reader = try ModelReader(models.sources())
                let answer = try reader.answer("SELECT count(*) FROM meals.diario_model")
                while try answer.next() != nil {}
                let time = seconds(since: start) * 1000
                state.withLock { $0.longest = max($0.longest, time) }
            }
        } catch {
            state.withLock { $0.fault = "\(error)" }
        }
    }

    /// The longest that it took, in milliseconds.
    func stop() throws(BenchError) -> Double {
        state.withLock { $0.isOver = true }
        hasEnded.wait()
        let (longest, fault) = state.withLock { ($0.longest, $0.fault) }
        if let fault { throw .failed("a reader failed: \(fault)") }
        return longest
    }
}
