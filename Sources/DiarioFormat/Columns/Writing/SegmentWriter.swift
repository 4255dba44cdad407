import DiarioCore
import DiarioCrypto
import DiarioZstd

/// The blocks of one file, and the file made of them.
struct SegmentFileWriter {
    private var blocks: [SegmentBlock] = []
    private var contents: [[UInt8]] = []

    mutating func add(
        kind: UInt8,
        key: Int = 0,
        firstRow: Int = 0,
        rowCount: Int,
        _ writer: borrowing ColumnWriter
    ) {
        blocks.append(
            SegmentBlock(
                kind: kind,
                key: key,
                firstRow: firstRow,
                rowCount: rowCount,
                expandedSize: writer.expandedSize,
                storedSize: writer.bytes.count,
                checksum: Checksum.crc32c(writer.bytes.span.raw),
                offset: 0
            )
        )
        contents.append(writer.bytes)
    }

    /// The blocks in the order of the file.
    private var order: [Int] {
        blocks.indices.sorted { left, right in
            let (left, right) = (blocks[left], blocks[right])
            return (Int(left.kind), left.key, left.firstRow)
                < (Int(right.kind), right.key, right.firstRow)
        }
    }

    var sortedBlocks: [SegmentBlock] { order.map { blocks[$0] } }

    /// The whole file; in a segment the identity is computed.
    func bytes(
        index: [UInt8],
        _ header: SegmentHeader,
        compressor: inout Compressor
    ) throws(FormatError) -> [UInt8] {
        var stored: [UInt8] = []
        do throws(ZstdError) { try compressor.compress(index.span, into: &stored) } catch {
            throw .compression(error)
        }
        var header = header
        header.isIndexCompressed = stored.count < index.count
        if !header.isIndexCompressed { stored = index }
        header.indexSize = index.count
        header.storedIndexSize = stored.count
        let size = contents.reduce(SegmentHeader.size + stored.count) { $0 + $1.count }
        var file: [UInt8] = []
        file.reserveCapacity(size)
        file.append(repeating: 0, count: SegmentHeader.size)
        file += stored
        for place in order { file += contents[place] }
        header.fileSize = size
        if header.file == .segment {
            header.identity = SegmentIdentity(of: file.span.extracting(SegmentHeader.size...))
        }
        let start = header.bytes(before: stored.span)
        for place in start.indices { file[place] = start[place] }
        return file
    }
}
