/// A column of numbers that was read.
struct IntegerColumn {
    var values: [Int64]
    /// For a column of distinct numbers, the indices among them and how many there are; nil if only
    /// some were read.
    var indices: (codes: [UInt32], count: Int)?
}

extension ColumnReader {
    /// Numbers by whatever method they were written.
    @_lifetime(self: copy self)
    mutating func nextIntegers(
        _ part: ColumnPart,
        _ scope: ColumnScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> IntegerColumn {
        guard part.count > 0 else { return IntegerColumn(values: []) }
        let start = offset
        let tag = try nextByte()
        switch tag {
        case IntegerMethod.runsTag: return IntegerColumn(values: try nextRuns(part, &memory))
        case IntegerMethod.sameTag:
            let keys = try nextKeys(part, scope, &memory)
            return IntegerColumn(values: try nextExceptions(part, keys, &memory))
        case IntegerMethod.lastTag:
            let keys = try nextKeys(part, scope, &memory)
            var values = try nextPacked(part.prefix, &memory)
            switch keys {
            case .column(let column): Self.addLast(of: column, to: &values)
            case .chain(let chain): Self.addLast(chain, to: &values)
            }
            return IntegerColumn(values: values.dropping(part.first))
        case IntegerMethod.distinctTag: return try nextDistinct(part, scope, &memory)
        case IntegerMethod.offsetTag:
            guard let column = OffsetColumn(rawValue: try nextByte()),
                let offsets = scope.values(of: column, part.wanted)
            else { throw .malformed(.body, at: start) }
            var values = try nextSimple(part, &memory)
            Self.add(offsets, to: &values)
            return IntegerColumn(values: values)
        default: return IntegerColumn(values: try nextSimple(part, tag: tag, at: start, &memory))
        }
    }

    /// Numbers as `nextIntegers` gives them; nil if all are zero and are written in the shortest
    /// way, which takes no memory.
    @_lifetime(self: copy self)
    mutating func nextUnlessZeros(
        _ part: ColumnPart,
        _ scope: ColumnScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64]? {
        var ahead = reader
        if part.count > 0, try ahead.next(UInt8.self) == SimpleMethod.plain.rawValue,
            try ahead.next(UInt8.self) == 0, try ahead.nextZigzag() == 0,
            try ahead.nextVarint() >= 1
        {
            reader = ahead
            return nil
        }
        return try nextIntegers(part, scope, &memory).values
    }

    /// All of `count` numbers by a method that needs nothing else.
    @_lifetime(self: copy self)
    mutating func nextSimple(
        _ count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        try nextSimple(ColumnPart(all: count), &memory)
    }

    /// Numbers by a method that needs nothing else.
    @_lifetime(self: copy self)
    mutating func nextSimple(
        _ part: ColumnPart,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        guard part.count > 0 else { return [] }
        let start = offset
        let tag = try nextByte()
        return try nextSimple(part, tag: tag, at: start, &memory)
    }

    @_lifetime(self: copy self)
    private mutating func nextSimple(
        _ part: ColumnPart,
        tag: UInt8,
        at start: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        guard let method = SimpleMethod(rawValue: tag) else { throw .malformed(.body, at: start) }
        switch method {
        case .plain: return try nextPacked(part, &memory)
        case .delta:
            var values = try nextPacked(part.prefix, &memory)
            Self.addUp(&values)
            return values.dropping(part.first)
        case .new:
            let next = Int64(bitPattern: try reader.nextVarint())
            var values = try nextPacked(part.prefix, &memory)
            Self.count(&values, from: next)
            return values.dropping(part.first)
        }
    }

    /// What tells the key of each row.
    enum RowKeys {
        /// One column; rows with the same code have the same key.
        case column(KeyColumn)
        /// Of two columns, for each row the last one with the same key.
        case chain([Int32])
    }

    /// The keys of a column.
    @_lifetime(self: copy self)
    mutating func nextKeys(
        _ part: ColumnPart,
        _ scope: ColumnScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> RowKeys {
        let count = part.end
        let start = offset
        let keyCount = try nextByte()
        guard 1...2 ~= keyCount else { throw .malformed(.body, at: start) }
        var names: [Int] = []
        for _ in 0..<keyCount { names.append(try nextCount(0...Int(UInt16.max))) }
        // Nobody asks for the keys of no rows.
        guard count > 0 else { return .chain([]) }
        if keyCount == 1 {
            guard let column = try keyColumn(names[0], scope, &memory) else {
                throw .malformed(.body, at: start)
            }
            var own = scope.present.map(column.picked) ?? column
            // Keys are there for all rows, though only some may be wanted.
            if !part.isWhole { own = own.prefix(count) }
            guard own.codes.count == count else { throw .malformed(.body, at: start) }
            return .column(own)
        }
        for name in names {
            guard try keyColumn(name, scope, &memory) != nil else {
                throw .malformed(.body, at: start)
            }
        }
        guard var chain = scope.keys.chain(names, present: scope.present) else {
            throw .malformed(.body, at: start)
        }
        if !part.isWhole, chain.count > count { chain.removeLast(chain.count - count) }
        guard chain.count == count else { throw .malformed(.body, at: start) }
        return .chain(chain)
    }

    @_lifetime(self: copy self)
    private mutating func nextRuns(
        _ part: ColumnPart,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        let runCount = try nextCount(1...part.count)
        let heads = try nextSimple(runCount, &memory)
        return Self.repeated(heads, try nextRunLengths(runCount, part, &memory), part)
    }

    /// The lengths of runs minus 1, which add up to the numbers that are written.
    @_lifetime(self: copy self)
    mutating func nextRunLengths(
        _ runCount: Int,
        _ part: ColumnPart,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        let start = offset
        let lengths = try nextPacked(ColumnPart(all: runCount), &memory)
        var rest = part.count
        for length in lengths {
            guard length >= 0, length < Int64(rest) else { throw .malformed(.body, at: start) }
            rest -= Int(length) + 1
        }
        guard rest == 0 else { throw .malformed(.body, at: start) }
        return lengths
    }

    @_lifetime(self: copy self)
    private mutating func nextExceptions(
        _ part: ColumnPart,
        _ keys: RowKeys,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        let start = offset
        let (bitmap, given) = try nextMarks(part, &memory)
        let exceptions = try nextSimple(given, &memory)
        let values =
            switch keys {
            case .column(let column): Self.filled(bitmap, of: column, exceptions, from: part.first)
            case .chain(let chain):
                Self.filled(bitmap, chain, exceptions).map { $0.dropping(part.first) }
            }
        guard let values else { throw .malformed(.body, at: start) }
        return values
    }

    /// A bit for each number that is written, and how many numbers they ask for: those for the
    /// wanted ones and all before them.
    @_lifetime(self: copy self)
    mutating func nextMarks(
        _ part: ColumnPart,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> (bitmap: [UInt8], given: ColumnPart) {
        let start = offset
        let count = part.count
        let bitmap = try nextBytes(size: (count + 7) / 8, &memory)
        guard count & 7 == 0 || bitmap[bitmap.count - 1] >> UInt8(count & 7) == 0 else {
            throw .malformed(.body, at: start)
        }
        let given = Self.bitCount(bitmap, count)
        let end = part.end == count ? given : Self.bitCount(bitmap, part.end)
        return (bitmap, ColumnPart(count: given, wanted: 0..<end))
    }

    /// The numbers that are wanted, and the indices of all.
    @_lifetime(self: copy self)
    private mutating func nextDistinct(
        _ part: ColumnPart,
        _ scope: ColumnScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> IntegerColumn {
        let start = offset
        let distinctCount = try nextCount(1...part.count)
        let distinct = try nextSimple(distinctCount, &memory)
        if !readsAllKeys, !part.isWhole {
            noteUnread(part.count, below: distinctCount, scope)
            guard let codes = try nextSimpleCodes(part, distinctCount, &memory) else {
                throw .malformed(.body, at: start)
            }
            return IntegerColumn(values: Self.picked(distinct, codes))
        }
        let all = ColumnPart(all: part.count)
        guard let codes = try nextSimpleCodes(all, distinctCount, &memory) else {
            throw .malformed(.body, at: start)
        }
        let wanted = part.isWhole ? codes : Array(codes[part.wanted])
        return IntegerColumn(
            values: Self.picked(distinct, wanted),
            indices: (codes, distinctCount)
        )
    }
}
