import DiarioFormat
package import DiarioStorage

// wal/synced, specified in schema/format/frames.md.

/// A lower bound of what is synced, written at a clean stop.
package struct SyncedMark: Equatable, Sendable {
    package static let size = 36

    package var generation: UInt64
    package var length: UInt64
    /// The number of the file that this speaks of.
    package var number: UInt64

    package func encoded() -> [UInt8] {
        var bytes = SmallFile.begin(.syncedMark)
        bytes.append(littleEndian: generation)
        bytes.append(littleEndian: length)
        bytes.append(littleEndian: number)
        SmallFile.end(&bytes)
        return bytes
    }

    /// Nil unless `bytes` are a mark that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size, (try? SmallFile.check(bytes, .syncedMark)) != nil else {
            return nil
        }
        generation = bytes.littleEndian(UInt64.self, at: 8)
        length = bytes.littleEndian(UInt64.self, at: 16)
        number = bytes.littleEndian(UInt64.self, at: 24)
    }

    package init(generation: UInt64, length: UInt64, number: UInt64) {
        self.generation = generation
        self.length = length
        self.number = number
    }
}

extension SyncedMark {
    /// The mark of a data directory; nil if there is none, or none that verifies.
    package static func read(in directory: any LogDirectory) throws(StorageError) -> SyncedMark? {
        guard try directory.exists(FramePaths.syncedMark) else { return nil }
        // A file of another size is no mark.
        let size = try directory.open(FramePaths.syncedMark, .read).size()
        guard size <= Self.size else { return nil }
        let bytes = try Files.contents(of: FramePaths.syncedMark, in: directory, sizeMax: Self.size)
        return SyncedMark(bytes.span)
    }
}
