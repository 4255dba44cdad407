#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The output of errors and progress, so that they do not mix with results.
enum StandardError {
    static var isTerminal: Bool { isatty(2) == 1 }

    static func say(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            // Safe: a plain call into C, which reads as many bytes as the buffer has.
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe write(2, bytes.baseAddress, bytes.count)
            }
            // Nobody may be there to read it any more.
            guard count > 0 else { return }
            rest.removeFirst(count)
        }
    }
}
