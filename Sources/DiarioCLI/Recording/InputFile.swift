#if canImport(Darwin)
import Darwin
#else
import DiarioHost
import Glibc
#endif
import Diario

extension InputFile {
    private static let copySize = 256 * 1024

    /// Opens a file that was typed.
    static func open(_ path: String) throws -> OpenedFile {
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
        return try open(name, in: folder)
    }

    /// All of a file that was typed, which may have at most `sizeMax` bytes.
    static func contents(of path: String, sizeMax: Int) throws -> [UInt8] {
        let bytes = try bytes(of: open(path), countMax: sizeMax + 1)
        guard bytes.count <= sizeMax else {
            throw Failure.failed(
                "\(CellText.oneLine(path)) has more than \(sizeMax) bytes. Make it smaller"
            )
        }
        return bytes
    }

    /// The folder and the name of a path.
    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let name = String(path[path.index(after: slash)...])
        return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
    }

    /// All of a pipe, in a file that goes with the program.
    static func spooled(_ descriptor: Int32 = 0) throws -> OpenedFile {
        try spooled(in: EnvironmentVariable.temporaryFolder) { bytes in
            while true {
                switch SystemCall.read(descriptor, into: &bytes, count: copySize) {
                case .done(0): return
                case .done: if !bytes.isEmpty { return }
                case .failed(EINTR): break
                case .failed(EAGAIN):
                    _ = SystemCall.wait(readable: [descriptor], milliseconds: 1000)
                case .failed(let code):
                    throw Failure.failed(
                        "cannot read the input: \(SystemCall.text(ofCode: code))"
                    )
                }
            }
        }
    }
}
