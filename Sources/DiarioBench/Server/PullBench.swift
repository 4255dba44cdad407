import Diario
import DiarioCore
import DiarioLog
import DiarioTransport

/// `diario-bench pull`: what fetching events of others from a server costs.
struct PullBench {
    static let help = """
        diario-bench pull [OPTIONS]
          A replica pulls from `diario serve`, over HTTP on this machine.
          First the last few events of many: requests, and bytes of messages for each event. Then
          all events by pulls alone, into an empty replica, hashed and on its disk: how fast the
          last tenth comes, against the first one.

          --only LIST     some of: last, all (both)
          --events N      events of the space (500000)
          --last N        of which so many are missing (100)
          --program FILE  the server (diario, beside this program)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --json          one JSON object instead of a table

        """

    private enum Variant: String, CaseIterable {
        case last, all
    }

    let program: String
    let lastCount: Int
    let options: WorkloadOptions
    let scratch: Scratch

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let variants = try arguments.choices("--only", Variant.self) ?? Variant.allCases
        let scratch = try Scratch()
        let program = try Child.program(&arguments)
        let lastCount = try arguments.count("--last", 1...10_000) ?? 100
        var options = try WorkloadCommand.options(&arguments, defaultCount: 500_000)
        try arguments.finish()
        let settings = [
            ("events", "\(options.eventCount)"), ("last", "\(lastCount)"),
            ("ids", options.identifiers.rawValue), ("mix", options.mix.rawValue),
            ("seed", "\(options.seed)"),
        ]
        options.eventCount = max(1, options.eventCount - lastCount)
        let bench = PullBench(
            program: program,
            lastCount: lastCount,
            options: options,
            scratch: scratch
        )
        let library = try PreloadedLibrary.none.make(in: scratch)
        let measurements = try await MadeSpace.with(options, library: library, in: scratch) {
            (made) throws(BenchError) in
            try made.removeLines()
            return try await bench.measure(made, variants)
        }
        Report(benchmark: "pull", settings: settings, measurements: measurements)
            .show(asJSON: asJSON)
    }

    private func measure(
        _ made: MadeSpace,
        _ variants: [Variant]
    ) async throws(BenchError) -> [Measurement] {
        let server = try await BenchServer(program, serving: made, in: scratch)
        let follower = try await server.replica(at: made.path + "/follower")
        try await follower.sync()
        // Somebody else records the last events.
        let other = try await server.replica(at: made.path + "/other")
        var all = options
        all.eventCount += lastCount
        var lane = try WorkloadLane(other.space, all, leftOut: options.eventCount)
        try lane.record(lastCount)
        try await other.sync()
        try await other.close()
        var measurements: [Measurement] = []
        if variants.contains(.last) { measurements += try await measureLast(follower) }
        if variants.contains(.all) {
            let lineage = try BenchSpace.log { () throws(LogError) in
                try follower.space.store.status(of: follower.space.id).manifest.lineage
            }
            let path = made.path + "/puller"
            let puller = try BenchReplica(at: path, of: follower.space.id, lineage)
            let carrier = try await server.transport()
            measurements.append(try await measureAll(puller, carrier, until: follower.head))
        }
        try await follower.close()
        server.process.end()
        return measurements
    }

    // MARK: The last events

    private func measureLast(_ replica: SyncedReplica) async throws(BenchError) -> [Measurement] {
        let carrier = WatchedTransport(replica.transport)
        let start = ContinuousClock.now
        let report = try await BenchSpace.carried { try await replica.diary.sync(with: carrier) }
        let time = seconds(since: start)
        guard report.pulled == lastCount else {
            throw .failed("\(report.pulled) events came of \(lastCount)")
        }
        let count = Double(lastCount)
        var bytes = Measurement(
            "the last \(lastCount): bytes of messages for each",
            unit: "B",
            value: Spread([Double(carrier.seen.bytesReceived) / count]),
            goal: .atMost(35)
        )
        bytes.figures = [
            ("with headers", Spread([Double(report.bytesReceived) / count])),
            ("bytes sent in all", Spread([Double(report.bytesSent)])),
            ("ms by the clock", Spread([time * 1000])),
        ]
        return [
            Measurement(
                "the last \(lastCount): requests",
                unit: "",
                value: Spread([Double(report.requests)]),
                goal: .atMost(1)
            ),
            bytes,
        ]
    }

    // MARK: All events

    private func measureAll(
        _ replica: BenchReplica,
        _ carrier: HTTPTransport,
        until head: UInt64
    ) async throws(BenchError) -> Measurement {
        var replica = replica
        var marks: [(head: UInt64, seconds: Double)] = [(0, 0)]
        let start = ContinuousClock.now
        while case .send(let request) = try replica.next() {
            let answer = try await BenchSpace.carried { try await carrier.exchange(request) }
            try replica.receive(answer)
            let reached = replica.store.standing(of: replica.id).head
            marks.append((reached, seconds(since: start)))
        }
        guard let last = marks.last, last.head == head else {
            throw .failed("the pulls end at \(marks.last?.head ?? 0) of \(head)")
        }
        let tenth = Double(head) / 10
        let first = tenth / (Self.time(of: tenth, marks) - 0)
        let end = tenth / (last.seconds - Self.time(of: 9 * tenth, marks))
        try replica.close()
        var measurement = Measurement(
            "\(number(Double(head))) events: the last tenth against the first",
            unit: "events/s",
            end,
            against: first,
            goal: .atLeast(0.8)
        )
        let traffic = carrier.traffic ?? TransportTraffic()
        measurement.figures = [
            ("events a second over all", Spread([Double(head) / last.seconds])),
            ("requests", Spread([Double(traffic.requests)])),
            ("bytes received for each", Spread([Double(traffic.bytesReceived) / Double(head)])),
        ]
        return measurement
    }

    /// When a position was reached, between the answers before and behind it.
    private static func time(
        of position: Double,
        _ marks: [(head: UInt64, seconds: Double)]
    ) -> Double {
        guard let index = marks.firstIndex(where: { Double($0.head) >= position }), index > 0
        else { return 0 }
        let (before, behind) = (marks[index - 1], marks[index])
        let share = (position - Double(before.head)) / Double(behind.head - before.head)
        return before.seconds + share * (behind.seconds - before.seconds)
    }
}
