import DiarioCore
import DiarioZstd

/// One of the two files of a sealed run of events, opened: its header and its list of blocks.
struct ColumnFile {
    let header: SegmentHeader
    /// Filled in by the one who parses the index.
    var blocks: [SegmentBlock] = []
    /// Blocks that were read so far, and their stored bytes.
    private(set) var blocksRead = 0
    private(set) var bytesRead = 0
    private let source: any SegmentSource
    private let checksums: SegmentChecksums
    private let memory: ColumnMemory

    var file: SegmentFile { header.file }

    /// Reads header and index; hands out the index before compression.
    static func open(
        _ source: any SegmentSource,
        _ file: SegmentFile,
        _ checksums: SegmentChecksums,
        _ memory: ColumnMemory
    ) throws(SegmentError) -> (ColumnFile, index: [UInt8]) {
        var start: [UInt8] = []
        try source.read(at: 0, count: SegmentHeader.size, into: &start)
        let header = try checked(file) { () throws(FormatError) in
            try SegmentHeader.parse(start.span, file)
        }
        var stored: [UInt8] = []
        try source.read(
            at: SegmentHeader.size,
            count: header.storedIndexSize,
            into: &stored
        )
        let index = try checked(file) { () throws(FormatError) in
            if checksums == .verified { try header.check(start.span, stored.span) }
            guard header.isIndexCompressed else { return stored }
            var bytes: [UInt8] = []
            do throws(ZstdError) {
                try memory.decompressor.decompress(
                    stored.span,
                    size: header.indexSize,
                    into: &bytes
                )
            } catch {
                throw .compression(error)
            }
            return bytes
        }
        let opened = ColumnFile(
            header: header,
            source: source,
            checksums: checksums,
            memory: memory
        )
        return (opened, index)
    }

    /// Gives errors of `body` the place that they are about: bytes in front of the blocks.
    static func checked<Value>(
        _ file: SegmentFile,
        _ body: () throws(FormatError) -> Value
    ) throws(SegmentError) -> Value {
        do throws(FormatError) { return try body() } catch {
            throw .fault(
                SegmentFault(
                    file: file,
                    block: nil,
                    offset: SegmentHeader.size,
                    reason: error
                )
            )
        }
    }

    /// The index as it is stored, read anew.
    func storedIndex() throws(SegmentError) -> [UInt8] {
        var stored: [UInt8] = []
        try source.read(
            at: SegmentHeader.size,
            count: header.storedIndexSize,
            into: &stored
        )
        return stored
    }

    /// The stored bytes of a block, checked.
    mutating func contents(_ number: Int) throws(SegmentError) -> [UInt8] {
        let block = blocks[number]
        var bytes: [UInt8] = []
        try source.read(at: block.offset, count: block.storedSize, into: &bytes)
        blocksRead += 1
        bytesRead += bytes.count
        let computed = Checksum.crc32c(bytes.span.raw)
        guard computed == block.checksum || checksums == .ignored else {
            throw fault(
                .checksumMismatch(stored: block.checksum, computed: computed),
                block: number
            )
        }
        return bytes
    }

    /// Reads a block's columns by `body`, which must read all of it.
    mutating func decode<Value>(
        _ number: Int,
        _ body: (inout ColumnReader) throws(FormatError) -> Value
    ) throws(SegmentError) -> Value {
        let bytes = try contents(number)
        do throws(FormatError) {
            var reader = ColumnReader(
                bytes.span,
                expandedSize: blocks[number].expandedSize,
                memory
            )
            let value = try body(&reader)
            try reader.finish()
            return value
        } catch {
            throw fault(error, block: number)
        }
    }

    /// The error of a block.
    func fault(_ reason: FormatError, block: Int) -> SegmentError {
        .fault(
            SegmentFault(
                file: file,
                block: block,
                offset: blocks[block].offset + reason.offset,
                reason: reason
            )
        )
    }
}

/// Whether bytes are compared with their checksum; left out only to test what comes after it.
package enum SegmentChecksums: Sendable {
    case verified
    case ignored
}
