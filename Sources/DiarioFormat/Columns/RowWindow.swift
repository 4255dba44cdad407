import DiarioCore
import DiarioCrypto

/// The envelope of the wanted rows of a segment.
struct RowEnvelopes {
    /// The first event that is wanted.
    let first: Int
    // Of all events.
    let types: [UInt32]
    let replicas: [UInt32]
    let flags: [UInt8]
    // From the first one on.
    let sequences: [Int64]
    let clocks: [Int64]
    let times: [Int64]
    let accepted: [Int64]
    let batches: EnvelopeBatches
    let bases: [Int64]
    let actors: EnvelopeTexts
    let subjects: EnvelopeTexts

    init(_ reader: inout SegmentReader) throws(SegmentError) {
        first = reader.wanted.lowerBound
        types = try reader.typeIndices()
        // Makes sure that each type has as many events as the index says.
        for type in reader.index.types.indices { _ = try reader.events(ofType: type) }
        replicas = try reader.replicaIndices()
        sequences = try reader.numbers(.sequences)
        clocks = try reader.numbers(.clocks)
        times = try reader.numbers(.times)
        accepted = try reader.numbers(.accepted)
        batches = try reader.batches()
        bases = try reader.numbers(.bases)
        flags = try reader.flags()
        actors = try reader.actors()
        subjects = try reader.subjects()
    }

    /// Bytes that actor and subject of a row take with their lengths, at most.
    var textsSizeMax: Int {
        (actors.values.count > 0 ? 2 + Limits.actorSizeMax : 0)
            + (subjects.values.count > 0 ? 2 + Limits.subjectSizeMax : 0)
    }
}

/// Some consecutive rows of a segment that are put together at once.
struct RowWindow {
    /// Rows of the window by type, and those of them that have a personal part.
    private(set) var rowCounts: [Int] = []
    private(set) var personalCounts: [Int] = []
    var publicPayloads = AssembledPayloads()
    var personalPayloads = AssembledPayloads()
    /// What actor and subject of a row take at most.
    var nextSizeMax = 0
    /// The types whose rows are put together; nil for all.
    var wantedTypes: [Bool]?
    /// Gives personal parts as erased, with a commitment of zeros.
    var withholdsPersonal = false
    var nextErasure = 0
    var nextActor = 0
    var nextSubject = 0

    func wants(_ type: Int) -> Bool { wantedTypes?[type] ?? true }

    /// Counts the rows of each type among `events`, and forgets those of the window before.
    mutating func count(
        _ events: Range<Int>,
        _ envelope: RowEnvelopes,
        _ erasures: [Erasure],
        typeCount: Int
    ) {
        publicPayloads.removeAll()
        personalPayloads.removeAll()
        var (all, personal) = (rowCounts, personalCounts)
        all.removeAll(keepingCapacity: true)
        all.append(repeating: 0, count: typeCount)
        personal.removeAll(keepingCapacity: true)
        personal.append(repeating: 0, count: typeCount)
        let types = envelope.types.span.extracting(events)
        let flags = envelope.flags.span.extracting(events)
        for place in types.indices {
            let type = Int(types[place])
            all[type] += 1
            personal[type] += flags[place] & RowFlags.personal.rawValue != 0 ? 1 : 0
        }
        for type in all.indices where !wants(type) { (all[type], personal[type]) = (0, 0) }
        if withholdsPersonal { for type in personal.indices { personal[type] = 0 } }
        (rowCounts, personalCounts) = (all, personal)
        var next = nextErasure
        while next < erasures.count, erasures[next].event < events.upperBound {
            let type = Int(envelope.types[erasures[next].event])
            if personalCounts[type] > 0 { personalCounts[type] -= 1 }
            next += 1
        }
    }

    /// Writes all rows to `bytes`, and where they lie to `rows`.
    mutating func assemble(
        _ events: Range<Int>,
        _ envelope: RowEnvelopes,
        _ erasures: [Erasure],
        _ index: SegmentIndex,
        _ header: SegmentHeader,
        _ bytes: inout [UInt8],
        _ rows: inout [SegmentRow]
    ) {
        bytes.removeAll(keepingCapacity: true)
        rows.removeAll(keepingCapacity: true)
        let room =
            publicPayloads.bytes.count + personalPayloads.bytes.count
            + events.count * (PublicPart.prefixSizeMax + Hash32.size + nextSizeMax)
            + 2 * ShortCopy.slack + PublicPart.prefixSizeMax
        let replicas = index.replicas.map(\.replica)
        var publicParts = AssembledPlaces(rowCounts)
        var personalParts = AssembledPlaces(personalCounts)
        let (publicPayloads, personalPayloads) = (publicPayloads, personalPayloads)
        var texts = (actor: nextActor, subject: nextSubject, erasure: nextErasure)
        rows.reserveCapacity(events.count)
        bytes.append(addingCapacity: room) { output in
            for event in events {
                let start = output.count
                let type = Int(envelope.types[event])
                let flags = RowFlags(rawValue: envelope.flags[event] & 31)
                guard wantedTypes == nil || wants(type) else {
                    Self.leaveOut(event, flags, erasures, &texts)
                    continue
                }
                let isErased =
                    texts.erasure < erasures.count && erasures[texts.erasure].event == event
                Self.appendEnvelope(event, flags, envelope, &texts, to: &output)
                publicParts.append(type, of: publicPayloads, to: &output)
                let publicPart = start..<output.count
                var personal = BlockRow.Personal.absent
                if flags.contains(.personal) {
                    if isErased {
                        output.append(erasures[texts.erasure].commitment)
                        texts.erasure += 1
                        personal = .erased(commitment: publicPart.upperBound..<output.count)
                    } else if withholdsPersonal {
                        output.append(repeating: 0, count: Hash32.size)
                        personal = .erased(commitment: publicPart.upperBound..<output.count)
                    } else {
                        personalParts.append(type, of: personalPayloads, to: &output)
                        personal = .present(publicPart.upperBound..<output.count)
                    }
                }
                let replica = replicas[Int(envelope.replicas[event])]
                rows.append(Self.row(event, envelope, replica, header, publicPart, personal))
            }
        }
        (nextActor, nextSubject, nextErasure) = texts
    }

    private static func leaveOut(
        _ event: Int,
        _ flags: RowFlags,
        _ erasures: [Erasure],
        _ texts: inout (actor: Int, subject: Int, erasure: Int)
    ) {
        if flags.contains(.actor) { texts.actor += 1 }
        if flags.contains(.subject) { texts.subject += 1 }
        let isErased = texts.erasure < erasures.count && erasures[texts.erasure].event == event
        if isErased { texts.erasure += 1 }
    }

    @inline(__always)
    private static func row(
        _ event: Int,
        _ envelope: RowEnvelopes,
        _ replica: ReplicaID,
        _ header: SegmentHeader,
        _ publicPart: Range<Int>,
        _ personal: BlockRow.Personal
    ) -> SegmentRow {
        let isPositioned = header.isPositioned
        let place = event - envelope.first
        return SegmentRow(
            index: event,
            typeIndex: Int(envelope.types[event]),
            position: isPositioned ? header.firstPosition + UInt64(event) : nil,
            event: SegmentEvent(
                replica: replica,
                sequence: UInt64(bitPattern: envelope.sequences[place]),
                acceptedAt: isPositioned ? Timestamp(milliseconds: envelope.accepted[place]) : nil,
                isAuthority: envelope.flags[event] & UInt8(EnvelopeColumns.authorityFlag) != 0,
                publicPart: publicPart,
                personal: personal
            )
        )
    }

    @inline(__always)
    private static func appendEnvelope(
        _ event: Int,
        _ flags: RowFlags,
        _ envelope: RowEnvelopes,
        _ texts: inout (actor: Int, subject: Int, erasure: Int),
        to output: inout OutputSpan<UInt8>
    ) {
        let place = event - envelope.first
        let clock = envelope.clocks[place]
        let offset = envelope.batches.offsets[place]
        let count = envelope.batches.counts[place]
        let (base, time) = (envelope.bases[place], envelope.times[place])
        precondition(output.freeCapacity >= PublicPart.prefixSizeMax + 1, "there is room")
        // Safe: the prefix takes no more than was just checked.
        unsafe output.withUnsafeMutableBufferPointer { buffer, next in
            guard let bytes = buffer.baseAddress else { return }
            unsafe next = RowBytes.put(varint: UInt64(offset), bytes, at: next)
            unsafe next = RowBytes.put(varint: UInt64(count), bytes, at: next)
            unsafe RowBytes.put(UInt64(bitPattern: clock), bytes, at: next)
            let ahead = Varint.zigzag(time &- (clock >> 16))
            unsafe next = RowBytes.put(varint: ahead, bytes, at: next &+ 8)
            unsafe next = RowBytes.put(varint: UInt64(bitPattern: base), bytes, at: next)
            unsafe bytes[next] = flags.rawValue
            next &+= 1
        }
        if flags.contains(.actor) {
            envelope.actors.values.append(texts.actor, to: &output)
            texts.actor += 1
        }
        if flags.contains(.subject) {
            envelope.subjects.values.append(texts.subject, to: &output)
            texts.subject += 1
        }
    }
}

/// For each type, where its next row lies among payloads.
private struct AssembledPlaces {
    private var places: [Int] = []

    /// So many rows of each type; the bounds of a type with rows begin with the start of the first.
    init(_ counts: [Int]) {
        var next = 0
        for count in counts {
            places.append(next)
            next += count > 0 ? count + 1 : 0
        }
    }

    /// Appends the next row of a type.
    @inline(__always)
    mutating func append(
        _ type: Int,
        of payloads: AssembledPayloads,
        to output: inout OutputSpan<UInt8>
    ) {
        let place = places[type]
        places[type] = place + 1
        let start = payloads.bounds[place]
        let size = payloads.bounds[place + 1] - start
        precondition(
            start >= 0 && size >= 0 && start + size <= payloads.bytes.count
                && size + ShortCopy.slack <= output.freeCapacity,
            "a row lies in its payloads, and there is room for it"
        )
        // Safe: both ranges were checked just now.
        unsafe output.withUnsafeMutableBufferPointer { buffer, count in
            unsafe payloads.bytes.withUnsafeBufferPointer { source in
                guard let to = buffer.baseAddress, let from = source.baseAddress else { return }
                unsafe ShortCopy.copy(from, start, size, of: source.count, to: to + count)
            }
            count += size
        }
    }
}
