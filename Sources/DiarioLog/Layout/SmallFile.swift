import DiarioCore
import DiarioFormat

// What the small files of a data directory have in common: schema/format/directory.md, section 2.
//
//   offset  size  field
//        0     4  magic
//        4     1  version, 1
//        5     1  flags, zero in most files
//        6     2  zero
//        8        the fields of the file
//              4  CRC32C of all bytes before

/// Writes and checks what all small files have in common.
enum SmallFile {
    static let headerSize = 8
    static let trailerSize = 4
    private static let version: UInt8 = 1

    /// The header, behind which the fields are appended.
    static func begin(_ magic: Magic, flags: UInt8 = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: magic.rawValue)
        bytes.append(version)
        bytes.append(flags)
        bytes.append(littleEndian: UInt16(0))
        return bytes
    }

    /// Appends the checksum.
    static func end(_ bytes: inout [UInt8]) {
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
    }

    /// Checks header and checksum; where the fields end.
    ///
    /// `flags` are those that the file may have.
    static func check(
        _ bytes: Span<UInt8>,
        _ magic: Magic,
        flags: UInt8 = 0
    ) throws(FormatError) -> Int {
        let end = bytes.count - trailerSize
        guard end >= headerSize else { throw .truncated(at: bytes.count) }
        try magic.check(bytes.littleEndian(UInt32.self, at: 0))
        guard bytes[4] == version else { throw .unknownVersion(bytes[4], at: 4) }
        let stored = bytes.littleEndian(UInt32.self, at: end)
        let computed = Checksum.crc32c(bytes.extracting(0..<end).raw)
        guard stored == computed else {
            throw .checksumMismatch(stored: stored, computed: computed)
        }
        guard bytes[5] & ~flags == 0, bytes.littleEndian(UInt16.self, at: 6) == 0 else {
            throw .malformed(.fileFlags, at: 5)
        }
        return end
    }
}

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
