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
    /// Which of its rows; batches are whole.
    package let rows: Range<Int>

    /// Takes rows of a block that `Block.check` has let pass; all of them if `rows` is nil.
    package init(_ block: [UInt8], _ head: BlockHead, rows: Range<Int>? = nil) {
        let all = 0..<head.summary.eventCount
        precondition(rows.map { !$0.isEmpty && all.contains($0) } ?? true, "rows are of the block")
        self.block = block
        self.head = head
        self.rows = rows ?? all
    }

    var count: Int { rows.count }

    /// The position of the first of the rows; nil if they have none.
    var firstPosition: UInt64? {
        head.summary.firstPosition.map { $0 + UInt64(rows.lowerBound) }
    }

    /// An upper bound of the bytes that they take in a frame.
    var sizeMax: Int {
        block.count + head.times.count * BlockBuilder.acceptedRunSizeMax
            + head.saltNodes.count * SpaceIndex.seedSize
    }

    /// The runs that the rows are of.
    var runs: [BlockRun] {
        var found: [BlockRun] = []
        var start = 0
        for run in head.runs {
            let end = start + Int(run.count)
            let part = (start..<end).clamped(to: rows)
            if !part.isEmpty {
                found.append(
                    BlockRun(
                        replica: run.replica,
                        firstSequence: run.firstSequence + UInt64(part.lowerBound - start),
                        count: UInt64(part.count)
                    )
                )
            }
            start = end
        }
        return found
    }

    /// When how many of the rows were accepted; empty if they were not.
    var times: [AcceptedRun] {
        var found: [AcceptedRun] = []
        var start = 0
        for time in head.times {
            let part = (start..<start + time.count).clamped(to: rows)
            if !part.isEmpty {
                found.append(AcceptedRun(count: part.count, acceptedAt: time.acceptedAt))
            }
            start += time.count
        }
        return found
    }
}
