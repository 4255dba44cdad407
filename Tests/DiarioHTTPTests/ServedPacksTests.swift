import Diario
import DiarioCore
import DiarioHTTP
import DiarioLog
import DiarioSchema
import DiarioServer
import Testing

/// Spaces of a server come, go, and get packs, because somebody asked for it.
struct ServedPacksTests {
    private static let path = "/v1/spaces/home"

    private func packs(_ world: ServedWorld, _ token: String) throws -> String {
        try world.get(Self.path + "/packs", token).text
    }

    /// The pack meals in another version.
    private func meals(_ version: Int) throws -> Pack {
        let meals = try #require(try ServedWorld.meals.get().first)
        let files = meals.files.map { file in
            guard file.path == "pack.json" else { return file }
            let text = String(decoding: file.bytes, as: UTF8.self)
            let new = text.replacing(
                "\"version\": \(meals.version)",
                with: "\"version\": \(version)"
            )
            return PackFile(path: file.path, bytes: Array(new.utf8))
        }
        let pack = try Pack(files: files)
        #expect(pack.version == version)
        return pack
    }

    // A server gave its own packs to every space that it opened, for ever, and queries of a space
    // with a table of the same name failed from then on.
    @Test func aSpaceGetsNoPackByBeingServed() throws {
        let world = try ServedWorld(packs: [], newerPacks: try PackSource.builtIn())
        let token = try world.token()
        #expect(try world.get(Self.path + "/events", token).status == 200)
        #expect(try packs(world, token).contains("\"packs\":[]"))
        let refused = try world.post(Self.path + "/events", token, ServedWorld.weight("2026-03-01"))
        #expect(refused.status == 400)
        #expect(refused.text.contains("diario schema adopt --pack meals"), "\(refused.text)")
        let id = try #require(try world.control.spaces().first).id
        #expect(world.store[id].head() == 0)
    }

    @Test func aNewerVersionOfAPackInUseIsTaken() throws {
        let newest = try meals(9000)
        let world = try ServedWorld(packs: [try meals(7000)], newerPacks: [newest])
        #expect(try packs(world, try world.token()).contains("\"version\":9000"))
        let older = try ServedWorld(packs: [newest], newerPacks: [try meals(7000)])
        #expect(try !packs(older, try older.token()).contains("7000"))
    }

    @Test func aSpaceThatIsRenamedOrRemovedIsNotFoundUnderItsName() throws {
        let world = try ServedWorld()
        let token = try world.token()
        let (home, other) = (try #require(SpaceName("home")), try #require(SpaceName("other")))
        #expect(try world.get(Self.path + "/events", token).status == 200)
        try world.control.rename(home, to: other)
        #expect(try world.get(Self.path + "/events", token).status == 404)
        #expect(try world.get("/v1/spaces/other/events", token).status == 200)
        let id = try #require(try world.control.space(other)).id
        _ = try world.control.removeSpace(other)
        try world.store[id].remove()
        #expect(try world.get("/v1/spaces/other/events", token).status == 401)
        // Its name is free for another one.
        let new = try world.token(for: "other")
        #expect(try world.get("/v1/spaces/other/events", new).status == 200)
        #expect(try world.control.space(other)?.id != id)
    }
}
