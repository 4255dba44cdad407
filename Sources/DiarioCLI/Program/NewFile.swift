#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A file that a command writes, complete under its name or not at all.
///
/// A regular file of that name is replaced, with its permissions; a link is followed. A special
/// file such as `/dev/stdout` is written directly.
final class NewFile {
    let output: Output
    /// The name for messages.
    let shown: String
    /// The place of the file: not that of a link to it.
    private let path: String
    /// The file to write until it is complete; nil for one that is written in its place.
    private let temporaryPath: String?
    private let descriptor: Int32

    init(_ name: String) throws {
        try SpaceLocation.refuse(name)
        shown = CellText.oneLine(name)
        path = SystemCall.realPath(name) ?? name
        if SystemCall.isSpecial(name) {
            temporaryPath = nil
            descriptor = try Self.descriptor(SystemCall.openSpecial(name), shown)
        } else {
            let (temporary, outcome) = Self.makeTemporary(path)
            temporaryPath = temporary
            descriptor = try Self.descriptor(outcome, shown)
        }
        output = Output(descriptor: descriptor, name: shown)
    }

    /// A new file that only its owner can read; it never replaces another one.
    init(secret name: String) throws {
        try SpaceLocation.refuse(name)
        shown = CellText.oneLine(name)
        path = name
        temporaryPath = name
        let outcome = SystemCall.makeSecretFile(name)
        guard outcome != .failed(EEXIST) else {
            throw Failure.failed(
                "\(shown) is there already, and is not replaced. Choose another file"
            )
        }
        descriptor = try Self.descriptor(outcome, shown)
        output = Output(descriptor: descriptor, name: shown)
    }

    private static func descriptor(_ outcome: SystemCall.Outcome, _ shown: String) throws -> Int32 {
        switch outcome {
        case .done(let descriptor): return Int32(descriptor)
        case .failed(let code):
            throw Failure.failed(
                "cannot write \(shown): \(SystemCall.text(ofCode: code)). Choose another file"
            )
        }
    }

    /// A file beside the one at `path`, under a name that is not in use.
    private static func makeTemporary(_ path: String) -> (path: String, SystemCall.Outcome) {
        var attempts = 0
        while true {
            let mark = String(UInt64.random(in: .min ... .max), radix: 16)
            let temporary = "\(path).\(mark).new"
            let outcome = SystemCall.makeFile(temporary, like: path)
            attempts += 1
            guard outcome == .failed(EEXIST), attempts < 10 else { return (temporary, outcome) }
        }
    }

    /// Writes the bytes to the disk and gives the file its name.
    func finish() throws {
        try output.flush()
        guard let temporaryPath else { return }
        // Before the rename, because a name must never lead to bytes that are not on disk.
        guard fsync(descriptor) == 0 else { throw failure(errno) }
        if case .failed(let code) = SystemCall.close(descriptor) { throw failure(code) }
        guard temporaryPath != path else { return }
        // Safe: the paths are handed over as C strings.
        guard unsafe rename(temporaryPath, path) == 0 else { throw failure(errno) }
    }

    /// Removes the bytes that were written so far.
    func remove() {
        guard let temporaryPath else { return }
        // Safe: the path is handed over as a C string.
        _ = unsafe unlink(temporaryPath)
    }

    private func failure(_ code: Int32) -> Failure {
        .failed("cannot write \(shown): \(SystemCall.text(ofCode: code)). Check the disk")
    }
}
