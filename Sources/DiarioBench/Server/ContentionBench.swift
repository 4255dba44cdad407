import Diario
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog

/// `diario-bench contention`: many replicas that push to one space at the same time.
struct ContentionBench {
    static let help = """
        diario-bench contention [OPTIONS]
          Replicas with a log and connections of their own sync with one space of `diario serve`
          at once, over HTTP on this machine. Then all sync again, and each must have every event
          once. Against one replica that records as many events and syncs them in as many parts,
          one behind the other.

          --replicas N    replicas (100)
          --events N      events of each (50)
          --runs N        runs of each side, in turn (1)
          --program FILE  the server (diario, beside this program)
          --seed S        of the workload (1)
          --json          one JSON object instead of a table

        """

    let program: String
    let replicaCount: Int
    let eventCount: Int
    let runs: Int
    let seed: UInt64
    let scratch: Scratch

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let bench = ContentionBench(
            program: try Child.program(&arguments),
            replicaCount: try arguments.count("--replicas", 1...1000) ?? 100,
            eventCount: try arguments.count("--events", 1...10_000) ?? 50,
            runs: try arguments.count("--runs", 1...100) ?? 1,
            seed: UInt64(try arguments.count("--seed", 0...Int.max) ?? 1),
            scratch: try Scratch()
        )
        try arguments.finish()
        Report(
            benchmark: "contention",
            settings: [
                ("replicas", "\(bench.replicaCount)"), ("events", "\(bench.eventCount)"),
                ("runs", "\(bench.runs)"), ("seed", "\(bench.seed)"),
            ],
            measurements: try await bench.measure()
        ).show(asJSON: asJSON)
    }

    /// One replica of the crowd.
    private struct Member: Sendable {
        let replica: SyncedReplica
        let carrier: WatchedTransport

        func sync() async throws(BenchError) {
            _ = try await BenchSpace.carried { try await replica.diary.sync(with: carrier) }
        }
    }

    private func measure() async throws(BenchError) -> [Measurement] {
        try await scratch.withFolder("contention") { (path) throws(BenchError) in
            let server = try await BenchServer(program, path + "/server", in: scratch)
            let library = try PreloadedLibrary.none.make(in: scratch)
            var members: [Member] = []
            var lanes: [WorkloadLane] = []
            // The last one is alone in its runs.
            for number in 0...replicaCount {
                let replica = try await server.replica(
                    at: path + "/\(number)",
                    library: library
                )
                let carrier = WatchedTransport(replica.transport)
                members.append(Member(replica: replica, carrier: carrier))
                let isLast = number == replicaCount
                let count = runs * eventCount * (isLast ? replicaCount : 1)
                let options = WorkloadOptions(
                    eventCount: count,
                    seed: seed + UInt64(number),
                    identifiers: .derived
                )
                lanes.append(try WorkloadLane(replica.space, options))
            }
            let (crowd, alone) = (members.dropLast(), members[replicaCount])
            let before = alone.replica.head
            // Whatever there is to warm up, getting all replicas ready did.
            var pairs: [(ours: Sample, baseline: Sample)] = []
            for _ in 0..<runs {
                for number in 0..<replicaCount { try lanes[number].record(eventCount) }
                let ours = try await push(crowd)
                pairs.append((ours, try await push(alone, &lanes[replicaCount])))
            }
            let recorded = 2 * runs * replicaCount * eventCount
            let wrong = try await countWrong(members, before, recorded)
            let seen = crowd.map(\.carrier.seen)
            for member in members { try await member.replica.close() }
            server.process.end()
            return measurements(pairs, wrong, seen)
        }
    }

    /// All push at once.
    private func push(_ crowd: ArraySlice<Member>) async throws(BenchError) -> Sample {
        let start = ContinuousClock.now
        try await BenchSpace.carried {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for member in crowd { group.addTask { try await member.sync() } }
                try await group.waitForAll()
            }
        }
        return Sample(seconds: seconds(since: start), events: replicaCount * eventCount)
    }

    /// One pushes as much, one part behind the other.
    private func push(
        _ alone: Member,
        _ lane: inout WorkloadLane
    ) async throws(BenchError) -> Sample {
        try await alone.sync()
        var time = 0.0
        for _ in 0..<replicaCount {
            try lane.record(eventCount)
            let start = ContinuousClock.now
            try await alone.sync()
            time += seconds(since: start)
        }
        return Sample(seconds: time, events: replicaCount * eventCount)
    }

    /// How many events are missing somewhere or are there twice, after all have synced again.
    private func countWrong(
        _ members: [Member],
        _ before: UInt64,
        _ recorded: Int
    ) async throws(BenchError) -> Int {
        var wrong = 0
        var roots: Set<Hash32> = []
        for member in members {
            try await member.sync()
            let space = member.replica.space
            let pending = space.store.standing(of: space.id).pending
            wrong += pending.reduce(0) { $0 + $1.sequences.count }
            wrong += abs(Int(member.replica.head) - Int(before) - recorded)
            roots.insert(
                try BenchSpace.log { () throws(LogError) in try space.store.root(of: space.id) }
            )
        }
        // With one root all have the same events, so that looking at those of one is enough.
        guard roots.count == 1 else { throw .failed("the replicas have \(roots.count) roots") }
        guard let space = members.first?.replica.space else { return wrong }
        var origins: Set<Origin> = []
        var count = 0
        var cursor = try BenchSpace.log { () throws(LogError) in try space.store.cursor(space.id) }
        while let events = try BenchSpace.log({ () throws(LogError) in try cursor.next() }) {
            for stored in events.rows {
                count += 1
                let row = stored.row
                origins.insert(Origin(replica: row.replica, sequence: row.sequence))
            }
        }
        return wrong + count - origins.count
    }

    private func measurements(
        _ pairs: [(ours: Sample, baseline: Sample)],
        _ wrong: Int,
        _ seen: [WatchedTransport.Seen]
    ) -> [Measurement] {
        func sum(_ part: (WatchedTransport.Seen) -> Int) -> Double {
            Double(seen.reduce(0) { $0 + part($1) })
        }
        let pushes = Double(runs * replicaCount)
        var exchanges = Measurement(
            "exchanges that push, for each push",
            unit: "",
            value: Spread([sum(\.pushes) / pushes]),
            goal: .atMost(1)
        )
        exchanges.figures = [
            ("exchanges that pull, for each push", Spread([sum(\.pulls) / pushes]))
        ]
        return [
            Measurement(
                "events that are missing or there twice",
                unit: "",
                value: Spread([Double(wrong)]),
                goal: .atMost(0)
            ),
            Measurement(
                "refusals, of requests and of batches",
                unit: "",
                value: Spread([sum(\.refusals) + sum(\.rejected)]),
                goal: .atMost(0)
            ),
            exchanges,
            Measurement("\(replicaCount) replicas at once, against one", pairs, goal: .none),
        ]
    }
}
