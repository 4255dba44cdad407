import DiarioCore

/// With which event a block may begin.
package enum BlockStart: Sendable {
    /// With the first event of a batch.
    case batch
    /// Within a batch, too: the events before are in a segment.
    case anywhere
}

/// Operations on whole blocks.
package enum Block {
    /// Checks all that can be checked without the schemas: head, rows and B1 to R2.
    ///
    /// For blocks that come from elsewhere; costs a pass over all rows.
    package static func check(
        _ block: Span<UInt8>,
        from start: BlockStart = .batch
    ) throws(FormatError) -> BlockHead {
        let head = try BlockHead.parse(block, verifyChecksum: true)
        var cursor = RowCursor(block, head.summary)
        var highest: UInt64 = 0
        var batch = OpenBatch(start: start)
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

    /// The envelope of the first event of a block that was checked.
    package static func firstEnvelope(
        _ block: Span<UInt8>,
        _ head: BlockHead
    ) throws(FormatError) -> RowEnvelope? {
        var cursor = RowCursor(block, head.summary)
        guard let row = try cursor.next() else { return nil }
        return try PublicPart.parse(block, row).envelope
    }

    /// B1: the events of one batch are in one block, next to each other.
    private struct OpenBatch {
        private let start: BlockStart
        private var last: RowEnvelope?
        private var size = 0

        init(start: BlockStart) { self.start = start }

        var isComplete: Bool {
            last?.isLastOfBatch ?? true
        }

        mutating func take(_ part: PublicPart, at offset: Int) throws(FormatError) {
            let next = part.envelope
            if let last, !isComplete {
                guard last.isFollowed(by: next) else { throw .malformed(.batch, at: offset) }
                size += part.size
            } else {
                let isFirst = last == nil
                guard next.sequence == next.batchFirst || isFirst && start == .anywhere else {
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
