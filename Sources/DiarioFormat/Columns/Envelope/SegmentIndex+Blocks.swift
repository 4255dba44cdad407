extension SegmentIndex {
    /// Checks that all blocks are there that have to be, and cover the rows of their types.
    func checkBlocks(_ header: SegmentHeader, at offset: Int) throws(FormatError) {
        let fault = FormatError.malformed(.body, at: offset)
        var rest = blocks[...]
        for kind in Self.fixedKinds(isPositioned: header.isPositioned) {
            guard let block = rest.popFirst(), block.kind == kind.rawValue, block.key == 0,
                block.firstRow == 0,
                block.rowCount == (kind == .schemas ? 0 : header.eventCount)
            else { throw fault }
        }
        for kind in [SegmentBlockKind.actors, .subjects] {
            guard let block = rest.first, block.kind == kind.rawValue else { continue }
            guard block.key == 0, block.firstRow == 0, block.rowCount == header.eventCount else {
                throw fault
            }
            rest.removeFirst()
        }
        var poolCount = 0
        while let block = rest.first, block.kind == SegmentBlockKind.pool.rawValue {
            guard block.key == poolCount, block.firstRow == 0,
                1...SegmentLimits.poolCountMax ~= block.rowCount
            else { throw fault }
            poolCount += 1
            rest.removeFirst()
        }
        for (index, type) in types.enumerated() {
            var next = 0
            while next < type.eventCount {
                guard let block = rest.popFirst(), block.kind == SegmentBlockKind.fields.rawValue,
                    block.key == index, block.firstRow == next,
                    1...type.eventCount - next ~= block.rowCount
                else { throw fault }
                next += block.rowCount
            }
        }
        for block in rest {
            guard block.kind == SegmentBlockKind.filter.rawValue, block.key < types.count,
                block.firstRow == 0, block.rowCount == 0
            else { throw fault }
        }
    }

    private static func fixedKinds(isPositioned: Bool) -> [SegmentBlockKind] {
        let kinds: [SegmentBlockKind] = [.schemas, .types, .origins, .clocks, .times]
        return kinds + (isPositioned ? [.accepted] : []) + [.batches, .bases, .flags]
    }
}
