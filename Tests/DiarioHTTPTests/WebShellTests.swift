import DiarioHTTP
import DiarioStorage
import DiarioTestSupport
import Testing

/// The files of browsers.
@Suite struct WebShellTests {
    private static let files = [
        "diario.js": "export {};", "diario.js.br": "brotli", "diario.js.gz": "gzip",
        "web/v1/diario.wasm": "wasm", "notes": "left out", "secret.pem": "left out",
    ]

    private static func world(
        _ files: [String: String] = files
    ) throws -> (world: ServedWorld, folder: TemporaryFolder) {
        let folder = try TemporaryFolder()
        let directory = try POSIXDirectory(path: folder.path, access: .readWrite)
        try directory.makeDirectory("web/v1")
        for (path, text) in files {
            try directory.open(path, .create).write(Array(text.utf8).span, at: 0)
        }
        let shell = try WebShell(folder: folder.path)
        return (try ServedWorld(connectors: [shell]), folder)
    }

    private static func get(
        _ world: ServedWorld,
        _ path: String,
        _ headers: [String: String] = [:]
    ) throws -> HTTPAnswer {
        var request = HTTPRequest("GET", path)
        request.headers = headers
        return try world.answer(request)
    }

    @Test func aFileHasItsTypeAndMayAskNobodyElse() throws {
        let (world, _) = try Self.world()
        let script = try Self.get(world, "/diario.js")
        #expect(script.status == 200 && script.text == "export {};")
        #expect(script.header("Content-Type") == "text/javascript; charset=utf-8")
        #expect(script.header("Cache-Control") == "no-cache")
        let policy = try #require(script.header("Content-Security-Policy"))
        #expect(policy.contains("default-src 'self'") && policy.contains("'wasm-unsafe-eval'"))
        #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("http"))
        let tag = try #require(script.header("ETag"))
        let again = try Self.get(world, "/diario.js", ["if-none-match": tag])
        #expect(again.status == 304 && again.text.isEmpty)
        let module = try Self.get(world, "/web/v1/diario.wasm")
        #expect(module.header("Content-Type") == "application/wasm")
        #expect(module.header("Cache-Control")?.contains("immutable") == true)
    }

    @Test func aSmallerFormIsSentToWhoTakesIt() throws {
        let (world, _) = try Self.world()
        let brotli = try Self.get(world, "/diario.js", ["accept-encoding": "gzip, br"])
        #expect(brotli.text == "brotli" && brotli.header("Content-Encoding") == "br")
        let gzip = try Self.get(world, "/diario.js", ["accept-encoding": "gzip"])
        #expect(gzip.text == "gzip" && gzip.header("Content-Encoding") == "gzip")
        let none = try Self.get(world, "/diario.js", ["accept-encoding": "identity"])
        #expect(none.header("Content-Encoding") == nil && none.header("Vary") != nil)
    }

    @Test(arguments: [
        "/", "/notes", "/secret.pem", "/diario.js.br", "/web", "/web/v1/", "/fish",
        "/../diario.js", "/web/../diario.js", "/web/v1/%2e%2e/diario.js", "//diario.js",
    ])
    func otherPathsHaveNoFile(path: String) throws {
        let (world, _) = try Self.world()
        #expect(try Self.get(world, path).status == 404)
    }

    @Test func withoutFilesTheFirstPageSaysSo() throws {
        let world = try ServedWorld(connectors: [WebShell(folder: nil)])
        let answer = try Self.get(world, "/")
        #expect(answer.status == 404 && answer.text.contains("tools/web"))
        #expect(try Self.get(world, "/diario.js").status == 404)
        var request = HTTPRequest("POST", "/")
        request.body = Array("x".utf8)
        #expect(try world.answer(request).status == 405)
    }
}
