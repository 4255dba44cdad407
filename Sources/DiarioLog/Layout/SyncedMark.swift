import DiarioFormat
import DiarioStorage

// wal/synced, specified in schema/format/log.md, section 8.

/// A lower bound of what is synced, written at a clean stop.
package struct SyncedMark: Equatable, Sendable {
    /// Bytes of version 2, which is written.
    package static let size = 40
    /// Bytes of version 1, which older programs leave.
    private static let firstSize = 32
    private static let magic: UInt32 = 0x4e59_5344  // "DSYN"
    private static let trailerSize = 8

    package var generation: UInt64
    package var length: UInt64
    /// The number of the file that this speaks of; nil in version 1.
    package var number: UInt64?

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: UInt32(number == nil ? 1 : 2))
        bytes.append(littleEndian: generation)
        bytes.append(littleEndian: length)
        if let number { bytes.append(littleEndian: number) }
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        bytes.append(littleEndian: UInt32(0))
        return bytes
    }

    /// Nil unless `bytes` are a mark that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size || bytes.count == Self.firstSize,
            bytes.littleEndian(UInt32.self, at: 0) == Self.magic
        else { return nil }
        let end = bytes.count - Self.trailerSize
        guard bytes.littleEndian(UInt32.self, at: 4) == (bytes.count == Self.size ? 2 : 1),
            bytes.littleEndian(UInt32.self, at: end)
                == Checksum.crc32c(bytes.extracting(0..<end).raw),
            bytes.littleEndian(UInt32.self, at: end + 4) == 0
        else { return nil }
        generation = bytes.littleEndian(UInt64.self, at: 8)
        length = bytes.littleEndian(UInt64.self, at: 16)
        number = bytes.count == Self.size ? bytes.littleEndian(UInt64.self, at: 24) : nil
    }

    package init(generation: UInt64, length: UInt64, number: UInt64?) {
        self.generation = generation
        self.length = length
        self.number = number
    }
}

extension SyncedMark {
    /// The mark of a data directory; nil if there is none, or none that verifies.
    static func read(in directory: any LogDirectory) throws(StorageError) -> SyncedMark? {
        guard try directory.exists(LogPaths.syncedMark) else { return nil }
        // What is longer is none, as what is shorter.
        let size = try directory.open(LogPaths.syncedMark, .read).size()
        guard size <= Self.size else { return nil }
        let bytes = try directory.contents(of: LogPaths.syncedMark, sizeMax: size)
        return SyncedMark(bytes.span)
    }
}
