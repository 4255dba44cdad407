package import DiarioCore

/// Cuts rows into blocks to send: batches stay whole, each block has the salt nodes of its personal
/// parts, and an authority's events are in blocks of their own.
package struct BlockCutter: ~Copyable {
    /// Events of all blocks, the open one included.
    package private(set) var eventCount = 0
    /// Bytes of the blocks that were closed.
    private var closedSize = 0
    private var builder = BlockBuilder()
    private var times: [AcceptedRun] = []
    /// Of the first event in the open block; nil if the events are pending.
    private var position: UInt64?
    private var isAuthority = false
    /// Which event of the open block begins the batch that came last.
    private var batchStart = 0
    private var salts: Set<SaltNode> = []

    /// With so many bytes in it, a block still has room for any one batch.
    private static let fullSize = Limits.blockSizeMax - Limits.batchSizeMax * 7 / 4

    package init() {}

    /// Bytes of all blocks, the open one included.
    package var size: Int { closedSize + builder.size }

    /// Takes the next row; gives the block that had to be closed before it.
    ///
    /// `node` is where the salt of the row comes from, if it has a personal part.
    package mutating func append(
        _ row: BlockRow,
        of bytes: Span<UInt8>,
        type: TypeEntry,
        position: UInt64?,
        acceptedAt: Timestamp?,
        isAuthority: Bool,
        node: SaltNode?
    ) throws(FormatError) -> [UInt8]? {
        var closed: [UInt8]?
        let isFirst = try row.begunBatch(bytes) != nil
        let agrees = builder.agrees(with: type)
        if !builder.isEmpty, isFirst,
            isAuthority != self.isAuthority || builder.size > Self.fullSize || !agrees
                || builder.eventCount + Limits.batchCountMax > Limits.blockCountMax
        {
            closed = close()
        } else if !agrees, batchStart > 0 {
            closed = try closeFront()
        }
        if isFirst { batchStart = builder.eventCount }
        if builder.isEmpty {
            self.position = position
            self.isAuthority = isAuthority
        }
        try check(row, type, position, acceptedAt, isAuthority)
        try builder.append(row, of: bytes, type: type)
        if let node, salts.insert(node).inserted { builder.append(node) }
        if let acceptedAt {
            if let last = times.indices.last, times[last].acceptedAt == acceptedAt {
                times[last].count += 1
            } else {
                times.append(AcceptedRun(count: 1, acceptedAt: acceptedAt))
            }
        }
        eventCount += 1
        return closed
    }

    /// Rows from elsewhere may be such as no block takes.
    private func check(
        _ row: BlockRow,
        _ type: TypeEntry,
        _ position: UInt64?,
        _ acceptedAt: Timestamp?,
        _ isAuthority: Bool
    ) throws(FormatError) {
        let offset = row.publicPart.lowerBound
        guard isAuthority == self.isAuthority, isAuthority || !type.isAuthority else {
            throw .malformed(.blockFlags, at: offset)
        }
        guard builder.agrees(with: type) else { throw .malformed(.types, at: offset) }
        let next = self.position.map { $0 + UInt64(builder.eventCount) }
        guard position == next, (position == nil) == (acceptedAt == nil) else {
            throw .malformed(.position, at: offset)
        }
        if let acceptedAt, let last = times.last, acceptedAt < last.acceptedAt {
            throw .malformed(.acceptedTimes, at: offset)
        }
        if position == nil, let run = builder.onlyRun {
            guard run.replica == row.replica, run.lastSequence + 1 == row.sequence else {
                throw .malformed(.sequence, at: offset)
            }
        }
        let room =
            builder.size + row.sizeInBlockMax + type.size
            + (times.count + 1) * BlockBuilder.acceptedRunSizeMax
        guard room <= Limits.blockSizeMax, builder.eventCount < Limits.blockCountMax else {
            throw .malformed(.batch, at: offset)
        }
    }

    /// The open block; nil if it has no events.
    package mutating func close() -> [UInt8]? {
        guard !builder.isEmpty else { return nil }
        var block: [UInt8] = []
        builder.write(into: &block, position: position, times: times, isAuthority: isAuthority)
        closedSize += block.count
        builder.removeAll()
        times.removeAll(keepingCapacity: true)
        salts.removeAll(keepingCapacity: true)
        batchStart = 0
        return block
    }

    /// The open block without the batch that came last, with which the next one begins.
    private mutating func closeFront() throws(FormatError) -> [UInt8] {
        let block = try builder.split(
            before: batchStart,
            position: position,
            times: &times,
            isAuthority: isAuthority
        )
        closedSize += block.count
        position = position.map { $0 + UInt64(batchStart) }
        batchStart = 0
        salts = Set(builder.saltNodes)
        return block
    }
}

extension BlockRow {
    /// The number of events of the batch that begins with this event; nil if none does.
    ///
    /// `bytes` are those of its block.
    package func begunBatch(_ bytes: Span<UInt8>) throws(FormatError) -> Int? {
        var reader = ByteReader(bytes.raw, range: publicPart)
        guard try reader.nextVarint() == 0 else { return nil }
        return Int(clamping: try reader.nextVarint())
    }

    /// An upper bound of the bytes that the row adds to a block.
    fileprivate var sizeInBlockMax: Int {
        let personalSize =
            switch personal {
            case .absent: 0
            case .erased(let range), .present(let range): range.count
            }
        return publicPart.count + personalSize + 3 * Varint.sizeMax + BlockBuilder.runSizeMax
            + BlockBuilder.saltNodeSizeMax + 8
    }
}
