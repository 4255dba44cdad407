import DiarioCore

extension ColumnReader {
    /// Texts by whatever method they were written.
    ///
    /// `isText` says that they must be text, not any bytes; texts of pools always are.
    /// `mayBeShared` says that they may be of a column that several types share.
    @_lifetime(self: copy self)
    mutating func nextTexts(
        _ count: Int,
        isText: Bool,
        mayBeShared: Bool = false,
        _ scope: ColumnScope,
        _ texts: TextScope
    ) throws(FormatError) -> TextValues {
        guard count > 0 else { return TextValues(codes: nil, strings: ByteStrings()) }
        let start = offset
        switch TextMethod(rawValue: try nextByte()) {
        case .plain:
            let strings = try nextStrings(count, isText: isText, texts.replicas)
            return TextValues(codes: nil, strings: strings)
        case .dictionary:
            let distinctCount = try nextCount(1...count)
            let strings = try nextStrings(distinctCount, isText: isText, texts.replicas)
            let codes = try nextCodes(count, below: distinctCount, scope)
            return TextValues(codes: codes, strings: strings)
        case .pool:
            let pool = try nextPool(texts)
            let codes = try nextCodes(count, below: pool.strings.count, scope)
            return TextValues(codes: codes, strings: pool.strings)
        case .shared:
            let pool = try nextPool(texts)
            // They are of all rows, so that a column that leaves some out has fewer.
            guard mayBeShared, let codes = pool.codes[texts.type],
                texts.rows.upperBound <= codes.count,
                texts.rows.count == count
            else { throw .malformed(.body, at: start) }
            return TextValues(codes: Array(codes[texts.rows]), strings: pool.strings)
        case nil: throw .malformed(.body, at: start)
        }
    }

    @_lifetime(self: copy self)
    private mutating func nextPool(_ texts: TextScope) throws(FormatError) -> TextPool {
        let start = offset
        let number = try reader.nextVarint()
        guard number < UInt64(texts.pools.count) else { throw .malformed(.body, at: start) }
        return texts.pools[Int(number)]
    }

    /// Byte strings, in the form in which they were written.
    @_lifetime(self: copy self)
    mutating func nextStrings(
        _ count: Int,
        isText: Bool,
        _ replicas: [ReplicaID]
    ) throws(FormatError) -> ByteStrings {
        guard count > 0 else { return ByteStrings() }
        let start = offset
        switch StringForm(rawValue: try nextByte()) {
        case .bytes:
            let strings = try nextPlain(count)
            guard !isText || strings.areTexts else { throw .malformed(.text, at: start) }
            return strings
        case .origins: return try nextOrigins(count, replicas)
        case nil: throw .malformed(.body, at: start)
        }
    }

    @_lifetime(self: copy self)
    private mutating func nextPlain(_ count: Int) throws(FormatError) -> ByteStrings {
        let start = offset
        let sizes = try nextSimple(count)
        guard Self.isWithin(0...Int64(expandedRest), sizes) else {
            throw .malformed(.body, at: start)
        }
        var bounds = [UInt32](repeating: 0, count: count + 1)
        // No more than 65,536 times what a block may hold, so this does not overflow.
        var size: Int64 = 0
        for index in sizes.indices {
            size += sizes[index]
            bounds[index + 1] = UInt32(truncatingIfNeeded: size)
        }
        guard size <= Int64(expandedRest) else { throw .malformed(.body, at: start) }
        return ByteStrings(bytes: try nextStreams(size: Int(size)), bounds: bounds)
    }

    @_lifetime(self: copy self)
    private mutating func nextOrigins(
        _ count: Int,
        _ replicas: [ReplicaID]
    ) throws(FormatError) -> ByteStrings {
        let start = offset
        let numbers = try nextSimple(count)
        let sequences = try nextSimple(count)
        guard !replicas.isEmpty, Self.isWithin(0...Int64(replicas.count - 1), numbers),
            !sequences.contains(0)
        else {
            throw .malformed(.identifier, at: start)
        }
        return ByteStrings(replicas, numbers, sequences)
    }
}
