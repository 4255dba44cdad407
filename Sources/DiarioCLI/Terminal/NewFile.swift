#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import DiarioStorage

/// A file that appears under its name only when it is complete.
///
/// What was there until then is replaced, keeping who may read it; a link goes on leading where it
/// does. Something that is no regular file, as `/dev/stdout`, is written to directly.
final class NewFile {
    let output: Output
    private let name: String
    /// Where the file is to be: not that of a link to it.
    private let path: String
    private let temporaryPath: String?
    private let descriptor: Int32

    init(_ name: String) throws {
        self.name = CellText.oneLine(name)
        try SpaceFolder.refuse(name)
        path = SystemCall.realPath(name) ?? name
        let outcome: SystemCall.Outcome
        if SystemCall.isSpecial(name) {
            temporaryPath = nil
            outcome = SystemCall.openSpecial(name)
        } else {
            (temporaryPath, outcome) = Self.makeTemporary(path)
        }
        switch outcome {
        case .done(let result): descriptor = Int32(result)
        case .failed(let code):
            throw Failure.failed(
                "cannot write \(self.name): \(SystemCall.text(ofCode: code)). Choose another file"
            )
        }
        output = Output(descriptor: descriptor, name: self.name)
    }

    /// A file beside the one at `path`, under a name that nobody else uses.
    private static func makeTemporary(_ path: String) -> (path: String, SystemCall.Outcome) {
        var attempts = 0
        while true {
            let mark = String(SystemEntropy().next(), radix: 16)
            let temporary = "\(path).\(mark).new"
            let outcome = SystemCall.makeFile(temporary, like: path)
            attempts += 1
            guard outcome == .failed(EEXIST), attempts < 10 else { return (temporary, outcome) }
        }
    }

    /// Brings the bytes to the disk and gives the file its name.
    func finish() throws {
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
            "cannot write \(name): \(SystemCall.text(ofCode: code)). Check the disk"
        )
    }
}
