import Diario
import DiarioCore
import DiarioLog
import DiarioSchema
import DiarioTransport

/// The real server, `diario serve`, with one space.
struct BenchServer: Sendable {
    let process: ServingProcess
    private let program: String
    private let token: String

    private static let space = "home"
    /// The rates of tokens are for people; what is measured here is how fast it goes.
    private static let rate = "1000000000"

    /// Serves the folder at `data`: the space that is in it, or a new one.
    init(
        _ program: String,
        _ data: String,
        serving id: SpaceID? = nil,
        in scratch: Scratch
    ) async throws(BenchError) {
        self.program = program
        if let id {
            try Child.runTool(program, ["space", "name", id.text, Self.space, "--data", data])
            token = try Self.token(for: Self.space, program, data, in: scratch)
        } else {
            token = try Self.space(Self.space, with: ["--pack", "all"], program, data, in: scratch)
        }
        process = try await ServingProcess(
            program,
            ["serve", "--data", data, "--listen", "127.0.0.1:0", "--log", "quiet"],
            in: scratch
        )
    }

    /// Makes a space with packs in the folder at `data`; gives a token for it.
    static func space(
        _ name: String,
        with packs: [String],
        _ program: String,
        _ data: String,
        in scratch: Scratch
    ) throws(BenchError) -> String {
        try Child.runTool(program, ["space", "create", name, "--data", data] + packs)
        return try token(for: name, program, data, in: scratch)
    }

    private static func token(
        for space: String,
        _ program: String,
        _ data: String,
        in scratch: Scratch
    ) throws(BenchError) -> String {
        let words = ["token", "create", "--data", data, "--space", space, "--json"]
        let rates = ["--requests-per-second", rate, "--events-per-second", rate]
        let text = try Child.output(of: program, words + rates, in: scratch)
        let made = try? JSON.parse(Array(text.utf8)).value.member("token")?.item.value
        guard case .string(let token)? = made else { throw .failed("no token is made: \(text)") }
        return token
    }

    /// Serves a space that was made before.
    init(
        _ program: String,
        serving made: MadeSpace,
        in scratch: Scratch
    ) async throws(BenchError) {
        let store = try BenchSpace.store(at: made.path, background: .none)
        let space = try BenchSpace.onlySpace(of: store)
        try BenchSpace.log { () throws(LogError) in try store.close() }
        try await self.init(program, made.path, serving: space, in: scratch)
    }

    var address: String { "http://127.0.0.1:\(process.port)/v1/spaces/\(Self.space)" }

    /// The path of something of the space, and the header that lets somebody ask for it.
    func head(_ method: String, _ path: String) -> String {
        "\(method) /v1/spaces/\(Self.space)\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            + "Authorization: Bearer \(token)\r\n"
    }

    /// Makes a file `curl` in a folder, by which curl fetches files of segments into it.
    func writeCurlFile(for names: [String], in folder: String) throws(BenchError) {
        var text = "silent\nfail\nheader = \"Authorization: Bearer \(token)\"\n"
        for name in names {
            text += "url = \"\(address)/segments/\(name)\"\noutput = \"\(folder)/\(name)\"\n"
        }
        let descriptor = try System.create(folder + "/curl")
        defer { System.close(descriptor) }
        try System.write(Array(text.utf8), to: descriptor)
    }

    /// Connections of its own to the server.
    func transport() async throws(BenchError) -> HTTPTransport {
        try await BenchSpace.carried { try HTTPTransport(to: address, token: token) }
    }

    /// Copies the space into a new folder, by `transport` if somebody counts what that carries.
    func clone(to path: String, by transport: HTTPTransport? = nil) async throws(BenchError) {
        let own = try await self.transport()
        let remote = RemoteFile(address: address, token: token, certificates: nil)
        try await BenchSpace.carried {
            try await SpaceCopy.run(at: path, from: transport ?? own, remembering: remote) { _ in }
        }
    }

    /// A new replica of the space, that is in sync with it.
    func replica(at path: String) async throws(BenchError) -> SyncedReplica {
        try await clone(to: path)
        return try await openReplica(at: path)
    }

    /// The same, made by another process without syncs, where many are needed.
    func replica(at path: String, library: String) async throws(BenchError) -> SyncedReplica {
        let words = ["clone", address, path, "--token", token]
        try Child.runTool(program, words, preload: library)
        return try await openReplica(at: path)
    }

    private func openReplica(at path: String) async throws(BenchError) -> SyncedReplica {
        try await BenchSpace.carried {
            let space = try Space.open(at: path, access: .readWrite)
            let diary = Diary(space: space)
            let transport = try await diary.transport(
                to: address,
                token: token,
                certificates: nil
            )
            return SyncedReplica(space: space, diary: diary, transport: transport)
        }
    }
}

/// A diary with its connections to a server.
struct SyncedReplica: Sendable {
    let space: Space
    let diary: Diary
    let transport: HTTPTransport

    /// The last position here.
    var head: UInt64 { space.store.standing(of: space.id).head }

    @discardableResult
    func sync() async throws(BenchError) -> SyncReport {
        try await BenchSpace.carried { try await diary.sync(with: transport) }
    }

    func close() async throws(BenchError) {
        try await BenchSpace.carried { try await diary.close() }
    }
}

extension BenchSpace {
    /// Errors of those who talk to a server as those of the benchmarks.
    static func carried<Value>(_ body: () async throws -> Value) async throws(BenchError) -> Value {
        do { return try await body() } catch let error as BenchError {
            throw error
        } catch let error as DiarioError {
            throw .failed(error.message)
        } catch let error as TransportError {
            throw .failed(error.message)
        } catch {
            throw .failed("\(error)")
        }
    }
}
