extension SegmentReader {
    /// Reads every block of both files and gives those that do not match their checksum.
    ///
    /// Holds one block at a time.
    package mutating func damagedBlocks() throws(SegmentError) -> [SegmentFault] {
        var faults: [SegmentFault] = []
        for number in index.blocks.indices {
            if let fault = try damage(number, of: .segment) { faults.append(fault) }
        }
        for number in sidecarBlocks.indices {
            if let fault = try damage(number, of: .sidecar) { faults.append(fault) }
        }
        return faults
    }

    private mutating func damage(
        _ number: Int,
        of file: SegmentFile
    ) throws(SegmentError) -> SegmentFault? {
        do throws(SegmentError) {
            _ = try contents(number, of: file)
            return nil
        } catch .fault(let fault) {
            return fault
        }
    }
}
