import DiarioCrypto

extension SegmentReader {
    /// Reads every byte of both files; gives the blocks that do not match their checksum, or else
    /// that the segment is not the one that its identity names.
    ///
    /// Holds one block at a time.
    package mutating func damagedBlocks() throws(SegmentError) -> [SegmentFault] {
        var faults: [SegmentFault] = []
        let stream = SHA256Stream()
        let stored = try segment.storedIndex()
        stream.update(stored.span)
        for number in index.blocks.indices {
            if let fault = try damage(number, of: .segment, stream) { faults.append(fault) }
        }
        for number in sidecarBlocks.indices {
            if let fault = try damage(number, of: .sidecar, nil) { faults.append(fault) }
        }
        let words = stream.finalize().words
        let identity = SegmentIdentity(first: words.0, second: words.1)
        if faults.isEmpty, identity != header.identity {
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
        return faults
    }

    private mutating func damage(
        _ number: Int,
        of file: SegmentFile,
        _ stream: SHA256Stream?
    ) throws(SegmentError) -> SegmentFault? {
        do throws(SegmentError) {
            let bytes = try with(file) { (opened) throws(SegmentError) in
                try opened.contents(number)
            }
            stream?.update(bytes.span)
            return nil
        } catch .fault(let fault) {
            return fault
        }
    }
}
