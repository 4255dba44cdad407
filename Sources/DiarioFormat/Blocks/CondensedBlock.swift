import DiarioCore
import DiarioZstd

// Blocks of the log whose rows alone are compressed: schema/format/log.md, section 6. Recovery
// reads what stands before the rows, and need not decompress anything.

extension Block {
    /// Whether the bytes say that they are a condensed block, whatever else is right about them.
    package static func isCondensed(_ block: Span<UInt8>) -> Bool {
        block.count > 5 && block[5] == BlockHeader.Compression.rows.rawValue
    }
}

/// Compresses the rows of blocks, with a context that is kept from block to block.
package struct BlockCondenser: ~Copyable {
    private var compressor: Compressor

    /// Fast rather than small: what is condensed is sealed later.
    package init() throws(FormatError) {
        do throws(ZstdError) { compressor = try Compressor(level: 1) } catch {
            throw .compression(error)
        }
    }

    /// Appends the block with its rows compressed; unchanged if that would not make it smaller.
    ///
    /// `block` is a checked block with positions that is not compressed, nor an authority's.
    package mutating func condense(
        _ block: Span<UInt8>,
        into output: inout [UInt8]
    ) throws(FormatError) {
        let header = try BlockHeader.parse(block)
        precondition(header.flags == .positioned, "only events with positions are condensed")
        let rows = try BlockSummary.parse(block, verifyChecksum: false).rowsOffset
        try Block.compress(block, header, from: rows, as: .rows, using: &compressor, into: &output)
    }
}

/// Decompresses condensed blocks, with a context that is kept from block to block.
package struct BlockExpander: ~Copyable {
    private var decompressor: Decompressor

    package init() throws(FormatError) {
        do throws(ZstdError) { decompressor = try Decompressor() } catch {
            throw .compression(error)
        }
    }

    /// Appends a block of the log as it was before it was condensed, checked against its header;
    /// unchanged if it is not condensed.
    ///
    /// No more memory is taken than the limits allow, whatever the bytes say.
    package mutating func expand(
        _ block: Span<UInt8>,
        into output: inout [UInt8]
    ) throws(FormatError) {
        let summary = try BlockSummary.parseStored(block, verifyChecksum: true)
        guard summary.isCondensed else {
            output.append(contentsOf: block.raw)
            return
        }
        let header = try BlockHeader.parse(block)
        let rows = summary.rowsOffset
        try Block.decompress(block, header, from: rows, using: &decompressor, into: &output)
    }
}
