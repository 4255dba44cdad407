import Diario
import DiarioLog
import DiarioStorage
import DiarioTransport

/// The server that a command is about, and how to get in.
struct ServerAccess: Sendable {
    let remote: RemoteFile

    /// What was typed, else what the space remembers.
    ///
    /// A token that is remembered is for its own address alone.
    init(
        _ call: Invocation,
        address given: String?,
        remembered: RemoteFile?
    ) throws(Failure) {
        guard let text = given ?? remembered?.address else {
            throw .failed(
                "this space knows no server. Name one: diario remote set URL --token-file FILE"
            )
        }
        let address = try Self.address(text)
        let own = remembered?.address == address.text ? remembered : nil
        guard let token = try Self.token(call) ?? own?.token else {
            throw .usage(
                "there is no token for \(address.server). Give it with --token-file FILE or in "
                    + "\(EnvironmentVariable.token.rawValue)"
            )
        }
        var certificates = own?.certificates
        if let path = call.arguments.value("ca-file") {
            guard let full = Self.fullPath(path) else {
                throw .failed("the file \(CellText.oneLine(path)) of --ca-file is not there")
            }
            certificates = full
        }
        remote = RemoteFile(address: address.text, token: token, certificates: certificates)
    }

    static func address(_ text: String) throws(Failure) -> SpaceAddress {
        do throws(TransportError) { return try SpaceAddress(text) } catch {
            throw .usage(error.message)
        }
    }

    func transport() throws(Failure) -> HTTPTransport {
        do {
            return try HTTPTransport(
                to: remote.address,
                token: remote.token,
                certificates: remote.certificates
            )
        } catch {
            throw Failure(error)
        }
    }

    /// By which the server knows the replica.
    func transport(for diary: Diary) async throws(Failure) -> HTTPTransport {
        do {
            return try await diary.transport(
                to: remote.address,
                token: remote.token,
                certificates: remote.certificates
            )
        } catch {
            throw Failure(error)
        }
    }

    private static func token(_ call: Invocation) throws(Failure) -> String? {
        if let text = call.arguments.value("token") {
            guard call.arguments.value("token-file") == nil else {
                throw .usage("--token and --token-file are both there; give one of them")
            }
            return text
        }
        if let path = call.arguments.value("token-file") {
            let file = try InputFile.open(path)
            let bytes: [UInt8]
            do throws(StorageError) {
                var read: [UInt8] = []
                try file.read(at: 0, count: tokenFileSizeMax + 1, into: &read)
                bytes = read
            } catch {
                throw .failed(error.message)
            }
            let words = bytes.split { $0 <= 0x20 }
            guard words.count == 1, bytes.count <= tokenFileSizeMax else {
                throw .failed(
                    "\(CellText.oneLine(path)) holds no token: one line, as `diario token create` "
                        + "prints it"
                )
            }
            return String(decoding: words[0], as: UTF8.self)
        }
        return EnvironmentVariable.token.value.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let tokenFileSizeMax = 4096

    /// From the root of the file system on, because it is remembered.
    private static func fullPath(_ path: String) -> String? {
        guard !SystemCall.isDirectory(path), (try? InputFile.open(path)) != nil else { return nil }
        if path.hasPrefix("/") { return path }
        return SystemCall.currentDirectory().map { "\($0)/\(path)" }
    }
}

extension Failure {
    /// What a library threw.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as DiarioError: self = .failed(error.message)
        case let error as TransportError: self = .failed(error.message)
        case is CancellationError: self = .failed("it was interrupted")
        default: self = .failed("\(error)")
        }
    }
}
