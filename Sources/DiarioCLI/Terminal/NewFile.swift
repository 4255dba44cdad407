#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A file that appears under its name only when it is complete.
///
/// Something that is no regular file, as `/dev/stdout`, is written to directly.
final class NewFile {
    let output: Output
    private let path: String
    private let temporaryPath: String?
    private let descriptor: Int32

    init(_ path: String) throws(Failure) {
        self.path = path
        let isSpecial = SystemCall.isSpecial(path)
        temporaryPath = isSpecial ? nil : path + ".new"
        switch SystemCall.open(temporaryPath ?? path, forWriting: true) {
        case .done(let result): descriptor = Int32(result)
        case .failed(let code):
            throw .failed(
                "cannot write \(CellText.oneLine(path)): \(SystemCall.text(ofCode: code)). "
                    + "Choose another file"
            )
        }
        output = Output(descriptor: descriptor, name: CellText.oneLine(path))
    }

    /// Brings the bytes to the disk and gives the file its name.
    func finish() throws(Failure) {
        try output.flush()
        guard let temporaryPath else { return }
        // Before the rename, because a name must never lead to bytes that are not on disk.
        guard fsync(descriptor) == 0 else { throw failure(errno) }
        if case .failed(let code) = SystemCall.close(descriptor) { throw failure(code) }
        // Safe: the paths are handed over as C strings.
        guard unsafe rename(temporaryPath, path) == 0 else { throw failure(errno) }
    }

    /// Takes away what was written so far.
    func remove() {
        guard let temporaryPath else { return }
        // Safe: the path is handed over as a C string.
        _ = unsafe unlink(temporaryPath)
    }

    private func failure(_ code: Int32) -> Failure {
        .failed(
            "cannot write \(CellText.oneLine(path)): \(SystemCall.text(ofCode: code)). "
                + "Check the disk"
        )
    }
}
