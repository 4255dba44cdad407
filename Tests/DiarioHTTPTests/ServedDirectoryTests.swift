import Diario
import DiarioCore
import DiarioHTTP
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Testing

/// Requests that are not about single events: schema/format/http.md.
struct ServedDirectoryTests {
    @Test func whoHasNoTokenLearnsNothing() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let nobody = try world.get("/v1/spaces/home", nil)
        #expect(nobody.status == 401)
        #expect(nobody.header("WWW-Authenticate") != nil)
        #expect(try world.get("/v1/spaces/home", "diario_x_y").status == 401)
        #expect(try world.get("/v1/spaces/other", token).status == 404)
        let foreign = try world.token(for: "work")
        let hidden = try world.get("/v1/spaces/home", foreign)
        let missing = try world.get("/v1/spaces/none", foreign)
        #expect(hidden.status == 404)
        #expect(hidden.text == missing.text)
        #expect(try world.get("/v1/spaces/home", token).status == 200)
        // A body is not even read.
        #expect(try world.post("/v1/spaces/home/events", nil, "{}").status == 401)
    }

    @Test(arguments: [
        "", "/", "/v1", "/v1/spaces/", "/v1/spaces/home/none", "/v1/spaces/home/events/1/2",
        "/v1/spaces/home/segments/../manifest", "/v1/spaces/home/segments/%2e%2e", "/healthz/",
        "//v1/spaces", "/v2/spaces/home",
    ])
    func aPathThatLeadsNowhere(path: String) throws {
        let world = try ServedWorld()
        let answer = try world.get(path, try world.token())
        #expect(answer.status == 404)
        #expect(answer.header("Content-Type") == "application/problem+json")
    }

    @Test func aMethodThatAPathHasNot() throws {
        let world = try ServedWorld()
        let answer = try world.answer(HTTPRequest("PUT", "/v1/spaces/home/events"))
        #expect(answer.status == 405)
        #expect(answer.header("Allow") == "GET, HEAD, POST, OPTIONS")
    }

    @Test func browsersMayAsk() throws {
        let world = try ServedWorld()
        let preflight = try world.answer(
            HTTPRequest(
                "OPTIONS",
                "/v1/spaces/home/events",
                headers: ["origin": "https://example.org"]
            )
        )
        #expect(preflight.status == 204)
        #expect(preflight.header("Access-Control-Allow-Origin") == "*")
        #expect(preflight.header("Access-Control-Allow-Methods")?.contains("POST") ?? false)
        let refused = try world.get(
            "/v1/spaces/home",
            nil,
            headers: ["origin": "https://example.org"]
        )
        #expect(refused.header("Access-Control-Allow-Origin") == "*")
    }

    @Test func aBodyOfAnotherKindIsNotRead() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let path = "/v1/spaces/home/events"
        for type in ["text/plain", "", "application/json; charset=latin1"] {
            #expect(try world.post(path, token, "{}", type: type).status == 415)
        }
        let packed = try world.answer(
            HTTPRequest(
                "POST",
                path,
                headers: ServedWorld.bearing(
                    token,
                    ["content-type": "application/json", "content-encoding": "gzip"]
                ),
                body: [0x1f]
            )
        )
        #expect(packed.status == 415)
    }

    @Test func aSpaceGetsItsPacksWhenItIsFirstAskedFor() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let answer = try world.get("/v1/spaces/home", token)
        #expect(answer.text.contains(#""name":"meals""#))
        let list = try world.get("/v1/spaces", token)
        #expect(try list.list().count == 1)
        let packs = try world.get("/v1/spaces/home/packs", token)
        guard case .array(let items) = try packs.member("packs"),
            case .string(let fingerprint) = items.first?.value.member("fingerprint")?.item.value
        else {
            Issue.record("no packs are listed: \(packs.text)")
            return
        }
        let pack = try world.get("/v1/spaces/home/packs/\(fingerprint)", token)
        #expect(pack.status == 200)
        #expect(pack.text.contains("pack.json"))
        let none = String(repeating: "0", count: fingerprint.count)
        #expect(try world.get("/v1/spaces/home/packs/\(none)", token).status == 404)
    }

    @Test func aReplicaWaitsForNews() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let path = "/v1/spaces/home/head"
        guard case .integer(let head) = try world.get(path, token).member("head") else {
            Issue.record("no head is told")
            return
        }
        let after = [HTTPRequest.Parameter("after", "\(head)")]
        let request = HTTPRequest("GET", path, query: after, headers: ServedWorld.bearing(token))
        guard case .wait = world.reply(request) else {
            Issue.record("it does not wait")
            return
        }
        #expect(try world.answer(request, isLast: true).status == 204)
        #expect(
            try world.get(
                path,
                token,
                query: after + [HTTPRequest.Parameter("wait", "0")]
            ).status == 204
        )
        let event = ServedWorld.weight("2026-03-01")
        #expect(try world.post("/v1/spaces/home/events", token, event).status == 201)
        #expect(try world.answer(request).status == 200)
    }

    @Test func queriesAnswer() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let list = try world.get("/v1/spaces/home/queries", token)
        #expect(list.text.contains(#""pack":"meals""#))
        let path = "/v1/spaces/home/queries/weights"
        let values = [
            HTTPRequest.Parameter("user", "alice"), HTTPRequest.Parameter("first", "2026-03-01"),
            HTTPRequest.Parameter("last", "2026-03-31"),
        ]
        #expect(try world.get(path, token, query: values).text == "[]\n")
        let event = String(ServedWorld.weight("2026-03-01").dropLast()) + #","actor":"alice"}"#
        #expect(try world.post("/v1/spaces/home/events", token, event).status == 201)
        #expect(try world.get(path, token, query: values).list().count == 1)
        #expect(try world.get(path, token).status == 400)
        #expect(try world.get("/v1/spaces/home/queries/none", token).status == 404)
        let wrong = [HTTPRequest.Parameter("nothing", "1")]
        #expect(try world.get(path, token, query: wrong).status == 400)
    }

    @Test func sealedEventsAreCopiedAsTheyLie() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let lines = (0..<300).map { _ in ServedWorld.weight("2026-03-01") }
        let made = try world.post(
            "/v1/spaces/home/events",
            token,
            lines.joined(separator: "\n"),
            type: "application/x-ndjson"
        )
        #expect(made.status == 201, "\(made.text)")
        let id = try #require(try world.control.spaces().first).id
        _ = try world.store.seal(id, all: true, waitSeconds: 600)
        let list = try world.get("/v1/spaces/home/segments", token)
        guard case .array(let segments) = try list.member("segments"),
            case .array(let files) = segments.first?.value.member("files")?.item.value,
            case .string(let name) = files.first?.value.member("name")?.item.value,
            case .integer(let size) = files.first?.value.member("size")?.item.value
        else {
            Issue.record("no file is listed: \(list.text)")
            return
        }
        let path = "/v1/spaces/home/segments/\(name)"
        let whole = try world.get(path, token)
        guard case .file(let sent) = whole.body else {
            Issue.record("it is no file")
            return
        }
        #expect(sent.offset == 0 && sent.count == Int(size))
        let tag = try #require(whole.header("ETag"))
        #expect(try world.get(path, token, headers: ["if-none-match": tag]).status == 304)
        for (range, start, count) in [
            ("bytes=0-9", 0, 10), ("bytes=10-", 10, Int(size) - 10),
            ("bytes=-7", Int(size) - 7, 7), ("bytes=5-99999999", 5, Int(size) - 5),
        ] {
            let part = try world.get(path, token, headers: ["range": range])
            #expect(part.status == 206)
            guard case .file(let sent) = part.body else { continue }
            #expect(sent.offset == start && sent.count == count)
        }
        let behind = try world.get(path, token, headers: ["range": "bytes=99999999-"])
        #expect(behind.status == 416)
        #expect(try world.get("/v1/spaces/home/segments/manifest", token).status == 404)
    }

    @Test func administratorsGiveAndRevokeTokens() throws {
        let world = try ServedWorld()
        let admin = try world.token([.admin])
        let path = "/v1/spaces/home/tokens"
        let plain = try world.token()
        #expect(try world.get(path, plain).status == 403)
        let made = try world.post(path, admin, #"{"rights":["read"],"label":"kiosk"}"#)
        #expect(made.status == 201)
        guard case .string(let text) = try made.member("token"),
            case .string(let id) = try made.member("id")
        else {
            Issue.record("no token is told: \(made.text)")
            return
        }
        #expect(try world.get("/v1/spaces/home", text).status == 200)
        #expect(try !world.get(path, admin).text.contains(text))
        let revoke = HTTPRequest("DELETE", path + "/" + id, headers: ServedWorld.bearing(admin))
        #expect(try world.answer(revoke).status == 200)
        #expect(try world.get("/v1/spaces/home", text).status == 401)
        for body in ["[]", #"{"rights":"read"}"#, #"{"rights":["all"]}"#, #"{"name":"x"}"#, "{"] {
            #expect(try world.post(path, admin, body).status == 400)
        }
    }

    @Test func aReplicaThatSyncsIsListed() throws {
        let world = try ServedWorld()
        let token = try world.token(actor: "alice")
        let admin = try world.token([.admin])
        let answer = try world.answer(
            HTTPRequest(
                "POST",
                "/v1/spaces/home/sync",
                headers: ServedWorld.bearing(
                    token,
                    [
                        "content-type": "application/vnd.diario.message",
                        "accept": "application/vnd.diario.message",
                        "diario-replica": "7zk3m9q2c1f4a",
                    ]
                ),
                body: [1, 2, 3]
            )
        )
        #expect(answer.status == 400)
        guard case .bytes(let bytes) = answer.body,
            case .refusal(let refusal) = try SyncMessage(bytes.span)
        else {
            Issue.record("it is no message")
            return
        }
        #expect(refusal.reason == .malformed)
        let list = try world.get("/v1/spaces/home/replicas", admin)
        #expect(list.text.contains("7zk3m9q2c1f4a"), "\(list.text)")
        #expect(try world.get("/v1/spaces/home/replicas", token).status == 403)
    }

    @Test func anotherVersionIsToldWhichOneIsSpoken() throws {
        let world = try ServedWorld()
        var message = SyncMessage.compare(
            Compare(lineage: Lineage(high: 1, low: 2), points: [])
        ).encoded()
        message[4] = SyncMessage.version + 1
        let answer = try world.answer(
            HTTPRequest(
                "POST",
                "/v1/spaces/home/sync",
                headers: ServedWorld.bearing(
                    try world.token(),
                    ["content-type": "application/vnd.diario.message"]
                ),
                body: message
            )
        )
        #expect(answer.status == 426)
        let upgrade = answer.headers.first { $0.name == "Upgrade" }
        #expect(upgrade?.value == "diario/\(SyncMessage.version)")
    }

    @Test func theServerSaysThatItIsWell() throws {
        let world = try ServedWorld()
        #expect(try world.get("/healthz", nil).status == 200)
        #expect(try world.get("/metrics", nil).status == 200)
    }

    /// Whoever restarts a server that is slow makes it slower.
    @Test func aServerThatIsSlowIsWellAndSaysSo() throws {
        let world = try ServedWorld()
        var counters = ServerCounters.Snapshot()
        counters.isSlow = true
        counters.late = 3
        world.handler.measure { [counters] in counters }
        let health = try world.get("/healthz", nil)
        #expect(health.status == 200)
        #expect(health.text.contains(#""status":"slow""#))
        #expect(try world.get("/metrics", nil).text.contains("\ndiario_late_total 3\n"))
    }

    /// A server did not begin at all, and one that ran took a space without a manifest for a new
    /// one.
    @Test(arguments: ["gone", "other bytes", "a folder"]) func aDamagedSpaceStopsNoOther(
        manifest: String
    ) throws {
        let world = try ServedWorld()
        let (home, work) = (try world.token(), try world.token(for: "work"))
        for (name, token) in [("home", home), ("work", work)] {
            #expect(try world.get("/v1/spaces/\(name)", token).status == 200)
        }
        let name = try #require(SpaceName("home"))
        let id = try #require(try world.control.space(name)).id
        let directory = try POSIXDirectory(
            path: world.folder.path + "/" + LogPaths.directoryName,
            access: .readWrite
        )
        let path = LogPaths.manifest(id)
        switch manifest {
        case "gone": try directory.remove(path)
        case "a folder":
            try directory.remove(path)
            try directory.makeDirectory(path)
        default: try Files.replace(path, with: [1, 2, 3], in: directory)
        }
        #expect(try world.store.brokenSpaces().map(\.space) == [id])
        // As one that is started then.
        let handler = ServedDirectory(
            ServedSpaces(world.store, world.control),
            SealedFiles(world.store, directory)
        )
        func status(_ path: String, _ token: String?) -> Int? {
            let headers = token.map { ["authorization": "Bearer \($0)"] } ?? [:]
            let request = HTTPRequest("GET", path, headers: headers)
            guard case .answer(let answer) = handler.reply(to: request, .last) else { return nil }
            return answer.status
        }
        for part in ["", "/events", "/segments", "/packs"] {
            #expect(status("/v1/spaces/home\(part)", home) == 503)
            #expect(status("/v1/spaces/work\(part)", work) == 200)
        }
        #expect(status("/healthz", nil) == 200)
        #expect(try world.get("/healthz", nil).text.contains("\"damaged\":1"))
        #expect(try world.store.hasSpace(id) == (manifest != "gone"))
    }
}
