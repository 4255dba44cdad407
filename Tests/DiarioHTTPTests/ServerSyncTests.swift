import Diario
import DiarioCore
import DiarioHTTP
import DiarioLog
import DiarioSQLite
import DiarioServer
import DiarioStorage
import DiarioTestSupport
import Testing

/// Diaries that sync through a real server.
struct ServerSyncTests {
    /// Carries each message over a connection of its own: a quiet one would be closed.
    private struct Wire: Transport {
        let port: Int
        let key: TokenKey

        func exchange(_ request: [UInt8]) async throws -> [UInt8] {
            let headers = [
                "Authorization: Bearer \(key.text)",
                "Content-Type: application/vnd.diario.message",
            ]
            let client = try ServerClient(port: port)
            let answer = try client.post("/v1/spaces/home/sync", request, headers: headers)
            guard answer.status == 200 else { throw TransportError("status \(answer.status)") }
            return answer.body
        }
    }

    private static func weigh(_ diary: Diary, _ day: String, _ grams: Int) async throws {
        var batch = diary.makeBatch()
        let json = #"{"day":"\#(day)","weightG":\#(grams),"source":"manual"}"#
        try batch.add("meals.weight.recorded", json: json)
        _ = try await diary.append(batch)
    }

    @Test func twoDiariesSyncThroughAServer() async throws {
        let folder = try TemporaryFolder()
        let directory = try POSIXDirectory(path: folder.path + "/served", access: .create)
        try LogStore.create(in: directory)
        let store = try Space.openStore(directory, access: .readWrite)
        let control = try ControlFile(folder: folder.path + "/served", .create)
        let home = try #require(SpaceName("home"))
        try control.name(store.drawSpaceID(), home, at: store.now)
        let key = try control.makeToken(
            TokenDraft(space: home, rights: .all),
            drawnFrom: SystemEntropy(),
            at: SystemClock().now
        ).key
        let configuration = HTTPServer.Configuration(host: "127.0.0.1", port: 0)
        let handler = ServedDirectory(
            store: store,
            control: control,
            directory: directory
        )
        let server = try HTTPServer(configuration, handler)
        let wire = Wire(port: server.address.port, key: key)

        let one = Diary(
            space: try Space.create(at: folder.path + "/one", packs: try PackSource.builtIn())
        )
        try await Self.weigh(one, "2026-03-02", 78_400)
        try await one.publish(with: wire)
        let id = try #require(try control.space(home)).id
        let other = try Self.join(id, of: store, at: folder.path + "/other")
        try await other.sync(with: wire)
        try await Self.weigh(one, "2026-03-03", 78_100)
        try await Self.weigh(other, "2026-03-04", 78_000)
        #expect(try await one.sync(with: wire).pushed == 1)
        #expect(try await other.sync(with: wire).pushed == 1)
        let last = try await one.sync(with: wire)
        #expect(last.head == store.standing(of: id).head)
        for diary in [one, other] {
            let answer = try await diary.sql("SELECT day FROM weight ORDER BY day")
            #expect(answer.rows.count == 3)
            try await diary.close()
        }
        server.stop()
        try store.close()
    }

    /// A diary that takes part in a space of a server.
    private static func join(_ id: SpaceID, of served: LogStore, at path: String) throws -> Diary {
        let directory = try POSIXDirectory(
            path: path + "/" + LogPaths.directoryName,
            access: .create
        )
        try LogStore.create(in: directory)
        let store = try Space.openStore(directory, access: .readWrite)
        let lineage = try served.status(of: id).manifest.lineage
        try store.makeReplica(of: id, lineage: lineage, epoch: 0)
        return Diary(space: try Space(store: store, id: id, directory: directory))
    }
}
