import Diario
import DiarioCore
import DiarioHTTP
import DiarioHost
import DiarioSchema
import DiarioServer
import Testing

/// How the old app is answered: schema/fish/README.md, "The old interface".
@Suite struct OldAppTests {
    private static let fish = Result { try PackSource.load(names: ["fish"], folders: []) }
    private static let here = HTTPRequest.Peer(network: 0x7f00_0001, isLoopback: true)
    private static let elsewhere = HTTPRequest.Peer(network: 0x0a00_0001, isLoopback: false)
    private static let species = "/fish/handleFishes.php"
    private static let reports = "/fish/handleReport.php"

    private static func world(isOpen: Bool = false) throws -> ServedWorld {
        let name = try #require(SpaceName("home"))
        let world = try ServedWorld(
            packs: try fish.get(),
            connectors: [OldApp(space: name, unit: "mm", isOpen: isOpen)]
        )
        _ = try world.token()
        return world
    }

    private static func get(
        _ world: ServedWorld,
        _ query: [HTTPRequest.Parameter] = [],
        from peer: HTTPRequest.Peer? = here
    ) throws -> HTTPAnswer {
        var request = HTTPRequest("GET", species, query: query)
        request.peer = peer
        return try world.answer(request)
    }

    private static func post(
        _ world: ServedWorld,
        _ form: String,
        headers: [String: String] = [:],
        from peer: HTTPRequest.Peer? = here
    ) throws -> HTTPAnswer {
        var request = HTTPRequest("POST", reports, headers: headers, body: Array(form.utf8))
        request.peer = peer
        return try world.answer(request)
    }

    /// As the app sends it, nothing encoded, of a fish that has no minimum.
    private static func form(_ changes: [String: String?] = [:]) -> String {
        let fields = [
            ("action", "save_report"), ("id_fish", "10"), ("fish_name", "Costardella"),
            ("detectedSize", "113.5"), ("eligibilitySize", "1"), ("eligibilityDate", "1"),
            ("origin", "Mar Mediterraneo"), ("production", "pescato fresco"),
            ("townReport", "Porto D'Ercole (Monte Argentario)"),
        ]
        return fields.compactMap { name, value in
            (changes[name] ?? value).map { "\(name)=\($0)" }
        }.joined(separator: "&")
    }

    @Test func withoutTheOptionThereIsNothing() throws {
        let world = try ServedWorld(packs: try Self.fish.get())
        #expect(try Self.get(world).status == 404)
        #expect(try Self.post(world, Self.form()).status == 404)
    }

    @Test func theSpeciesAreAListOfTexts() throws {
        let world = try Self.world()
        #expect(try Self.get(world).status == 200 && Self.get(world).text.isEmpty)
        let all = try Self.get(world, [HTTPRequest.Parameter("all_fishes", nil)])
        let list = try all.list()
        #expect(all.status == 200 && list.count == 10)
        for item in list {
            guard case .object(let members) = item else { throw ServedWorld.Waiting() }
            #expect(
                members.map(\.key) == ["id", "commName", "sciName", "minSize", "reproduction"]
                    || members.map(\.key).sorted()
                        == ["commName", "id", "minSize", "reproduction", "sciName"]
            )
            for member in members {
                guard case .string = member.item.value else {
                    Issue.record("\(member.key) is no text")
                    continue
                }
            }
        }
        let fishes = HTTPRequest.Parameter("all_fishes", "1")
        for (month, status, count) in [
            ("4", 200, 2), ("aprile", 200, 2), ("April", 200, 2), ("1", 200, 8), ("13", 400, 0),
            ("", 400, 0), ("1' OR '1'='1", 400, 0), ("apr", 400, 0),
        ] {
            let answer = try Self.get(world, [fishes, HTTPRequest.Parameter("month", month)])
            #expect(answer.status == status, "\(month)")
            if status == 200 { #expect(try answer.list().count == count, "\(month)") }
        }
        let twice = [fishes] + ["1", "2"].map { HTTPRequest.Parameter("month", $0) }
        #expect(try Self.get(world, twice).status == 400)
    }

    @Test func aReportIsRecordedOnce() throws {
        let world = try Self.world()
        let form = try Self.inSeason(world)
        let first = try Self.post(world, form)
        #expect(first.status == 200)
        guard case .string(let id)? = try first.member("id") else {
            Issue.record("no id: \(first.text)")
            return
        }
        let again = try Self.post(world, form, headers: ["content-type": "text/plain"])
        #expect(again.status == 200 && again.text == first.text)
        let rows = try world.get(
            "/v1/spaces/home/queries/fish.reports",
            try world.token()
        ).list()
        #expect(rows.count == 1)
        for (key, value) in [
            ("reportId", id), ("source", "legacy_http"), ("placeId", "porto_ercole"),
            ("actor", "old-app"),
        ] {
            guard case .string(let text)? = rows[0].member(key)?.item.value else { continue }
            #expect(text == value)
        }
    }

    /// The form with the answer for the season that follows today.
    private static func inSeason(_ world: ServedWorld) throws -> String {
        let form = Self.form()
        let isRight = try Self.post(world, form).status == 200
        return isRight ? form : Self.form(["eligibilityDate": "0"])
    }

    @Test func whatIsWrongIs400AndWhatDoesNotFollow422() throws {
        let world = try Self.world()
        let date = try Self.inSeason(world).contains("eligibilityDate=1") ? "1" : "0"
        var cases: [([String: String?], Int)] = [
            (["eligibilitySize": "0"], 422), (["eligibilityDate": date == "1" ? "0" : "1"], 422),
            (["action": "delete"], 400), (["action": nil], 400), (["detectedSize": "-1"], 400),
            (["id_fish": "11"], 400), (["fish_name": "Tonno"], 400), (["origin": "Marte"], 400),
            (["townReport": "Roma"], 400), (["townReport": "Orbetello"], 400),
        ]
        for name in ["id_fish", "fish_name", "detectedSize", "origin", "production", "townReport"] {
            cases.append(([name: nil], 400))
            cases.append(([name: String(repeating: "x", count: 500)], 400))
            cases.append(([name: "1'); DROP TABLE report; --"], 400))
        }
        for (changes, status) in cases {
            let all = ["eligibilityDate": date].merging(changes) { $1 }
            let answer = try Self.post(world, Self.form(all))
            #expect(answer.status == status, "\(changes): \(answer.text)")
            #expect(answer.header("Content-Type") == "application/problem+json")
        }
        #expect(try Self.post(world, "").status == 400)
        let long = String(repeating: "x", count: 9000)
        #expect(try Self.post(world, Self.form() + "&x=" + long).status == 413)
    }

    @Test func onlyThisMachineIsAnswered() throws {
        let world = try Self.world()
        for peer in [Self.elsewhere, nil] {
            #expect(try Self.get(world, from: peer).status == 403)
            #expect(try Self.post(world, Self.form(), from: peer).status == 403)
        }
        let page = ["origin": "https://example.org"]
        #expect(try Self.post(world, Self.form(), headers: page).status == 403)
        let open = try Self.world(isOpen: true)
        #expect(try Self.get(open, from: Self.elsewhere).status == 200)
        #expect([200, 422].contains(try Self.post(open, Self.form(), from: Self.elsewhere).status))
        #expect(try Self.post(open, Self.form(), headers: page).status == 403)
    }

    @Test func oneAddressDoesNotTakeTheTurnOfAnother() throws {
        let world = try Self.world(isOpen: true)
        var statuses: [Int] = []
        for _ in 0..<400 { statuses.append(try Self.get(world, from: Self.elsewhere).status) }
        #expect(statuses.prefix(200).allSatisfy { $0 == 200 } && statuses.last == 429)
        let refused = try Self.get(world, from: Self.elsewhere)
        #expect(refused.header("Retry-After") == "1")
        #expect(try Self.get(world, from: Self.here).status == 200)
    }

    @Test func theSpaceIsLookedForWhenTheServerStarts() throws {
        let app = OldApp(space: try #require(SpaceName("home")))
        let world = try ServedWorld()
        #expect(throws: DiarioError.self) { try app.check(in: world.handler) }
        // It has another pack.
        _ = try world.token()
        let error = #expect(throws: DiarioError.self) { try app.check(in: world.handler) }
        #expect(error?.message.contains("schema adopt") == true)
        let good = try Self.world()
        try app.check(in: good.handler)
    }
}
