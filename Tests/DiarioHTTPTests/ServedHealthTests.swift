import Diario
import DiarioCore
import DiarioHTTP
import DiarioLog
import DiarioSQLite
import DiarioServer
import DiarioStorage
import DiarioTestSupport
import Testing

/// What a server says of itself, and what it keeps to itself.
struct ServedHealthTests {
    /// It was ok while every request was answered with 503.
    @Test func aServerOfWhichNoSpaceAnswersIsNotWell() throws {
        let world = try ServedWorld()
        _ = (try world.token(), try world.token(for: "work"))
        let names = try world.control.spaces()
        #expect(try world.get("/healthz", nil).text.contains(#""waiting":0,"damaged":0"#))
        try world.store[names[0].id].holdAuthority()
        let some = try world.get("/healthz", nil)
        #expect(some.status == 200)
        #expect(some.text.contains(#""status":"ok","waiting":1,"damaged":0"#))
        #expect(try world.get("/metrics", nil).text.contains("\ndiario_spaces_waiting 1\n"))
        try world.store[names[1].id].holdAuthority()
        let none = try world.get("/healthz", nil)
        #expect(none.status == 503)
        #expect(none.text.contains(#""type":"urn:diario:problem:waiting""#))
        #expect(none.text.contains(#""waiting":2,"damaged":0"#))
        try world.store[names[1].id].resumeAuthority()
        #expect(try world.get("/healthz", nil).status == 200)
        try world.directory().remove(LogPaths.manifest(names[1].id))
        let other = try world.get("/healthz", nil)
        #expect(other.status == 503)
        #expect(other.text.contains(#""waiting":1,"damaged":1"#))
        #expect(try world.get("/metrics", nil).text.contains("\ndiario_spaces_damaged 1\n"))
    }

    /// Where the server's files lie is nobody's business, but its operator must find out.
    @Test(arguments: ["manifest", "control"]) func damageShowsNoPaths(what: String) throws {
        let world = try ServedWorld()
        let token = try world.token()
        let id = try #require(try world.control.spaces().first).id
        let handler = try world.another()
        switch what {
        case "manifest": try Files.replace(LogPaths.manifest(id), with: [1], in: world.directory())
        default:
            try world.break(table: "token")
        }
        let path = "/v1/spaces/home/events"
        let request = HTTPRequest("GET", path, headers: ServedWorld.bearing(token))
        guard case .answer(let answer) = handler.reply(to: request, .last) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == 503)
        let cause = try #require(answer.cause)
        #expect(cause.contains(what == "manifest" ? LogPaths.manifest(id) : "control.sqlite"))
        for hidden in ["manifest", "control.sqlite", world.folder.path, "SQL"] {
            #expect(!answer.text.contains(hidden))
        }
    }

    // MARK: Revoked tokens

    private static func revoke(_ token: String, in world: ServedWorld) throws {
        // As the command line does, beside the server.
        let control = try ControlFile(folder: world.directory().rootPath, .readWrite)
        let id = try #require(try control.bearer(of: token, at: world.store.now)).token.id
        #expect(try control.revokeToken(id))
        world.handler.lookForNews()
    }

    @Test(arguments: ["/head?after=", "/events?live=long-poll&offset="])
    func whoWaitsWithARevokedTokenIsTurnedAway(path: String) throws {
        let world = try ServedWorld()
        let (token, other) = (try world.token(), try world.token())
        let head = try #require(
            try world.get(
                "/v1/spaces/home/events",
                token,
                query: [
                    HTTPRequest.Parameter("offset", "now")
                ]
            ).header("Stream-Next-Offset")
        )
        let parts = path.split(separator: "?")
        var query = parts[1].split(separator: "&").map { part in
            let pair = part.split(separator: "=")
            return HTTPRequest.Parameter(String(pair[0]), pair.count > 1 ? String(pair[1]) : head)
        }
        if path.hasPrefix("/head") {
            query = [HTTPRequest.Parameter("after", "\(UInt64(head) ?? 0)")]
        }
        func request(_ token: String) -> HTTPRequest {
            HTTPRequest(
                "GET",
                "/v1/spaces/home" + parts[0],
                query: query,
                headers: ServedWorld.bearing(token)
            )
        }
        guard case .wait(let bell, _, _) = world.reply(request(token)) else {
            Issue.record("it does not wait")
            return
        }
        let rings = RingCounter()
        _ = bell.listen { rings.count() }
        // Tokens were made.
        world.handler.lookForNews()
        let before = rings.value
        world.handler.lookForNews()
        #expect(rings.value == before)
        try Self.revoke(token, in: world)
        #expect(rings.value == before + 1)
        guard case .answer(let answer) = world.handler.reply(to: request(token), .again) else {
            Issue.record("it waits on")
            return
        }
        #expect(answer.status == 401)
        guard case .wait = world.handler.reply(to: request(other), .again) else {
            Issue.record("another one does not wait any more")
            return
        }
    }

    @Test func aStreamEndsOnceItsTokenIsRevoked() throws {
        let world = try ServedWorld()
        let (token, other) = (try world.token(), try world.token())
        let query = [HTTPRequest.Parameter("live", "sse"), HTTPRequest.Parameter("offset", "now")]
        let streams = try [token, other].map { token -> any LiveStream in
            let answer = try world.get("/v1/spaces/home/events", token, query: query)
            guard case .stream(let stream) = answer.body else { throw ServedWorld.Waiting() }
            guard case .bytes = stream.next(at: .now) else { throw ServedWorld.Waiting() }
            return stream
        }
        let rings = RingCounter()
        _ = streams[0].bell.listen { rings.count() }
        try Self.revoke(token, in: world)
        #expect(rings.value == 1)
        guard case .end = streams[0].next(at: .now) else {
            Issue.record("the stream goes on")
            return
        }
        guard case .nothing = streams[1].next(at: .now) else {
            Issue.record("the other stream ends")
            return
        }
    }
}

extension ServedWorld {
    fileprivate func directory() throws -> POSIXDirectory {
        try POSIXDirectory(
            path: folder.path + "/" + LogPaths.directoryName,
            access: .readWrite
        )
    }

    /// A server that begins now.
    fileprivate func another() throws -> ServedDirectory {
        ServedDirectory(ServedSpaces(store, control), SealedFiles(store, try directory()))
    }

    fileprivate func `break`(table: String) throws {
        let path = try directory().rootPath + "/" + ControlFile.name
        try Connection(path: path, .readWrite).execute("ALTER TABLE \(table) RENAME TO lost")
    }
}
