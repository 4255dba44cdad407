import CBaseline
import Diario

/// What libmicrohttpd alone takes: a handler in C, served by another run of this program.
struct BareServer: Sendable {
    static let childName = "bare-server-child"

    enum Kind: Sendable {
        /// Appends what is posted to a file, and syncs it.
        case append(path: String)
        /// Sends what is posted to all who read.
        case broadcast
    }

    let process: ServingProcess

    init(_ kind: Kind, in scratch: Scratch) async throws(BenchError) {
        let words =
            switch kind {
            case .append(let path): ["append", path]
            case .broadcast: ["broadcast"]
            }
        process = try await ServingProcess(
            "/proc/self/exe",
            [Self.childName] + words,
            in: scratch
        )
    }

    /// Carries messages to it as to a real server.
    func transport() async throws(BenchError) -> HTTPTransport {
        let address = "http://127.0.0.1:\(process.port)/v1/spaces/home"
        return try await BenchSpace.carried {
            // As long as the tokens of a real one.
            try HTTPTransport(to: address, token: String(repeating: "a", count: 64))
        }
    }

    /// What the other process does; it ends by a signal.
    static func run(_ arguments: inout Arguments) throws(BenchError) {
        let result: Int32
        switch arguments.next() {
        case "append":
            guard let path = arguments.next() else { throw .usage("to which file?") }
            // Safe: a plain call into C, which keeps no pointer.
            result = unsafe baseline_serve_append(path)
        case "broadcast": result = baseline_serve_broadcast()
        default: throw .usage("append or broadcast?")
        }
        throw .failed("a bare server does not start: \(-result)")
    }
}
