import DiarioCore

/// Puts a single bit right that changed in a part of a segment or of its sidecar.
///
/// The checksum of a part tells which bit that is: of all parts that a file can have, no two single
/// bits change it in the same way (the Hamming distance of CRC32C is 4 at these sizes).
package enum SegmentMending {
    private static let checksumOffset = SegmentHeader.size - 4
    private static let indexSizeRange = 32..<36

    /// The file as its checksums say it was; nil if they do not tell.
    ///
    /// Of a segment the identity confirms it; of a sidecar nothing here does.
    package static func mended(_ bytes: [UInt8], _ file: SegmentFile) -> [UInt8]? {
        guard bytes.count > SegmentHeader.size, var whole = withHeader(bytes, file),
            let header = try? SegmentHeader.parse(whole.span, file),
            header.fileSize == whole.count, let blocks = blocks(whole, file)
        else { return nil }
        for block in blocks {
            let range = block.offset..<block.offset + block.storedSize
            guard range.upperBound <= whole.count else { return nil }
            let found = Checksum.crc32c(whole.span.raw.extracting(range))
            guard found != block.checksum else { continue }
            guard
                let bit = FlippedBit(found ^ block.checksum, size: range.count)
            else { return nil }
            whole[range.lowerBound + bit.byte] ^= bit.mask
        }
        guard file == .segment else { return whole }
        let content = whole.span.extracting(SegmentHeader.size..<whole.count)
        return SegmentIdentity(of: content) == header.identity ? whole : nil
    }

    /// The file with header and index put right.
    private static func withHeader(_ bytes: [UInt8], _ file: SegmentFile) -> [UInt8]? {
        var bytes = bytes
        let size = Int(word(bytes, at: indexSizeRange.lowerBound))
        if let difference = difference(bytes, indexSize: size) {
            guard difference != 0 else { return bytes }
            if difference.nonzeroBitCount == 1 {
                // It is the checksum itself.
                let bit = difference.trailingZeroBitCount
                bytes[checksumOffset + bit / 8] ^= 1 << UInt8(bit % 8)
                return bytes
            }
            let covered = checksumOffset + size
            if let bit = FlippedBit(difference, size: covered), !(indexSizeRange ~= bit.byte) {
                // The checksum is left out of what it covers.
                bytes[bit.byte < checksumOffset ? bit.byte : bit.byte + 4] ^= bit.mask
                return bytes
            }
        }
        // It may be the size of the index: then another one has the right checksum.
        for bit in 0..<32 {
            var other = bytes
            other[indexSizeRange.lowerBound + bit / 8] ^= 1 << UInt8(bit % 8)
            if difference(other, indexSize: size ^ (1 << bit)) == 0 { return other }
        }
        return nil
    }

    /// In which bits the checksum of header and index differs; nil if the index is too long.
    private static func difference(_ bytes: [UInt8], indexSize: Int) -> UInt32? {
        guard indexSize <= bytes.count - SegmentHeader.size else { return nil }
        let content = bytes.span
        let start = Checksum.crc32c(content.raw.extracting(0..<checksumOffset))
        let index = SegmentHeader.size..<SegmentHeader.size + indexSize
        let found = Checksum.crc32c(content.raw.extracting(index), continuing: start)
        return found ^ word(bytes, at: checksumOffset)
    }

    private static func word(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func blocks(
        _ bytes: [UInt8],
        _ file: SegmentFile
    ) -> [SegmentBlock]? {
        var source: any SegmentSource = SegmentMemory(file, bytes)
        return try? SegmentReader.blocks(of: &source, file)
    }
}

/// The bit of some bytes whose change explains a difference of their CRC32C.
struct FlippedBit {
    let byte: Int
    let mask: UInt8

    private static let polynomial: UInt32 = 0x82f6_3b78

    /// Nil if no single bit of `size` bytes does.
    init?(_ difference: UInt32, size: Int) {
        // What the last bit does to the checksum, and then each bit before it.
        var change = Self.polynomial
        for distance in 0..<size * 8 {
            if change == difference {
                let bit = size * 8 - 1 - distance
                byte = bit / 8
                mask = 1 << UInt8(bit % 8)
                return
            }
            change = change >> 1 ^ (change & 1 == 1 ? Self.polynomial : 0)
        }
        return nil
    }
}
