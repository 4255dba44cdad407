import DiarioStorage
import DiarioTestSupport
import DiarioTransport
import Testing

/// The client against a server that answers as no server should.
struct HTTPClientTests {
    private static func request(_ server: LoopbackServer, max: Int = 1024) -> HTTPClient.Request {
        var request = HTTPClient.Request(address: server.address + "/x", answerSizeMax: max)
        request.usesProxy = false
        return request
    }

    private static func send(_ request: HTTPClient.Request) async throws -> HTTPClient.Answer {
        var traffic = HTTPClient.Traffic()
        return try await HTTPClient().send(request, &traffic)
    }

    private static func failure(_ steps: [LoopbackServer.Step]) async throws -> HTTPFailure.Kind? {
        let server = try LoopbackServer { _ in steps }
        do {
            _ = try await send(request(server))
            return nil
        } catch let failure as HTTPFailure {
            return failure.kind
        }
    }

    private static func text(_ text: String) -> LoopbackServer.Step { .send(Array(text.utf8)) }

    @Test func bytesGoBothWaysAndAreCounted() async throws {
        let server = try LoopbackServer { request in
            LoopbackServer.reply(200, "text/plain", request.body + request.body)
        }
        let client = HTTPClient()
        var traffic = HTTPClient.Traffic()
        for size in [0, 1, 3000, 2_000_000] {
            var request = Self.request(server, max: 4_000_000)
            request.body = [UInt8](repeating: 7, count: size)
            // However long others keep this test waiting.
            request.idleSeconds = 3600
            let answer = try await client.send(request, &traffic)
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "text/plain")
            #expect(answer.body == [UInt8](repeating: 7, count: 2 * size))
        }
        #expect(traffic.sent > 2_003_001)
        #expect(traffic.received > 4_006_002)
        // One connection was enough.
        #expect(server.connectionCount == 1)
        #expect(client.connectionCount == 1)
    }

    @Test func manyRequestsGoAtOnce() async throws {
        let server = try LoopbackServer { LoopbackServer.reply(200, nil, Array($0.target.utf8)) }
        let client = HTTPClient()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    var traffic = HTTPClient.Traffic()
                    var request = Self.request(server)
                    request.address += "\(number)"
                    let answer = try await client.send(request, &traffic)
                    return answer.body == Array("/x\(number)".utf8)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test func anAnswerThatIsCutIsNone() async throws {
        let cut = Self.text("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
        #expect(try await Self.failure([cut, .close]) == .broken)
        #expect(try await Self.failure([cut, .halfClose]) == .broken)
        let chunk = Self.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
        #expect(try await Self.failure([chunk, .close]) == .broken)
        #expect(try await Self.failure([.close]) == .broken)
        #expect(try await Self.failure([.halfClose]) == .broken)
    }

    @Test func whatIsNoHTTPIsNoAnswer() async throws {
        #expect(try await Self.failure([Self.text("SSH-2.0-OpenSSH\r\n"), .close]) != nil)
        #expect(try await Self.failure([.send([0, 1, 2, 3, 255]), .close]) != nil)
        let negative = Self.text("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nab")
        #expect(try await Self.failure([negative, .close]) != nil)
    }

    @Test func anAnswerWithoutEndTakesNoMoreThanItMay() async throws {
        let head = Self.text("HTTP/1.1 200 OK\r\n\r\n")
        let more = LoopbackServer.Step.send([UInt8](repeating: 1, count: 1000))
        #expect(
            try await Self.failure([head] + [LoopbackServer.Step](repeating: more, count: 5000))
                == .tooLarge
        )
        let field = Self.text("X: \(String(repeating: "x", count: 1000))\r\n")
        let many = [LoopbackServer.Step](repeating: field, count: 200)
        let line = Self.text("HTTP/1.1 200 OK\r\n")
        #expect(try await Self.failure([line] + many) == .tooLarge)
    }

    @Test func anAnswerThatStandsStillIsGivenUp() async throws {
        let signal = Signal()
        let server = try LoopbackServer { _ in
            [Self.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .wait(signal)]
        }
        defer { signal.raise() }
        var request = Self.request(server)
        request.stallSeconds = 1
        await #expect(throws: HTTPFailure.self) { try await Self.send(request) }
    }

    @Test func cancellingEndsTheConnection() async throws {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (ended, ending) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { _ in
            beginning.finish()
            return [.awaitEnd { ending.finish() }]
        }
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do {
                    _ = try await Self.send(Self.request(server))
                    return false
                } catch {
                    return error is CancellationError
                }
            }
            for await _ in begun {}
            group.cancelAll()
            #expect(await group.next() == true)
        }
        for await _ in ended {}
        // One that was cancelled before it began asks nobody.
        let count = server.connectionCount
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask { _ = try? await Self.send(Self.request(server)) }
        }
        #expect(server.connectionCount == count)
    }

    @Test func aConnectionThatWasClosedIsMadeAnew() async throws {
        let server = try LoopbackServer { _ in LoopbackServer.reply(204, nil) + [.close] }
        let client = HTTPClient()
        var traffic = HTTPClient.Traffic()
        for _ in 0..<3 {
            #expect(try await client.send(Self.request(server), &traffic).status == 204)
        }
        #expect(server.connectionCount == 3)
    }

    @Test func redirectsAreNotFollowed() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.reply(302, nil, headers: [("Location", "/elsewhere")])
        }
        let answer = try await Self.send(Self.request(server))
        #expect(answer.status == 302)
        #expect(answer.headers["location"] == "/elsewhere")
    }

    @Test func whoCannotBeReachedIsSaid() async throws {
        let server = try LoopbackServer { _ in [] }
        var request = Self.request(server)
        server.stop()
        await #expect { try await Self.send(request) } throws: {
            ($0 as? HTTPFailure)?.kind == .unreachable
        }
        request.address = "http://nobody.invalid/x"
        await #expect { try await Self.send(request) } throws: {
            ($0 as? HTTPFailure)?.kind == .unresolved
        }
        request.address = "file:///etc/hostname"
        await #expect(throws: HTTPFailure.self) { try await Self.send(request) }
    }

    @Test func aServerWithoutTLSIsNotTakenForOne() async throws {
        let server = try LoopbackServer { _ in [] }
        var request = Self.request(server)
        request.address = "https://127.0.0.1:\(server.port)/x"
        request.connectMilliseconds = 300
        await #expect(throws: HTTPFailure.self) { try await Self.send(request) }
        request.certificates = "/nowhere/certificates.pem"
        await #expect { try await Self.send(request) } throws: {
            ($0 as? HTTPFailure)?.kind == .certificates
        }
    }
}
