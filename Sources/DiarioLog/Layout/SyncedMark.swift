import DiarioFormat

// wal/synced, specified in schema/format/log.md, section 8.

/// A lower bound of what is synced, written at a clean stop.
package struct SyncedMark: Equatable, Sendable {
    package static let size = 32
    private static let magic: UInt32 = 0x4e59_5344  // "DSYN"

    package var generation: UInt64
    package var length: UInt64

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: UInt32(1))
        bytes.append(littleEndian: generation)
        bytes.append(littleEndian: length)
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        bytes.append(littleEndian: UInt32(0))
        return bytes
    }

    /// Nil unless `bytes` are a mark that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size,
            bytes.littleEndian(UInt32.self, at: 0) == Self.magic,
            bytes.littleEndian(UInt32.self, at: 4) == 1,
            bytes.littleEndian(UInt32.self, at: 24)
                == Checksum.crc32c(bytes.extracting(0..<24).raw),
            bytes.littleEndian(UInt32.self, at: 28) == 0
        else { return nil }
        generation = bytes.littleEndian(UInt64.self, at: 8)
        length = bytes.littleEndian(UInt64.self, at: 16)
    }

    package init(generation: UInt64, length: UInt64) {
        self.generation = generation
        self.length = length
    }
}
