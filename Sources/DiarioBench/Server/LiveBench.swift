import CBaseline

/// `diario-bench live`: readers that wait for events.
struct LiveBench {
    static let help = """
        diario-bench live [OPTIONS]
          Many readers have a stream of server-sent events each, from `diario serve` over HTTP on
          this machine: memory of the server for each of them while nothing happens, and how long
          it takes from sending one event by POST until it has reached all. Against a handler in C
          with libmicrohttpd that sends what is posted to as many streams, whose connections are
          suspended meanwhile. The server syncs the event to its disk first; C does not, so how
          long the disk takes for that is measured beside it, in each round.

          --readers N     readers (2000)
          --rounds N      events, one behind the other (20)
          --program FILE  the server (diario, beside this program)
          --json          one JSON object instead of a table

        """

    let program: String
    let readerCount: Int
    let roundCount: Int
    let scratch: Scratch

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let bench = LiveBench(
            program: try Child.program(&arguments),
            readerCount: try arguments.count("--readers", 1...100_000) ?? 2000,
            // A stream ends after a minute.
            roundCount: try arguments.count("--rounds", 1...100) ?? 20,
            scratch: try Scratch()
        )
        try arguments.finish()
        guard baseline_raise_file_limit() > Int64(bench.readerCount + 100) else {
            throw .failed("too few files may be open for so many readers: raise ulimit -n")
        }
        Report(
            benchmark: "live",
            settings: [("readers", "\(bench.readerCount)"), ("rounds", "\(bench.roundCount)")],
            measurements: try await bench.measure()
        ).show(asJSON: asJSON)
    }

    private func measure() async throws(BenchError) -> [Measurement] {
        try await scratch.withFolder("live") { (path) throws(BenchError) in
            let server = try await BenchServer(program, path + "/server", in: scratch)
            let bare = try await BareServer(.broadcast, in: scratch)
            let ours = try Side(
                server.process,
                request: server.head("GET", "/events?offset=now&live=sse") + "\r\n",
                readerCount
            ) { round in
                let event = Self.event(round)
                return server.head("POST", "/events") + "Content-Type: application/json\r\n"
                    + "Content-Length: \(event.utf8.count)\r\n\r\n" + event
            }
            let baseline = try Side(
                bare.process,
                request: "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                readerCount
            ) { round in
                let piece = Self.piece(round)
                return "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                    + "Content-Length: \(piece.utf8.count)\r\n\r\n" + piece
            }
            var times: [(ours: [Double], baseline: [Double])] = []
            var syncs: [Double] = []
            let file = path + "/sync"
            // Safe: C reads the path during the call, and does not keep it.
            guard unsafe baseline_fill(file, 65_536) == 0 else {
                throw .failed("cannot write \(file)")
            }
            // The first one warms up.
            for round in 0...roundCount {
                let pair: (ours: [Double], baseline: [Double])
                if round % 2 == 0 {
                    let time = try ours.send(round)
                    pair = (time, try baseline.send(round))
                } else {
                    let time = try baseline.send(round)
                    pair = (try ours.send(round), time)
                }
                let sync = try Self.sync(file)
                if round > 0 {
                    times.append(pair)
                    syncs.append(sync)
                }
            }
            server.process.end()
            bare.process.end()
            return measurements(ours, baseline, times, syncs)
        }
    }

    /// Milliseconds that the disk takes to sync as much as an event.
    private static func sync(_ file: String) throws(BenchError) -> Double {
        // Safe: C reads the texts during the call and keeps neither.
        let seconds = unsafe baseline_sync_loop(file, "", 512, 1, 0, 512)
        guard seconds >= 0 else { throw .failed("cannot sync \(file)") }
        return seconds * 1000
    }

    /// A server with its readers.
    private struct Side {
        /// Bytes that the server takes for each reader.
        let memory: Double
        private let readers: LiveReaders
        private let post: (Int) -> String

        init(
            _ process: ServingProcess,
            request: String,
            _ count: Int,
            post: @escaping (Int) -> String
        ) throws(BenchError) {
            // A few readers first: what the server makes once is not counted.
            do {
                let few = try LiveReaders(10, to: process.port, by: request)
                _ = try few.post(
                    post(LiveBench.firstRound),
                    until: LiveBench.marker(LiveBench.firstRound)
                )
            }
            let before = process.memory
            readers = try LiveReaders(count, to: process.port, by: request)
            memory = Double(process.memory - before) / Double(count)
            self.post = post
        }

        func send(_ round: Int) throws(BenchError) -> [Double] {
            try readers.post(post(round), until: LiveBench.marker(round))
        }
    }

    /// One that is counted nowhere.
    private static let firstRound = 1000

    private static func marker(_ round: Int) -> String { "the event \(10_000 + round)" }

    private static func event(_ round: Int) -> String {
        #"{"type":"meals.weight.recorded","payload":{"day":"2026-03-02","weightG":78400,"#
            + #""source":"manual","note":"\#(marker(round))"}}"#
    }

    /// About as large as what our server sends for an event; whoever comes later gets it first.
    private static func piece(_ round: Int) -> String {
        let event = event(round)
        let rest = String(repeating: " ", count: max(0, 300 - event.utf8.count))
        return "event: data\ndata:[\(event)\(rest)]\n\nevent: control\ndata:{\"upToDate\":true}\n\n"
    }

    private func measurements(
        _ ours: Side,
        _ baseline: Side,
        _ times: [(ours: [Double], baseline: [Double])],
        _ syncs: [Double]
    ) -> [Measurement] {
        let all = times.flatMap(\.ours).sorted()
        let bare = times.flatMap(\.baseline).sorted()
        var memory = Measurement(
            "memory of the server for each reader",
            unit: "B",
            value: Spread([ours.memory]),
            goal: .atMost(10_000)
        )
        memory.figures = [("baseline: bytes for each reader", Spread([baseline.memory]))]
        let bound = max(2 * Self.share(99, of: bare), 40)
        var slowest = Measurement(
            "one event to all readers: p99",
            unit: "ms",
            value: Spread([Self.share(99, of: all)]),
            goal: .atMost(bound)
        )
        slowest.figures = [
            ("p99 of a round", Spread(times.map { Self.share(99, of: $0.ours) })),
            ("p50 of a round", Spread(times.map { Self.share(50, of: $0.ours) })),
            ("baseline: p99 of all", Spread([Self.share(99, of: bare)])),
            ("baseline: p99 of a round", Spread(times.map { Self.share(99, of: $0.baseline) })),
            ("baseline: p50 of a round", Spread(times.map { Self.share(50, of: $0.baseline) })),
            ("baseline: a sync of the disk", Spread(syncs)),
        ]
        return [
            memory,
            Measurement(
                "one event to all readers: p50",
                unit: "ms",
                Self.share(50, of: all),
                against: Self.share(50, of: bare),
                goal: .none
            ),
            slowest,
        ]
    }

    /// The value that so many of 100 are not above.
    private static func share(_ percent: Int, of sorted: [Double]) -> Double {
        sorted[min(sorted.count - 1, sorted.count * percent / 100)]
    }
}
