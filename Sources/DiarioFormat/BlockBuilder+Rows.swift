package import DiarioCore
package import DiarioCrypto

extension BlockBuilder {
    /// Appends all events of a batch, as the sequences of `replica` from `firstSequence` on.
    ///
    /// The first event has the given clock; each other one the next value of the counter.
    package mutating func append(
        _ batch: DraftBatch,
        replica: ReplicaID,
        firstSequence: UInt64,
        clock: HybridTime,
        base: UInt64
    ) {
        let count = batch.events.count
        precondition(count > 0, "a batch has at least one event")
        mapTypes(of: batch)
        makeRoom(batch.rowsSizeMax)
        let origin = Origin(replica: replica, sequence: firstSequence)
        let events = batch.events.span
        // Safe: `makeRoom` made room for the rows of all events, and a draft's places lie in its
        // bytes.
        unsafe rows.withUnsafeMutableBufferPointer { buffer in
            guard let target = buffer.baseAddress else { return }
            var writer = unsafe RowWriter(
                WireWriter(target, offset: rowsSize),
                source: batch.bytes.span.raw
            )
            for index in events.indices {
                let event = events[index]
                let own = clock.rawValue &+ UInt64(index)
                let place = RowPlace(
                    typeIndex: UInt64(typeIndices[Int(event.typeIndex)]),
                    batchOffset: UInt64(index),
                    batchCount: UInt64(count),
                    clock: own,
                    atOffset: event.hasTime ? event.time &- Int64(own >> 16) : 0,
                    base: base
                )
                if event.referenceCount == 0 {
                    unsafe writer.write(event, place)
                } else {
                    unsafe writer.write(event, place, of: batch, firstOrigin: origin)
                }
            }
            rowsSize = unsafe writer.offset
        }
        note(
            replica: replica,
            firstSequence: firstSequence,
            count: count,
            lastClock: clock.rawValue + UInt64(count - 1)
        )
    }

    /// Appends one event of a batch, with values of its own for all that a draft leaves open.
    package mutating func append(
        event index: Int,
        of batch: DraftBatch,
        envelope: RowEnvelope
    ) {
        precondition(
            envelope.sequence - envelope.batchFirst < UInt64(envelope.batchCount)
                && 1...Limits.batchCountMax ~= envelope.batchCount,
            "an event lies in its batch"
        )
        let event = batch.events[index]
        let typeIndex = self.index(of: batch.entries[Int(event.typeIndex)])
        makeRoom(RowSize.max(of: event))
        let place = RowPlace(
            typeIndex: UInt64(typeIndex),
            batchOffset: envelope.sequence - envelope.batchFirst,
            batchCount: UInt64(envelope.batchCount),
            clock: envelope.clock.rawValue,
            atOffset: envelope.atOffset,
            base: envelope.base
        )
        let origin = Origin(replica: envelope.replica, sequence: envelope.batchFirst)
        // Safe: `makeRoom` made room for the row, and a draft's places lie in its bytes.
        unsafe rows.withUnsafeMutableBufferPointer { buffer in
            guard let target = buffer.baseAddress else { return }
            var writer = unsafe RowWriter(
                WireWriter(target, offset: rowsSize),
                source: batch.bytes.span.raw
            )
            unsafe writer.write(event, place, of: batch, firstOrigin: origin)
            rowsSize = unsafe writer.offset
        }
        note(
            replica: envelope.replica,
            firstSequence: envelope.sequence,
            count: 1,
            lastClock: envelope.clock.rawValue
        )
    }

    /// Copies a row of another block; `erased` is the commitment that replaces its personal part.
    package mutating func append(
        _ row: BlockRow,
        of block: Span<UInt8>,
        type: TypeEntry,
        erased: Hash32? = nil
    ) throws(FormatError) {
        var reader = ByteReader(block.raw, range: row.publicPart)
        _ = try reader.nextVarint()
        _ = try reader.nextVarint()
        let clock = try reader.next(UInt64.self)
        guard clock >> 63 == 0 else { throw .malformed(.clock, at: row.publicPart.lowerBound) }
        let typeIndex = index(of: type)
        makeRoom(RowSize.headMax + row.publicPart.count + Limits.eventSizeMax)
        var head: [UInt8] = []
        head.append(varint: UInt64(row.publicPart.count))
        let personal: Range<Int>?
        switch row.personal {
        case .absent:
            head.append(0)
            personal = nil
        case .erased(let range):
            head.append(1)
            personal = range
        case .present(let range):
            head.append(varint: erased == nil ? UInt64(range.count) : 1)
            personal = erased == nil ? range : nil
        }
        head.append(varint: UInt64(typeIndex))
        put(head.span.raw)
        put(block.raw.extracting(row.publicPart))
        if let personal {
            put(block.raw.extracting(personal))
        } else if case .present = row.personal, let erased {
            var bytes: [UInt8] = []
            bytes.append(erased)
            put(bytes.span.raw)
        }
        note(replica: row.replica, firstSequence: row.sequence, count: 1, lastClock: clock)
    }

    /// Writes bytes behind the rows, where there is room for them.
    private mutating func put(_ bytes: RawSpan) {
        let range = rowsSize..<rowsSize + bytes.byteCount
        // Safe: slicing checks that the bytes have room, and the closures keep nothing.
        unsafe rows.withUnsafeMutableBytes { buffer in
            unsafe bytes.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[range])
                    .copyMemory(from: source)
            }
        }
        rowsSize += bytes.byteCount
    }

    private mutating func mapTypes(of batch: DraftBatch) {
        typeIndices.removeAll(keepingCapacity: true)
        for entry in batch.entries { typeIndices.append(index(of: entry)) }
    }

    /// Makes sure that `size` bytes can be written behind the rows.
    private mutating func makeRoom(_ size: Int) {
        let needed = rowsSize + size
        guard needed > rows.count else { return }
        let grown = max(needed, min(2 * rows.count, Limits.blockSizeMax), 4096)
        rows.append(contentsOf: repeatElement(0, count: grown - rows.count))
    }
}
