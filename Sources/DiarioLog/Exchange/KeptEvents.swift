package import DiarioCore
package import DiarioFormat

// Events of others that the authority lost: schema/format/sync.md, section 9.
//
//   offset  size  field
//        0     4  magic, "DKEP"
//        4     1  version, 1
//        5     3  zero
//        8     8  when it was written, in milliseconds
//       16     4  size of the blocks
//       20     4  CRC32C of bytes 0 to 20 and of the blocks
//       24        the blocks, each a count of bytes and these

/// What one file keeps: blocks with the positions and times that the events had.
package struct KeptEvents: Sendable {
    package let writtenAt: Timestamp
    package let blocks: [ReceivedRows]

    private static let magic: UInt32 = 0x5045_4b44
    private static let headerSize = 24
    static let sizeMax = headerSize + 2 * Limits.blockSizeMax

    static func encoded(_ blocks: [[UInt8]], at now: Timestamp) -> [UInt8] {
        var body: [UInt8] = []
        for block in blocks { body.append(counted: block.span.raw) }
        var bytes: [UInt8] = []
        bytes.append(littleEndian: magic)
        bytes.append(littleEndian: UInt32(1))
        bytes.append(littleEndian: UInt64(bitPattern: now.milliseconds))
        bytes.append(littleEndian: UInt32(body.count))
        bytes.append(littleEndian: sum(bytes.span.raw, body.span.raw))
        bytes.append(contentsOf: body.span.raw)
        return bytes
    }

    private static func sum(_ header: RawSpan, _ body: RawSpan) -> UInt32 {
        Checksum.crc32c(body, continuing: Checksum.crc32c(header))
    }

    package init(_ bytes: Span<UInt8>) throws(FormatError) {
        var reader = ByteReader(bytes.raw)
        guard try reader.next(UInt32.self) == Self.magic else { throw .malformed(.magic, at: 0) }
        let version = try reader.next(UInt32.self)
        guard version == 1 else { throw .unknownVersion(UInt8(version & 0xff), at: 4) }
        writtenAt = Timestamp(milliseconds: Int64(bitPattern: try reader.next(UInt64.self)))
        let size = try reader.next(UInt32.self)
        let stored = try reader.next(UInt32.self)
        guard bytes.count <= Self.sizeMax, size == reader.remaining else {
            throw .malformed(.kept, at: 16)
        }
        let computed = Self.sum(
            bytes.raw.extracting(0..<20),
            bytes.raw.extracting(Self.headerSize..<bytes.count)
        )
        guard stored == computed else {
            throw .checksumMismatch(stored: stored, computed: computed)
        }
        var blocks: [ReceivedRows] = []
        var last: UInt64 = 0
        while !reader.isAtEnd {
            let place = reader.offset
            let block = reader.copy(try reader.nextBytes())
            let head = try Block.check(block.span)
            guard let first = head.summary.firstPosition, first > last, !head.summary.isAuthority
            else { throw .malformed(.kept, at: place) }
            last = first + UInt64(head.summary.eventCount) - 1
            blocks.append(ReceivedRows(block, head))
        }
        guard !blocks.isEmpty else { throw .malformed(.kept, at: Self.headerSize) }
        self.blocks = blocks
    }

    package var eventCount: Int { blocks.reduce(0) { $0 + $1.count } }
    package var replicas: Set<ReplicaID> { Set(blocks.flatMap(\.head.replicas)) }
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
