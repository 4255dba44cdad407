import DiarioCore

/// Where the chunks of a private blob lie, which follows from its size: schema/format/blobs.md,
/// section 3.
package struct BlobLayout: Hashable, Sendable {
    package static let headerSize = 8
    /// Plain bytes of each chunk but the last.
    package static let chunkSize = 64 * 1024
    static let tagSize = 16
    static let version: UInt8 = 1

    package let plainSize: Int64

    /// The layout of a blob of `plainSize` bytes, which is at most `Limits.blobSizeMax`.
    package init(plainSize: Int64) {
        precondition(0...Limits.blobSizeMax ~= plainSize, "the size of a blob was checked")
        self.plainSize = plainSize
    }

    /// The layout of the blob that is stored in so many bytes.
    package init(storedSize: Int64) throws(BlobError) {
        guard storedSize >= Int64(Self.headerSize + Self.tagSize) else {
            throw .cut(storedSize: storedSize)
        }
        let body = storedSize - Int64(Self.headerSize)
        let sealedSize = Int64(Self.chunkSize + Self.tagSize)
        let last = (body - 1) % sealedSize + 1
        guard last > Int64(Self.tagSize) || body == last else { throw .cut(storedSize: storedSize) }
        plainSize = body - ((body - 1) / sealedSize + 1) * Int64(Self.tagSize)
        guard plainSize <= Limits.blobSizeMax else { throw .tooLarge(sizeMax: Limits.blobSizeMax) }
    }

    package var chunkCount: Int64 {
        max(1, (plainSize + Int64(Self.chunkSize) - 1) / Int64(Self.chunkSize))
    }

    package var storedSize: Int64 {
        Int64(Self.headerSize) + plainSize + Int64(Self.tagSize) * chunkCount
    }

    /// The plain bytes of a chunk.
    package func plainRange(of chunk: Int64) -> Range<Int64> {
        precondition(0..<chunkCount ~= chunk, "a blob has this chunk")
        let start = chunk * Int64(Self.chunkSize)
        return start..<min(start + Int64(Self.chunkSize), plainSize)
    }

    /// The stored bytes of a chunk.
    package func storedRange(of chunk: Int64) -> Range<Int64> {
        let (plain, tagSize) = (plainRange(of: chunk), Int64(Self.tagSize))
        let start = Int64(Self.headerSize) + plain.lowerBound + chunk * tagSize
        return start..<start + Int64(plain.count) + tagSize
    }

    /// The chunks that hold the plain bytes of `range`, which lies in the blob.
    package func chunks(holding range: Range<Int64>) -> Range<Int64> {
        precondition(0...plainSize ~= range.lowerBound && range.upperBound <= plainSize, "in it")
        guard !range.isEmpty else { return 0..<0 }
        let size = Int64(Self.chunkSize)
        return range.lowerBound / size..<(range.upperBound - 1) / size + 1
    }

    /// The first bytes of each private blob, which the tag of each chunk covers too.
    static var header: [UInt8] {
        var header: [UInt8] = []
        header.append(littleEndian: Magic.blob.rawValue)
        header += [version, 0, 0, 0]
        return header
    }

    /// The nonce of a chunk; a key has only one blob, so none comes twice under it.
    static func nonce(of chunk: Int64, isLast: Bool) -> [UInt8] {
        var nonce: [UInt8] = []
        nonce.append(littleEndian: UInt64(chunk))
        nonce += [isLast ? 1 : 0, 0, 0, 0]
        return nonce
    }
}
