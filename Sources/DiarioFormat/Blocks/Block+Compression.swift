import DiarioCore
package import DiarioZstd

// Blocks are stored uncompressed in the log and sent compressed: only the body differs, and the
// three fields of the header about it.

extension Block {
    /// Appends the block with its body compressed; unchanged if that would not make it smaller.
    ///
    /// `block` is a checked block that is not compressed; with a `context`, readers need that, too.
    package static func compress(
        _ block: Span<UInt8>,
        after context: Span<UInt8>? = nil,
        using compressor: inout Compressor,
        into output: inout [UInt8]
    ) throws(FormatError) {
        let header = try BlockHeader.parse(block)
        precondition(
            header.compression == .none && header.blockSize == block.count,
            "only a whole block that is not compressed can be"
        )
        let start = output.count
        output.append(contentsOf: block.raw.extracting(0..<BlockHeader.size))
        do throws(ZstdError) {
            try compressor.compress(
                block.extracting(BlockHeader.size..<block.count),
                after: context,
                into: &output
            )
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
        changed.compression = context == nil ? .whole : .afterContext
        changed.storedSize = storedSize
        changed.seal(&output, from: start)
    }

    /// True if the header says that all of the body is compressed.
    static func isCompressed(_ block: Span<UInt8>) -> Bool {
        block.count > 5 && block[5] == BlockHeader.Compression.whole.rawValue
            || needsContext(block)
    }

    /// True if the header says that the block was compressed after a context.
    package static func needsContext(_ block: Span<UInt8>) -> Bool {
        block.count > 5 && block[5] == BlockHeader.Compression.afterContext.rawValue
            && !ColumnUnpacker.isColumns(block)
    }

    /// Appends the block with its body as it was before compression, checked against its header.
    ///
    /// No more memory is taken than the limits allow, whatever the bytes say.
    package static func decompress(
        _ block: Span<UInt8>,
        after context: Span<UInt8>? = nil,
        using decompressor: inout Decompressor,
        into output: inout [UInt8]
    ) throws(FormatError) {
        let header = try BlockHeader.parse(block)
        try header.check(block, verifyChecksum: true)
        guard header.compression != .none else { return output.append(contentsOf: block.raw) }
        let isAfter = header.compression == .afterContext
        guard !isAfter || context != nil else { throw .malformed(.context, at: 5) }
        let start = output.count
        output.append(contentsOf: block.raw.extracting(0..<BlockHeader.size))
        do throws(ZstdError) {
            try decompressor.decompress(
                block.extracting(BlockHeader.size..<block.count),
                size: header.bodySize,
                after: isAfter ? context : nil,
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
