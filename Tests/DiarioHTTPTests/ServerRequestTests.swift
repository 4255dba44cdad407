import DiarioCore
import DiarioHTTP
import DiarioStorage
import DiarioTestSupport
import Synchronization
import Testing

/// What a handler is given, and what a client gets: over real sockets.
struct ServerRequestTests {
    @Test func aRequestComesAsItWasSent() throws {
        let seen = Mutex<HTTPRequest?>(nil)
        let world = try ServerWorld { request, _ in
            seen.withLock { $0 = request }
            return .answer(HTTPAnswer(201, headers: [("X-One", "1")], .bytes([1, 2, 3])))
        }
        let answer = try world.client().post(
            "/v1/a%2Fb?x=%C3%A9+1&y&z=&x=2",
            [9, 8],
            headers: ["X-Many: a", "x-many: b", "Content-Type: text/plain"]
        )
        #expect(answer.status == 201)
        #expect(answer.body == [1, 2, 3])
        #expect(answer.headers["x-one"] == "1")
        #expect(answer.headers["content-length"] == "3")
        #expect(answer.headers["server"] == "diario")
        #expect(answer.headers["date"]?.hasSuffix("GMT") == true)
        let request = try #require(seen.withLock { $0 })
        #expect(request.method == "POST")
        #expect(request.path == "/v1/a%2Fb")
        let parameters: [HTTPRequest.Parameter] = [
            .init("x", "\u{e9} 1"), .init("y", nil), .init("z", ""), .init("x", "2"),
        ]
        #expect(request.query == parameters)
        #expect(request.headers["x-many"] == "a, b")
        #expect(request.headers["content-type"] == "text/plain")
        #expect(request.body == [9, 8])
    }

    @Test func aConnectionIsUsedAgain() throws {
        let world = try ServerWorld { request, _ in .text(request.path) }
        let client = try world.client()
        for path in ["/one", "/two", "/three"] {
            #expect(try client.get(path).text == path)
        }
        // All at once: the answers come in the order of the requests.
        for path in ["/a", "/b", "/c"] { client.request("GET", path) }
        for path in ["/a", "/b", "/c"] { #expect(try client.answer().text == path) }
        #expect(try client.post("/d", Array("body".utf8)).text == "/d")
    }

    @Test func anAddressWithItsServerIsThatOfItsPath() throws {
        let world = try ServerWorld { request, _ in .text(request.path) }
        #expect(try world.client().get("http://example.org/a/b").text == "/a/b")
        #expect(try world.client().get("http://example.org").text == "/")
    }

    @Test func headIsAnsweredWithoutABody() throws {
        let world = try ServerWorld { _, _ in .text("four") }
        let client = try world.client()
        client.request("HEAD", "/")
        let answer = try client.answer(toHead: true)
        #expect(answer.headers["content-length"] == "4")
        #expect(try client.get("/").text == "four")
    }

    @Test func aPartOfAFileIsSent() throws {
        let folder = try TemporaryFolder()
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try Files.replace(
            "file",
            with: bytes,
            in: POSIXDirectory(path: folder.path, access: .readWrite)
        )
        let path = folder.path + "/file"
        let world = try ServerWorld { request, _ in
            let count = request.path == "/long" ? 400_000 : 200_000
            let name = request.path == "/gone" ? path + "x" : path
            let file = SentFile(path: name, offset: 1000, count: count)
            return .answer(HTTPAnswer(206, .file(file)))
        }
        let client = try world.client()
        let answer = try client.get("/")
        #expect(answer.status == 206)
        #expect(answer.body == Array(bytes[1000..<201_000]))
        #expect(try client.get("/gone").status == 404)
        #expect(try client.get("/long").status == 500)
        client.request("HEAD", "/")
        #expect(try client.answer(toHead: true).headers["content-length"] == "200000")
        #expect(world.server.bodiesUnderWay == 0)
    }

    @Test func chunksAreOneBody() throws {
        let world = try ServerWorld { request, _ in .answer(HTTPAnswer(200, .bytes(request.body))) }
        let client = try world.client()
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.send("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        #expect(try client.answer().text == "abcde")
        #expect(try client.get("/").status == 200)
    }

    @Test func aLargeBodyAndALargeAnswerArriveWhole() throws {
        let world = try ServerWorld(admit: { _ in .bytes(max: 32 * 1024 * 1024) }) { request, _ in
            .answer(HTTPAnswer(200, .bytes(request.body)))
        }
        let body = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let client = try world.client()
        #expect(try client.post("/", body).body == body)
        #expect(try client.post("/", body).body == body)
        #expect(comesTrue { world.server.bodiesUnderWay == 0 })
    }

    @Test func whoAsksFirstIsToldToGoOn() throws {
        let world = try ServerWorld { request, _ in .text("\(request.body.count)") }
        let client = try world.client()
        client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n")
        client.send("Content-Length: 5\r\n\r\n")
        #expect(try client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100"))
        client.send("12345")
        #expect(try client.answer().text == "5")
    }

    @Test(arguments: ["Content-Length: 1048577", "Transfer-Encoding: chunked"])
    func whoMayNotSendIsToldBeforeTheBody(length: String) throws {
        let world = try ServerWorld(
            admit: { head in
                head.path == "/closed"
                    ? .refused(HTTPAnswer(401, .bytes([]))) : .bytes(max: 1024 * 1024)
            },
            { _, _ in .text("never") }
        )
        let client = try world.client()
        client.send("POST /closed HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\(length)\r\n\r\n")
        let answer = try client.answer()
        #expect(answer.status == 401)
        #expect(answer.headers["connection"]?.lowercased() == "close")
        #expect(try client.receive().isEmpty)
    }

    @Test func aSmallBodyThatIsRefusedLeavesTheConnection() throws {
        let world = try ServerWorld(
            admit: { $0.method == "POST" ? .refused(HTTPAnswer(401)) : .bytes(max: 0) },
            { _, _ in .text("ok") }
        )
        let client = try world.client()
        #expect(try client.post("/", [1, 2, 3]).status == 401)
        #expect(try client.get("/").text == "ok")
    }

    /// Nobody knows before its end how large it is; once the connection was closed without a word.
    @Test func aBodyInChunksThatIsTooLargeIsRefused() throws {
        let world = try ServerWorld(admit: { _ in .bytes(max: 1000) }) { _, _ in .text("ok") }
        let client = try world.client()
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<40 {
            client.send("4000\r\n")
            client.send([UInt8](repeating: 0x61, count: 0x4000))
            client.send("\r\n")
        }
        client.send("0\r\n\r\n")
        #expect(try client.answer().status == 413)
    }

    @Test func aBodyThatIsTooLargeIsRefused() throws {
        let world = try ServerWorld(admit: { _ in .bytes(max: 1000) }) { _, _ in .text("ok") }
        let client = try world.client()
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n")
        let answer = try client.answer()
        #expect(answer.status == 413)
        #expect(answer.text.contains("urn:diario:problem:too-large"))
        let other = try world.client()
        other.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        let piece = String(repeating: "a", count: 600)
        for _ in 0..<3 { other.send("258\r\n\(piece)\r\n") }
        other.send("0\r\n\r\n")
        #expect(try other.answer().status == 413)
        #expect(try other.receive().isEmpty)
        #expect(comesTrue { world.server.bodiesUnderWay == 0 })
    }

    /// A connection that is closed with unread bytes is reset, and the answer is lost with it.
    @Test func whoSendsOnSeesWhyItIsRefused() throws {
        let world = try ServerWorld(admit: { _ in .bytes(max: 1000) }) { _, _ in .text("ok") }
        for _ in 0..<5 {
            let client = try world.client()
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n")
            #expect(client.send([UInt8](repeating: 1, count: 20_000_000)))
            #expect(try client.answer().status == 413)
            #expect(try client.receive().isEmpty)
        }
    }

    @Test func bodiesAreTakenAsTheyAre() throws {
        let world = try ServerWorld()
        let client = try world.client()
        #expect(try client.post("/", [1], headers: ["Content-Encoding: gzip"]).status == 415)
        #expect(try client.post("/", [1], headers: ["Content-Encoding: identity"]).status == 200)
    }

    @Test func whatStandsInFrontIsBounded() throws {
        let world = try ServerWorld { _, _ in
            let value = String(repeating: "v", count: 600)
            return .answer(HTTPAnswer(200, headers: [("X-Long", value)], .bytes([1])))
        }
        let client = try world.client()
        // As long as it may be, there is still room for the headers of the answer.
        let rest = Limits.httpHeadSizeMax - 60
        let lines = (0..<16).map { "X-\($0): " + String(repeating: "h", count: rest / 16 - 10) }
        #expect(try client.get("/", headers: lines).status == 200)
        #expect(try client.get("/" + String(repeating: "p", count: rest - 100)).status == 200)
        #expect(try client.get("/", headers: lines + ["X-Too: " + lines[0]]).status == 431)
        let path = "/" + String(repeating: "p", count: Limits.httpHeadSizeMax)
        #expect(try world.client().get(path).status == 414)
        #expect(try world.isAlive())
    }

    @Test func aQueryThatIsNoTextIsMalformed() throws {
        let world = try ServerWorld()
        for query in ["a=%", "a=%1", "a=%zz", "a=%ff", "%c3=1"] {
            #expect(try world.client().get("/?" + query).status == 400, "\(query)")
        }
    }

    @Test func whatABrowserAsksIsMarkedForIt() throws {
        let world = try ServerWorld(admit: { _ in .bytes(max: 0) }) { _, _ in .text("ok") }
        let header = "Origin: https://example.org"
        let answer = try world.client().post("/", [1], headers: [header])
        #expect(answer.status == 413)
        #expect(answer.headers["access-control-allow-origin"] == "*")
        #expect(try world.client().get("/").headers["access-control-allow-origin"] == nil)
    }
}
