package import DiarioFormat

/// How many leaves the tiles on disk are good for: schema/format/proofs.md, section 7.
package struct TileMark: Equatable, Sendable {
    private static let magic: UInt32 = 0x4c49_5444  // "DTIL"
    private static let nodesOffset = 16
    /// Bytes of the mark of the largest size.
    static let sizeMax = nodesOffset + 32 * UInt64.bitWidth + 8

    package let range: CompactRange

    package init(range: CompactRange) { self.range = range }

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: UInt32(1))
        bytes.append(littleEndian: range.size)
        for node in range.nodes { bytes.append(node) }
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }

    /// Nil unless `bytes` are a mark that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.nodesOffset + 8,
            bytes.littleEndian(UInt32.self, at: 0) == Self.magic,
            bytes.littleEndian(UInt32.self, at: 4) == 1
        else { return nil }
        let size = bytes.littleEndian(UInt64.self, at: 8)
        let end = Self.nodesOffset + 32 * size.nonzeroBitCount
        guard size <= TreeNode.sizeMax, bytes.count == end + 8,
            bytes.littleEndian(UInt32.self, at: end) == 0,
            bytes.littleEndian(UInt32.self, at: end + 4)
                == Checksum.crc32c(bytes.extracting(0..<end + 4).raw),
            let range = try? CompactRange(
                size: size,
                nodes: (0..<size.nonzeroBitCount).map {
                    bytes.hash(at: Self.nodesOffset + 32 * $0)
                }
            )
        else { return nil }
        self.range = range
    }
}
