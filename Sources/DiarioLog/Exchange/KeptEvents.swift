package import DiarioCore
package import DiarioFormat

// Events of others that the authority lost: schema/format/sync.md, section 9.
//
// A file of blocks (`BlocksFile`) with the magic "dkep".

/// What one file keeps: blocks with the positions and times that the events had.
package struct KeptEvents: Sendable {
    package let writtenAt: Timestamp
    package let blocks: [ReceivedRows]

    static let sizeMax = 64 + 2 * Limits.blockSizeMax

    package static func encoded(_ blocks: [[UInt8]], at now: Timestamp) -> [UInt8] {
        BlocksFile.encoded(blocks, .kept, at: now)
    }

    package init(_ bytes: Span<UInt8>) throws(FormatError) {
        guard bytes.count <= Self.sizeMax else {
            throw .tooLarge(.kept, size: UInt64(bytes.count), max: Self.sizeMax)
        }
        let (writtenAt, found) = try BlocksFile.read(bytes, .kept)
        var blocks: [ReceivedRows] = []
        var last: UInt64 = 0
        for (place, block) in found {
            let head = try Block.check(block.span)
            guard let first = head.summary.firstPosition, first > last, !head.summary.isAuthority
            else { throw .malformed(.kept, at: place) }
            last = first + UInt64(head.summary.eventCount) - 1
            blocks.append(ReceivedRows(block, head))
        }
        guard !blocks.isEmpty else { throw .malformed(.kept, at: BlocksFile.blocksOffset) }
        self.writtenAt = writtenAt
        self.blocks = blocks
    }

    package var eventCount: Int { blocks.reduce(0) { $0 + $1.count } }
    package var replicas: Set<ReplicaID> { Set(blocks.flatMap { $0.head.replicas }) }
}

/// Events that are kept, next to one another: what is sent at once.
package struct KeptRun: Sendable {
    /// Of the last event, in the order in which they are kept.
    package let end: KeptPlace
    package let replica: ReplicaID
    package let sequences: ClosedRange<UInt64>
    package let types: [TypeEntry]
    /// As in a push.
    package let block: [UInt8]
}

/// Where a kept event is: its file, and the position that it had.
package struct KeptPlace: Comparable, Sendable {
    package let file: UInt64
    package let position: UInt64

    package static func < (left: KeptPlace, right: KeptPlace) -> Bool {
        (left.file, left.position) < (right.file, right.position)
    }
}

/// Gathers kept rows into the blocks of files.
struct KeptBlocks: ~Copyable {
    private(set) var blocks: [[UInt8]] = []
    private(set) var eventCount = 0
    private var cutter = BlockCutter()
    private var last: UInt64?

    /// A file is read whole for each run that is sent.
    private static let fullCount = 1000
    private static let fullSize = Limits.blockSizeMax / 8

    /// Whether the next batch belongs into another file.
    var isFull: Bool { eventCount >= Self.fullCount || cutter.size >= Self.fullSize }

    mutating func append(
        _ row: BlockRow,
        of bytes: Span<UInt8>,
        _ type: TypeEntry,
        at position: UInt64,
        _ acceptedAt: Timestamp,
        node: SaltNode?
    ) throws(LogError) {
        if let last, last + 1 != position { closeBlock() }
        last = position
        do throws(FormatError) {
            let closed = try cutter.append(
                row,
                of: bytes,
                type: type,
                position: position,
                acceptedAt: acceptedAt,
                isAuthority: false,
                node: node
            )
            if let closed { blocks.append(closed) }
        } catch {
            throw .format(error)
        }
        eventCount += 1
    }

    private mutating func closeBlock() {
        guard let closed = cutter.close() else { return }
        blocks.append(closed)
    }

    /// The file of what was gathered; nil if nothing was.
    mutating func take(at now: Timestamp) -> [UInt8]? {
        closeBlock()
        guard !blocks.isEmpty else { return nil }
        defer {
            blocks = []
            (eventCount, last) = (0, nil)
            cutter = BlockCutter()
        }
        return KeptEvents.encoded(blocks, at: now)
    }
}
