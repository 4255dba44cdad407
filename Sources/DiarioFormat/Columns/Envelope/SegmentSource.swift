/// Where the bytes of a segment or a sidecar come from: a file, or memory.
package protocol SegmentSource: AnyObject {
    /// Appends `count` bytes from `offset` on to `bytes`; throws `.unreadable` if it cannot.
    func read(
        at offset: Int,
        count: Int,
        into bytes: inout [UInt8]
    ) throws(SegmentError)
}

/// A file that lies in memory.
package final class SegmentMemory: SegmentSource, Sendable {
    private let file: SegmentFile
    private let content: [UInt8]

    package init(_ file: SegmentFile, _ content: [UInt8]) {
        self.file = file
        self.content = content
    }

    package func read(
        at offset: Int,
        count: Int,
        into bytes: inout [UInt8]
    ) throws(SegmentError) {
        guard offset >= 0, count >= 0, count <= content.count, offset <= content.count - count
        else { throw .unreadable(file, at: offset) }
        bytes += content[offset..<offset + count]
    }
}
