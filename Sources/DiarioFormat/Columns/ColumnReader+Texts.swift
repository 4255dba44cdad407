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
        let ownCount = codes.reduce(0) { $0 + ($1 == 0 ? 1 : 0) }
        let own = try nextStrings(ownCount, isText: isText, texts, &memory)
        var strings = ByteStrings()
        var size = 0
        var next = 0
        for code in codes {
            // A short block cannot name a long text so often that memory would not hold it.
            size += code == 0 ? own.range(next).count : pool.range(Int(code) - 1).count
            guard size <= SegmentLimits.blockSizeMax else { throw .malformed(.body, at: start) }
            if code == 0 {
                strings.append(own, next)
                next += 1
            } else {
                strings.append(pool, Int(code) - 1)
            }
        }
        return TextValues(codes: nil, strings: strings)
    }

    private static func indices(
        _ values: [Int64],
        below bound: Int,
        at offset: Int
    ) throws(FormatError) -> [UInt32] {
        var indices = [UInt32](repeating: 0, count: values.count)
        var target = indices.mutableSpan
        let source = values.span
        var highest: UInt64 = 0
        for index in source.indices {
            let value = UInt64(bitPattern: source[index])
            highest = max(highest, value)
            target[index] = UInt32(truncatingIfNeeded: value)
        }
        guard highest < UInt64(bound) else { throw .malformed(.body, at: offset) }
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
        var strings = ByteStrings()
        var next = [Int](repeating: 0, count: parts.count)
        for kind in kinds {
            let part = Int(kind)
            strings.append(parts[part], next[part])
            next[part] += 1
        }
        return strings
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
        case .pieces: strings = try nextPieces(count, &memory)
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
        var bounds = [UInt32](repeating: 0, count: count + 1)
        var total = 0
        for index in 0..<count {
            guard sizes[index] >= 0, sizes[index] <= Int64(expandedRest - total) else {
                throw .malformed(.body, at: start)
            }
            total += Int(sizes[index])
            bounds[index + 1] = UInt32(total)
        }
        return ByteStrings(bytes: try nextBytes(size: total, &memory), bounds: bounds)
    }

    @_lifetime(self: copy self)
    private mutating func nextPattern(
        _ count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> ByteStrings {
        let start = offset
        let pattern = try nextPattern(count: count)
        let planes = try nextPlanes(pattern.packedSize, count: count, &memory)
        guard let strings = pattern.unpack(planes.span, count: count) else {
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
        let planes = try nextPlanes(size, count: count, &memory)
        var content = [UInt8](repeating: 0, count: planes.count)
        var bounds = [UInt32](repeating: 0, count: count + 1)
        for index in 0..<count {
            for place in 0..<size { content[index * size + place] = planes[place * count + index] }
            bounds[index + 1] = UInt32((index + 1) * size)
        }
        return ByteStrings(bytes: content, bounds: bounds)
    }

    /// Some streams of `count` bytes each, one after the other.
    @_lifetime(self: copy self)
    mutating func nextPlanes(
        _ planeCount: Int,
        count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [UInt8] {
        guard planeCount * count <= expandedRest else { throw .malformed(.body, at: offset) }
        var planes: [UInt8] = []
        planes.reserveCapacity(planeCount * count)
        for _ in 0..<planeCount {
            memory.expanded.removeAll(keepingCapacity: true)
            let place = try nextStream(size: count, &memory)
            if place.isExpanded {
                planes.append(contentsOf: memory.expanded.span.raw.extracting(place.range))
            } else {
                planes.append(contentsOf: bytes.extracting(place.range))
            }
        }
        return planes
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
        var strings = ByteStrings()
        var text: [UInt8] = []
        for index in 0..<count {
            guard replicas.indices ~= Int(clamping: numbers[index]), sequences[index] != 0 else {
                throw .malformed(.identifier, at: start)
            }
            let origin = Origin(
                replica: replicas[Int(numbers[index])],
                sequence: UInt64(bitPattern: sequences[index])
            )
            text.removeAll(keepingCapacity: true)
            text.append(textOf: origin)
            strings.append(text)
        }
        return strings
    }
}
