import CBaseline
import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioStorage

extension AppendBench {
    func measureSingle() async throws(BenchError) -> Measurement {
        try await withStage { (stage) throws(BenchError) in
            var draft = DraftBatch()
            let pairs = try await compare(runs: runs) { () throws(BenchError) in
                try await stage.measure(events: singleCount) { () throws(BenchError) in
                    for index in 0..<singleCount {
                        draft.removeAll()
                        events.add(index % events.count, to: &draft)
                        try stage.append(draft)
                    }
                }
            } baseline: { () throws(BenchError) in
                try stage.runSingleLoops(commits: singleCount)
            }
            return Measurement("single", pairs, goal: .atLeast(0.94))
        }
    }

    /// The same as an app does it: a batch from JSON, and `await`.
    func measureAwaited() async throws(BenchError) -> Measurement {
        let texts = (0..<min(singleCount, events.count)).map { events.payloadText($0) }
        return try await withStage { (stage) throws(BenchError) in
            let diary = Diary(space: stage.space)
            let pairs = try await compare(runs: runs) { () throws(BenchError) in
                try await stage.measure(events: singleCount) { () throws(BenchError) in
                    for index in 0..<singleCount {
                        let line = events.lines[index % texts.count]
                        let text = texts[index % texts.count]
                        try await Self.record(line, text, in: diary)
                    }
                }
            } baseline: { () throws(BenchError) in
                try stage.runLoop(commits: singleCount, recordsForEach: 1, hashes: false)
            }
            return Measurement("awaited", pairs, goal: .atLeast(0.7))
        }
    }

    private static func record(
        _ line: EventLine,
        _ text: String,
        in diary: Diary
    ) async throws(BenchError) {
        do {
            var batch = diary.makeBatch()
            try batch.add(line.type.name, json: text, at: line.at, actor: "user-17")
            _ = try await diary.append(batch)
        } catch {
            throw .failed("\(error)")
        }
    }

    func measureBatches() async throws(BenchError) -> Measurement {
        let count = eventCount / Self.batchSize * Self.batchSize
        return try await withStage { (stage) throws(BenchError) in
            var draft = DraftBatch()
            let pairs = try await compare(runs: runs) { () throws(BenchError) in
                try await stage.measure(events: count) { () throws(BenchError) in
                    for first in stride(from: 0, to: count, by: Self.batchSize) {
                        draft.removeAll()
                        for index in first..<first + Self.batchSize {
                            events.add(index % events.count, to: &draft)
                        }
                        try stage.append(draft)
                    }
                    try BenchSpace.log { () throws(LogError) in
                        _ = try stage.space.store.root(of: stage.space.id)
                    }
                }
            } baseline: { () throws(BenchError) in
                try await runSQLite(count: count)
            }
            return Measurement("batches", pairs, goal: .atLeast(1.6))
        }
    }

    private func runSQLite(count: Int) async throws(BenchError) -> Sample {
        try await scratch.withFolder("sqlite") { (path) throws(BenchError) in
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
            guard seconds > 0 else { throw .failed("SQLite fails with \(-seconds - 10_000)") }
            return Sample(seconds: seconds, events: rounds * events.count)
        }
    }
}
