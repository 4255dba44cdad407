package import DiarioCore
import DiarioFormat
package import DiarioStorage

// A row file: a header of 32 bytes, then records as in a frame, each with a condensed block.
// Specified in schema/format/log.md, section 8.
//
//   offset  size  field
//        0     4  magic, "DROW"
//        4     1  version, 1
//        5     3  zero
//        8     8  number of the file, below 2^32
//       16     8  length of the file
//       24     4  zero
//       28     4  CRC32C of bytes 0 to 28

/// A file with condensed rows of many spaces, which the write-ahead log has no room for.
///
/// It never changes, and is removed when the log speaks of none of its rows any more.
package enum RowFile {
    package static let headerSize = 32
    /// A file of ours is far smaller; a reader takes no more memory than this.
    package static let sizeMax = 64 * 1024 * 1024
    private static let magic: [UInt8] = Array("DROW".utf8)
    private static let version: UInt8 = 1

    /// A block of a row file, and where it starts.
    package struct Entry: Sendable {
        package let space: SpaceID
        package let offset: Int
        package let block: [UInt8]
    }

    /// Room for a header.
    static var begun: [UInt8] { [UInt8](repeating: 0, count: headerSize) }

    /// Writes the header of a file whose records are there.
    package static func seal(_ file: inout [UInt8], number: UInt32) {
        var header = magic + [version, 0, 0, 0]
        header.append(littleEndian: UInt64(number))
        header.append(littleEndian: UInt64(file.count))
        header.append(littleEndian: UInt32(0))
        header.append(littleEndian: Checksum.crc32c(header.span.raw))
        file.replaceSubrange(0..<headerSize, with: header)
    }

    /// The blocks of a file that verify; none if the header is not that of this file.
    package static func entries(_ file: [UInt8], number: UInt32) -> [Entry] {
        let bytes = file.span
        guard bytes.count >= headerSize, magic.indices.allSatisfy({ bytes[$0] == magic[$0] }),
            bytes[4] == version,
            bytes.littleEndian(UInt64.self, at: 8) == UInt64(number),
            bytes.littleEndian(UInt32.self, at: 28)
                == Checksum.crc32c(bytes.extracting(0..<28).raw)
        else { return [] }
        var entries: [Entry] = []
        var offset = headerSize
        while let record = Record.read(bytes, at: offset, end: bytes.count) {
            offset = record.content.upperBound
            let block = bytes.extracting(record.content)
            guard record.kind == .rows,
                let summary = try? BlockSummary.parseStored(block, verifyChecksum: true),
                summary.isCondensed
            else { continue }
            entries.append(
                Entry(
                    space: record.space,
                    offset: record.content.lowerBound,
                    block: Array(file[record.content])
                )
            )
        }
        return entries
    }

    /// The numbers of the row files of a directory, in order.
    package static func list(
        _ directory: any LogDirectory
    ) throws(StorageError) -> [UInt32] {
        guard try directory.exists(LogPaths.rows) else { return [] }
        return try directory.list(LogPaths.rows).compactMap { LogPaths.rowFileNumber($0) }.sorted()
    }
}
