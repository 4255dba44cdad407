import DiarioCore
import DiarioHTTP
import DiarioSchema
import DiarioStorage
import Testing

/// A server of many spaces keeps few of them at hand.
struct OpenSpacesTests {
    private static let names = (0..<5).map { "space-\($0)" }

    private func openCount(_ world: ServedWorld) throws -> String? {
        try world.answer(HTTPRequest("GET", "/metrics")).text.split(separator: "\n")
            .first { $0.hasPrefix("diario_spaces_open ") }.map { String($0.dropFirst(19)) }
    }

    private func events(_ name: String) -> String { "/v1/spaces/\(name)/events" }

    @Test func thoseThatWereQuietAreClosedAndOpenedAgain() throws {
        let world = try ServedWorld(spaceCountMax: 2)
        let tokens = try Self.names.map { try world.token(for: $0) }
        for round in 0..<2 {
            for (name, token) in zip(Self.names, tokens) {
                let answer = try world.post(events(name), token, ServedWorld.weight("2026-03-02"))
                #expect(answer.status == 201)
                #expect(try openCount(world) == (name == Self.names[0] && round == 0 ? "1" : "2"))
            }
        }
        for (name, token) in zip(Self.names, tokens) {
            let answer = try world.get(
                events(name),
                token,
                query: [.init("offset", "-1"), .init("type", "meals.weight.recorded")]
            )
            #expect(try answer.list().count == 2)
        }
    }

    @Test func whoWaitsForNewsKeepsItsSpaceOpen() throws {
        let world = try ServedWorld(spaceCountMax: 1)
        let tokens = try Self.names.map { try world.token(for: $0) }
        _ = try world.post(events(Self.names[0]), tokens[0], ServedWorld.weight("2026-03-02"))
        let outline = try world.get("/v1/spaces/\(Self.names[0])", tokens[0])
        guard case .integer(let head)? = try outline.member("head") else {
            Issue.record("no head: \(outline.text)")
            return
        }
        let waiting = world.reply(
            HTTPRequest(
                "GET",
                "/v1/spaces/\(Self.names[0])/head",
                query: [.init("after", "\(head)"), .init("wait", "30")],
                headers: ServedWorld.bearing(tokens[0])
            )
        )
        guard case .wait(let bell, _, _) = waiting else {
            Issue.record("it does not wait")
            return
        }
        let rung = Signal()
        let listener = bell.listen { rung.raise() }
        defer { bell.ignore(listener) }
        for (name, token) in zip(Self.names, tokens) {
            _ = try world.post(events(name), token, ServedWorld.weight("2026-03-02"))
        }
        rung.wait()
        #expect(try openCount(world) == "2")
    }

    @Test func readModelsOfFewSpacesAreOpen() throws {
        let world = try ServedWorld(modelCountMax: 1)
        let tokens = try Self.names.map { try world.token(for: $0) }
        for _ in 0..<2 {
            for (name, token) in zip(Self.names, tokens) {
                _ = try world.post(events(name), token, ServedWorld.weight("2026-03-02"))
                let answer = try world.get("/v1/spaces/\(name)/queries", token)
                #expect(answer.status == 200)
            }
        }
    }
}
