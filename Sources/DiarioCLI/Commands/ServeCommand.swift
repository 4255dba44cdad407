import Diario
import DiarioCore
import DiarioHTTP
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage

/// The command `diario serve`.
enum ServeCommand {
    static func run(_ call: Invocation) throws(Failure) {
        var configuration = try configuration(call)
        let newerPacks = try newerPacks(call)
        // From here on a signal ends the server in good order.
        Interrupt.catchSignals()
        let folder = try ServedFolder(call)
        if !folder.isThere { note("makes the folder \(CellText.oneLine(folder.name))", call) }
        let control = try folder.control(for: .making)
        try folder.reporting { () throws(ControlError) in try control.check() }
        let directory = try folder.directory(.readWrite)
        let lock = try folder.lockForServing(directory)
        defer { lock.release() }
        let store = try call.openLog(of: folder, directory)
        try noteBroken(store, folder, call)
        folder.remarkUnnamed { note($0, call) }
        let log = requestLog(call)
        configuration.log = log
        do throws(Failure) {
            let data = ServedData(store, control, directory, newerPacks)
            try serve(configuration, data, folder, call)
        } catch {
            // The first failure is the one to report.
            log?.close()
            try? store.close()
            throw error
        }
        log?.close()
        store.sealBeforeClose()
        try reportingLog { () throws(LogError) in try store.close() }
        note("stopped", call)
    }

    /// Names the spaces that cannot be served: whoever asks for one is told, and the others are
    /// served.
    private static func noteBroken(
        _ store: LogStore,
        _ folder: ServedFolder,
        _ call: Invocation
    ) throws(Failure) {
        for broken in try folder.brokenSpaces(of: store) {
            note("\(broken.shown) cannot be served: \(broken.remedy)", call)
        }
    }

    /// What a server has to serve.
    private struct ServedData {
        let store: LogStore
        let control: ControlFile
        let directory: POSIXDirectory
        let newerPacks: [Pack]

        init(
            _ store: LogStore,
            _ control: ControlFile,
            _ directory: POSIXDirectory,
            _ newerPacks: [Pack]
        ) {
            self.store = store
            self.control = control
            self.directory = directory
            self.newerPacks = newerPacks
        }
    }

    private static func serve(
        _ configuration: HTTPServer.Configuration,
        _ data: ServedData,
        _ folder: ServedFolder,
        _ call: Invocation
    ) throws(Failure) {
        let handler = ServedDirectory(
            store: data.store,
            control: data.control,
            directory: data.directory,
            newerPacks: data.newerPacks
        )
        let server: HTTPServer
        do throws(ServerError) { server = try HTTPServer(configuration, handler) } catch {
            throw .failed(error.message)
        }
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
        }
        try announce(server, folder, call)
        if !server.isLoopback, configuration.certificate == nil {
            note(
                "tokens travel in plain text to other machines. Give --tls-cert and --tls-key, or "
                    + "listen on 127.0.0.1 behind a proxy that has them",
                call
            )
        }
        if server.connectionCountMax < configuration.connectionCountMax {
            note(
                "the system allows \(server.connectionCountMax) connections. More come by: "
                    + "ulimit -n",
                call
            )
        }
        // A wait that something else breaks off, as the end of a pause, is begun again.
        while !Interrupt.isRaised {
            _ = SystemCall.wait(readable: [Interrupt.descriptor], milliseconds: -1)
        }
        note("stops; a second signal ends it at once", call)
    }

    /// Says where it listens, on one line and at once: a program may wait for it.
    private static func announce(
        _ server: HTTPServer,
        _ folder: ServedFolder,
        _ call: Invocation
    ) throws(Failure) {
        if call.arguments.has("json") {
            try call.output.json { json in
                json.add("address", server.url)
                json.add("data", folder.name)
            }
        } else {
            let shown = CellText.oneLine(folder.name)
            try call.output.line("diario serves \(shown) at \(server.url)")
        }
        try call.output.flush()
    }

    // MARK: Words

    private static func configuration(
        _ call: Invocation
    ) throws(Failure) -> HTTPServer.Configuration {
        let text = call.arguments.value("listen") ?? "127.0.0.1:8080"
        guard let address = ListenAddress(text) else {
            throw .usage(
                "--listen \(CellText.oneLine(text)) is not right; give HOST:PORT, as "
                    + "127.0.0.1:8080 or [::1]:8080"
            )
        }
        _ = try checkingUsage { () throws(UsageError) in try level(call.arguments) }
        var configuration = HTTPServer.Configuration(host: address.host, port: address.port)
        switch (call.arguments.value("tls-cert"), call.arguments.value("tls-key")) {
        case (nil, nil): break
        case (let certificate?, let key?):
            configuration.certificate = HTTPServer.Certificate(
                certificate: try contents(of: certificate),
                key: try contents(of: key)
            )
        default:
            throw .usage("--tls-cert and --tls-key go together. Try: diario help serve")
        }
        return configuration
    }

    private static func contents(of path: String) throws(Failure) -> String {
        let file = try InputFile.open(path)
        var bytes: [UInt8] = []
        do throws(StorageError) {
            let size = try file.size()
            guard size <= certificateSizeMax else {
                throw .tooLarge(path, size: size)
            }
            try file.read(at: 0, count: size, into: &bytes)
        } catch {
            throw .failed(error.message)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let certificateSizeMax = 1024 * 1024

    /// Packs of which spaces may get newer versions than they use.
    private static func newerPacks(_ call: Invocation) throws(Failure) -> [Pack] {
        let schemas = call.arguments.all("schema")
        guard call.arguments.has("adopt") else {
            if !schemas.isEmpty {
                note(
                    "--schema does nothing without --adopt. To let a space use a pack: diario "
                        + "--space NAME schema adopt DIR",
                    call
                )
            }
            return []
        }
        return try reporting { () throws(DiarioError) in
            guard !schemas.isEmpty else { return try PackSource.builtIn() }
            return try PackSource.load(folders: schemas)
        }
    }

    // MARK: What is told on stderr

    private enum Level {
        case quiet
        case requests
    }

    private static func level(_ arguments: Arguments) throws(UsageError) -> Level? {
        try arguments.choice("log", [("quiet", Level.quiet), ("requests", Level.requests)])
    }

    private static func note(_ text: String, _ call: Invocation) {
        guard (try? level(call.arguments)) != .quiet else { return }
        call.remark(text)
    }

    /// Requests are told if that is wanted, and mistakes of the server unless nothing is.
    private static func requestLog(_ call: Invocation) -> RequestLog? {
        let level = try? level(call.arguments)
        guard level != .quiet else { return nil }
        return RequestLog(level == .requests ? .all : .mistakes) { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                switch SystemCall.write(2, rest) {
                case .done(let count): rest = rest.dropFirst(count)
                case .failed: return
                }
            }
        }
    }
}
