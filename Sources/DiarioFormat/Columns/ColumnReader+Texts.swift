import DiarioCore

extension ColumnReader {
    /// `count` texts by whatever method they were written.
    ///
    /// `isText` says that they must be text, not any bytes; texts of pools always are.
    @_lifetime(self: copy self)
    mutating func nextTexts(
        _ count: Int,
        isText: Bool,
        _ scope: ColumnScope,
        _ texts: TextScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> TextValues {
        guard count > 0 else { return TextValues(codes: nil, strings: ByteStrings()) }
        let start = offset
        let tag = try nextByte()
        switch tag {
        case TextMethod.plainTag:
            let strings = try nextStrings(count, isText: isText, texts, &memory)
            return TextValues(codes: nil, strings: strings)
        case TextMethod.dictionaryTag:
            let distinctCount = try nextCount(1...count)
            let strings = try nextStrings(distinctCount, isText: isText, texts, &memory)
            let codes = try nextIntegers(count, scope, &memory).values
            return TextValues(
                codes: try Self.indices(codes, below: distinctCount, at: start),
                strings: strings
            )
        case TextMethod.poolTag:
            guard let pool = texts.pools[try nextCount(0...SegmentLimits.eventCountMax)] else {
                throw .malformed(.body, at: start)
            }
            let codes = try nextIntegers(count, scope, &memory).values
            return TextValues(
                codes: try Self.indices(codes, below: pool.count, at: start),
                strings: pool
            )
        case TextMethod.mixedTag:
            guard let pool = texts.pools[try nextCount(0...SegmentLimits.eventCountMax)] else {
                throw .malformed(.body, at: start)
            }
            return try nextMixed(count, pool, isText: isText, scope, texts, &memory)
        case TextMethod.sharedTag:
            let number = try nextCount(0...SegmentLimits.eventCountMax)
            // They are of all rows, so that a column that leaves some out has fewer.
            guard isText, let values = texts.shared[number], values.count == count else {
                throw .malformed(.body, at: start)
            }
            return values
        default: throw .malformed(.body, at: start)
        }
    }

    @_lifetime(self: copy self)
    private mutating func nextMixed(
        _ count: Int,
        _ pool: ByteStrings,
        isText: Bool,
        _ scope: ColumnScope,
        _ texts: TextScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> TextValues {
        let start = offset
        let codes = try Self.indices(
            try nextIntegers(count, scope, &memory).values,
            below: pool.count + 1,
            at: start
        )
        var ownCount = 0
        for code in codes { ownCount += code == 0 ? 1 : 0 }
        let own = try nextStrings(ownCount, isText: isText, texts, &memory)
        // A short block cannot name a long text so often that memory would not hold it.
        guard let strings = ByteStrings(codes, of: pool, orElse: own) else {
            throw .malformed(.body, at: start)
        }
        return TextValues(codes: nil, strings: strings)
    }

    private static func indices(
        _ values: [Int64],
        below bound: Int,
        at offset: Int
    ) throws(FormatError) -> [UInt32] {
        precondition(bound <= Int(UInt32.max), "an index has 32 bits")
        let source = values.span
        let last = Int64(bound) - 1
        // Below zero once a value or its distance to the last is.
        var signs: Int64 = 0
        // Safe: each index is written, out of the values that are there.
        let indices = unsafe [UInt32](count: source.count) { target in
            for index in source.indices {
                let value = unsafe source[unchecked: index]
                signs |= value | (last &- value)
                unsafe target[index] = UInt32(truncatingIfNeeded: value)
            }
        }
        guard signs >= 0 else { throw .malformed(.body, at: offset) }
        return indices
    }

    /// `count` byte strings, in the form in which they were written.
    @_lifetime(self: copy self)
    mutating func nextStrings(
        _ count: Int,
        isText: Bool,
        _ texts: TextScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        guard count > 0 else { return ByteStrings() }
        let start = offset
        let tag = try nextByte()
        guard tag == StringForm.parts.rawValue else {
            return try nextWhole(count, tag: tag, isText: isText, texts, &memory)
        }
        let kinds = try nextSimple(count, &memory)
        var counts = [Int](repeating: 0, count: Self.partCountMax)
        for kind in kinds {
            guard counts.indices ~= Int(clamping: kind) else { throw .malformed(.body, at: start) }
            counts[Int(kind)] += 1
        }
        var parts: [ByteStrings] = []
        for partCount in counts {
            guard partCount > 0 else { break }
            let tag = try nextByte()
            parts.append(try nextWhole(partCount, tag: tag, isText: isText, texts, &memory))
        }
        guard parts.reduce(0, { $0 + $1.count }) == count else {
            throw .malformed(.body, at: start)
        }
        return ByteStrings(kinds, of: parts)
    }

    /// Kinds of strings that `parts` keeps apart.
    private static let partCountMax = 4

    @_lifetime(self: copy self)
    private mutating func nextWhole(
        _ count: Int,
        tag: UInt8,
        isText: Bool,
        _ texts: TextScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let start = offset
        let strings: ByteStrings
        switch StringForm(rawValue: tag) {
        case .bytes: strings = try nextPlain(count, &memory)
        case .pattern: return try nextPattern(count, &memory)
        case .origins: return try nextOrigins(count, texts.replicas, &memory)
        case .fixed: strings = try nextFixed(count, &memory)
        case .pieces:
            let (joined, areTexts) = try nextPieces(count, &memory)
            if areTexts { return joined }
            strings = joined
        case .headed: return try nextHeaded(count, texts.heads, &memory)
        case .parts, nil: throw .malformed(.body, at: start)
        }
        if isText {
            guard strings.areTexts else { throw .malformed(.text, at: start) }
        }
        return strings
    }

    @_lifetime(self: copy self)
    mutating func nextPlain(
        _ count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let start = offset
        let sizes = try nextSimple(count, &memory)
        guard Self.isBelow(UInt64(expandedRest) + 1, sizes) else {
            throw .malformed(.body, at: start)
        }
        let source = sizes.span
        // No more than 65,536 times what a block may hold, so this does not overflow.
        var total = 0
        // Safe: one bound is written for each size, and one in front of them.
        let bounds = unsafe [UInt32](count: source.count + 1) { target in
            unsafe target[0] = 0
            for index in source.indices {
                total &+= Int(unsafe source[unchecked: index])
                unsafe target[index &+ 1] = UInt32(truncatingIfNeeded: total)
            }
        }
        guard total <= expandedRest else { throw .malformed(.body, at: start) }
        return ByteStrings(bytes: try nextBytes(size: total, &memory), bounds: bounds)
    }

    @_lifetime(self: copy self)
    private mutating func nextPattern(
        _ count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let start = offset
        let pattern = try nextPattern(count: count)
        try gatherPlanes(pattern.packedSize, count: count, &memory)
        guard let strings = pattern.unpack(memory.expanded.span, count: count) else {
            throw .malformed(.text, at: start)
        }
        return strings
    }

    @_lifetime(self: copy self)
    private mutating func nextFixed(
        _ count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let size = try nextCount(1...TextPattern.sizeMax)
        try gatherPlanes(size, count: count, &memory)
        return ByteStrings(planes: memory.expanded.span, count: count, size: size)
    }

    @_lifetime(self: copy self)
    private mutating func nextOrigins(
        _ count: Int,
        _ replicas: [ReplicaID],
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let start = offset
        let numbers = try nextSimple(count, &memory)
        let sequences = try nextSimple(count, &memory)
        for index in 0..<count {
            guard replicas.indices ~= Int(clamping: numbers[index]), sequences[index] != 0 else {
                throw .malformed(.identifier, at: start)
            }
        }
        return ByteStrings(replicas, numbers, sequences)
    }
}
