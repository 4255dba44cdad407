package import DiarioCore

extension SegmentReader {
    /// A column of the envelope, one number for each event.
    package mutating func numbers(_ column: EnvelopeColumn) throws(SegmentError) -> [Int64] {
        if let known = cache.numbers[column] { return known }
        switch column {
        case .sequences: try readOrigins()
        case .clocks: cache.numbers[column] = try readClocks()
        case .times: cache.numbers[column] = try readTimes()
        case .accepted: cache.numbers[column] = try readAccepted()
        case .bases: cache.numbers[column] = try readBases()
        }
        return cache.numbers[column] ?? []
    }

    /// The types of all events, as indices in the segment.
    package mutating func typeIndices() throws(SegmentError) -> [UInt32] {
        if let known = cache.typeIndices { return known }
        let scope = ColumnScope(cache.keys)
        let (count, typeCount) = (header.eventCount, index.types.count)
        let found = try decode(number(of: .types)) { (reader) throws(FormatError) in
            try reader.nextCodes(count, below: typeCount, scope)
        }
        cache.typeIndices = found
        cache.keys.add(KeyColumns.types, found, distinctCount: typeCount)
        return found
    }

    /// The replicas of all events, as indices in the segment.
    package mutating func replicaIndices() throws(SegmentError) -> [UInt32] {
        if cache.replicaIndices == nil { try readOrigins() }
        return cache.replicaIndices ?? []
    }

    /// How many of the events an authority wrote.
    package mutating func authorityCount() throws(SegmentError) -> Int {
        try flags().count { $0 & UInt8(EnvelopeColumns.authorityFlag) != 0 }
    }

    /// The flags of all events: those of rows, and 32 if an authority wrote the event.
    package mutating func flags() throws(SegmentError) -> [UInt8] {
        if let known = cache.flags { return known }
        _ = try replicaIndices()
        let scope = ColumnScope(cache.keys)
        let (block, count) = (number(of: .flags), header.eventCount)
        let (others, marks) = try decode(block) { (reader) throws(FormatError) in
            let others = try reader.nextCodes(count, below: 64, scope)
            return (others, try reader.nextCodes(count, below: 64, scope))
        }
        // The flag personal is told apart from the others.
        let personal = UInt32(RowFlags.personal.rawValue)
        var found = [UInt8](repeating: 0, count: count)
        var target = found.mutableSpan
        var wrong: UInt32 = 0
        for event in target.indices {
            wrong |= others[event] & personal | marks[event] & ~personal
            target[event] = UInt8(truncatingIfNeeded: others[event] | marks[event])
        }
        guard wrong == 0 else { throw fault(.rowFlags, block: block) }
        cache.flags = found
        return found
    }

    /// Where the events stand in their batches.
    package mutating func batches() throws(SegmentError) -> EnvelopeBatches {
        if let known = cache.batches { return known }
        let found = try readBatches()
        cache.batches = found
        return found
    }

    /// The actors of the events that name one.
    package mutating func actors() throws(SegmentError) -> EnvelopeTexts {
        if let known = cache.actors { return known }
        let texts = try readTexts(.actors, .actor, sizeMax: Limits.actorSizeMax)
        cache.actors = texts
        return texts
    }

    /// The subjects of the events whose types have no subject field and that name one.
    package mutating func subjects() throws(SegmentError) -> EnvelopeTexts {
        if let known = cache.subjects { return known }
        let texts = try readTexts(.subjects, .subject, sizeMax: Limits.subjectSizeMax)
        cache.subjects = texts
        return texts
    }

    /// The events that are rows of a type, in order.
    package mutating func events(ofType type: Int) throws(SegmentError) -> [Int32] {
        try eventsByType()[type]
    }

    /// By type: the events that are its rows, in order.
    mutating func eventsByType() throws(SegmentError) -> [[Int32]] {
        if let known = cache.rows { return known }
        let types = try typeIndices()
        // All of them in one array, each type from its own place on.
        var ends = index.types.map { $0.eventCount }
        for type in ends.indices.dropFirst() { ends[type] += ends[type - 1] }
        let starts = [0] + ends.dropLast()
        var places = starts
        var sorted = [Int32](repeating: 0, count: types.count)
        var next = places.mutableSpan
        var target = sorted.mutableSpan
        for event in types.indices {
            let type = Int(types[event])
            let place = next[type]
            guard place < ends[type] else { throw fault(.types, block: number(of: .types)) }
            target[place] = Int32(truncatingIfNeeded: event)
            next[type] = place + 1
        }
        let rows = zip(starts, ends).map { Array(sorted[$0..<$1]) }
        cache.rows = rows
        return rows
    }

    /// From the first to the last event of a replica with these sequences; nil if there is none.
    package mutating func events(
        _ sequences: ClosedRange<UInt64>,
        of replica: ReplicaID
    ) throws(SegmentError) -> Range<Int>? {
        guard let number = index.replicas.firstIndex(where: { $0.replica == replica }) else {
            return nil
        }
        let (replicas, own) = (try replicaIndices(), try numbers(.sequences))
        let found = replicas.indices.filter { event in
            replicas[event] == UInt32(number) && sequences ~= UInt64(bitPattern: own[event])
        }
        guard let first = found.first, let last = found.last else { return nil }
        return first..<last + 1
    }

    func number(of kind: SegmentBlockKind) -> Int { index.block(kind) ?? 0 }
}

extension SegmentReader {
    private mutating func integers(
        _ kind: SegmentBlockKind,
        hasMode: Bool = false
    ) throws(SegmentError) -> (numbers: [Int64], mode: UInt8) {
        _ = try replicaIndices()
        let scope = ColumnScope(cache.keys)
        let count = header.eventCount
        return try decode(number(of: kind)) { (reader) throws(FormatError) in
            let mode = hasMode ? try reader.nextByte() : 0
            guard mode <= 1 else { throw .malformed(.body, at: 0) }
            return (try reader.nextIntegers(count, scope), mode)
        }
    }

    /// Replicas, and sequences that follow those of the same replica.
    private mutating func readOrigins() throws(SegmentError) {
        _ = try typeIndices()
        let scope = ColumnScope(cache.keys)
        let (count, replicaCount) = (header.eventCount, index.replicas.count)
        var nextOfReplicas = index.replicas.map { Int64(bitPattern: $0.firstSequence) }
        let (replicas, surprises) = try decode(number(of: .origins)) {
            (reader) throws(FormatError) in
            let replicas = try reader.nextCodes(
                count,
                below: replicaCount,
                as: .replica,
                scope
            )
            scope.keys.add(KeyColumns.replicas, replicas, distinctCount: replicaCount)
            return (replicas, try reader.nextIntegers(count, scope))
        }
        var sequences = surprises
        var target = sequences.mutableSpan
        var next = nextOfReplicas.mutableSpan
        for event in target.indices {
            let (replica, surprise) = (Int(replicas[event]), target[event])
            let expected = next[replica]
            let sequence = expected &+ surprise
            // Sequences of a replica increase (B2), and none is after the last one.
            guard surprise >= 0, sequence >= expected, sequence > 0, sequence < Int64.max else {
                throw fault(.sequence, block: number(of: .origins))
            }
            target[event] = sequence
            next[replica] = sequence + 1
        }
        cache.replicaIndices = replicas
        cache.numbers[.sequences] = sequences
    }

    private mutating func readClocks() throws(SegmentError) -> [Int64] {
        let clocks = try integers(.clocks).numbers
        guard ColumnReader.isWithin(0...Int64.max - 1, clocks) else {
            throw fault(.body, block: number(of: .clocks))
        }
        return clocks
    }

    private mutating func readTimes() throws(SegmentError) -> [Int64] {
        let clocks = try numbers(.clocks)
        var (times, mode) = try integers(.times, hasMode: true)
        if mode == 1 { Self.addWallClocks(clocks, to: &times) }
        let calendar = CivilTime.millisecondsMin...CivilTime.millisecondsMax
        guard ColumnReader.isWithin(calendar, times) else {
            throw fault(.time, block: number(of: .times))
        }
        return times
    }

    private mutating func readAccepted() throws(SegmentError) -> [Int64] {
        guard let range = index.acceptedAt else { return [] }
        let clocks = try numbers(.clocks)
        var (times, mode) = try integers(.accepted, hasMode: true)
        if mode == 1 { Self.addWallClocks(clocks, to: &times) }
        var isAscending = true
        for event in times.indices.dropFirst() where times[event] < times[event - 1] {
            isAscending = false
        }
        guard isAscending, times.first == range.lowerBound, times.last == range.upperBound else {
            throw fault(.acceptedTimes, block: number(of: .accepted))
        }
        return times
    }

    /// Times that were written as differences to their clocks.
    private static func addWallClocks(_ clocks: [Int64], to times: inout [Int64]) {
        var target = times.mutableSpan
        for event in target.indices { target[event] &+= clocks[event] >> 16 }
    }

    private mutating func readBases() throws(SegmentError) -> [Int64] {
        var (bases, mode) = try integers(.bases, hasMode: true)
        guard mode == 1 else { return bases }
        guard header.isPositioned else { throw fault(.body, block: number(of: .bases)) }
        var last = Int64(bitPattern: header.firstPosition) &- 1
        for event in bases.indices {
            bases[event] = last &- bases[event]
            last &+= 1
        }
        return bases
    }

    private mutating func readBatches() throws(SegmentError) -> EnvelopeBatches {
        let (replicas, sequences) = (try replicaIndices(), try numbers(.sequences))
        let scope = ColumnScope(cache.keys)
        let (block, eventCount) = (number(of: .batches), header.eventCount)
        let (offsets, counts) = try decode(block) { (reader) throws(FormatError) in
            let offsets = try reader.nextIntegers(eventCount, scope)
            return (offsets, try reader.nextIntegers(eventCount, scope))
        }
        var foundOffsets = [UInt16](repeating: 0, count: eventCount)
        var foundCounts = foundOffsets
        var prediction = EnvelopePrediction(
            firstSequences: [Int64](repeating: 0, count: index.replicas.count)
        )
        for event in 0..<eventCount {
            let replica = Int64(replicas[event])
            let expected = prediction.batch(of: replica)
            let offset = offsets[event] &+ expected.offset
            let count = counts[event] &+ expected.count
            guard 1...Int64(Limits.batchCountMax) ~= count, 0..<count ~= offset,
                offset < sequences[event]
            else { throw fault(.batch, block: block) }
            foundOffsets[event] = UInt16(offset)
            foundCounts[event] = UInt16(count)
            prediction.note(
                replica: replica,
                sequence: sequences[event],
                offset: offset,
                count: count
            )
        }
        return EnvelopeBatches(offsets: foundOffsets, counts: foundCounts)
    }

    private mutating func readTexts(
        _ kind: SegmentBlockKind,
        _ flag: RowFlags,
        sizeMax: Int
    ) throws(SegmentError) -> EnvelopeTexts {
        let flags = try flags()
        let count = flags.count { $0 & flag.rawValue != 0 }
        let present = count < flags.count ? flags.rows { $0 & flag.rawValue != 0 } : nil
        let block = index.block(kind)
        guard (block != nil) == (count > 0) else {
            throw fault(.rowFlags, block: block ?? number(of: .flags))
        }
        guard let block else {
            let values = TextValues(codes: nil, strings: ByteStrings())
            return EnvelopeTexts(present: present, values: values)
        }
        var scope = ColumnScope(cache.keys)
        scope.present = present
        let texts = TextScope(replicas: try textReplicas())
        let values = try decode(block) { [scope] (reader) throws(FormatError) in
            try reader.nextTexts(count, isText: true, scope, texts)
        }
        for place in 0..<values.strings.count
        where !(1...sizeMax ~= values.strings.range(place).count) {
            throw fault(kind == .actors ? .actor : .subject, block: block)
        }
        return EnvelopeTexts(present: present, values: values)
    }
}
