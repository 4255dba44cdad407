import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSync

/// One batch of a push, where it lies in its block.
struct PushedBatch: Sendable {
    /// The index of its block.
    let block: Int
    let rows: Range<Int>
    let firstSequence: UInt64
    /// The clock of its first event; each further one has a later one.
    let firstClock: HybridTime
    fileprivate(set) var lastClock: HybridTime

    var count: Int { rows.count }
    var lastSequence: UInt64 { firstSequence + UInt64(rows.count) - 1 }
}

/// A block of a push, with its rows taken apart once.
struct PushedBlock: Sendable {
    let bytes: [UInt8]
    let head: BlockHead
    let rows: [BlockRow]
    /// By the group of sequences.
    fileprivate let nodes: [UInt64: SaltNode]

    /// The node that the salt of a row comes from.
    fileprivate func node(of row: BlockRow) throws(FormatError) -> SaltNode {
        guard let node = nodes[SaltSeed.group(of: row.sequence)] else {
            throw .malformed(.saltNode, at: row.publicPart.lowerBound)
        }
        return node
    }

    /// These rows as a block of their own.
    fileprivate func block(of part: Range<Int>) throws(FormatError) -> ReceivedRows {
        guard part != rows.indices else { return ReceivedRows(bytes, head) }
        var builder = BlockBuilder()
        var groups: Set<UInt64> = []
        for row in rows[part] {
            try builder.append(row, of: bytes.span, type: head.types[row.typeIndex])
            guard case .present = row.personal else { continue }
            let node = try node(of: row)
            if groups.insert(node.group).inserted { builder.append(node) }
        }
        var block: [UInt8] = []
        builder.write(into: &block, position: nil, times: [], isAuthority: false)
        return ReceivedRows(block, try BlockHead.parse(block.span, verifyChecksum: false))
    }
}

/// A push, taken apart and checked as far as that can be without the log.
///
/// Each block is walked once, whatever is asked of it afterwards: who pushes decides how many
/// batches it has.
struct PushedEvents: Sendable {
    let replica: ReplicaID
    let blocks: [PushedBlock]
    let batches: [PushedBatch]
    /// The seeds from which the salts of the events come.
    let seeds: [SaltSeed]

    init(_ push: Push) throws(FormatError) {
        replica = push.replica
        var unpacker = BlockUnpacker()
        var blocks: [PushedBlock] = []
        var batches: [PushedBatch] = []
        var seeds: [UInt64: Salt] = [:]
        var (count, size) = (0, 0)
        var next: UInt64?
        for packed in push.blocks {
            for (bytes, head) in try unpacker.unpackAll(packed) {
                count += head.summary.eventCount
                size += bytes.count
                guard count <= Limits.exchangeCountMax, size <= Limits.exchangeSizeMax else {
                    throw .tooLarge(.message, size: UInt64(size), max: Limits.exchangeSizeMax)
                }
                guard !head.summary.isPositioned, !head.summary.isAuthority,
                    let run = head.runs.first,
                    run.replica == push.replica, next == nil || next == run.firstSequence,
                    run.lastSequence <= LogNumber.max
                else { throw .malformed(.runs, at: BlockHeader.size) }
                guard head.summary.highestClock <= HybridTime.highest else {
                    throw .malformed(.clock, at: BlockHeader.size)
                }
                next = run.lastSequence + 1
                blocks.append(
                    try Self.takeApart(bytes, head, index: blocks.count, &batches, &seeds)
                )
            }
        }
        self.blocks = blocks
        self.batches = batches
        self.seeds = seeds.map { SaltSeed(replica: push.replica, group: $0.key, root: $0.value) }
    }

    private static func takeApart(
        _ bytes: [UInt8],
        _ head: BlockHead,
        index: Int,
        _ batches: inout [PushedBatch],
        _ seeds: inout [UInt64: Salt]
    ) throws(FormatError) -> PushedBlock {
        var nodes: [UInt64: SaltNode] = [:]
        for node in head.saltNodes {
            // Nothing is erased before it has a position, and a group has one seed, which blocks of
            // one push may share.
            guard node.level == 0, nodes.updateValue(node, forKey: node.group) == nil,
                seeds.updateValue(node.value, forKey: node.group) ?? node.value == node.value
            else { throw .malformed(.saltNode, at: BlockHeader.size) }
        }
        var rows: [BlockRow] = []
        rows.reserveCapacity(head.summary.eventCount)
        var cursor = RowCursor(bytes.span, head.summary)
        while let row = try cursor.next() {
            if case .erased = row.personal {
                throw .malformed(.personalPart, at: row.publicPart.lowerBound)
            }
            let part = try PublicPart.parse(bytes.span, row)
            let clock = part.envelope.clock
            if part.envelope.batchFirst == row.sequence {
                batches.append(
                    PushedBatch(
                        block: index,
                        rows: row.index..<row.index + part.envelope.batchCount,
                        firstSequence: row.sequence,
                        firstClock: clock,
                        lastClock: clock
                    )
                )
            } else if let before = batches.last?.lastClock, before < clock {
                batches[batches.count - 1].lastClock = clock
            } else {
                throw .malformed(.clock, at: row.publicPart.lowerBound)
            }
            rows.append(row)
        }
        let block = PushedBlock(bytes: bytes, head: head, rows: rows, nodes: nodes)
        for row in rows where row.personal != .absent { _ = try block.node(of: row) }
        return block
    }

    /// The last sequence of the last block; 0 if there is none.
    var lastSequence: UInt64 { batches.last?.lastSequence ?? 0 }

    /// The rows of a stretch of batches, to be written down.
    func received(_ rows: Range<Int>, of block: Int) throws(FormatError) -> ReceivedRows {
        try blocks[block].block(of: rows)
    }

    /// The hashes of the events of a batch, in order.
    func hashes(
        of batch: PushedBatch,
        _ hasher: inout EventHasher
    ) throws(FormatError) -> [Hash32] {
        let pushed = blocks[batch.block]
        let block = pushed.bytes.span
        var hashes: [Hash32] = []
        for row in pushed.rows[batch.rows] {
            let type = pushed.head.types[row.typeIndex]
            let name = type.name
            var commitment: Hash32?
            if case .present(let range) = row.personal {
                let salt = hasher.salt(
                    try pushed.node(of: row),
                    index: SaltSeed.index(of: row.sequence)
                )
                commitment = hasher.commitment(block.raw.extracting(range), salt: salt)
            }
            hashes.append(
                hasher.eventHash(
                    typeName: name.span,
                    version: type.version,
                    replica: row.replica,
                    sequence: row.sequence,
                    publicPart: block.raw.extracting(row.publicPart),
                    commitment: commitment
                )
            )
        }
        return hashes
    }
}
