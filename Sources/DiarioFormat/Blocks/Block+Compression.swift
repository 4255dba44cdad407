import DiarioCore
package import DiarioZstd

// Blocks lie in the log as they are, or condensed, and travel compressed: only the body differs,
// and the three fields of the header that speak of it.

extension Block {
    /// Appends the block with its body compressed; unchanged if that would not make it smaller.
    ///
    /// `block` is a checked block that is not compressed.
    package static func compress(
        _ block: Span<UInt8>,
        using compressor: inout Compressor,
        into output: inout [UInt8]
    ) throws(FormatError) {
        let header = try BlockHeader.parse(block)
        precondition(
            header.compression == .none && header.blockSize == block.count,
            "only a whole block that is not compressed can be"
        )
        try compress(
            block,
            header,
            from: BlockHeader.size,
            as: .whole,
            using: &compressor,
            into: &output
        )
    }

    /// Whether a block says that all of its body is compressed.
    static func isCompressed(_ block: Span<UInt8>) -> Bool {
        block.count > 5 && block[5] == BlockHeader.Compression.whole.rawValue
    }

    /// Appends the block with its body as it was before compression, checked against its header.
    ///
    /// No more memory is taken than the limits allow, whatever the bytes say.
    package static func decompress(
        _ block: Span<UInt8>,
        using decompressor: inout Decompressor,
        into output: inout [UInt8]
    ) throws(FormatError) {
        let header = try BlockHeader.parse(block)
        try header.check(block, verifyChecksum: true)
        guard header.compression == .whole else {
            guard header.compression == .none else { throw .malformed(.compression, at: 5) }
            output.append(contentsOf: block.raw)
            return
        }
        try decompress(block, header, from: BlockHeader.size, using: &decompressor, into: &output)
    }

    /// Appends the block with what lies from `offset` on compressed; unchanged if that would not
    /// make it smaller.
    static func compress(
        _ block: Span<UInt8>,
        _ header: BlockHeader,
        from offset: Int,
        as compression: BlockHeader.Compression,
        using compressor: inout Compressor,
        into output: inout [UInt8]
    ) throws(FormatError) {
        let start = output.count
        output.append(contentsOf: block.raw.extracting(0..<offset))
        do throws(ZstdError) {
            try compressor.compress(block.extracting(offset..<block.count), into: &output)
        } catch {
            output.removeSubrange(start...)
            throw .compression(error)
        }
        let storedSize = output.count - start - BlockHeader.size
        guard storedSize < header.bodySize else {
            output.removeSubrange(start...)
            output.append(contentsOf: block.raw)
            return
        }
        var changed = header
        changed.compression = compression
        changed.storedSize = storedSize
        changed.seal(&output, from: start)
    }

    /// Appends the block with what lies from `offset` on as it was before compression.
    static func decompress(
        _ block: Span<UInt8>,
        _ header: BlockHeader,
        from offset: Int,
        using decompressor: inout Decompressor,
        into output: inout [UInt8]
    ) throws(FormatError) {
        let start = output.count
        output.append(contentsOf: block.raw.extracting(0..<offset))
        do throws(ZstdError) {
            try decompressor.decompress(
                block.extracting(offset..<block.count),
                size: BlockHeader.size + header.bodySize - offset,
                into: &output
            )
        } catch {
            output.removeSubrange(start...)
            throw .compression(error)
        }
        var changed = header
        changed.compression = .none
        changed.storedSize = header.bodySize
        changed.seal(&output, from: start)
    }
}
