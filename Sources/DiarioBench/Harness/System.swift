#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// What the programs of this folder need of the operating system beside `DiarioStorage`.
enum System {
    static let standardOutput: Int32 = 1
    static let standardError: Int32 = 2

    /// Writes all bytes to a descriptor.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var offset = 0
        while offset < bytes.count {
            // Safe: what is left of the array is written, and no pointer is kept.
            let count = unsafe bytes.withUnsafeBytes { source in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: source[offset...])
                #if canImport(Darwin)
                return unsafe Darwin.write(descriptor, rest.baseAddress, rest.count)
                #else
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                #endif
            }
            guard count > 0 || count < 0 && errno == EINTR else {
                throw BenchError.failed("writing fails: \(lastError)")
            }
            offset += max(0, count)
        }
    }

    /// Makes a file of a text.
    static func write(_ text: String, to path: String) throws {
        let descriptor = try create(path)
        defer { close(descriptor) }
        try write(Array(text.utf8), to: descriptor)
    }

    static func say(_ text: String, to descriptor: Int32 = standardError) {
        try? write(Array(text.utf8), to: descriptor)
    }

    /// Opens a file for writing, made or emptied.
    static func create(_ path: String) throws -> Int32 {
        // Safe: a plain call into C, which keeps no pointer.
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw BenchError.failed("\(path) cannot be made: \(lastError)")
        }
        return descriptor
    }

    static func close(_ descriptor: Int32) {
        #if canImport(Darwin)
        _ = Darwin.close(descriptor)
        #else
        _ = Glibc.close(descriptor)
        #endif
    }

    /// All bytes of a file, whatever the system says of its size.
    static func contents(of path: String) throws -> [UInt8] {
        // Safe: C keeps no pointer, and reads no more than the size of `piece`.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw BenchError.failed("\(path) cannot be read: \(lastError)")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe read(descriptor, &piece, piece.count)
            guard count >= 0 else {
                throw BenchError.failed("\(path) cannot be read: \(lastError)")
            }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }

    /// A path from the root on.
    static func absolute(_ path: String) throws -> String {
        // Safe: `realpath` gives a text that is the caller's to free, after it was copied.
        guard let found = unsafe realpath(path, nil) else {
            throw BenchError.failed("\(path): \(lastError)")
        }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// A variable of the environment, if it is set to something.
    static func environment(_ name: String) -> String? {
        // Safe: the text is copied at once, and nothing here changes the environment.
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    static var lastError: String {
        // Safe: the text is copied before anything else can fail.
        unsafe String(cString: strerror(errno))
    }
}

/// Why a benchmark ends early.
enum BenchError: Error {
    /// The call is wrong: exit code 2.
    case usage(String)
    /// Something failed on the way: exit code 1.
    case failed(String)
}
