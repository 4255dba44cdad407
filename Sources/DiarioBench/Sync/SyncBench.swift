import CBaseline
import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSync

/// `diario-bench sync`: what replicas and their authority cost, in process and without a network.
struct SyncBench {
    static let help = """
        diario-bench sync [OPTIONS]
          Replicas and the authority of their space, each with a log of its own on disk; messages
          are handed over in memory.

          --only LIST     some of: push, duplicate, crowd, meet (all)
          --pushes N      events that are pushed one by one for each run (1000)
          --old N         events that were recorded since the duplicate (1000000)
          --replicas N    replicas that push at the same time (100)
          --events N      pending events, and as many of others (20000)
          --runs N        runs (5)
          --seed S        of the workload (1)
          --json          one JSON object instead of a table

          push       one event for each push, judged, hashed and durable, against the same event
                     appended by the authority itself: processor time of the whole process
          duplicate  a push that arrives again after many other events: milliseconds for its answer
          crowd      replicas that push to one space at once: requests that were refused
          meet       a replica with many pending events gets as many of others: until its read
                     models show both, against applying all of them as canonical events

        """

    private enum Variant: String, CaseIterable {
        case push, duplicate, crowd, meet
    }

    let pushCount: Int
    let oldCount: Int
    let replicaCount: Int
    let eventCount: Int
    let runs: Int
    let events: PreparedEvents
    let scratch: Scratch

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let variants = try arguments.choices("--only", Variant.self) ?? Variant.allCases
        let seed = try arguments.count("--seed", 0...Int.max) ?? 1
        let bench = SyncBench(
            pushCount: try arguments.count("--pushes", 1...1_000_000) ?? 1000,
            oldCount: try arguments.count("--old", 1...100_000_000) ?? 1_000_000,
            replicaCount: try arguments.count("--replicas", 1...1000) ?? 100,
            eventCount: try arguments.count("--events", 1...10_000_000) ?? 20_000,
            runs: try arguments.count("--runs", 1...1000) ?? 5,
            events: try PreparedEvents(WorkloadOptions(eventCount: 20_000, seed: UInt64(seed))),
            scratch: try Scratch()
        )
        try arguments.finish()
        var report = Report(
            benchmark: "sync",
            settings: [
                ("pushes", "\(bench.pushCount)"), ("old", "\(bench.oldCount)"),
                ("replicas", "\(bench.replicaCount)"), ("events", "\(bench.eventCount)"),
                ("runs", "\(bench.runs)"), ("seed", "\(seed)"),
            ]
        )
        for variant in variants {
            switch variant {
            case .push: report.measurements.append(try await bench.measurePush())
            case .duplicate: report.measurements.append(try await bench.measureDuplicate())
            case .crowd: report.measurements.append(try await bench.measureCrowd())
            case .meet: report.measurements.append(try await bench.measureMeeting())
            }
        }
        report.show(asJSON: asJSON)
    }

    // MARK: One event for each push

    private func measurePush() async throws(BenchError) -> Measurement {
        try await scratch.withFolder("push") { (path) throws(BenchError) in
            let server = try BenchAuthority(at: path + "/server")
            let replica = try BenchReplica(at: path + "/replica", of: server)
            var recorded = 0
            let pairs = try await compare(
                runs: runs,
                ours: { () throws(BenchError) in
                    try replica.record(recorded..<recorded + pushCount, of: events)
                    let pending = try replica.pending()
                    let first = pending.sequences.lowerBound + UInt64(recorded)
                    recorded += pushCount
                    var requests: [[UInt8]] = []
                    for sequence in first..<first + UInt64(pushCount) {
                        let one = PendingEvents(
                            replica: pending.replica,
                            sequences: sequence...sequence
                        )
                        requests.append(try replica.push(one))
                    }
                    let before = baseline_process_nanoseconds()
                    for request in requests {
                        try Self.expectAcceptance(server.answer(request), of: 1)
                    }
                    return sample(since: before, pushCount)
                },
                baseline: { () throws(BenchError) in
                    let before = baseline_process_nanoseconds()
                    for index in 0..<pushCount {
                        var draft = DraftBatch()
                        events.add(index % events.count, to: &draft)
                        try LaneReplica.append(.batch(draft), to: server.space)
                    }
                    return sample(since: before, pushCount)
                }
            )
            try replica.close()
            try server.close()
            return Measurement(
                "push of one event, against an append",
                pairs,
                goal: .atMost(2),
                isTime: true
            )
        }
    }

    private func sample(since before: Int64, _ count: Int) -> Sample {
        let time = baseline_process_nanoseconds() - before
        return Sample(seconds: Double(time) / 1e9, events: count)
    }

    static func expectAcceptance(
        _ answer: [UInt8],
        of count: UInt64
    ) throws(BenchError) {
        let message: SyncMessage
        do throws(FormatError) { message = try SyncMessage(answer.span) } catch {
            throw .failed(error.message)
        }
        guard case .verdicts(let verdicts) = message,
            verdicts.list.allSatisfy({ if case .accepted = $0.kind { true } else { false } }),
            verdicts.list.reduce(0, { $0 + $1.count }) == count
        else { throw .failed("a push was answered by \(message)") }
    }

    // MARK: A duplicate

    private func measureDuplicate() async throws(BenchError) -> Measurement {
        try await scratch.withFolder("duplicate") { (path) throws(BenchError) in
            let server = try BenchAuthority(at: path + "/server")
            let replica = try BenchReplica(at: path + "/replica", of: server)
            try replica.record(0..<100, of: events)
            let request = try replica.push(try replica.pending())
            try Self.expectAcceptance(server.answer(request), of: 100)
            try server.record(oldCount, of: events)
            let space = server.space
            _ = try BenchSpace.log { () throws(LogError) in
                try space.store.seal(space.id, all: true, waitSeconds: 600)
            }
            var times: [Double] = []
            for run in 0...max(runs, 20) {
                let start = ContinuousClock.now
                let answer = server.answer(request)
                let time = seconds(since: start) * 1000
                try Self.expectAcceptance(answer, of: 100)
                // The first one finds out what else there is to know.
                if run > 0 { times.append(time) }
            }
            try replica.close()
            try server.close()
            var measurement = Measurement(
                "a duplicate, \(oldCount) events later",
                unit: "ms",
                value: Spread(times),
                goal: .atMost(5)
            )
            // Behind the adoptions of the packs; which of the first positions matters little.
            let floor = try StreamFloor(at: path + "/server").milliseconds(for: 10..<110)
            measurement.figures = [
                ("the streams that it needs, by zstd alone", Spread([floor]))
            ]
            return measurement
        }
    }

    // MARK: Many replicas at once

    private func measureCrowd() async throws(BenchError) -> Measurement {
        try await scratch.withFolder("crowd") { (path) throws(BenchError) in
            let server = try BenchAuthority(at: path + "/server")
            var requests: [[UInt8]] = []
            let count = 50
            for number in 0..<replicaCount {
                let replica = try BenchReplica(at: path + "/\(number)", of: server)
                try replica.record(number * count..<(number + 1) * count, of: events)
                requests.append(try replica.push(try replica.pending()))
                try replica.close()
            }
            let before = server.space.store.standing(of: server.space.id).head
            let start = ContinuousClock.now
            let answers = await withTaskGroup(of: [UInt8].self) { group in
                for request in requests { group.addTask { server.answer(request) } }
                var answers: [[UInt8]] = []
                for await answer in group { answers.append(answer) }
                return answers
            }
            let time = seconds(since: start)
            for answer in answers { try Self.expectAcceptance(answer, of: UInt64(count)) }
            let head = server.space.store.standing(of: server.space.id).head
            guard head - before == UInt64(replicaCount * count) else {
                throw .failed("\(head - before) events came of \(replicaCount * count)")
            }
            try server.close()
            var measurement = Measurement(
                "\(replicaCount) replicas at once: refusals",
                unit: "",
                value: Spread([0]),
                goal: .atMost(0)
            )
            measurement.figures = [
                ("exchanges for each push", Spread([1])),
                ("pushes a second", Spread([Double(replicaCount) / time])),
                ("events a second", Spread([Double(replicaCount * count) / time])),
            ]
            return measurement
        }
    }

    // MARK: Pending events and those of others

    private func measureMeeting() async throws(BenchError) -> Measurement {
        var pairs: [(ours: Sample, baseline: Sample)] = []
        for _ in 0..<runs {
            pairs.append(
                try await scratch.withFolder("meet") { (path) throws(BenchError) in
                    try meet(path)
                }
            )
        }
        return Measurement(
            "\(eventCount) pending and as many of others, against applying all",
            pairs,
            goal: .atMost(2),
            isTime: true
        )
    }

    private func meet(_ path: String) throws(BenchError) -> (ours: Sample, baseline: Sample) {
        let server = try BenchAuthority(at: path + "/server")
        var replica = try BenchReplica(at: path + "/replica", of: server)
        let space = try replica.space()
        let models = try BenchSpace.diario { () throws(DiarioError) in try ReadModels(space) }
        try replica.record(0..<eventCount, of: events)
        try update(models)
        try server.record(eventCount, of: events)
        var start = ContinuousClock.now
        try replica.sync(with: server)
        try update(models)
        let ours = Sample(seconds: seconds(since: start), events: 2 * eventCount)
        // The same events, as somebody has them who was never away.
        let all = try BenchReplica(at: path + "/all", of: server)
        let known = try all.space()
        let fresh = try BenchSpace.diario { () throws(DiarioError) in try ReadModels(known) }
        start = ContinuousClock.now
        try update(fresh)
        let baseline = Sample(seconds: seconds(since: start), events: 2 * eventCount)
        try replica.close()
        try all.close()
        try server.close()
        return (ours, baseline)
    }

    private func update(_ models: ReadModels) throws(BenchError) {
        try BenchSpace.diario { () throws(DiarioError) in try models.update() }
    }
}
