import DiarioCore
package import DiarioStorage

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// The lines of a file, one by one; memory is bounded by the longest line that is allowed.
package struct FileLines {
    private let file: any LogFile
    private var fileOffset = 0
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// The number of the line that was read last, from 1.
    package private(set) var number = 0
    /// Bytes of the file that were read.
    package var offset: Int { fileOffset - (buffer.count - start) }
    /// A line with an unknown key is refused.
    package var ignoredNames: [String] { [] }

    private static let chunkSize = 256 * 1024

    package init(_ file: any LogFile) { self.file = file }

    /// Gives the next line, without its line feed, and its number to `body`; false at the end.
    package mutating func next(
        _ body: (Span<UInt8>, InputPlace) throws(DiarioError) -> Void
    ) throws(DiarioError) -> Bool {
        var searched = start
        while true {
            if let end = lineFeed(from: searched) {
                number += 1
                defer { start = end + 1 }
                try body(buffer.span.extracting(start..<end), InputPlace(line: number))
                return true
            }
            guard buffer.count - start <= Limits.lineSizeMax else {
                throw DiarioError(
                    .tooLarge,
                    "line \(number + 1): the line is longer than \(Limits.lineSizeMax) bytes. "
                        + "Events are recorded one by line.",
                    line: number + 1
                )
            }
            if isAtEnd {
                guard start < buffer.count else { return false }
                number += 1
                defer { start = buffer.count }
                try body(buffer.span.extracting(start..<buffer.count), InputPlace(line: number))
                return true
            }
            buffer.removeSubrange(..<start)
            start = 0
            searched = buffer.count
            let before = buffer.count
            do throws(StorageError) {
                try file.read(at: Int64(fileOffset), count: Self.chunkSize, into: &buffer)
            } catch {
                throw DiarioError(error)
            }
            if fileOffset == 0 {
                start = ByteOrderMark.size(atStartOf: buffer)
                searched = start
            }
            fileOffset += buffer.count - before
            isAtEnd = buffer.count == before
        }
    }

    /// The index of the first line feed at or after `start`.
    private func lineFeed(from start: Int) -> Int? {
        #if hasFeature(Embedded)
        return buffer[start...].firstIndex(of: 0x0a)
        #else
        // Safe: the search stays between `start` and the end of the buffer.
        return unsafe buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < bytes.count,
                let found = unsafe memchr(base + start, 0x0a, bytes.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
        #endif
    }
}
