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

    var count: Int { rows.count }
    var lastSequence: UInt64 { firstSequence + UInt64(rows.count) - 1 }
}

/// A push, taken apart and checked as far as that can be without the log.
struct PushedEvents: Sendable {
    let replica: ReplicaID
    let blocks: [(bytes: [UInt8], head: BlockHead)]
    let batches: [PushedBatch]

    init(_ push: Push) throws(FormatError) {
        replica = push.replica
        var unpacker = try BlockUnpacker()
        var blocks: [(bytes: [UInt8], head: BlockHead)] = []
        var batches: [PushedBatch] = []
        var (count, size) = (0, 0)
        var next: UInt64?
        for (index, packed) in push.blocks.enumerated() {
            let (bytes, head) = try unpacker.unpack(packed)
            count += head.summary.eventCount
            size += bytes.count
            guard count <= Limits.exchangeCountMax, size <= Limits.exchangeSizeMax else {
                throw .tooLarge(.message, size: UInt64(size), max: Limits.exchangeSizeMax)
            }
            guard !head.summary.isPositioned, !head.summary.isAuthority, let run = head.runs.first,
                run.replica == push.replica, next == nil || next == run.firstSequence,
                run.lastSequence < UInt64(1) << 62
            else { throw .malformed(.runs, at: BlockHeader.size) }
            next = run.lastSequence + 1
            var cursor = RowCursor(bytes.span, head.summary)
            while let row = try cursor.next() {
                let part = try PublicPart.parse(bytes.span, row)
                guard part.envelope.batchFirst == row.sequence else { continue }
                let rows = row.index..<row.index + part.envelope.batchCount
                batches.append(
                    PushedBatch(block: index, rows: rows, firstSequence: row.sequence)
                )
            }
            blocks.append((bytes, head))
        }
        self.blocks = blocks
        self.batches = batches
    }

    /// The hashes of the events of a batch, in order.
    func hashes(of batch: PushedBatch) throws(FormatError) -> [Hash32] {
        let (bytes, head) = blocks[batch.block]
        let block = bytes.span
        var hasher = EventHasher()
        var hashes: [Hash32] = []
        var cursor = RowCursor(block, head.summary)
        while let row = try cursor.next(), row.index < batch.rows.upperBound {
            guard batch.rows.contains(row.index) else { continue }
            let type = head.types[row.typeIndex]
            let name = type.name
            var commitment: Hash32?
            switch row.personal {
            case .absent: break
            case .erased(let range):
                var reader = ByteReader(block.raw, range: range)
                commitment = try reader.nextHash()
            case .present(let range):
                let index = SaltSeed.index(of: row.sequence)
                let group = SaltSeed.group(of: row.sequence)
                guard
                    let node = head.saltNodes.first(where: {
                        $0.replica == row.replica && $0.group == group && $0.covers(index)
                    })
                else { throw .malformed(.saltNode, at: range.lowerBound) }
                let salt = hasher.salt(node, index: index)
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
