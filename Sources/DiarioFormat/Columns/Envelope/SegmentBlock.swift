/// What a block of a segment or a sidecar holds: schema/format/segments.md, sections 3 and 4.
package enum SegmentBlockKind: UInt8, Sendable {
    case schemas = 1
    case types
    case origins
    case clocks
    case times
    case accepted
    case batches
    case bases
    case flags
    case actors
    case subjects
    case pool
    case fields
    case filter
}

/// What a block of a sidecar holds.
package enum SidecarBlockKind: UInt8, Sendable {
    case salts = 1
    case erased
    case personalFields
}

/// One entry of the list of blocks.
package struct SegmentBlock: Equatable, Sendable {
    /// A `SegmentBlockKind`, or a `SidecarBlockKind`.
    package var kind: UInt8
    /// The index of the type, or the number of the pool.
    package var key: Int
    package var firstRow: Int
    package var rowCount: Int
    /// Bytes of all streams before compression.
    package var expandedSize: Int
    package var storedSize: Int
    package var checksum: UInt32
    /// From the start of the file.
    package var offset: Int

    /// The rows of its type that the block covers.
    package var rows: Range<Int> { firstRow..<firstRow + rowCount }

    /// An entry's fewest bytes.
    static let sizeMin = 10

    func write(into output: inout [UInt8]) {
        output.append(kind)
        output.append(varint: UInt64(key))
        output.append(varint: UInt64(firstRow))
        output.append(varint: UInt64(rowCount))
        output.append(varint: UInt64(expandedSize))
        output.append(varint: UInt64(storedSize))
        output.append(littleEndian: checksum)
    }

    /// Reads a list of blocks, of which the first starts at `offset` of a file of `fileSize`.
    static func readList(
        _ reader: inout ByteReader,
        offset: Int,
        fileSize: Int
    ) throws(FormatError) -> [SegmentBlock] {
        let start = reader.offset
        let count = try reader.nextVarint()
        guard count <= SegmentLimits.blockCountMax,
            count <= UInt64(reader.remaining / sizeMin)
        else { throw .malformed(.body, at: start) }
        var blocks: [SegmentBlock] = []
        var next = offset
        for _ in 0..<count {
            let place = reader.offset
            let kind = try reader.next(UInt8.self)
            let key = try reader.nextVarint()
            let firstRow = try reader.nextVarint()
            let rowCount = try reader.nextVarint()
            let expandedSize = try reader.nextVarint()
            let storedSize = try reader.nextVarint()
            guard key < SegmentLimits.eventCountMax, firstRow <= SegmentLimits.eventCountMax,
                rowCount <= SegmentLimits.eventCountMax,
                expandedSize <= SegmentLimits.blockSizeMax,
                storedSize <= SegmentLimits.blockSizeMax, storedSize <= fileSize - next
            else { throw .malformed(.body, at: place) }
            let block = SegmentBlock(
                kind: kind,
                key: Int(key),
                firstRow: Int(firstRow),
                rowCount: Int(rowCount),
                expandedSize: Int(expandedSize),
                storedSize: Int(storedSize),
                checksum: try reader.next(UInt32.self),
                offset: next
            )
            if let last = blocks.last, !last.comesBefore(block) {
                throw .malformed(.body, at: place)
            }
            blocks.append(block)
            next += block.storedSize
        }
        guard next == fileSize else { throw .malformed(.body, at: start) }
        guard reader.isAtEnd else { throw .trailingBytes(at: reader.offset) }
        return blocks
    }

    private func comesBefore(_ other: SegmentBlock) -> Bool {
        (Int(kind), key, firstRow) < (Int(other.kind), other.key, other.firstRow)
    }
}

// The list is in order, and is not gone through for each block: a file from elsewhere may have
// 65,536 of them.
extension [SegmentBlock] {
    /// Where the block with these marks stands; nil if there is none.
    func place(_ kind: UInt8, _ key: Int, _ firstRow: Int) -> Int? {
        let place = firstPlace(kind, key, firstRow)
        guard place < count,
            (self[place].kind, self[place].key, self[place].firstRow) == (kind, key, firstRow)
        else { return nil }
        return place
    }

    /// Where the first block stands that has these marks or comes behind them.
    func firstPlace(_ kind: UInt8, _ key: Int, _ firstRow: Int = 0) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            let block = self[middle]
            if (block.kind, block.key, block.firstRow) < (kind, key, firstRow) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
