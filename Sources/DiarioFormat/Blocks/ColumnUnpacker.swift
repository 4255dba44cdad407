import DiarioCore

/// Makes blocks of received columns: a segment followed by its sidecar, as `schema/format/sync.md`
/// says.
///
/// Every byte may be wrong: no more memory is taken than one exchange needs, and the blocks must be
/// checked as others are.
enum ColumnUnpacker {
    /// About how many bytes of rows are made at a time; and rows, at least and at most.
    private static let pieceSize = 1024 * 1024
    private static let pieceCounts = 16...1024
    /// Bytes of all columns before compression: most take less than they do as rows.
    private static let expandedMax = 2 * Limits.exchangeSizeMax

    /// True if the bytes are columns and no block.
    static func isColumns(_ bytes: Span<UInt8>) -> Bool {
        bytes.count >= 4 && bytes[0] == 0x64 && bytes[1] == 0x73 && bytes[2] == 0x65
            && bytes[3] == 0x67
    }

    /// The blocks of columns, all uncompressed.
    static func blocks(
        of columns: [UInt8],
        _ checksums: SegmentChecksums
    ) throws(FormatError) -> [[UInt8]] {
        do throws(SegmentError) {
            var reader = try open(columns, checksums)
            let types = reader.index.types.map { $0.entry }
            let salts = SaltNodes(try reader.saltNodes())
            let count = reader.header.eventCount
            var rows = try SegmentRows(reader)
            var taken = Taken()
            var next = 0
            var pieceCount = pieceCounts.lowerBound
            while next < count {
                let end = min(next + pieceCount, count)
                let made = try rows.rows(in: next..<end)
                do throws(FormatError) {
                    try taken.take(made, of: rows.bytes.span, types, salts)
                } catch {
                    throw fault(error)
                }
                let fitting = pieceSize * made.count / max(1, rows.bytes.count)
                pieceCount = min(max(fitting, pieceCounts.lowerBound), pieceCounts.upperBound)
                next = end
            }
            return taken.finish()
        } catch {
            throw error.asFormatError
        }
    }

    private static func open(
        _ columns: [UInt8],
        _ checksums: SegmentChecksums
    ) throws(SegmentError) -> SegmentReader {
        let size = try segmentSize(columns)
        let reader = try SegmentReader(
            SegmentMemory(.segment, Array(columns[..<size])),
            sidecar: SegmentMemory(.sidecar, Array(columns[size...])),
            checksums: checksums
        )
        let count = reader.header.eventCount
        guard count <= Limits.exchangeCountMax else {
            throw fault(.tooLarge(.eventCount, size: UInt64(count), max: Limits.exchangeCountMax))
        }
        let expanded = (reader.index.blocks + reader.sidecarBlocks).reduce(0) {
            $0 + $1.expandedSize
        }
        guard expanded <= expandedMax else {
            throw fault(.tooLarge(.body, size: UInt64(expanded), max: expandedMax))
        }
        guard reader.sidecarHeader?.fileSize == columns.count - size else {
            throw fault(.trailingBytes(at: size))
        }
        return reader
    }

    /// The size of the segment, after which the sidecar begins.
    private static func segmentSize(_ columns: [UInt8]) throws(SegmentError) -> Int {
        do throws(FormatError) {
            guard columns.count >= 2 * SegmentHeader.size else {
                throw .truncated(at: columns.count)
            }
            let header = try SegmentHeader.parse(
                columns.span.extracting(0..<SegmentHeader.size),
                .segment
            )
            guard header.fileSize <= columns.count - SegmentHeader.size else {
                throw .truncated(at: columns.count)
            }
            return header.fileSize
        } catch {
            throw fault(error)
        }
    }

    /// The blocks that were made so far.
    private struct Taken: ~Copyable {
        private var cutter = BlockCutter()
        private var blocks: [[UInt8]] = []

        mutating func take(
            _ made: [SegmentRow],
            of bytes: Span<UInt8>,
            _ types: [TypeEntry],
            _ salts: SaltNodes
        ) throws(FormatError) {
            for row in made {
                var node: SaltNode?
                if case .present(let range) = row.event.personal {
                    node = salts.node(of: row.event.replica, sequence: row.event.sequence)
                    if node == nil { throw .malformed(.saltNode, at: range.lowerBound) }
                }
                let closed = try cutter.append(
                    BlockRow(row),
                    of: bytes,
                    type: types[row.typeIndex],
                    position: row.position,
                    acceptedAt: row.event.acceptedAt,
                    isAuthority: row.event.isAuthority,
                    node: node
                )
                if let closed { blocks.append(closed) }
                let size = cutter.size
                guard size <= Limits.exchangeSizeMax else {
                    throw .tooLarge(.message, size: UInt64(size), max: Limits.exchangeSizeMax)
                }
            }
        }

        consuming func finish() -> [[UInt8]] {
            if let last = cutter.close() { blocks.append(last) }
            return blocks
        }
    }

    private static func fault(_ reason: FormatError) -> SegmentError {
        .fault(SegmentFault(file: .segment, block: nil, offset: 0, reason: reason))
    }
}

extension SegmentError {
    /// The error, for columns that did not come as files.
    fileprivate var asFormatError: FormatError {
        switch self {
        case .fault(let fault): fault.reason
        case .otherSidecar: .malformed(.identity, at: SegmentHeader.identityOffset)
        case .unreadable(_, let offset): .truncated(at: offset)
        case .noSidecar, .unknownType: .malformed(.types, at: SegmentHeader.size)
        }
    }
}
