import DiarioCore

/// Writes rows of drafts to memory that has room for them.
@unsafe struct RowWriter {
    private let target: UnsafeMutableRawBufferPointer
    private let source: UnsafeRawBufferPointer
    private(set) var offset: Int

    init(_ target: UnsafeMutableRawBufferPointer, offset: Int, source: UnsafeRawBufferPointer) {
        unsafe self.target = unsafe target
        unsafe self.source = unsafe source
        unsafe self.offset = offset
    }

    /// Writes the row of an event without references.
    mutating func write(_ event: DraftEvent, _ place: RowPlace) {
        unsafe writeHead(
            publicSize: Int(event.personalStart - event.start),
            personalSize: Int(event.end - event.personalStart),
            place
        )
        unsafe copy(Int(event.start), Int(event.end))
    }

    /// Writes the row of any event; the batch's first one has `firstOrigin`.
    mutating func write(
        _ event: DraftEvent,
        _ place: RowPlace,
        of batch: DraftBatch,
        firstOrigin: Origin
    ) {
        var publicSize = Int(event.personalStart - event.start)
        var personalSize = Int(event.end - event.personalStart)
        let references = batch.references(of: event)
        for reference in references {
            let size = OriginText.size(firstOrigin.sequence + UInt64(reference.target)) + 1
            // A personal part starts with its bitmap, so at its start the public part ends.
            if reference.offset <= event.personalStart {
                publicSize += size
            } else {
                personalSize += size
            }
        }
        unsafe writeHead(publicSize: publicSize, personalSize: personalSize, place)
        var start = Int(event.start)
        for reference in references {
            unsafe copy(start, Int(reference.offset))
            start = Int(reference.offset)
            unsafe writeText(
                of: Origin(
                    replica: firstOrigin.replica,
                    sequence: firstOrigin.sequence + UInt64(reference.target)
                )
            )
        }
        unsafe copy(start, Int(event.end))
    }

    private mutating func writeHead(publicSize: Int, personalSize: Int, _ place: RowPlace) {
        let atOffset = Varint.zigzag(place.atOffset)
        let prefixSize =
            Varint.size(place.batchOffset) + Varint.size(place.batchCount) + 8
            + Varint.size(atOffset) + Varint.size(place.base)
        let rowSizeMax = RowSize.headMax + prefixSize + publicSize + personalSize
        precondition(unsafe target.count - offset >= rowSizeMax, "there is room for the row")
        unsafe put(UInt64(prefixSize + publicSize))
        unsafe put(UInt64(personalSize))
        unsafe put(place.typeIndex)
        unsafe put(place.batchOffset)
        unsafe put(place.batchCount)
        unsafe target.storeBytes(
            of: place.clock.littleEndian,
            toByteOffset: offset,
            as: UInt64.self
        )
        unsafe offset += 8
        unsafe put(atOffset)
        unsafe put(place.base)
    }

    private mutating func put(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            unsafe target[offset] = UInt8(truncatingIfNeeded: rest) | 0x80
            unsafe offset += 1
            rest >>= 7
        }
        unsafe target[offset] = UInt8(truncatingIfNeeded: rest)
        unsafe offset += 1
    }

    private mutating func copy(_ start: Int, _ end: Int) {
        guard end > start else { return }
        let part = unsafe UnsafeRawBufferPointer(rebasing: source[start..<end])
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + part.count])
            .copyMemory(from: part)
        unsafe offset += part.count
    }

    private mutating func writeText(of origin: Origin) {
        let size = OriginText.size(origin.sequence)
        unsafe put(UInt64(size))
        OriginText.write(origin) { index, character in
            unsafe target[offset + index] = character
        }
        unsafe offset += size
    }
}
