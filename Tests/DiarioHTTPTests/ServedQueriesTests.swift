import Diario
import DiarioCore
import DiarioCrypto
import DiarioHTTP
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Testing

/// Queries for those who may ask nothing else: schema/format/http.md, section 8.
struct ServedQueriesTests {
    private static let path = "/v1/spaces/home/queries"
    /// For the query `weights`.
    private static let values = [
        HTTPRequest.Parameter("user", "alice"), HTTPRequest.Parameter("first", "2026-03-01"),
        HTTPRequest.Parameter("last", "2026-03-31"),
    ]

    private func patterns(_ texts: [String]) throws -> [QueryPattern] {
        try texts.map { try #require(QueryPattern($0)) }
    }

    private func token(_ texts: [String], in world: ServedWorld) throws -> String {
        _ = try world.token()
        var draft = TokenDraft(space: try #require(SpaceName("home")), rights: .ask)
        draft.queries = try patterns(texts)
        return try world.control.makeToken(draft, drawnFrom: SystemEntropy()).key.text
    }

    private func open(_ texts: [String], in world: ServedWorld) throws {
        let name = try #require(SpaceName("home"))
        try world.control.setPublicQueries(of: name, try patterns(texts))
    }

    private func names(_ answer: HTTPAnswer) throws -> [String] {
        guard case .array(let items) = try answer.member("queries") else { return [] }
        return items.compactMap { item in
            guard case .string(let name) = item.value.member("name")?.item.value else { return nil }
            return name
        }
    }

    @Test func aTokenForQueriesAnswersThose() throws {
        let world = try ServedWorld()
        let token = try token(["meals.we*"], in: world)
        for name in ["meals.weights", "weights"] {
            let path = "\(Self.path)/\(name)"
            #expect(try world.get(path, token, query: Self.values).status == 200)
        }
        #expect(try names(world.get(Self.path, token)) == ["week", "weights"])
        // What it may not ask it is not told of, whether it is there or not.
        for name in ["meals.day", "day", "meals.nothing", "nothing", "fish.weights", "meals.we*"] {
            let expected = name == "meals.we*" ? 404 : 403
            #expect(try world.get("\(Self.path)/\(name)", token).status == expected)
        }
        #expect(try world.get("\(Self.path)/meals.weird", token).status == 404)
    }

    @Test(arguments: [
        "", "/head", "/events", "/events/1", "/segments", "/segments/x", "/packs", "/packs/x",
        "/commands", "/views/meals.x", "/blobs/x", "/replicas", "/tokens",
    ])
    func aTokenForQueriesReadsNothingElse(part: String) throws {
        let world = try ServedWorld()
        let token = try token(["meals.*"], in: world)
        #expect(try world.get("/v1/spaces/home\(part)", token).status == 403)
        #expect(try world.get("/v1/spaces", token).status == 403)
        #expect(try world.get("/v1/spaces/work\(part)", token).status == 404)
    }

    @Test(arguments: ["/events", "/commands/meals.x", "/views/meals.x", "/blobs/want", "/tokens"])
    func aTokenForQueriesSendsNothing(part: String) throws {
        let world = try ServedWorld()
        let token = try token(["meals.*"], in: world)
        let body = part == "/events" ? ServedWorld.weight("2026-03-01") : "{}"
        #expect(try world.post("/v1/spaces/home\(part)", token, body).status == 403)
    }

    @Test func aTokenForQueriesDoesNotSync() throws {
        let world = try ServedWorld()
        let token = try token(["meals.*"], in: world)
        let name = try #require(SpaceName("home"))
        let space = try #require(try world.control.space(name))
        let facts = try world.store[space.id].status().manifest
        let standing = Standing(lineage: facts.lineage, epoch: facts.epoch, size: 0, root: .zero)
        let pull = SyncMessage.pull(Pull(standing: standing, own: []))
        let answer = try world.answer(
            HTTPRequest(
                "POST",
                "/v1/spaces/home/sync",
                headers: ServedWorld.bearing(
                    token,
                    [
                        "content-type": "application/vnd.diario.message",
                        "accept": "application/vnd.diario.message",
                    ]
                ),
                body: pull.encoded()
            )
        )
        #expect(answer.status == 403)
    }

    @Test func nothingIsPublicUnlessSomebodySaysSo() throws {
        let world = try ServedWorld()
        _ = try world.token()
        for path in [Self.path, "\(Self.path)/meals.weights", "/v1/spaces/none/queries"] {
            let refused = try world.get(path, nil)
            #expect(refused.status == 401)
            #expect(refused.header("WWW-Authenticate") != nil)
        }
        try open(["meals.weights"], in: world)
        for name in ["meals.weights", "weights"] {
            let path = "\(Self.path)/\(name)"
            #expect(try world.get(path, nil, query: Self.values).status == 200)
        }
        #expect(try names(world.get(Self.path, nil)) == ["weights"])
        for part in ["/queries/meals.day", "/queries/meals.nothing", "/head", "/events", ""] {
            #expect(try world.get("/v1/spaces/home\(part)", nil).status == 401)
        }
        // Whoever shows a token is judged by it.
        let wrong = "diario_" + String(repeating: "0", count: 66)
        #expect(try world.get("\(Self.path)/meals.weights", wrong).status == 401)
        let asked = try world.get(
            "\(Self.path)/meals.weights",
            nil,
            headers: ["origin": "https://example.org"]
        )
        #expect(asked.header("Access-Control-Allow-Origin") == "*")
        try open([], in: world)
        #expect(try world.get("\(Self.path)/meals.weights", nil).status == 401)
    }

    @Test func anAddressAsksAsOftenAsItMay() throws {
        let world = try ServedWorld()
        let bearer = try world.token()
        try open(["meals.weights"], in: world)
        func status(from network: UInt64, _ token: String? = nil) throws -> Int {
            var request = HTTPRequest("GET", Self.path, headers: ServedWorld.bearing(token))
            request.peer = HTTPRequest.Peer(network: network, isLoopback: false)
            return try world.answer(request).status
        }
        let most = Limits.addressRequestRateMax * Limits.rateBurstSecondsMax
        var refused = 0
        // The clock goes on meanwhile.
        for _ in 0..<(4 * most) where try status(from: 1) == 429 { refused += 1 }
        #expect(refused > 0)
        #expect(try status(from: 2) == 200)
        #expect(try status(from: 1, bearer) == 200)
    }
}
