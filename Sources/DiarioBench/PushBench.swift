import Diario
import DiarioFormat
import DiarioLog
import DiarioSync
import DiarioTransport

/// `diario-bench push`: what sending one event to a server costs it.
enum PushBench {
    static let help = """
        diario-bench push [OPTIONS]
          A replica pushes to `diario serve`, over HTTP on this machine, one event for each push,
          one after the other: processor time of the server, against a handler in C with
          libmicrohttpd that suspends the connection, appends the same bytes to a file, syncs it,
          resumes and answers. Both get the same requests by the same client.

          --pushes N      events that are pushed for each run (1000)
          --runs N        runs of each side, in turn (5)
          --program FILE  the server (diario, beside this program)
          --seed S        of the workload (1)

        """

    static func run(_ arguments: inout Arguments) async throws -> Report {
        let program = try Child.program(&arguments)
        let seed = UInt64(try arguments.count("--seed", 0...Int.max) ?? 1)
        let count = try arguments.count("--pushes", 1...100_000) ?? 1000
        let runs = try arguments.count("--runs", 1...1000) ?? 5
        try arguments.finish()
        let scratch = try Scratch()
        let events = try PreparedEvents(
            WorkloadOptions(eventCount: 20_000, seed: seed, identifiers: .derived)
        )
        let pairs = try await scratch.withFolder("push") { path in
            let data = path + "/server"
            let packs = ["--pack", "all"]
            let space = try BenchServer.Named(
                making: "home",
                with: packs,
                program,
                data,
                in: scratch
            )
            let server = try await BenchServer(program, data, in: scratch)
            let bare = try await BareServer.start(path + "/appended", in: scratch)
            let clone = ["clone", server.address(of: space), path + "/replica"]
            try Child.runTool(program, clone + ["--token", space.token])
            let replica = try BenchReplica(opening: path + "/replica")
            let transport = try server.transport(to: space)
            // The token is as long as that of a real one.
            let bareTransport = try HTTPTransport(
                to: "http://127.0.0.1:\(bare.port)/v1/spaces/home",
                token: space.token
            )
            var (recorded, requests) = (0, [[UInt8]]())
            let pairs = try await compare(runs: runs) {
                requests = try replica.pushes(of: recorded..<recorded + count, events)
                recorded += count
                let (sample, answers) = try await send(requests, transport, to: server.process)
                for answer in answers { try expectAcceptance(answer) }
                return sample
            } baseline: {
                try await send(requests, bareTransport, to: bare).sample
            }
            try replica.store.close()
            return pairs
        }
        let name = "\(count) pushes of one event: the server's processor time"
        return Report(
            benchmark: "push",
            settings: [("pushes", "\(count)"), ("runs", "\(runs)"), ("seed", "\(seed)")],
            measurements: [Measurement(name, pairs, goal: .atMost(2), isTime: true)]
        )
    }

    private static func expectAcceptance(_ answer: [UInt8]) throws {
        let message = try SyncMessage(answer.span)
        guard case .verdicts(let verdicts) = message, verdicts.list.count == 1,
            verdicts.list[0].count == 1, case .accepted = verdicts.list[0].kind
        else { throw BenchError.failed("a push was answered by \(message)") }
    }

    /// Sends requests one after the other; gives what that took the server.
    private static func send(
        _ requests: [[UInt8]],
        _ transport: HTTPTransport,
        to process: ServingProcess
    ) async throws -> (sample: Sample, answers: [[UInt8]]) {
        let before = process.processorNanoseconds
        let start = ContinuousClock.now
        var answers: [[UInt8]] = []
        for request in requests { answers.append(try await transport.exchange(request)) }
        let time = seconds(since: start)
        let processor = process.processorNanoseconds - before
        let count = Double(requests.count)
        let sample = Sample(
            seconds: Double(processor) / 1e9,
            events: requests.count,
            figures: [
                ("us of processor for each", Double(processor) / 1000 / count),
                ("us by the clock for each", time * 1e6 / count),
                ("bytes of a message", Double(requests.reduce(0) { $0 + $1.count }) / count),
            ]
        )
        return (sample, answers)
    }
}
