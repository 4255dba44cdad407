#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A new file with a secret, which only its owner can read.
struct SecretFile {
    /// What messages call it.
    let shown: String
    private let path: String
    private let descriptor: Int32

    /// Makes the file, empty; never takes the place of another one.
    init(_ path: String) throws {
        try SpaceFolder.refuse(path)
        self.path = path
        shown = CellText.oneLine(path)
        switch SystemCall.makeSecretFile(path) {
        case .done(let made): descriptor = Int32(made)
        case .failed(EEXIST):
            throw Failure.failed(
                "\(shown) is there already, and is not replaced. Choose another file"
            )
        case .failed(let code):
            throw Failure.failed(
                "cannot make \(shown): \(SystemCall.text(ofCode: code)). Choose another file"
            )
        }
    }

    /// Writes the secret; it is on the disk when this returns.
    func finish(_ text: String) throws {
        let output = Output(descriptor: descriptor, name: shown)
        try output.append { $0 += text.utf8 }
        try output.flush()
        guard fsync(descriptor) == 0 else { throw failure(errno) }
        if case .failed(let code) = SystemCall.close(descriptor) { throw failure(code) }
    }

    func remove() {
        // Safe: the path is handed over as a C string.
        _ = unsafe unlink(path)
    }

    private func failure(_ code: Int32) -> Failure {
        .failed("cannot write \(shown): \(SystemCall.text(ofCode: code)). Check the disk")
    }
}
