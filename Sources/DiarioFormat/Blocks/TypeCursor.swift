import DiarioCore

/// Finds the types of a checked block by their index, without allocating.
package struct TypeCursor: ~Escapable {
    private let bytes: RawSpan
    private let summary: BlockSummary
    private var lastIndex = -1
    private var last: (name: Range<Int>, version: Int) = (0..<0, 0)

    /// `block` must be the bytes that `summary` was parsed from.
    @_lifetime(copy block)
    package init(_ block: Span<UInt8>, _ summary: BlockSummary) {
        bytes = block.raw
        self.summary = summary
    }

    /// The place of the name of the type at `index` in the block, and its version.
    ///
    /// The last type asked for costs nothing; others cost a walk over the list.
    @_lifetime(self: copy self)
    package mutating func entry(
        _ index: Int
    ) throws(FormatError) -> (name: Range<Int>, version: Int) {
        guard index != lastIndex else { return last }
        precondition(0..<summary.typeCount ~= index, "a checked row's type is in its block's list")
        var reader = ByteReader(bytes, range: Int(summary.types.offset)..<summary.rowsOffset)
        for _ in 0..<index {
            _ = try reader.nextBytes()
            _ = try reader.nextVarint()
            _ = try reader.nextRange(count: 32)
        }
        last = (name: try reader.nextBytes(), version: Int(clamping: try reader.nextVarint()))
        lastIndex = index
        return last
    }
}
