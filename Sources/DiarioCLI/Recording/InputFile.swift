#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import DiarioStorage

/// Opens files that a user names, as the library wants them.
enum InputFile {
    private static let copySize = 256 * 1024

    static func open(_ path: String) throws -> any LogFile {
        let shown = CellText.oneLine(path)
        // The name may be that of a link.
        let (folder, name) = split(SystemCall.realPath(path) ?? path)
        guard !SystemCall.isDirectory(path), !name.isEmpty else {
            throw Failure.failed("\(shown) is a folder. Give a file")
        }
        // A pipe can be read only once, and an import reads its file twice.
        guard !SystemCall.isSpecial(path) else {
            switch SystemCall.open(path) {
            case .done(let descriptor): return try spooled(Int32(descriptor))
            case .failed(let code):
                throw Failure.failed("cannot read \(shown): \(SystemCall.text(ofCode: code))")
            }
        }
        return try POSIXDirectory(path: folder, access: .read).open(name, .read)
    }

    /// The folder and the name of a path.
    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let name = String(path[path.index(after: slash)...])
        return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
    }

    /// All of a pipe, in a file without a name that goes with the program.
    static func spooled(_ descriptor: Int32 = 0) throws -> any LogFile {
        let folder = EnvironmentVariable.temporary.value.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        let name = "diario-import-\(SystemEntropy().next())"
        let directory = try POSIXDirectory(path: folder, access: .readWrite)
        let file = try directory.open(name, .createNew)
        try directory.remove(name)
        var offset = 0
        var bytes: [UInt8] = []
        while true {
            bytes.removeAll(keepingCapacity: true)
            switch SystemCall.read(descriptor, into: &bytes, count: copySize) {
            case .done(0): return file
            case .done, .failed(EINTR): break
            case .failed(EAGAIN):
                _ = SystemCall.wait(readable: [descriptor], milliseconds: 1000)
            case .failed(let code): throw StorageError.failed(.read, "the input", code: code)
            }
            try file.write(bytes.span, at: Int64(offset))
            offset += bytes.count
        }
    }
}
