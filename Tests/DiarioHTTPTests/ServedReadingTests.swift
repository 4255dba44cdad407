import Diario
import DiarioCore
import DiarioHTTP
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Synchronization
import Testing

/// Questions and scans that would take long.
@Suite(.waits) struct ServedReadingTests {
    private static let path = "/v1/spaces/home/events"

    /// A pack with a query that has no end.
    private static let pack = Result {
        try Pack(
            files: [
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
                    INSERT INTO thing (name) VALUES (:name);
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
            ].map { PackFile(path: $0.0, bytes: Array($0.1.utf8)) }
        )
    }

    private func ask(_ token: String) -> HTTPRequest {
        HTTPRequest(
            "GET",
            "/v1/spaces/home/queries/endless",
            headers: ServedWorld.bearing(token)
        )
    }

    /// It was 413, as if the answer were too large.
    @Test func aQuestionThatTakesTooLongIs504() throws {
        let world = try ServedWorld(packs: [try Self.pack.get()], questionTimeMax: .zero)
        let answer = try world.answer(ask(try world.token()))
        #expect(answer.status == 504, "\(answer.text)")
        #expect(answer.text.contains("urn:diario:problem:too-long"))
        #expect(answer.token != nil)
    }

    @Test func aQuestionEndsWhenItIsAskedTo() throws {
        let world = try ServedWorld(packs: [try Self.pack.get()])
        let request = ask(try world.token())
        let (stop, ended) = (BuildStop(), Signal())
        let status = Mutex(0)
        let reply = world.handler.reply(to: request, .first)
        guard case .reading(let reading) = reply else {
            Issue.record("it is not put in line")
            return
        }
        _ = WorkerThread(name: "question") {
            let answer = reading.read(stop)
            status.withLock { $0 = answer.status }
            ended.raise()
        }
        stop.ask()
        ended.wait()
        #expect(status.withLock { $0 } == 503)
    }

    @Test func aScanEndsEarlyAndSaysWhereToGoOn() throws {
        let world = try ServedWorld()
        let token = try world.token()
        // Each in a block of its own, which counts as 64 events.
        for _ in 0..<Limits.scanEventCountMax / 64 + 10 {
            let made = try world.post(Self.path, token, ServedWorld.weight("2026-03-01"))
            #expect(made.status == 201, "\(made.text)")
        }
        let now = try world.get(Self.path, token, query: [HTTPRequest.Parameter("offset", "now")])
        var (next, parts, found) = ("-1", 0, 0)
        while parts < 100 {
            let part = try world.get(
                Self.path,
                token,
                query: [
                    HTTPRequest.Parameter("offset", next),
                    HTTPRequest.Parameter("actor", "nobody"),
                ]
            )
            #expect(part.status == 200)
            found += try part.list().count
            parts += 1
            let offset = try #require(part.header("Stream-Next-Offset"))
            #expect(offset > next || next == "-1")
            next = offset
            guard part.header("Stream-Up-To-Date") == nil else { break }
            #expect(part.text == "[]\n")
        }
        #expect(found == 0)
        #expect(parts == 2)
        #expect(next == now.header("Stream-Next-Offset"))
    }

    /// A client that sends no more counts as gone, and may read on all the same: each answer must
    /// bring it further.
    @Test func aScanThatIsEndedHasLookedAtOneBlock() throws {
        let world = try ServedWorld()
        let token = try world.token()
        #expect(try world.post(Self.path, token, ServedWorld.weight("2026-03-01")).status == 201)
        let stop = BuildStop()
        stop.ask()
        let request = HTTPRequest(
            "GET",
            Self.path,
            query: [HTTPRequest.Parameter("type", "meals.")],
            headers: ServedWorld.bearing(token)
        )
        guard case .answer(let answer) = world.reply(request, until: stop) else {
            Issue.record("it is not answered")
            return
        }
        let offset = try #require(answer.header("Stream-Next-Offset"))
        #expect(offset > StreamText.offset(0))
        #expect(answer.header("Stream-Up-To-Date") == nil)
    }
}
