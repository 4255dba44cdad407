import DiarioTestSupport
import DiarioTransport
import Testing

/// The server that the tests of clients start must not be at fault itself.
struct LoopbackServerTests {
    /// What one that ends lets go of may belong to another at once.
    @Test func onesThatEndHarmNoOther() async throws {
        let server = try LoopbackServer { LoopbackServer.reply(200, nil, Array($0.target.utf8)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<200 {
                        let other = try LoopbackServer { _ in LoopbackServer.reply(204, nil) }
                        try await Self.ask(other, HTTPClient())
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<400 { try await Self.ask(server, HTTPClient()) }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func ask(_ server: LoopbackServer, _ client: HTTPClient) async throws {
        var request = HTTPClient.Request(address: server.address + "/x", answerSizeMax: 1024)
        request.usesProxy = false
        var traffic = HTTPClient.Traffic()
        _ = try await client.send(request, &traffic)
    }
}
