import DiarioCore
import DiarioCrypto
import DiarioSchema

/// A column that all events have.
package enum EnvelopeColumn: Hashable, CaseIterable, Sendable {
    case sequences
    case clocks
    /// When the author says it happened, in milliseconds.
    case times
    /// In milliseconds; only if the events have positions.
    case accepted
    case bases
}

/// Where each event stands in its batch.
package struct EnvelopeBatches: Equatable, Sendable {
    /// The sequence minus the first one of the batch.
    package var offsets: [UInt16]
    package var counts: [UInt16]
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
    /// A column of the envelope, one number for each event that is wanted.
    package mutating func numbers(_ column: EnvelopeColumn) throws(SegmentError) -> [Int64] {
        if let known = cache.numbers[column] { return known }
        switch column {
        case .sequences: try readOrigins()
        case .clocks: try readClocks()
        case .times: try readTimes()
        case .accepted: try readAccepted()
        case .bases: try readBases()
        }
        return cache.numbers[column] ?? []
    }

    /// The types of all events, as indices in the segment.
    package mutating func typeIndices() throws(SegmentError) -> [UInt32] {
        if let known = cache.typeIndices { return known }
        let (types, all, bound) = (number(of: .types), all, index.types.count)
        let scope = ColumnScope(keys: keys)
        let found = try decode(types) { (reader, memory) throws(FormatError) in
            try reader.nextCodes(all, below: bound, scope, &memory)
        }
        cache.typeIndices = found
        keys.add(ColumnNumber.type, found, distinctCount: bound)
        return found
    }

    /// The replicas of all events, as indices in the segment.
    package mutating func replicaIndices() throws(SegmentError) -> [UInt32] {
        if let known = cache.replicaIndices { return known }
        try readOrigins()
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
        let (flags, all) = (number(of: .flags), all)
        let scope = ColumnScope(keys: keys)
        let (others, marks) = try decode(flags) { (reader, memory) throws(FormatError) in
            let others = try reader.nextCodes(all, below: 64, scope, &memory)
            return (others, try reader.nextCodes(all, below: 2, scope, &memory))
        }
        guard let found = Self.flags(others, marks) else { throw fault(.rowFlags, block: flags) }
        cache.flags = found
        return found
    }

    /// Where the wanted events stand in their batches.
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
        let types = try typeIndices()
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
    private static func rows(_ types: [UInt32], _ counts: [Int]) -> [[Int32]]? {
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
            // Safe: the loop goes through the indices, types are below their count, as was checked
            // when they were read, and a place is compared with where it would lie outside.
            let type = Int(unsafe source[unchecked: event])
            let place = unsafe next[unchecked: type]
            guard place < target.count else { return nil }
            unsafe target[unchecked: place] = Int32(truncatingIfNeeded: event)
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
        isTagged: Bool = false
    ) throws(SegmentError) -> (numbers: [Int64], tag: UInt8) {
        let scope = ColumnScope(keys: keys)
        let part = wantedPart
        return try decode(number(of: kind)) { (reader, memory) throws(FormatError) in
            let tag = isTagged ? try reader.nextByte() : 0
            guard tag <= 1 else { throw .malformed(.body, at: 0) }
            return (try reader.nextIntegers(part, scope, &memory).values, tag)
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
        _ = try typeIndices()
        let keys = keys
        let scope = ColumnScope(keys: keys)
        let (all, wanted) = (all, wanted)
        let replicaCount = index.replicas.count
        let firsts = index.replicas.map { Int64(bitPattern: $0.firstSequence) }
        let (replicas, sequences) = try decode(number(of: .origins)) {
            (reader, memory) throws(FormatError) in
            let replicas = try reader.nextCodes(
                all,
                below: replicaCount,
                as: .replica,
                scope,
                &memory
            )
            keys.add(ColumnNumber.replica, replicas, distinctCount: replicaCount)
            let part = ColumnPart(count: all.count, wanted: 0..<wanted.upperBound)
            let surprises = try reader.nextUnlessZeros(part, scope, &memory)
            guard let sequences = Self.sequences(of: replicas, from: firsts, part.end, surprises)
            else {
                throw .malformed(.sequence, at: reader.offset)
            }
            return (replicas, sequences)
        }
        cache.replicaIndices = replicas
        cache.sequencesFromStart = sequences
        cache.numbers[.sequences] = sequences.dropping(wanted.lowerBound)
    }

    /// Makes sequences of the first `count` events out of surprises, or without any; nil if one
    /// goes back (B2).
    private static func sequences(
        of replicas: [UInt32],
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
        _ = try replicaIndices()
        let clocks = try integers(.clocks).numbers
        try check(clocks, below: Int.max, .clocks)
        cache.numbers[.clocks] = clocks
    }

    private mutating func readTimes() throws(SegmentError) {
        let clocks = try numbers(.clocks)
        var (times, tag) = try integers(.times, isTagged: true)
        if tag == 0 { Self.addMilliseconds(of: clocks, to: &times) }
        let calendar = CivilTime.millisecondsMin...CivilTime.millisecondsMax
        guard ColumnReader.isWithin(calendar, times) else {
            throw fault(.time, block: number(of: .times))
        }
        cache.numbers[.times] = times
    }

    private mutating func readAccepted() throws(SegmentError) {
        guard let range = index.acceptedAt else { return }
        let clocks = try numbers(.clocks)
        var (times, tag) = try integers(.accepted, isTagged: true)
        if tag == 1 { Self.addMilliseconds(of: clocks, to: &times) }
        let isRange = times.first == range.lowerBound && times.last == range.upperBound
        // Those between are in the calendar too, since they are ascending.
        guard isRange || !wantsAll, Self.isAscending(times),
            times.first.map(CivilTime.contains) != false,
            times.last.map(CivilTime.contains) != false
        else {
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

    private mutating func readBatches() throws(SegmentError) -> EnvelopeBatches {
        let replicas = try replicaIndices()
        let sequences = cache.sequencesFromStart
        let first = wanted.lowerBound
        let part = wantedPart.prefix
        let scope = ColumnScope(keys: keys)
        let (offsets, counts) = try decode(number(of: .batches)) {
            (reader, memory) throws(FormatError) in
            let first = try reader.nextUnlessZeros(part, scope, &memory)
            return (first, try reader.nextUnlessZeros(part, scope, &memory))
        }
        if offsets == nil, counts == nil {
            // Each event is a batch of its own.
            return EnvelopeBatches(
                offsets: [UInt16](repeating: 0, count: wanted.count),
                counts: [UInt16](repeating: 1, count: wanted.count)
            )
        }
        var found = EnvelopeBatches(
            offsets: [UInt16](repeating: 0, count: part.end),
            counts: [UInt16](repeating: 0, count: part.end)
        )
        var prediction = EnvelopePrediction(
            firstSequences: [Int64](repeating: 0, count: index.replicas.count)
        )
        for event in 0..<part.end {
            let replica = Int64(replicas[event])
            let expected = prediction.batch(of: replica)
            let offset = (offsets?[event] ?? 0) &+ expected.offset
            let count = (counts?[event] ?? 0) &+ expected.count
            guard 1...Int64(Limits.batchCountMax) ~= count, 0..<count ~= offset,
                UInt64(offset) < UInt64(bitPattern: sequences[event])
            else { throw fault(.batch, block: number(of: .batches)) }
            found.offsets[event] = UInt16(offset)
            found.counts[event] = UInt16(count)
            prediction.note(
                replica: replica,
                sequence: sequences[event],
                offset: offset,
                count: count
            )
        }
        return EnvelopeBatches(
            offsets: found.offsets.dropping(first),
            counts: found.counts.dropping(first)
        )
    }

    private mutating func readBases() throws(SegmentError) {
        _ = try replicaIndices()
        let scope = ColumnScope(keys: keys)
        let part = wantedPart
        let (bases, tag) = try decode(number(of: .bases)) { (reader, memory) throws(FormatError) in
            let tag = try reader.nextByte()
            guard tag <= 1 else { throw .malformed(.body, at: 0) }
            return (try reader.nextUnlessZeros(part, scope, &memory), tag)
        }
        guard tag == 1 else {
            cache.numbers[.bases] = bases ?? [Int64](repeating: 0, count: wanted.count)
            return
        }
        guard header.isPositioned else { throw fault(.body, block: number(of: .bases)) }
        let last = Int64(bitPattern: header.firstPosition) &- 1 &+ Int64(wanted.lowerBound)
        cache.numbers[.bases] = Self.bases(bases, last, wanted.count)
    }

    /// Bases by how far they lie behind the position before, which starts with `last`.
    private static func bases(_ distances: [Int64]?, _ last: Int64, _ count: Int) -> [Int64] {
        precondition(distances.map { $0.count == count } ?? true, "each event has a distance")
        // Safe: each base is written, out of the distances that were counted just now.
        return unsafe [Int64](count: count) { target in
            if let source = distances?.span {
                for event in 0..<count {
                    unsafe target[event] =
                        last &+ Int64(event) &- source[unchecked: event]
                }
            } else {
                for event in 0..<count { unsafe target[event] = last &+ Int64(event) }
            }
        }
    }

    /// Puts the flag personal, which is told apart, to the others; nil if that is among them.
    private static func flags(_ others: [UInt32], _ marks: [UInt32]) -> [UInt8]? {
        let (others, marks) = (others.span, marks.span)
        precondition(others.count == marks.count, "both columns are of all events")
        let shift = UInt32(RowFlags.personal.rawValue.trailingZeroBitCount)
        var all: UInt32 = 0
        // Safe: each byte is written, out of the numbers that were counted just now.
        let flags = unsafe [UInt8](count: others.count) { target in
            for event in others.indices {
                let other = unsafe others[unchecked: event]
                all |= other
                unsafe target[event] = UInt8(
                    truncatingIfNeeded: other | marks[unchecked: event] &<< shift
                )
            }
        }
        return all >> shift & 1 == 0 ? flags : nil
    }

    /// The events with a flag; nil if all have it.
    private static func events(_ flags: [UInt8], with flag: RowFlags) -> [Int32]? {
        let flags = flags.span
        let bit = flag.rawValue
        var (everywhere, anywhere) = (bit, UInt8(0))
        for event in flags.indices {
            // Safe: the loop goes through the indices.
            let flag = unsafe flags[unchecked: event]
            everywhere &= flag
            anywhere |= flag
        }
        guard everywhere == 0 else { return nil }
        guard anywhere & bit != 0 else { return [] }
        let shift = UInt8(bit.trailingZeroBitCount)
        // Safe: `count` is of events before the one at hand, and what lies before it was written.
        return unsafe [Int32](unsafeUninitializedCapacity: flags.count) { target, count in
            count = 0
            guard let target = target.baseAddress else { return }
            for event in flags.indices {
                // Written always and kept if the bit is set: chance has no branch here.
                unsafe target[count] = Int32(truncatingIfNeeded: event)
                count &+= Int(unsafe flags[unchecked: event] &>> shift & 1)
            }
        }
    }

    private mutating func readTexts(
        _ kind: SegmentBlockKind,
        _ flag: RowFlags,
        sizeMax: Int
    ) throws(SegmentError) -> EnvelopeTexts {
        let present = Self.events(try flags(), with: flag)
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
