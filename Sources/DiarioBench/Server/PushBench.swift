import Diario
import DiarioCore
import DiarioLog
import DiarioSync
import DiarioTransport

/// `diario-bench push`: what sending events to a server costs.
struct PushBench {
    static let help = """
        diario-bench push [OPTIONS]
          A replica pushes to `diario serve`, over HTTP on this machine.
          First many events that were recorded without a network, with derived ids: bytes on the
          wire, headers and answers among them, and round trips; then the server is killed, and
          what is on its disk is counted.
          Then one event for each push, one behind the other: processor time of the server, against
          a handler in C with libmicrohttpd that suspends the connection, appends the same bytes to
          a file, syncs it, resumes and answers. Both get the same requests by the same client.

          --only LIST     some of: many, small (all)
          --events N      events that are pushed at once (100000)
          --pushes N      events that are pushed one by one for each run (1000)
          --runs N        runs of each side, in turn (5)
          --program FILE  the server (diario, beside this program)
          --seed S        of the workload (1)
          --json          one JSON object instead of a table

        """

    private enum Variant: String, CaseIterable {
        case many, small
    }

    let program: String
    let options: WorkloadOptions
    let pushCount: Int
    let runs: Int
    let scratch: Scratch

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let variants = try arguments.choices("--only", Variant.self) ?? Variant.allCases
        let seed = UInt64(try arguments.count("--seed", 0...Int.max) ?? 1)
        let count = try arguments.count("--events", 1...10_000_000) ?? 100_000
        let bench = PushBench(
            program: try Child.program(&arguments),
            options: WorkloadOptions(eventCount: count, seed: seed, identifiers: .derived),
            pushCount: try arguments.count("--pushes", 1...100_000) ?? 1000,
            runs: try arguments.count("--runs", 1...1000) ?? 5,
            scratch: try Scratch()
        )
        try arguments.finish()
        var report = Report(
            benchmark: "push",
            settings: [
                ("events", "\(count)"), ("ids", "derived"), ("pushes", "\(bench.pushCount)"),
                ("runs", "\(bench.runs)"), ("seed", "\(seed)"),
            ]
        )
        if variants.contains(.many) { report.measurements += try await bench.measureMany() }
        if variants.contains(.small) { report.measurements += try await bench.measureSmall() }
        report.show(asJSON: asJSON)
    }

    // MARK: Many events at once

    private func measureMany() async throws(BenchError) -> [Measurement] {
        try await scratch.withFolder("many") { (path) throws(BenchError) in
            let count = options.eventCount
            let data = path + "/server"
            let server = try await BenchServer(program, data, in: scratch)
            let replica = try await server.replica(at: path + "/replica")
            let before = replica.head
            var lane = try WorkloadLane(replica.space, options)
            try lane.record(count)
            let start = ContinuousClock.now
            let report = try await replica.sync()
            let time = seconds(since: start)
            guard report.pushed == count, report.rejected == 0, report.pending == 0 else {
                throw .failed("of \(count) events \(report.pushed) were pushed: \(report)")
            }
            server.process.end(atOnce: true)
            try await replica.close()
            let kept = try Self.check(data) - before
            let bytes = report.bytesSent + report.bytesReceived
            var size = Measurement(
                "\(number(Double(count))) events: bytes on the wire for each",
                unit: "B",
                value: Spread([Double(bytes) / Double(count)]),
                goal: .atMost(20)
            )
            size.figures = [
                ("bytes sent for each", Spread([Double(report.bytesSent) / Double(count)])),
                ("bytes received in all", Spread([Double(report.bytesReceived)])),
                ("events a second", Spread([Double(count) / time])),
            ]
            return [
                size,
                Measurement(
                    "round trips for 50,000 events",
                    unit: "",
                    value: Spread([Double(report.requests) * 50_000 / Double(count)]),
                    goal: .atMost(2)
                ),
                Measurement(
                    "events on the disk of a server that is killed then",
                    unit: "",
                    Double(kept),
                    against: Double(count),
                    goal: .atLeast(1)
                ),
            ]
        }
    }

    /// What a killed server left of the space: how many events, each of which is as it should be.
    private static func check(_ data: String) throws(BenchError) -> UInt64 {
        try BenchSpace.diario { () throws(DiarioError) in
            let space = try Space.open(at: data, access: .readWrite)
            let result = try space.verify { _ in }
            guard result.isOK else { throw DiarioError(.corrupt, "\(result.faults)") }
            let head = space.store.standing(of: space.id).head
            try space.close()
            return head
        }
    }

    // MARK: One event for each push

    private func measureSmall() async throws(BenchError) -> [Measurement] {
        try await scratch.withFolder("small") { (path) throws(BenchError) in
            let server = try await BenchServer(program, path + "/server", in: scratch)
            let bare = try await BareServer(
                .append(path: path + "/appended"),
                in: scratch
            )
            try await server.clone(to: path + "/replica")
            let pushes = try SmallPushes(
                of: try BenchReplica(opening: path + "/replica"),
                pushCount: pushCount,
                options: WorkloadOptions(
                    eventCount: 20_000,
                    seed: options.seed,
                    identifiers: .derived
                )
            )
            let transport = try await server.transport()
            let bareTransport = try await bare.transport()
            var requests: [[UInt8]] = []
            let pairs = try await compare(
                runs: runs,
                ours: { () async throws(BenchError) in
                    requests = try pushes.next()
                    return try await Self.send(requests, by: transport, to: server.process) {
                        (answer) throws(BenchError) in
                        try SyncBench.expectAcceptance(answer, of: 1)
                    }
                },
                baseline: { () async throws(BenchError) in
                    try await Self.send(requests, by: bareTransport, to: bare.process) { _ in }
                }
            )
            try pushes.close()
            server.process.end()
            bare.process.end()
            return [
                Measurement(
                    "\(pushCount) pushes of one event: the server's processor time",
                    pairs,
                    goal: .atMost(2),
                    isTime: true
                )
            ]
        }
    }

    /// Sends requests one behind the other; gives what that took the server.
    private static func send(
        _ requests: [[UInt8]],
        by transport: HTTPTransport,
        to process: ServingProcess,
        check: ([UInt8]) throws(BenchError) -> Void
    ) async throws(BenchError) -> Sample {
        let before = process.processorNanoseconds
        let start = ContinuousClock.now
        var answers: [[UInt8]] = []
        for request in requests {
            answers.append(try await BenchSpace.carried { try await transport.exchange(request) })
        }
        let time = seconds(since: start)
        let processor = process.processorNanoseconds - before
        for answer in answers { try check(answer) }
        let count = Double(requests.count)
        return Sample(
            seconds: Double(processor) / 1e9,
            events: requests.count,
            figures: [
                ("us of processor for each", Double(processor) / 1000 / count),
                ("us by the clock for each", time * 1e6 / count),
                ("bytes of a message", Double(requests.reduce(0) { $0 + $1.count }) / count),
            ]
        )
    }
}

/// Pushes of one event each, as they travel.
private final class SmallPushes {
    private let replica: BenchReplica
    private let events: PreparedEvents
    private let pushCount: Int
    private var recorded = 0

    init(
        of replica: BenchReplica,
        pushCount: Int,
        options: WorkloadOptions
    ) throws(BenchError) {
        self.replica = replica
        self.pushCount = pushCount
        events = try PreparedEvents(options)
    }

    /// Records events, and makes a message for each.
    func next() throws(BenchError) -> [[UInt8]] {
        try replica.record(recorded..<recorded + pushCount, of: events)
        let pending = try replica.pending()
        let first = pending.sequences.lowerBound + UInt64(recorded)
        recorded += pushCount
        var requests: [[UInt8]] = []
        for sequence in first..<first + UInt64(pushCount) {
            let one = PendingEvents(replica: pending.replica, sequences: sequence...sequence)
            requests.append(try replica.push(one))
        }
        return requests
    }

    func close() throws(BenchError) { try replica.close() }
}
