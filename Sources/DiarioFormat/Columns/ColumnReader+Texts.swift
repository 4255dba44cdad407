import DiarioCore

extension ColumnReader {
    /// Texts by whatever method they were written.
    ///
    /// Those with codes all come out, since these can be keys, unless keys are read later.
    /// `isText` says that they must be text, not any bytes; texts of pools always are.
    /// `mayBeShared` says that they may be those of a shared block.
    @_lifetime(self: copy self)
    mutating func nextTexts(
        _ part: ColumnPart,
        isText: Bool,
        mayBeShared: Bool = false,
        _ scope: ColumnScope,
        _ texts: TextScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> TextValues {
        guard part.count > 0 else { return TextValues(codes: nil, strings: ByteStrings()) }
        let start = offset
        let tag = try nextByte()
        switch tag {
        case TextMethod.plainTag:
            let strings = try nextStrings(part, isText: isText, texts, &memory)
            return TextValues(codes: nil, strings: strings)
        case TextMethod.dictionaryTag:
            let distinct = ColumnPart(all: try nextCount(1...part.count))
            let strings = try nextStrings(distinct, isText: isText, texts, &memory)
            let codes = try nextKeyCodes(part, below: distinct.count, scope, &memory)
            return TextValues(codes: codes, strings: strings)
        case TextMethod.poolTag:
            guard let pool = texts.pools[try nextCount(0...SegmentLimits.eventCountMax)] else {
                throw .malformed(.body, at: start)
            }
            let codes = try nextKeyCodes(part, below: pool.count, scope, &memory)
            return TextValues(codes: codes, strings: pool)
        case TextMethod.mixedTag:
            guard let pool = texts.pools[try nextCount(0...SegmentLimits.eventCountMax)] else {
                throw .malformed(.body, at: start)
            }
            return try nextMixed(part, pool, isText: isText, scope, texts, &memory)
        case TextMethod.sharedTag:
            let number = try nextCount(0...SegmentLimits.eventCountMax)
            // They are of all rows, so that a column that leaves some out has fewer.
            guard mayBeShared, let values = texts.shared[number], values.count == part.count
            else {
                throw .malformed(.body, at: start)
            }
            return values
        default: throw .malformed(.body, at: start)
        }
    }

    @_lifetime(self: copy self)
    private mutating func nextMixed(
        _ part: ColumnPart,
        _ pool: ByteStrings,
        isText: Bool,
        _ scope: ColumnScope,
        _ texts: TextScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> TextValues {
        let start = offset
        let all = ColumnPart(all: part.count)
        let codes = try nextCodes(all, below: pool.count + 1, scope, &memory)
        let ownParts = Self.part(part) { codes[$0] == 0 }
        let own = try nextStrings(ownParts, isText: isText, texts, &memory)
        // A short block cannot name a long text so often that memory would not hold it.
        let wanted = part.isWhole ? codes : Array(codes[part.wanted])
        guard let strings = ByteStrings(wanted, of: pool, orElse: own) else {
            throw .malformed(.body, at: start)
        }
        return TextValues(codes: nil, strings: strings)
    }

    /// The part of those values alone for which something holds.
    private static func part(_ part: ColumnPart, _ isOne: (Int) -> Bool) -> ColumnPart {
        var (count, first, end) = (0, 0, 0)
        for index in 0..<part.count {
            if index == part.first { first = count }
            if index == part.end { end = count }
            count += isOne(index) ? 1 : 0
        }
        if part.first == part.count { first = count }
        if part.end == part.count { end = count }
        return ColumnPart(count: count, wanted: first..<end)
    }

    /// Byte strings, in the form in which they were written.
    @_lifetime(self: copy self)
    mutating func nextStrings(
        _ part: ColumnPart,
        isText: Bool,
        _ texts: TextScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        guard part.count > 0 else { return ByteStrings() }
        let start = offset
        let tag = try nextByte()
        guard tag == StringForm.parts.rawValue else {
            return try nextWhole(part, tag: tag, isText: isText, texts, &memory)
        }
        let kinds = try nextSimple(part.count, &memory)
        guard Self.isBelow(UInt64(Self.partCountMax), kinds) else {
            throw .malformed(.body, at: start)
        }
        var parts: [ByteStrings] = []
        var count = 0
        for kind in 0..<Int64(Self.partCountMax) {
            let own = Self.part(part) { kinds[$0] == kind }
            guard own.count > 0 else { break }
            let tag = try nextByte()
            parts.append(try nextWhole(own, tag: tag, isText: isText, texts, &memory))
            count += own.count
        }
        guard count == part.count else { throw .malformed(.body, at: start) }
        return ByteStrings(part.isWhole ? kinds : Array(kinds[part.wanted]), of: parts)
    }

    /// Kinds of strings that `parts` keeps apart.
    private static let partCountMax = 4

    @_lifetime(self: copy self)
    private mutating func nextWhole(
        _ part: ColumnPart,
        tag: UInt8,
        isText: Bool,
        _ texts: TextScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let start = offset
        let strings: ByteStrings
        switch StringForm(rawValue: tag) {
        case .bytes: strings = try nextPlain(part, &memory)
        case .pattern: return try nextPattern(part, &memory)
        case .origins: return try nextOrigins(part, texts.replicas, &memory)
        case .fixed: strings = try nextFixed(part, &memory)
        case .pieces:
            let (joined, areTexts) = try nextPieces(part, &memory)
            if areTexts { return joined }
            strings = joined
        case .headed: return try nextHeaded(part, texts.heads, &memory)
        case .parts, nil: throw .malformed(.body, at: start)
        }
        if isText {
            guard strings.areTexts else { throw .malformed(.text, at: start) }
        }
        return strings
    }

    @_lifetime(self: copy self)
    mutating func nextPlain(
        _ part: ColumnPart,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let start = offset
        let sizes = try nextSimple(part.count, &memory)
        guard Self.isBelow(UInt64(expandedRest) + 1, sizes) else {
            throw .malformed(.body, at: start)
        }
        let source = sizes.span
        let skipped = Self.sum(source.extracting(0..<part.first))
        // No more than 65,536 times what a block may hold, so this does not overflow.
        var total = 0
        let wanted = source.extracting(part.wanted)
        // Safe: one bound is written for each size, and one in front of them.
        let bounds = unsafe [UInt32](count: wanted.count + 1) { target in
            unsafe target[0] = 0
            for index in wanted.indices {
                total &+= Int(unsafe wanted[unchecked: index])
                unsafe target[index &+ 1] = UInt32(truncatingIfNeeded: total)
            }
        }
        let rest = Self.sum(source.extracting(part.end..<part.count))
        let size = skipped + total + rest
        guard size <= expandedRest else { throw .malformed(.body, at: start) }
        let bytes = try nextBytes(size: size, wanted: skipped..<skipped + total, &memory)
        return ByteStrings(bytes: bytes, bounds: bounds)
    }

    /// The sum of sizes that a block may hold.
    private static func sum(_ sizes: Span<Int64>) -> Int {
        var sum: Int64 = 0
        for index in sizes.indices {
            // Safe: the loop goes through the indices.
            sum &+= unsafe sizes[unchecked: index]
        }
        return Int(sum)
    }

    @_lifetime(self: copy self)
    private mutating func nextPattern(
        _ part: ColumnPart,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let start = offset
        let pattern = try nextPattern(count: part.count)
        try gatherPlanes(pattern.packedSize, part, &memory)
        guard let strings = pattern.unpack(memory.expanded.span, count: part.wanted.count) else {
            throw .malformed(.text, at: start)
        }
        return strings
    }

    @_lifetime(self: copy self)
    private mutating func nextFixed(
        _ part: ColumnPart,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let size = try nextCount(1...TextPattern.sizeMax)
        try gatherPlanes(size, part, &memory)
        return ByteStrings(planes: memory.expanded.span, count: part.wanted.count, size: size)
    }

    @_lifetime(self: copy self)
    private mutating func nextOrigins(
        _ part: ColumnPart,
        _ replicas: [ReplicaID],
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let start = offset
        let numbers = try nextSimple(part, &memory)
        let sequences = try nextSimple(part, &memory)
        for index in numbers.indices {
            guard replicas.indices ~= Int(clamping: numbers[index]), sequences[index] != 0 else {
                throw .malformed(.identifier, at: start)
            }
        }
        return ByteStrings(replicas, numbers, sequences)
    }
}
