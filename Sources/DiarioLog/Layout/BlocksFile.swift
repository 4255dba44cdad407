import DiarioCore
import DiarioFormat
import DiarioFrames

/// A small file that holds blocks: an inbox has one in each, and kept events have several.
///
/// Its fields are the time at which it was written, i64 in milliseconds, and then the blocks, each
/// behind the varint of its size.
enum BlocksFile {
    static let blocksOffset = 16

    static func encoded(_ blocks: [[UInt8]], _ magic: Magic, at now: Timestamp) -> [UInt8] {
        var bytes = SmallFile.begin(magic)
        bytes.append(littleEndian: UInt64(bitPattern: now.milliseconds))
        for block in blocks { bytes.append(counted: block.span.raw) }
        SmallFile.end(&bytes)
        return bytes
    }

    /// The time and the blocks, with their offsets; what is in the blocks is not looked at.
    static func read(
        _ bytes: Span<UInt8>,
        _ magic: Magic
    ) throws(FormatError) -> (writtenAt: Timestamp, blocks: [(offset: Int, bytes: [UInt8])]) {
        let end = try SmallFile.check(bytes, magic)
        var reader = ByteReader(bytes.raw, range: SmallFile.headerSize..<end)
        let writtenAt = Int64(bitPattern: try reader.next(UInt64.self))
        var blocks: [(offset: Int, bytes: [UInt8])] = []
        while !reader.isAtEnd {
            let range = try reader.nextBytes()
            blocks.append((range.lowerBound, reader.copy(range)))
        }
        return (Timestamp(milliseconds: writtenAt), blocks)
    }
}
