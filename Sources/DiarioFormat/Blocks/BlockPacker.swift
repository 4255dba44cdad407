import DiarioCore
import DiarioZstd

/// Compresses blocks before they travel.
package struct BlockPacker: ~Copyable {
    private var compressor: Compressor
    /// Bytes that the reader of the blocks has as well; nil if they are read by themselves.
    private let context: [UInt8]?

    private static let level = 1
    /// Events that come after a context are few, so that they may take more time.
    private static let contextLevel = 9
    /// Bytes of a block from which on a context is worth its time.
    private static let contextSizeMin = 512

    package init(context: [UInt8]? = nil) throws(FormatError) {
        self.context = context
        let level = context == nil ? Self.level : Self.contextLevel
        do throws(ZstdError) { compressor = try Compressor(level: level) } catch {
            throw .compression(error)
        }
    }

    /// A block as it travels; `block` is a whole one that is not compressed.
    package mutating func pack(_ block: [UInt8]) throws(FormatError) -> [UInt8] {
        var packed: [UInt8] = []
        guard let context, block.count >= Self.contextSizeMin else {
            try Block.compress(block.span, using: &compressor, into: &packed)
            return packed
        }
        try Block.compress(block.span, after: context.span, using: &compressor, into: &packed)
        return packed
    }
}

/// Takes blocks that came from elsewhere, and checks them.
package struct BlockUnpacker: ~Copyable {
    /// Made for the first block that is compressed: small ones are not, and it is large.
    private var decompressor: Decompressor?
    /// The context with which the blocks were packed; nil if there was none.
    private let context: [UInt8]?

    package init(context: [UInt8]? = nil) { self.context = context }

    /// The block as it was before it travelled, checked as far as that can be without schemas.
    package mutating func unpack(
        _ packed: [UInt8],
        from start: BlockStart = .batch
    ) throws(FormatError) -> (bytes: [UInt8], head: BlockHead) {
        guard Block.isCompressed(packed.span) else {
            return (packed, try Block.check(packed.span, from: start))
        }
        var block: [UInt8] = []
        try decompress(packed.span, into: &block)
        return (block, try Block.check(block.span, from: start))
    }

    /// The blocks in `packed`, which is one block or the columns of several, each checked as by
    /// `unpack`.
    ///
    /// Columns of more than one exchange moves are refused before memory is taken.
    /// Checksums are skipped only to test the checks after them.
    package mutating func unpackAll(
        _ packed: [UInt8],
        from start: BlockStart = .batch,
        checksums: SegmentChecksums = .verified
    ) throws(FormatError) -> [(bytes: [UInt8], head: BlockHead)] {
        guard ColumnUnpacker.isColumns(packed.span) else {
            return [try unpack(packed, from: start)]
        }
        let blocks = try ColumnUnpacker.blocks(of: packed, checksums)
        var checked: [(bytes: [UInt8], head: BlockHead)] = []
        for block in blocks {
            let head = try Block.check(block.span, from: checked.isEmpty ? start : .batch)
            checked.append((block, head))
        }
        return checked
    }

    private mutating func decompress(
        _ packed: Span<UInt8>,
        into block: inout [UInt8]
    ) throws(FormatError) {
        var decompressor: Decompressor
        if let known = self.decompressor.take() {
            decompressor = known
        } else {
            do throws(ZstdError) { decompressor = try Decompressor() } catch {
                throw .compression(error)
            }
        }
        if let context {
            try Block.decompress(
                packed,
                after: context.span,
                using: &decompressor,
                into: &block
            )
        } else {
            try Block.decompress(packed, using: &decompressor, into: &block)
        }
        self.decompressor = consume decompressor
    }
}
