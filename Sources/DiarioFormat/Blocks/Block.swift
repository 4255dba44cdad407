import DiarioCore

/// Operations on whole blocks.
package enum Block {
    /// Checks all that can be checked without the schemas: head, rows and L3 to L6.
    ///
    /// For blocks that come from elsewhere; costs a pass over all rows.
    package static func check(_ block: Span<UInt8>) throws(FormatError) -> BlockHead {
        let head = try BlockHead.parse(block, verifyChecksum: true)
        var cursor = RowCursor(block, head.summary)
        var highest: UInt64 = 0
        var batch = OpenBatch()
        while let row = try cursor.next() {
            let part = try PublicPart.parse(block, row)
            try batch.take(part, at: row.publicPart.lowerBound)
            highest = max(highest, part.envelope.clock.rawValue)
        }
        guard batch.isComplete else { throw .malformed(.batch, at: block.count) }
        guard highest == head.summary.highestClock.rawValue else {
            throw .malformed(.highestClock, at: BlockHeader.size)
        }
        return head
    }

    /// L3: the events of one batch stand in one block, next to each other.
    private struct OpenBatch {
        private var last: RowEnvelope?
        private var size = 0

        var isComplete: Bool {
            guard let last else { return true }
            return last.sequence - last.batchFirst == UInt64(last.batchCount) - 1
        }

        mutating func take(_ part: PublicPart, at offset: Int) throws(FormatError) {
            let next = part.envelope
            if let last, !isComplete {
                guard next.replica == last.replica, next.batchFirst == last.batchFirst,
                    next.batchCount == last.batchCount, next.sequence == last.sequence + 1
                else { throw .malformed(.batch, at: offset) }
                size += part.size
            } else {
                guard next.sequence == next.batchFirst else {
                    throw .malformed(.batch, at: offset)
                }
                size = part.size
            }
            guard size <= Limits.batchSizeMax else {
                throw .tooLarge(.batch, size: UInt64(size), max: Limits.batchSizeMax)
            }
            last = next
        }
    }
}
