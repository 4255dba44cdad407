#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import Diario
import DiarioCore

/// Cuts what comes from a descriptor into lines; memory is bounded by the longest line allowed.
///
/// One `fill` is one `read`: the lines it brought are what was waiting, and may share a sync.
package struct LineSource: ~Copyable {
    private let descriptor: Int32
    private let name: String
    private var bytes: [UInt8] = []
    /// The start of the next line, and the end of the search for its end.
    private var start = 0
    private var searched = 0
    private var isAtEnd = false
    /// The number of the line handed out last, counted from 1.
    package private(set) var lineNumber = 0
    /// Bytes of the input before `bytes`.
    private var droppedCount: UInt64 = 0
    /// Bytes of the lines that were handed out.
    package var byteCount: UInt64 { droppedCount + UInt64(start) }

    private static let readSize = 256 * 1024

    package init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Waits for more bytes; false at the end of the input, or when a signal came instead.
    package mutating func fill() throws -> Bool {
        droppedCount += UInt64(start)
        bytes.removeSubrange(..<start)
        searched -= start
        start = 0
        while !isAtEnd {
            if Interrupt.descriptor >= 0 {
                let ready = SystemCall.wait(
                    readable: [Interrupt.descriptor, descriptor],
                    milliseconds: -1
                ).readable
                if ready[0] { return false }
                guard ready[1] else { continue }
            }
            switch SystemCall.read(descriptor, into: &bytes, count: Self.readSize) {
            case .done(0): isAtEnd = true
            case .done: return true
            case .failed(EINTR): continue
            case .failed(EAGAIN): _ = SystemCall.wait(readable: [descriptor], milliseconds: 1000)
            case .failed(let code):
                throw Failure.failed("cannot read \(name): \(SystemCall.text(ofCode: code))")
            }
        }
        return searched < bytes.count || start < bytes.count
    }

    /// Hands the next whole line without its line feed to `body`; false if there is none yet.
    ///
    /// At the end of the input a last line without a line feed counts too.
    ///
    /// - Throws: what `body` throws, or `.failed` if the line is above `Limits.lineSizeMax`.
    package mutating func next(_ body: (Span<UInt8>, Int) throws -> Void) throws -> Bool {
        while searched < bytes.count, bytes[searched] != 0x0a { searched += 1 }
        let hasFeed = searched < bytes.count
        let size = searched - start
        guard size <= Limits.lineSizeMax else {
            throw Failure.failed(
                "\(name), line \(lineNumber + 1): more than \(Limits.lineSizeMax) bytes. "
                    + "Make it smaller, or check that lines end with a line feed"
            )
        }
        guard hasFeed || isAtEnd && size > 0 else { return false }
        lineNumber += 1
        // Nothing was dropped before the first line was handed out, so `start` is 0 there.
        let mark = lineNumber == 1 ? ByteOrderMark.size(atStartOf: bytes) : 0
        let range = start + min(mark, size)..<searched
        start = hasFeed ? searched + 1 : searched
        searched = start
        try body(bytes.span.extracting(range), lineNumber)
        return true
    }

    /// All of stdin, which may have at most `sizeMax` bytes.
    static func wholeInput(sizeMax: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            switch SystemCall.read(0, into: &bytes, count: readSize) {
            case .done(0): return bytes
            case .done, .failed(EINTR): break
            case .failed(EAGAIN): _ = SystemCall.wait(readable: [0], milliseconds: 1000)
            case .failed(let code):
                throw Failure.failed("cannot read the input: \(SystemCall.text(ofCode: code))")
            }
            guard bytes.count <= sizeMax else {
                throw Failure.failed("the input has more than \(sizeMax) bytes. Make it smaller")
            }
        }
    }
}
