import DiarioCore
package import DiarioFormat

/// Rows of a block as it came from elsewhere, for the positions that come next.
///
/// An authority gives positions to rows without; any other space takes rows at the positions that
/// they have.
package struct ReceivedRows: Sendable {
    /// A whole block that is not compressed.
    package let block: [UInt8]
    package let head: BlockHead

    /// Takes a block that `Block.check` has let pass.
    package init(_ block: [UInt8], _ head: BlockHead) {
        self.block = block
        self.head = head
    }

    var count: Int { head.summary.eventCount }

    /// The position of the first of the rows; nil if they have none.
    var firstPosition: UInt64? { head.summary.firstPosition }

    /// An upper bound of the bytes that they take in a frame.
    var sizeMax: Int {
        block.count + head.times.count * BlockBuilder.acceptedRunSizeMax
            + head.saltNodes.count * SpaceIndex.seedSize
    }
}
