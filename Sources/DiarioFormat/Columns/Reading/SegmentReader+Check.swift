import DiarioCrypto

/// Reads every byte of both files of a segment, a block in each step.
package struct SegmentCheck: ~Copyable {
    private let stream = SHA256Stream()
    private var number = 0
    /// The blocks that do not match their checksum, or else that the segment is not the one that
    /// its identity names.
    package private(set) var faults: [SegmentFault] = []

    package init() {}

    /// Reads the next block of a segment, which is the same in every step; gives its size, or nil
    /// once all were read.
    package mutating func step(_ reader: inout SegmentReader) throws(SegmentError) -> Int? {
        let blocks = reader.index.blocks
        let sidecarBlocks = reader.sidecarBlocks
        if number == 0 {
            let stored = try reader.segment.storedIndex()
            stream.update(stored.span)
        }
        guard number < blocks.count + sidecarBlocks.count else {
            end(reader.header)
            return nil
        }
        let isSidecar = number >= blocks.count
        let block = isSidecar ? number - blocks.count : number
        number += 1
        try read(block, of: isSidecar ? .sidecar : .segment, in: &reader)
        return isSidecar ? sidecarBlocks[block].storedSize : blocks[block].storedSize
    }

    private mutating func read(
        _ number: Int,
        of file: SegmentFile,
        in reader: inout SegmentReader
    ) throws(SegmentError) {
        do throws(SegmentError) {
            let bytes = try reader.with(file) { (opened) throws(SegmentError) in
                try opened.contents(number)
            }
            if file == .segment { stream.update(bytes.span) }
        } catch .fault(let fault) {
            faults.append(fault)
        }
    }

    private mutating func end(_ header: SegmentHeader) {
        let words = stream.finalize().words
        let identity = SegmentIdentity(first: words.0, second: words.1)
        guard faults.isEmpty, identity != header.identity else { return }
        let reason = FormatError.malformed(.identity, at: SegmentHeader.identityOffset)
        faults.append(
            SegmentFault(
                file: .segment,
                block: nil,
                offset: SegmentHeader.identityOffset,
                reason: reason
            )
        )
    }
}

extension SegmentReader {
    /// All that a check of every byte finds.
    package mutating func damagedBlocks() throws(SegmentError) -> [SegmentFault] {
        var check = SegmentCheck()
        while try check.step(&self) != nil {}
        return check.faults
    }
}
