#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import DiarioStorage

/// Opens files that a user names, as the library wants them.
enum InputFile {
    private static let copySize = 256 * 1024

    static func open(_ path: String) throws(Failure) -> any LogFile {
        let shown = CellText.oneLine(path)
        // Whoever names a file may name a link to it.
        let (folder, name) = split(SystemCall.realPath(path) ?? path)
        guard !SystemCall.isDirectory(path), !name.isEmpty else {
            throw .failed("\(shown) is a folder. Give a file")
        }
        // What is no regular file is read only once, and an import reads its file twice.
        guard !SystemCall.isSpecial(path) else {
            switch SystemCall.open(path) {
            case .done(let descriptor): return try spooled(Int32(descriptor))
            case .failed(let code):
                throw .failed("cannot read \(shown): \(SystemCall.text(ofCode: code))")
            }
        }
        do throws(StorageError) {
            return try POSIXDirectory(path: folder, access: .read).open(name, .read)
        } catch {
            throw .failed(error.message)
        }
    }

    /// The folder and the name of a path.
    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let name = String(path[path.index(after: slash)...])
        return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
    }

    /// All of a pipe, in a file without a name that goes with the program.
    static func spooled(_ descriptor: Int32 = 0) throws(Failure) -> any LogFile {
        let folder = EnvironmentVariable.temporary.value.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        let name = "diario-import-\(SystemEntropy().next())"
        do throws(StorageError) {
            let directory = try POSIXDirectory(path: folder, access: .readWrite)
            let file = try directory.open(name, .createNew)
            try directory.remove(name)
            let failure = try copy(descriptor, to: file)
            guard let failure else { return file }
            throw .failed(.read, "the input", code: failure)
        } catch {
            throw .failed(error.message)
        }
    }

    /// Copies until the input ends; gives the error number if it cannot be read.
    private static func copy(
        _ descriptor: Int32,
        to file: any LogFile
    ) throws(StorageError) -> Int32? {
        var offset = 0
        var bytes: [UInt8] = []
        while true {
            bytes.removeAll(keepingCapacity: true)
            switch SystemCall.read(descriptor, into: &bytes, count: copySize) {
            case .done(0): return nil
            case .done: break
            case .failed(EINTR): continue
            case .failed(EAGAIN):
                _ = SystemCall.wait(readable: [descriptor], milliseconds: 1000)
                continue
            case .failed(let code): return code
            }
            try file.write(bytes.span, at: offset)
            offset += bytes.count
        }
    }
}
