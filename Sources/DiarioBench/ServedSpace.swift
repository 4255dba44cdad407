import CBaseline
import Diario
import DiarioCore
import DiarioSchema
import DiarioStorage
import DiarioTransport

/// A server in a process of its own, so that its processor time is not ours.
final class ServingProcess: Sendable {
    /// Where it listens, on this machine.
    let port: UInt16
    private let process: Int64

    private static let patience = Duration.seconds(120)

    /// Starts a program that writes where it listens to its standard output.
    init(_ path: String, _ arguments: [String], in scratch: Scratch) async throws {
        let output = scratch.path + "/output-\(SystemEntropy().next())"
        let process = try Child.spawn(path, arguments, output: output)
        self.process = process
        do { port = try await Self.port(in: output, of: process) } catch {
            Self.end(process)
            throw error
        }
    }

    deinit { Self.end(process) }

    private static func end(_ process: Int64) {
        baseline_kill(process)
        _ = baseline_wait(process)
    }

    /// Waits for the line that says where it listens.
    private static func port(in output: String, of process: Int64) async throws -> UInt16 {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < patience {
            let text = String(decoding: try System.contents(of: output), as: UTF8.self)
            if text.hasSuffix("\n"), let address = text.split(separator: "127.0.0.1:").last,
                let port = UInt16(address.prefix(while: \.isNumber))
            {
                return port
            }
            guard baseline_has_ended(process) == 0 else {
                throw BenchError.failed("a server ended at once: \(text)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        throw BenchError.failed("a server does not start")
    }

    /// User and system time so far, in nanoseconds.
    var processorNanoseconds: Int64 { baseline_child_nanoseconds(process) }
}

/// The real server, `diario serve`.
struct BenchServer: Sendable {
    let process: ServingProcess

    init(_ program: String, _ data: String, in scratch: Scratch) async throws {
        process = try await ServingProcess(
            program,
            ["serve", "--data", data, "--listen", "127.0.0.1:0", "--log", "quiet"],
            in: scratch
        )
    }

    /// A space to be served from the folder at `data`, and a token for it.
    struct Named: Sendable {
        let name: String
        let token: String

        /// Makes a space with packs.
        init(
            making name: String,
            with packs: [String],
            _ program: String,
            _ data: String,
            in scratch: Scratch
        ) throws {
            try Child.runTool(program, ["space", "create", name, "--data", data] + packs)
            try self.init(name, program, data, in: scratch)
        }

        /// Gives a space that is there a name.
        init(
            naming id: SpaceID,
            _ name: String,
            _ program: String,
            _ data: String,
            in scratch: Scratch
        ) throws {
            try Child.runTool(program, ["space", "name", id.text, name, "--data", data])
            try self.init(name, program, data, in: scratch)
        }

        private init(
            _ name: String,
            _ program: String,
            _ data: String,
            in scratch: Scratch
        ) throws {
            self.name = name
            // The rates of tokens are for people; what is measured here is how fast it goes.
            let rate = "1000000000"
            let words = [
                "token", "create", "--data", data, "--space", name, "--json",
                "--requests-per-second", rate, "--events-per-second", rate,
            ]
            let text = try Child.output(of: program, words, in: scratch)
            let made = try JSON.parse(Array(text.utf8)).value.member("token")?.item.value
            guard case .string(let token)? = made else {
                throw BenchError.failed("no token is made: \(text)")
            }
            self.token = token
        }
    }

    func address(of space: Named) -> String {
        "http://127.0.0.1:\(process.port)/v1/spaces/\(space.name)"
    }

    func transport(to space: Named) throws -> HTTPTransport {
        try HTTPTransport(to: address(of: space), token: space.token)
    }
}

/// What libmicrohttpd alone takes: a handler in C that appends what is posted to a file and syncs
/// it, served by another run of this program.
enum BareServer {
    static let childName = "bare-server-child"

    static func start(_ path: String, in scratch: Scratch) async throws -> ServingProcess {
        try await ServingProcess("/proc/self/exe", [childName, path], in: scratch)
    }

    /// What the other process does; it ends by a signal.
    static func run(_ arguments: inout Arguments) throws {
        guard let path = arguments.next() else { throw BenchError.usage("to which file?") }
        // Safe: a plain call into C, which keeps no pointer.
        let result = unsafe baseline_serve_append(path)
        throw BenchError.failed("a bare server does not start: \(-result)")
    }
}
