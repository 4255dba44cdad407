import Diario
import DiarioHost

/// The address of a server, and the token for it.
struct ServerAccess: Sendable {
    let remote: RemoteServer

    private static let tokenFileSizeMax = 4096

    /// The server that was typed, else the one that the space remembers.
    ///
    /// A token that is remembered is for its own address alone.
    init(_ call: Invocation, address given: String?, remembered: RemoteServer?) throws {
        guard let text = given ?? remembered?.address else {
            throw Failure.failed(
                "this space knows no server. Name one: diario remote set URL --token-file FILE"
            )
        }
        let address = try Self.address(text)
        let own = remembered?.address == address.text ? remembered : nil
        guard let token = try Self.token(call) ?? own?.token else {
            throw Failure.usage(
                "there is no token for \(address.server). Give it with --token-file FILE or in "
                    + EnvironmentVariable.token.rawValue
            )
        }
        var certificates = own?.certificates
        if let path = call.value("ca-file") {
            guard let full = Self.fullPath(path) else {
                throw Failure.failed("the file \(CellText.oneLine(path)) of --ca-file is missing")
            }
            certificates = full
        }
        remote = RemoteServer(address: address.text, token: token, certificates: certificates)
    }

    static func address(_ text: String) throws -> SpaceAddress {
        do { return try SpaceAddress(text) } catch { throw Failure.usage(error.message) }
    }

    func transport() throws -> HTTPTransport {
        try HTTPTransport(
            to: remote.address,
            token: remote.token,
            certificates: remote.certificates
        )
    }

    private static func token(_ call: Invocation) throws -> String? {
        let (text, path) = (call.value("token"), call.value("token-file"))
        guard let path else {
            return text ?? EnvironmentVariable.token.value.flatMap { $0.isEmpty ? nil : $0 }
        }
        guard text == nil else {
            throw Failure.usage("--token and --token-file are both there; give one of them")
        }
        let bytes = try InputFile.bytes(of: InputFile.open(path), countMax: tokenFileSizeMax + 1)
        let words = bytes.split { $0 <= 0x20 }
        guard words.count == 1, bytes.count <= tokenFileSizeMax else {
            throw Failure.failed(
                "\(CellText.oneLine(path)) holds no token: one line, as `diario token create` "
                    + "prints it"
            )
        }
        return String(decoding: words[0], as: UTF8.self)
    }

    /// From the root of the file system on, because it is remembered.
    private static func fullPath(_ path: String) -> String? {
        guard !SystemCall.isDirectory(path), (try? InputFile.open(path)) != nil else { return nil }
        if path.hasPrefix("/") { return path }
        return SystemCall.currentDirectory().map { "\($0)/\(path)" }
    }
}

/// A diary, and the server that a command exchanges events with.
struct ServerConnection {
    let call: Invocation
    let diary: Diary
    let remote: RemoteServer
    let transport: HTTPTransport

    var space: Space { diary.space }
}

extension Invocation {
    /// Opens the space for the server of the first operand, or else the one that it remembers;
    /// `check` refuses spaces that have none.
    func withServer(
        check: (Space) throws -> Void,
        body: (ServerConnection) async throws -> Void
    ) async throws {
        try await withDiary { diary, space in
            try check(space)
            let remote = try ServerAccess(
                self,
                address: arguments.operands.first,
                remembered: space.remote()
            ).remote
            let transport = try await diary.transport(
                to: remote.address,
                token: remote.token,
                certificates: remote.certificates
            )
            try await body(
                ServerConnection(
                    call: self,
                    diary: diary,
                    remote: remote,
                    transport: transport
                )
            )
        }
    }
}

extension Fields {
    /// The traffic of a command.
    init(_ transport: HTTPTransport) {
        let traffic = transport.traffic
        self = [
            "requests": traffic?.requests ?? 0, "bytesSent": traffic?.bytesSent ?? 0,
            "bytesReceived": traffic?.bytesReceived ?? 0,
        ]
    }
}

extension CommandOption {
    /// The options of commands that ask a server.
    static let access: [CommandOption] = [
        .value("token-file FILE", "a file with the token; else DIARIO_TOKEN", .file),
        .value("token TEXT", "the token itself; others see it in the list of processes"),
        .value("ca-file FILE", "certificates to trust in place of the system's, in PEM", .file),
    ]
}
