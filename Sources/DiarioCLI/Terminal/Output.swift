#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A buffered output for the results of a command.
package final class Output {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// Its name in errors.
    private let name: String

    private static let flushSize = 64 * 1024

    package init(descriptor: Int32, name: String = "the output") {
        self.descriptor = descriptor
        self.name = name
    }

    package var isTerminal: Bool { SystemCall.isTerminal(descriptor) }

    /// The columns of a line: those of the terminal, else what the shell says, else 80.
    package var width: Int { widthIfKnown ?? 80 }

    /// The same of a row of a table, of which nothing is cut for a program or a file.
    var tableWidth: Int { widthIfKnown ?? .max }

    private var widthIfKnown: Int? {
        SystemCall.columnCount(descriptor)
            ?? EnvironmentVariable.columns.value.flatMap { Int($0) }.map { max(20, $0) }
    }

    /// Adds a line.
    package func line(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        buffer.append(0x0a)
        try flushIfFull()
    }

    /// Lets `body` append to the buffer.
    package func append(_ body: (inout [UInt8]) -> Void) throws {
        body(&buffer)
        try flushIfFull()
    }

    private func flushIfFull() throws {
        if buffer.count >= Self.flushSize { try flush() }
    }

    /// Hands everything to the operating system.
    ///
    /// - Throws: `.outputClosed` if the reader of a pipe has gone, `.failed` if the disk refuses.
    package func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        var start = 0
        while start < buffer.count {
            switch SystemCall.write(descriptor, buffer[start...]) {
            case .done(let count): start += count
            case .failed(EINTR): continue
            case .failed(EAGAIN): _ = SystemCall.waitWritable(descriptor)
            case .failed(EPIPE): throw Failure.outputClosed
            case .failed(EBADF):
                throw Failure.failed(
                    "\(name) is closed or cannot be written, so nothing can be shown"
                )
            case .failed(let code):
                throw Failure.failed(
                    "cannot write \(name): \(SystemCall.text(ofCode: code)). Check the disk"
                )
            }
        }
    }

    /// True if the reader of the pipe has gone.
    package var isHungUp: Bool {
        SystemCall.wait(readable: [], hungUp: [descriptor], milliseconds: 0).hungUp == [true]
    }
}
