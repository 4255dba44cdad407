import CBaseline
import Diario

/// What libmicrohttpd alone takes: a handler in C, served by another run of this program.
struct BareServer: Sendable {
    static let childName = "bare-server-child"

    enum Kind: Sendable {
        /// Appends what is posted to a file, and syncs it.
        case append
        /// The same with a file that is there already, whose bytes are overwritten.
        case overwrite
        /// Sends what is posted to all who read.
        case broadcast

        fileprivate var words: [String] {
            switch self {
            case .append: ["append", "0"]
            // As large as a file of our log.
            case .overwrite: ["append", "\(16 * 1024 * 1024)"]
            case .broadcast: ["broadcast"]
            }
        }
    }

    let process: ServingProcess

    /// `path` is that of the file to append to.
    init(_ kind: Kind, _ path: String = "", in scratch: Scratch) async throws(BenchError) {
        process = try await ServingProcess(
            "/proc/self/exe",
            [Self.childName] + kind.words + [path],
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
            guard let size = Int(arguments.next() ?? ""), let path = arguments.next() else {
                throw .usage("how large, and where?")
            }
            // Safe: a plain call into C, which keeps no pointer.
            result = unsafe baseline_serve_append(path, size)
        case "broadcast": result = baseline_serve_broadcast()
        default: throw .usage("append or broadcast?")
        }
        throw .failed("a bare server does not start: \(-result)")
    }
}
