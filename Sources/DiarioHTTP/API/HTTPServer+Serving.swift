import DiarioServer
import DiarioStorage

extension HTTPServer {
    /// Serves a data directory while `body` runs, and looks for what other processes record there.
    package static func serve(
        _ handler: ServedDirectory,
        _ configuration: Configuration,
        _ body: (HTTPServer) throws -> Void
    ) throws {
        let server = try HTTPServer(configuration, handler)
        handler.measure { [weak server] in server?.counters }
        let ended = Signal()
        _ = WorkerThread(name: "diario-news") {
            handler.watch()
            ended.raise()
        }
        defer {
            handler.close()
            server.stop()
            ended.wait()
            handler.served.saveAuthors()
        }
        try body(server)
    }
}
