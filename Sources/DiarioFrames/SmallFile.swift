package import DiarioFormat

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
package enum SmallFile {
    package static let headerSize = 8
    package static let trailerSize = 4
    private static let version: UInt8 = 1

    /// The header, after which the fields are appended.
    package static func begin(_ magic: Magic, flags: UInt8 = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: magic.rawValue)
        bytes.append(version)
        bytes.append(flags)
        bytes.append(littleEndian: UInt16(0))
        return bytes
    }

    /// Appends the checksum.
    package static func end(_ bytes: inout [UInt8]) {
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
    }

    /// Checks header and checksum; where the fields end.
    ///
    /// `flags` are those that the file may have.
    package static func check(
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
