import Diario
import DiarioHTTP
import DiarioHost
import DiarioSchema
import DiarioServer

extension Command {
    static let serve = Command(
        "serve",
        "serve spaces over HTTP",
        on: .folder,
        details: """
            Serves the spaces of a folder that have names, to those who have tokens, and prints one
            line with its address as soon as it listens. The folder is one that `diario space
            create` made; that and `diario token create` make more beside a running server.

            Programs without Diario record with POST /v1/spaces/NAME/events: each event once,
            however often it is sent, if it carries an `origin` of its own. /v1/openapi.yaml
            describes all paths, and schema/format/http.md has examples in Python, JavaScript and
            curl.

            SIGTERM and SIGINT end it: requests under way are answered first, but for queries. A
            second signal ends it at once, and nothing that was acknowledged is lost. SIGHUP loads
            the files of --tls-cert and --tls-key again, for connections that begin after it; if
            they cannot be used, the server says so and keeps what it has.

            Tokens are as good as passwords. Between machines use TLS, with --tls-cert and --tls-key
            or by a proxy in front, and let the server listen on 127.0.0.1 behind it.
            """ + App.connectors.map { "\n\n" + $0.details }.joined(),
        options: [
            .data,
            .value(
                "listen HOST:PORT",
                "where it listens: 127.0.0.1:8080 if this is left out; port 0 for any free one"
            ),
            .flag("adopt", "let spaces use newer versions of packs that they use; adds none"),
            .values(
                "schema DIR",
                "with --adopt: newer versions from there, not from the program; repeatable",
                .folder
            ),
            .value("tls-cert FILE", "the certificate in PEM, with those that vouch for it", .file),
            .value("tls-key FILE", "its key in PEM, without a password", .file),
            .value(
                "web DIR",
                "pages for browsers from there, in place of those beside the program",
                .folder
            ),
            .flag("no-web", "no pages for browsers"),
            .choice(
                "log",
                ["quiet", "requests"],
                "tell less on stderr, or a line of JSON for each request"
            ),
            .json,
        ] + App.connectors.flatMap(\.options),
        examples: [
            "diario serve --data ./served": "for this machine only",
            "diario serve --data ./served --listen 0.0.0.0:8443 --tls-cert c.pem --tls-key k.pem":
                "for others, with TLS",
        ],
        run: { try ServeCommand(call: $0).run() }
    )
}

/// The command `diario serve`.
struct ServeCommand {
    let call: Invocation
    /// The value of `--log`.
    private let level: String?

    private static let certificateSizeMax = 1024 * 1024

    init(call: Invocation) throws {
        self.call = call
        level = try call.arguments.choice("log", ["quiet", "requests"].map { ($0, $0) })
    }

    func run() throws {
        var configuration = try configuration()
        var connectors = try App.connectors.compactMap { try $0.make(call) }
        if let shell = try shell() { connectors.append(shell) }
        let newerPacks = try newerPacks()
        // From here on a signal ends the server in good order.
        Interrupt.catchSignals()
        Interrupt.catchHangUps()
        let name = try call.dataFolder()
        try call.withData(at: name, remark: { note($0) }) { folder in
            try folder.serve { served, files in
                let log = requestLog()
                defer { log?.close() }
                configuration.log = log
                let handler = ServedDirectory(
                    served,
                    files,
                    domains: App.domains,
                    newerPacks: newerPacks,
                    connectors: connectors
                )
                for connector in connectors { try connector.check(in: handler) }
                try HTTPServer.serve(handler, configuration) {
                    try wait($0, configuration, name)
                }
            }
        }
        note("stopped")
    }

    /// Tells where it listens, and waits until it is to end.
    private func wait(
        _ server: HTTPServer,
        _ configuration: HTTPServer.Configuration,
        _ folder: String
    ) throws {
        // At once, because a program may wait for it.
        try call.answer(
            "diario serves \(CellText.oneLine(folder)) at \(server.url)",
            ["address": server.url, "data": folder]
        )
        try call.output.flush()
        if !server.isLoopback, configuration.certificate == nil {
            note(
                "tokens travel in plain text to other machines. Give --tls-cert and --tls-key, or "
                    + "listen on 127.0.0.1 behind a proxy that has them"
            )
        }
        for remark in App.connectors.compactMap({ $0.remark(call, server.url) }) { note(remark) }
        if server.connectionCountMax < configuration.connectionCountMax {
            note(
                "the system allows \(server.connectionCountMax) connections. More are allowed by: "
                    + "ulimit -n"
            )
        }
        // Something else may end a wait, as a process that was stopped and goes on.
        while !Interrupt.isRaised {
            _ = SystemCall.wait(
                readable: [Interrupt.descriptor, Interrupt.hangUpDescriptor],
                milliseconds: -1
            )
            if Interrupt.takeHangUps() { loadAgain(server) }
        }
        note("stops; a second signal ends it at once")
    }

    /// Loads the certificate again, at SIGHUP.
    private func loadAgain(_ server: HTTPServer) {
        do {
            guard let renewed = try certificate() else {
                return note("SIGHUP: there is no certificate to load again")
            }
            try server.use(renewed)
            note("SIGHUP: the certificate was loaded again")
        } catch {
            // Also where nothing else is told: it ends one day.
            call.remark(
                "SIGHUP: the certificate stays as it was. \(Failure(error).message ?? "")"
            )
        }
    }

    // MARK: Words

    private func configuration() throws -> HTTPServer.Configuration {
        let text = call.value("listen") ?? "127.0.0.1:8080"
        guard let address = ListenAddress(text) else {
            throw Failure.usage(
                "--listen \(CellText.oneLine(text)) is not right; give HOST:PORT, as "
                    + "127.0.0.1:8080 or [::1]:8080"
            )
        }
        var configuration = HTTPServer.Configuration(host: address.host, port: address.port)
        configuration.certificate = try certificate()
        return configuration
    }

    /// The pages for browsers; nil if there are to be none.
    private func shell() throws -> WebShell? {
        guard !call.has("no-web") else {
            guard call.value("web") == nil else {
                throw Failure.usage("--web and --no-web exclude each other", in: call.command)
            }
            return nil
        }
        if let path = call.value("web") {
            let shell = try WebShell(folder: path)
            guard shell.isWhole else {
                throw Failure.failed(
                    "\(CellText.oneLine(path)) has no diario.js. Give the folder that tools/web "
                        + "makes"
                )
            }
            return shell
        }
        return try WebShell(folder: WebShell.ownFolder())
    }

    /// The certificate as its files are now; nil if there is to be none.
    private func certificate() throws -> HTTPServer.Certificate? {
        switch (call.value("tls-cert"), call.value("tls-key")) {
        case (nil, nil): nil
        case (let certificate?, let key?):
            HTTPServer.Certificate(
                certificate: try contents(of: certificate),
                key: try contents(of: key)
            )
        default:
            throw Failure.usage("--tls-cert and --tls-key go together", in: call.command)
        }
    }

    private func contents(of path: String) throws -> String {
        let bytes = try InputFile.bytes(
            of: InputFile.open(path),
            countMax: Self.certificateSizeMax + 1
        )
        guard bytes.count <= Self.certificateSizeMax else {
            throw Failure.failed(
                "\(CellText.oneLine(path)) has more than \(Self.certificateSizeMax) bytes, which "
                    + "no certificate and no key has. Check the path"
            )
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Packs of which spaces may get newer versions than they use.
    private func newerPacks() throws -> [Pack] {
        let schemas = call.arguments.all("schema")
        guard call.has("adopt") else {
            if !schemas.isEmpty {
                note(
                    "--schema does nothing without --adopt. To let a space use a pack: diario "
                        + "--space NAME schema adopt DIR"
                )
            }
            return []
        }
        return try schemas.isEmpty ? PackSource.builtIn() : PackSource.load(folders: schemas)
    }

    // MARK: Messages on stderr

    private func note(_ text: String) {
        if level != "quiet" { call.remark(text) }
    }

    /// Logs requests if that is wanted, and mistakes of the server unless nothing is.
    private func requestLog() -> RequestLog? {
        guard level != "quiet" else { return nil }
        return RequestLog(level == "requests" ? .all : .mistakes) { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                guard case .done(let count) = SystemCall.write(2, rest) else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
