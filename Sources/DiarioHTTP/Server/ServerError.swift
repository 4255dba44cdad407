/// Why a server cannot start.
package enum ServerError: Error, Equatable, Sendable {
    case inUse(host: String, port: UInt16)
    case denied(host: String, port: UInt16)
    case noSuchAddress(host: String)
    case unknownHost(host: String)
    case tooManyFiles
    /// The certificate or its key is wrong.
    case certificate(String)
    case failed(String)

    /// What is wrong, and the remedy.
    package var message: String {
        switch self {
        case .inUse(let host, let port):
            "the port \(port) of \(host) is in use. End the other program, or take another port"
        case .denied(_, let port):
            port < 1024
                ? "the port \(port) is for the system's own programs. Take one from 1024 on, or "
                    + "give the program the right (CAP_NET_BIND_SERVICE)"
                : "the system does not let this user listen on the port \(port)"
        case .noSuchAddress(let host):
            "this machine has no address \(host). Take one of its own, or 0.0.0.0 for all"
        case .unknownHost(let host): "there is no host \(host). Check the name, or give an address"
        case .tooManyFiles: "too many files are open. Raise the bound: ulimit -n"
        case .certificate(let reason): "the certificate or its key cannot be used: \(reason)"
        case .failed(let reason): "the server cannot start: \(reason)"
        }
    }
}
