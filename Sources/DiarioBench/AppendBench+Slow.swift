import Diario
import DiarioStorage

// Syncs of this machine are fast, so what group commit is worth shows only where they are slowed
// down: another run of this program, with a library in front of fdatasync.

extension AppendBench {
    static let childName = "append-slow-child"

    func measureSlow() throws(BenchError) -> Measurement {
        let library = try PreloadedLibrary.slow.make(in: scratch)
        var values: [Double] = []
        for _ in 0..<min(runs, 5) {
            let numbers = try Child.numbers(
                [Self.childName, "\(taskCount)"],
                preload: library,
                in: scratch
            )
            guard let value = numbers.first else { throw .failed("the run has no figure") }
            values.append(value)
        }
        return Measurement(
            "slow",
            unit: "events/sync",
            value: Spread(values),
            goal: .atLeast(48)
        )
    }

    /// What the other run does: appends of many tasks; writes how many events each sync had.
    static func runChild(_ arguments: inout Arguments) async throws(BenchError) {
        guard let tasks = Int(arguments.next() ?? "") else { throw .usage("how many tasks?") }
        let bench = AppendBench(
            singleCount: 0,
            eventCount: 150 * tasks,
            taskCount: tasks,
            runs: 1,
            events: try PreparedEvents(WorkloadOptions(eventCount: 2000, seed: 1)),
            scratch: try Scratch()
        )
        let measurement = try await bench.withStage { (stage) throws(BenchError) in
            let sample = try await bench.runTasks(stage, Diary(space: stage.space))
            return Measurement("slow", unit: "", value: Spread([sample.figures[0].value]))
        }
        System.say("\(measurement.ours.median)", to: System.standardOutput)
    }
}
