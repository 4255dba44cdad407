package import DiarioFormat
import DiarioFrames

/// The number of leaves that the tiles on disk cover: schema/format/proofs.md, section 7.
package struct TileMark: Equatable, Sendable {
    private static let nodesOffset = 16
    /// Bytes of the mark of the largest size.
    static let sizeMax = nodesOffset + 32 * UInt64.bitWidth + SmallFile.trailerSize

    package let range: CompactRange

    package init(range: CompactRange) { self.range = range }

    package func encoded() -> [UInt8] {
        var bytes = SmallFile.begin(.tileMark)
        bytes.append(littleEndian: range.size)
        for node in range.nodes { bytes.append(node) }
        SmallFile.end(&bytes)
        return bytes
    }

    /// Nil unless `bytes` are a mark that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard let end = try? SmallFile.check(bytes, .tileMark), end >= Self.nodesOffset else {
            return nil
        }
        let size = bytes.littleEndian(UInt64.self, at: 8)
        guard size <= TreeNode.sizeMax, end == Self.nodesOffset + 32 * size.nonzeroBitCount,
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
