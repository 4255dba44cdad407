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
        // Not copied: this runs for each append of one event, and counting references would take as
        // long as all the rest.
        let contents = batch.contents
        let count = contents[0].events.count
        precondition(count > 0, "a batch has at least one event")
        typeIndices.removeAll(keepingCapacity: true)
        for place in 0..<contents[0].typeCount {
            typeIndices.append(index(of: contents[0].listed(place)))
        }
        let typeIndices = typeIndices
        let origin = Origin(replica: replica, sequence: firstSequence)
        rows.append(addingCapacity: contents[0].rowsSizeMax) { output in
            let writer = RowWriter(source: contents[0].bytes.span.raw)
            for index in 0..<count {
                let event = contents[0].events[index]
                let own = clock.rawValue &+ UInt64(index)
                let place = RowPlace(
                    typeIndex: UInt64(typeIndices[Int(event.typeIndex)]),
                    batchOffset: UInt64(index),
                    batchCount: UInt64(count),
                    clock: own,
                    atOffset: event.hasTime ? event.time &- Int64(own >> 16) : 0,
                    base: base
                )
                writer.write(event, place, of: batch, firstOrigin: origin, into: &output)
            }
        }
        note(
            replica: replica,
            firstSequence: firstSequence,
            count: count,
            lastClock: clock.rawValue + UInt64(count - 1)
        )
    }

    /// Appends one event of a batch, with its own values for everything that a draft leaves open.
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
        let contents = batch.contents
        let event = contents[0].events[index]
        let typeIndex = self.index(of: contents[0].listed(Int(event.typeIndex)))
        let place = RowPlace(
            typeIndex: UInt64(typeIndex),
            batchOffset: envelope.sequence - envelope.batchFirst,
            batchCount: UInt64(envelope.batchCount),
            clock: envelope.clock.rawValue,
            atOffset: envelope.atOffset,
            base: envelope.base
        )
        let origin = Origin(replica: envelope.replica, sequence: envelope.batchFirst)
        rows.append(addingCapacity: RowSize.max(of: event)) { output in
            let writer = RowWriter(source: contents[0].bytes.span.raw)
            writer.write(event, place, of: batch, firstOrigin: origin, into: &output)
        }
        note(
            replica: envelope.replica,
            firstSequence: envelope.sequence,
            count: 1,
            lastClock: envelope.clock.rawValue
        )
    }

    /// Copies the rows of another block, whose head is `head`.
    package mutating func append(
        _ block: Span<UInt8>,
        _ head: BlockHead
    ) throws(FormatError) {
        var indices = [Int32](repeating: -1, count: head.types.count)
        var cursor = RowCursor(block, head.summary)
        while let row = try cursor.next() {
            if indices[row.typeIndex] < 0 {
                indices[row.typeIndex] = index(of: head.types[row.typeIndex])
            }
            try copy(row, of: block, typeIndex: indices[row.typeIndex])
        }
    }

    /// Copies a row of another block; `erased` is the commitment that replaces its personal part.
    package mutating func append(
        _ row: BlockRow,
        of block: Span<UInt8>,
        type: TypeEntry,
        erased: Hash32? = nil
    ) throws(FormatError) {
        try copy(row, of: block, typeIndex: index(of: type), erased: erased)
    }

    /// Copies a row of another block, from its flags on, under another envelope.
    ///
    /// A derived id is then that of the new origin; others stay as they are. `erased` is the
    /// commitment that replaces its personal part.
    package mutating func append(
        _ row: BlockRow,
        of block: Span<UInt8>,
        type: TypeEntry,
        envelope: RowEnvelope,
        erased: Hash32? = nil
    ) throws(FormatError) {
        var reader = ByteReader(block.raw, range: row.publicPart)
        // The offset in the batch, its count, the clock, the time, and the base.
        _ = try reader.nextVarint()
        _ = try reader.nextVarint()
        _ = try reader.next(UInt64.self)
        _ = try reader.nextZigzag()
        _ = try reader.nextVarint()
        var part: [UInt8] = []
        part.append(varint: envelope.sequence - envelope.batchFirst)
        part.append(varint: UInt64(envelope.batchCount))
        part.append(littleEndian: envelope.clock.rawValue)
        part.append(zigzag: envelope.atOffset)
        part.append(varint: envelope.base)
        part.append(contentsOf: block.raw.extracting(reader.offset..<row.publicPart.upperBound))
        let typeIndex = index(of: type)
        rows.append(varint: UInt64(part.count))
        let personal: Range<Int>? =
            switch row.personal {
            case .absent: nil
            case .erased(let range), .present(let range): range
            }
        switch row.personal {
        case .absent: rows.append(0)
        case .erased: rows.append(1)
        case .present(let range):
            rows.append(varint: erased == nil ? UInt64(range.count) : 1)
        }
        rows.append(varint: UInt64(typeIndex))
        rows.append(contentsOf: part)
        if let erased, case .present = row.personal {
            rows.append(erased)
        } else if let personal {
            rows.append(contentsOf: block.raw.extracting(personal))
        }
        note(
            replica: envelope.replica,
            firstSequence: envelope.sequence,
            count: 1,
            lastClock: envelope.clock.rawValue
        )
    }

    private mutating func copy(
        _ row: BlockRow,
        of block: Span<UInt8>,
        typeIndex: Int32,
        erased: Hash32? = nil
    ) throws(FormatError) {
        var reader = ByteReader(block.raw, range: row.publicPart)
        _ = try reader.nextVarint()
        _ = try reader.nextVarint()
        let clock = try reader.next(UInt64.self)
        guard clock >> 63 == 0 else { throw .malformed(.clock, at: row.publicPart.lowerBound) }
        rows.append(varint: UInt64(row.publicPart.count))
        switch row.personal {
        case .absent: rows.append(0)
        case .erased: rows.append(1)
        case .present(let range): rows.append(varint: erased == nil ? UInt64(range.count) : 1)
        }
        rows.append(varint: UInt64(typeIndex))
        rows.append(contentsOf: block.raw.extracting(row.publicPart))
        switch row.personal {
        case .absent: break
        case .erased(let range): rows.append(contentsOf: block.raw.extracting(range))
        case .present(let range):
            if let erased {
                rows.append(erased)
            } else {
                rows.append(contentsOf: block.raw.extracting(range))
            }
        }
        note(replica: row.replica, firstSequence: row.sequence, count: 1, lastClock: clock)
    }

    /// The index of a type in the block; mostly the very object was seen before.
    private mutating func index(of known: KnownType) -> Int32 {
        if let index = seenTypes.find(known) { return index }
        let index = self.index(of: known.entry)
        seenTypes.insert(known, index)
        return index
    }
}
