import DiarioCore
import DiarioCrypto
import DiarioSchema

/// A column that all events have.
package enum EnvelopeColumn: Hashable, CaseIterable, Sendable {
    /// Indices of types in the segment.
    case types
    /// Indices of replicas in the segment.
    case replicas
    case sequences
    case clocks
    /// When the author says it happened, in milliseconds.
    case times
    /// In milliseconds; only if the events have positions.
    case accepted
    /// The sequence minus the first one of the batch.
    case batchOffsets
    case batchCounts
    case bases
    /// Those of rows, and 32 if an authority wrote the event.
    case flags
}

/// Texts of the events that have one.
package struct EnvelopeTexts: Equatable, Sendable {
    /// The events that have a text; nil if all do.
    package var present: [Int32]?
    package var values: TextValues
    /// The text that `values` begin with; more than zero if those before were not asked for.
    var firstValue = 0
}

extension SegmentReader {
    /// A column of the envelope, one number for each event that is wanted; types, replicas and
    /// flags are those of all events.
    package mutating func numbers(_ column: EnvelopeColumn) throws(SegmentError) -> [Int64] {
        if let known = cache.numbers[column] { return known }
        switch column {
        case .types: try readTypes()
        case .replicas, .sequences: try readOrigins()
        case .clocks: try readClocks()
        case .times: try readTimes()
        case .accepted: try readAccepted()
        case .batchOffsets, .batchCounts: try readBatches()
        case .bases: try readBases()
        case .flags: try readFlags()
        }
        return cache.numbers[column] ?? []
    }

    /// The actors of the events that name one.
    package mutating func actors() throws(SegmentError) -> EnvelopeTexts {
        if let known = cache.actors { return known }
        let texts = try readTexts(.actors, .actor, sizeMax: Limits.actorSizeMax)
        cache.actors = texts
        if let codes = texts.values.codes {
            keys.add(
                ColumnNumber.actor,
                KeySource(
                    codes: .indices(codes),
                    present: texts.present,
                    distinctCount: texts.values.strings.count
                )
            )
        }
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
        if let known = cache.rows { return known[type] }
        let types = try numbers(.types)
        guard let rows = Self.rows(types, index.types.map(\.eventCount)) else {
            throw fault(.types, block: number(of: .types))
        }
        cache.rows = rows
        return rows[type]
    }

    /// The events that are some rows of a type, in order.
    mutating func events(
        ofType type: Int,
        _ rows: Range<Int>
    ) throws(SegmentError) -> [Int32] {
        let all = try events(ofType: type)
        return rows == all.indices ? all : Array(all[rows])
    }

    /// The events of each type; nil if there are not so many as `counts` says.
    private static func rows(_ types: [Int64], _ counts: [Int]) -> [[Int32]]? {
        // All of them in one array, each type from its own place on.
        var starts: [Int] = []
        for count in counts { starts.append((starts.last ?? 0) + count) }
        guard starts.last == types.count else { return nil }
        starts = [0] + starts.dropLast()
        var places = starts
        var sorted = [Int32](repeating: 0, count: types.count)
        var target = sorted.mutableSpan
        var next = places.mutableSpan
        let source = types.span
        for event in source.indices {
            // Safe: the loop goes through the indices; `next` and `target` check the rest.
            let type = Int(unsafe source[unchecked: event])
            let place = next[type]
            guard place < target.count else { return nil }
            target[place] = Int32(truncatingIfNeeded: event)
            unsafe next[unchecked: type] = place &+ 1
        }
        for type in counts.indices where places[type] != starts[type] + counts[type] { return nil }
        return counts.indices.map { Array(sorted[starts[$0]..<starts[$0] + counts[$0]]) }
    }

    /// The columns of the envelope that were read, as keys.
    var keys: KeyLayer {
        mutating get {
            if let keys = cache.keys { return keys }
            let keys = KeyLayer(rowCount: header.eventCount)
            cache.keys = keys
            return keys
        }
    }

    func number(of kind: SegmentBlockKind) -> Int { index.block(kind) ?? 0 }

    /// The numbers of all events.
    private var all: ColumnPart { ColumnPart(all: header.eventCount) }
    /// Those that are wanted.
    private var wantedPart: ColumnPart { ColumnPart(count: header.eventCount, wanted: wanted) }

    private mutating func integers(
        _ kind: SegmentBlockKind,
        _ part: ColumnPart,
        columnCount: Int = 1,
        isTagged: Bool = false
    ) throws(SegmentError) -> (first: [Int64], second: [Int64], tag: UInt8) {
        let scope = ColumnScope(keys: keys)
        return try decode(number(of: kind)) { (reader, memory) throws(FormatError) in
            let tag = isTagged ? try reader.nextByte() : 0
            guard tag <= 1 else { throw .malformed(.body, at: 0) }
            let first = try reader.nextIntegers(part, scope, &memory).values
            guard columnCount > 1 else { return (first, [], tag) }
            return (first, try reader.nextIntegers(part, scope, &memory).values, tag)
        }
    }

    /// Adds what the clocks say to what was written as a difference to it.
    private static func addMilliseconds(of clocks: [Int64], to times: inout [Int64]) {
        var target = times.mutableSpan
        let source = clocks.span
        precondition(source.count == target.count, "each event has a clock and a time")
        for event in target.indices {
            // Safe: both have the index of each event.
            unsafe target[unchecked: event] &+= source[unchecked: event] >> 16
        }
    }

    private mutating func readTypes() throws(SegmentError) {
        let types = try integers(.types, all).first
        try check(types, below: index.types.count, .types)
        cache.numbers[.types] = types
        keys.add(ColumnNumber.type, KeySource(types, distinctCount: index.types.count))
    }

    private func check(
        _ values: [Int64],
        below bound: Int,
        _ kind: SegmentBlockKind
    ) throws(SegmentError) {
        guard ColumnReader.isBelow(UInt64(bound), values) else {
            throw fault(.body, block: number(of: kind))
        }
    }

    private mutating func readOrigins() throws(SegmentError) {
        _ = try numbers(.types)
        let keys = keys
        let scope = ColumnScope(keys: keys)
        let (all, wanted) = (all, wanted)
        let replicaCount = index.replicas.count
        let firsts = index.replicas.map { Int64(bitPattern: $0.firstSequence) }
        let (replicas, sequences) = try decode(number(of: .origins)) {
            (reader, memory) throws(FormatError) in
            let replicas = try reader.nextIntegers(all, scope, &memory).values
            guard ColumnReader.isBelow(UInt64(replicaCount), replicas) else {
                throw .malformed(.replica, at: 0)
            }
            keys.add(ColumnNumber.replica, KeySource(replicas, distinctCount: replicaCount))
            let part = ColumnPart(count: all.count, wanted: 0..<wanted.upperBound)
            let surprises = try reader.nextUnlessZeros(part, scope, &memory)
            guard let sequences = Self.sequences(of: replicas, from: firsts, part.end, surprises)
            else {
                throw .malformed(.sequence, at: reader.offset)
            }
            return (replicas, sequences)
        }
        cache.numbers[.replicas] = replicas
        cache.sequencesFromStart = sequences
        cache.numbers[.sequences] = sequences.dropping(wanted.lowerBound)
    }

    /// Makes sequences of the first `count` events out of surprises, or without any; nil if one
    /// goes back (L4).
    private static func sequences(
        of replicas: [Int64],
        from firsts: [Int64],
        _ count: Int,
        _ surprises: [Int64]?
    ) -> [Int64]? {
        var nextOfReplicas = firsts
        var next = nextOfReplicas.mutableSpan
        let source = replicas.span
        precondition(
            count <= source.count && surprises.map { $0.count == count } ?? true,
            "each event has a replica, and may have a surprise"
        )
        var isAscending = true
        // Safe: each sequence is written, out of numbers that were counted just now; `next`
        // checks the replica.
        let sequences = unsafe [Int64](count: count) { target in
            if let surprises {
                let surprises = surprises.span
                for event in surprises.indices {
                    let replica = Int(unsafe source[unchecked: event])
                    let surprise = unsafe surprises[unchecked: event]
                    let expected = next[replica]
                    let sequence = expected &+ surprise
                    // A surprise is never one that goes back, and there is no sequence behind the
                    // last.
                    isAscending = isAscending && surprise >= 0 && sequence &+ 1 > expected
                    unsafe target[event] = sequence
                    unsafe next[unchecked: replica] = sequence &+ 1
                }
            } else {
                for event in 0..<count {
                    let replica = Int(unsafe source[unchecked: event])
                    let sequence = next[replica]
                    isAscending = isAscending && sequence != Int64.max
                    unsafe target[event] = sequence
                    unsafe next[unchecked: replica] = sequence &+ 1
                }
            }
        }
        return isAscending ? sequences : nil
    }

    private mutating func readClocks() throws(SegmentError) {
        _ = try numbers(.replicas)
        let clocks = try integers(.clocks, wantedPart).first
        try check(clocks, below: Int.max, .clocks)
        cache.numbers[.clocks] = clocks
    }

    private mutating func readTimes() throws(SegmentError) {
        let clocks = try numbers(.clocks)
        var (times, _, tag) = try integers(.times, wantedPart, isTagged: true)
        if tag == 0 { Self.addMilliseconds(of: clocks, to: &times) }
        cache.numbers[.times] = times
    }

    private mutating func readAccepted() throws(SegmentError) {
        guard let range = index.acceptedAt else { return }
        let clocks = try numbers(.clocks)
        var (times, _, tag) = try integers(.accepted, wantedPart, isTagged: true)
        if tag == 1 { Self.addMilliseconds(of: clocks, to: &times) }
        let isRange = times.first == range.lowerBound && times.last == range.upperBound
        guard isRange || !wantsAll, Self.isAscending(times) else {
            throw fault(.acceptedTimes, block: number(of: .accepted))
        }
        cache.numbers[.accepted] = times
    }

    private static func isAscending(_ times: [Int64]) -> Bool {
        let source = times.span
        var lowerCount = 0
        for index in 1..<max(1, source.count) {
            // Safe: the loop goes through the indices behind the first.
            let isLower = unsafe source[unchecked: index] < source[unchecked: index &- 1]
            // Counted without a branch, some at a time.
            lowerCount &+= isLower ? 1 : 0
        }
        return lowerCount == 0
    }

    private mutating func readBatches() throws(SegmentError) {
        let replicas = try numbers(.replicas)
        let sequences = cache.sequencesFromStart
        let first = wanted.lowerBound
        let part = wantedPart.prefix
        let scope = ColumnScope(keys: keys)
        let (offsetsFound, countsFound) = try decode(number(of: .batches)) {
            (reader, memory) throws(FormatError) in
            let first = try reader.nextUnlessZeros(part, scope, &memory)
            return (first, try reader.nextUnlessZeros(part, scope, &memory))
        }
        if offsetsFound == nil, countsFound == nil {
            // Each event is a batch of its own.
            cache.numbers[.batchOffsets] = [Int64](repeating: 0, count: wanted.count)
            cache.numbers[.batchCounts] = [Int64](repeating: 1, count: wanted.count)
            return
        }
        var offsets = offsetsFound ?? [Int64](repeating: 0, count: part.end)
        var counts = countsFound ?? [Int64](repeating: 0, count: part.end)
        var prediction = EnvelopePrediction(
            firstSequences: [Int64](repeating: 0, count: index.replicas.count)
        )
        for event in offsets.indices {
            let expected = prediction.batch(of: replicas[event])
            let offset = offsets[event] &+ expected.offset
            let count = counts[event] &+ expected.count
            guard 1...Int64(Limits.batchCountMax) ~= count, 0..<count ~= offset,
                UInt64(offset) < UInt64(bitPattern: sequences[event])
            else { throw fault(.batch, block: number(of: .batches)) }
            offsets[event] = offset
            counts[event] = count
            prediction.note(
                replica: replicas[event],
                sequence: sequences[event],
                offset: offset,
                count: count
            )
        }
        cache.numbers[.batchOffsets] = offsets.dropping(first)
        cache.numbers[.batchCounts] = counts.dropping(first)
    }

    private mutating func readBases() throws(SegmentError) {
        _ = try numbers(.replicas)
        var (bases, _, tag) = try integers(.bases, wantedPart, isTagged: true)
        if tag == 1 {
            guard header.isPositioned else { throw fault(.body, block: number(of: .bases)) }
            var last = Int64(bitPattern: header.firstPosition) &- 1 &+ Int64(wanted.lowerBound)
            var target = bases.mutableSpan
            for event in target.indices {
                // Safe: the loop goes through the indices.
                unsafe target[unchecked: event] = last &- target[unchecked: event]
                last &+= 1
            }
        }
        cache.numbers[.bases] = bases
    }

    private mutating func readFlags() throws(SegmentError) {
        _ = try numbers(.replicas)
        var (flags, personal, _) = try integers(.flags, all, columnCount: 2)
        let bit = Int64(RowFlags.personal.rawValue)
        var all: Int64 = 0
        let source = personal.span
        var target = flags.mutableSpan
        precondition(source.count == target.count, "both columns are of all events")
        for event in target.indices {
            // The personal flag is told apart. Safe: both have the index of each event.
            let flag = unsafe source[unchecked: event]
            let others = unsafe target[unchecked: event]
            all |= others & ~(63 ^ bit) | flag & ~1
            unsafe target[unchecked: event] = others | flag &* bit
        }
        guard all == 0 else { throw fault(.rowFlags, block: number(of: .flags)) }
        cache.numbers[.flags] = flags
        cache.personalMarks = Self.bytes(personal)
    }

    /// Numbers that are known to be small.
    private static func bytes(_ numbers: [Int64]) -> [UInt8] {
        let source = numbers.span
        // Safe: each byte is written, out of the numbers that are there.
        return unsafe [UInt8](count: source.count) { target in
            for index in source.indices {
                unsafe target[index] = UInt8(truncatingIfNeeded: source[unchecked: index])
            }
        }
    }

    private mutating func readTexts(
        _ kind: SegmentBlockKind,
        _ flag: RowFlags,
        sizeMax: Int
    ) throws(SegmentError) -> EnvelopeTexts {
        let flags = try numbers(.flags)
        var envelope = EnvelopeColumns()
        envelope.flags = flags
        let present = envelope.rows(with: flag)
        let count = present?.count ?? header.eventCount
        guard let block = index.block(kind) else {
            guard count == 0 else { throw fault(.rowFlags, block: number(of: .flags)) }
            return EnvelopeTexts(
                present: present,
                values: TextValues(codes: nil, strings: ByteStrings())
            )
        }
        guard count > 0 else { throw fault(.rowFlags, block: block) }
        if kind == .subjects { _ = try actors() }
        try readSchemas()
        var scope = ColumnScope(keys: keys)
        scope.present = present
        let part = ColumnPart(count: count, wanted: present?.places(of: wanted) ?? wanted)
        let texts = cache.texts
        let values = try decode(block) { [scope] (reader, memory) throws(FormatError) in
            try reader.nextTexts(part, isText: true, scope, texts, &memory)
        }
        for place in 0..<values.strings.count
        where !(1...sizeMax ~= values.strings.range(place).count) {
            throw fault(kind == .actors ? .actor : .subject, block: block)
        }
        var found = EnvelopeTexts(present: present, values: values)
        found.firstValue = values.count == count ? 0 : part.first
        return found
    }
}
