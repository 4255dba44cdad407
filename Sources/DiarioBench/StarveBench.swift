import CBaseline
import DiarioStorage

/// `diario-bench starve`: one space that is asked without end, beside another one.
struct StarveBench {
    static let help = """
        diario-bench starve [OPTIONS]
          Clients ask one space of `diario serve` questions that have no end, others have it look
          through all events for what is not there, and each asks again at once. Meanwhile another
          space is pushed to and read from, one request behind the other, over HTTP on this
          machine: the time within which 99 of 100 are answered, against the same of a server that
          has nothing else to do, before and after it.

          --questions N   clients with questions (40)
          --scans N       clients that look for what is not there (200)
          --events N      events of the space that is asked (100000)
          --rounds N      pushes, and pages that are read (1000)
          --program FILE  the server (diario, beside this program)

        """

    let program: String
    let questionCount: Int
    let scanCount: Int
    let eventCount: Int
    let roundCount: Int
    let scratch: Scratch

    /// The time that is short enough whatever it is on a quiet server.
    private static let enoughMilliseconds = 25.0

    static func run(_ arguments: inout Arguments) async throws -> Report {
        let bench = StarveBench(
            program: try Child.program(&arguments),
            questionCount: try arguments.count("--questions", 0...1000) ?? 40,
            scanCount: try arguments.count("--scans", 0...5000) ?? 200,
            eventCount: try arguments.count("--events", 1...10_000_000) ?? 100_000,
            roundCount: try arguments.count("--rounds", 100...100_000) ?? 1000,
            scratch: try Scratch()
        )
        try arguments.finish()
        return Report(
            benchmark: "starve",
            settings: [
                ("questions", "\(bench.questionCount)"), ("scans", "\(bench.scanCount)"),
                ("events", "\(bench.eventCount)"), ("rounds", "\(bench.roundCount)"),
            ],
            measurements: try await bench.measure()
        )
    }

    /// Milliseconds of requests, from the smallest on.
    private struct Times {
        var pushes: [Double] = []
        var pages: [Double] = []

        static func worst(_ times: [Double]) -> Double {
            let sorted = times.sorted()
            return sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
        }
    }

    private func measure() async throws -> [Measurement] {
        try await scratch.withFolder("starve") { path in
            let data = path + "/server"
            try makePack(at: path + "/pack")
            func named(_ name: String) throws -> BenchServer.Named {
                let packs = ["--schema", path + "/pack"]
                return try .init(making: name, with: packs, program, data, in: scratch)
            }
            let (busy, quiet) = (try named("busy"), try named("quiet"))
            let server = try await BenchServer(program, data, in: scratch)
            let port = server.process.port
            try fill(busy, port)
            // The first ones warm up.
            _ = try times(quiet, port)
            let before = try times(quiet, port)
            let crowd = unsafe baseline_crowd_start(
                port,
                request(busy, "/queries/endless", more: "Connection: close\r\n"),
                questionCount,
                request(busy, "/events?offset=-1&actor=nobody", more: "Connection: close\r\n"),
                scanCount
            )
            guard let crowd = unsafe crowd else {
                throw BenchError.failed("the clients do not start")
            }
            var counts: [Int64] = [0, 0, 0]
            let beside: Times
            do { beside = try times(quiet, port) } catch {
                _ = unsafe baseline_crowd_end(crowd, &counts)
                throw error
            }
            // Safe: C writes three numbers, and nobody uses the clients afterwards.
            let error = unsafe baseline_crowd_end(crowd, &counts)
            guard error == 0 else { throw BenchError.failed("a client ended with error \(-error)") }
            let after = try times(quiet, port)
            return measurements(before, beside, after, counts)
        }
    }

    private func measurements(
        _ before: Times,
        _ beside: Times,
        _ after: Times,
        _ counts: [Int64]
    ) -> [Measurement] {
        func measurement(_ name: String, _ part: (Times) -> [Double]) -> Measurement {
            let alone = Times.worst(part(before) + part(after))
            var measurement = Measurement(
                "99 of 100 \(name), beside them against alone",
                unit: "ms",
                Times.worst(part(beside)),
                against: alone,
                goal: .atMost(max(5, Self.enoughMilliseconds / alone))
            )
            measurement.figures = [
                ("median beside them, ms", Spread([Spread(part(beside)).median])),
                ("median alone, ms", Spread([Spread(part(before) + part(after)).median])),
                ("longest beside them, ms", Spread([Spread(part(beside)).max])),
            ]
            return measurement
        }
        var answers = Measurement(
            "answers to them: scans",
            unit: "",
            value: Spread([Double(counts[0])])
        )
        answers.figures = [
            ("no turn came: 503", Spread([Double(counts[1])])),
            ("others", Spread([Double(counts[2])])),
        ]
        return [
            measurement("pushes", \.pushes), measurement("pages", \.pages), answers,
        ]
    }

    /// Pushes and reads in turn, on a connection that stays open.
    private func times(_ client: BenchServer.Named, _ port: UInt16) throws -> Times {
        let connection = baseline_connect(port)
        guard connection >= 0 else {
            throw BenchError.failed("cannot connect: error \(-connection)")
        }
        defer { System.close(connection) }
        var times = Times()
        for round in 0..<roundCount {
            times.pushes.append(try ask(connection, request(client, "/events", body: event(round))))
            let page = request(client, "/events?offset=-1&limit=100")
            times.pages.append(try ask(connection, page))
        }
        return times
    }

    private func fill(_ client: BenchServer.Named, _ port: UInt16) throws {
        let connection = baseline_connect(port)
        guard connection >= 0 else {
            throw BenchError.failed("cannot connect: error \(-connection)")
        }
        defer { System.close(connection) }
        for first in stride(from: 0, to: eventCount, by: 1000) {
            let events = (first..<min(eventCount, first + 1000)).map { event($0) }
            let body = events.joined(separator: "\n")
            _ = try ask(connection, request(client, "/events", body: body))
        }
    }

    private func request(
        _ space: BenchServer.Named,
        _ path: String,
        more: String = "",
        body: String = ""
    ) -> String {
        let method = body.isEmpty ? "GET" : "POST"
        return "\(method) /v1/spaces/\(space.name)\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            + "Authorization: Bearer \(space.token)\r\nContent-Type: application/x-ndjson\r\n"
            + (body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n")
            + more + "\r\n" + body
    }

    private func ask(_ connection: Int32, _ request: String) throws -> Double {
        var status: Int32 = 0
        // Safe: C reads the text during the call, and does not keep it.
        let nanoseconds = unsafe baseline_ask(connection, request, &status)
        guard nanoseconds >= 0 else { throw BenchError.failed("no answer: error \(-nanoseconds)") }
        guard status / 100 == 2 else {
            throw BenchError.failed("a request is answered with \(status)")
        }
        return Double(nanoseconds) / 1e6
    }

    private func event(_ number: Int) -> String {
        #"{"type":"slow.thing.seen","payload":{"name":"thing \#(number)"}}"#
    }

    /// A pack with a query that has no end.
    private func makePack(at path: String) throws {
        let files = [
            ("pack.json", #"{"name":"slow","version":1}"#),
            (
                "events/thing.seen.1.json",
                """
                { "title": "slow.thing.seen", "x-diario-version": 1, "type": "object",
                  "additionalProperties": false, "required": ["name"],
                  "properties": { "name": { "type": "string", "maxLength": 40 } } }
                """
            ),
            (
                "readmodel/things.sql",
                """
                -- readmodel things version 1: what was seen
                CREATE TABLE thing (name TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;

                -- on slow.thing.seen
                INSERT INTO thing (name) VALUES (:name) ON CONFLICT (name) DO NOTHING;
                """
            ),
            (
                "queries/endless.sql",
                """
                -- query endless(): numbers without an end
                WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
                SELECT count(*) AS n FROM c;
                """
            ),
        ]
        for folder in ["", "/events", "/readmodel", "/queries"] {
            _ = try POSIXDirectory(path: path + folder, access: .create)
        }
        for (name, text) in files { try System.write(text, to: path + "/" + name) }
    }
}
