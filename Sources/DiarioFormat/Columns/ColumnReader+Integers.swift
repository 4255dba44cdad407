/// A column of numbers that was read.
struct IntegerColumn {
    var values: [Int64]
    /// For a column of distinct numbers, the indices among them and how many there are.
    var indices: (codes: [Int64], count: Int)?
}

extension ColumnReader {
    /// `count` numbers by whatever method they were written.
    @_lifetime(self: copy self)
    mutating func nextIntegers(
        _ count: Int,
        _ scope: ColumnScope,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> IntegerColumn {
        guard count > 0 else { return IntegerColumn(values: []) }
        let start = offset
        let tag = try nextByte()
        switch tag {
        case IntegerMethod.runsTag:
            return IntegerColumn(values: try nextRuns(count, &memory))
        case IntegerMethod.sameTag:
            let keys = try nextKeys(count, scope)
            return IntegerColumn(values: try nextExceptions(count, keys, &memory))
        case IntegerMethod.lastTag:
            let keys = try nextKeys(count, scope)
            var values = try nextPacked(count, &memory)
            switch keys {
            case .column(let column): Self.addLast(of: column, to: &values)
            case .chain(let chain): Self.addLast(chain, to: &values)
            }
            return IntegerColumn(values: values)
        case IntegerMethod.distinctTag: return try nextDistinct(count, &memory)
        case IntegerMethod.offsetTag:
            guard let column = OffsetColumn(rawValue: try nextByte()),
                let offsets = scope.values(of: column), offsets.count == count
            else { throw .malformed(.body, at: start) }
            var values = try nextSimple(count, &memory)
            Self.add(offsets, to: &values)
            return IntegerColumn(values: values)
        default: return IntegerColumn(values: try nextSimple(count, tag: tag, at: start, &memory))
        }
    }

    /// `count` numbers by a method that needs nothing else.
    @_lifetime(self: copy self)
    mutating func nextSimple(
        _ count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        guard count > 0 else { return [] }
        let start = offset
        let tag = try nextByte()
        return try nextSimple(count, tag: tag, at: start, &memory)
    }

    @_lifetime(self: copy self)
    private mutating func nextSimple(
        _ count: Int,
        tag: UInt8,
        at start: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        guard let method = SimpleMethod(rawValue: tag) else { throw .malformed(.body, at: start) }
        switch method {
        case .plain: return try nextPacked(count, &memory)
        case .delta:
            var values = try nextPacked(count, &memory)
            var target = values.mutableSpan
            var last: Int64 = 0
            for index in target.indices {
                // Safe: the loop goes through the indices.
                last &+= unsafe target[unchecked: index]
                unsafe target[unchecked: index] = last
            }
            return values
        case .new:
            var next = Int64(bitPattern: try reader.nextVarint())
            var values = try nextPacked(count, &memory)
            var target = values.mutableSpan
            for index in target.indices {
                // Safe: the loop goes through the indices.
                let code = unsafe target[unchecked: index]
                unsafe target[unchecked: index] = code == 0 ? next : code &- 1
                next &+= code == 0 ? 1 : 0
            }
            return values
        }
    }

    /// What tells the key of each row.
    private enum RowKeys {
        /// One column; rows with the same code have the same key.
        case column(KeyColumn)
        /// Of two columns, for each row the last one with the same key.
        case chain([Int32])
    }

    /// The keys of a column.
    @_lifetime(self: copy self)
    private mutating func nextKeys(
        _ count: Int,
        _ scope: ColumnScope
    ) throws(FormatError) -> RowKeys {
        let start = offset
        let keyCount = try nextByte()
        guard 1...2 ~= keyCount else { throw .malformed(.body, at: start) }
        var names: [Int] = []
        for _ in 0..<keyCount { names.append(try nextCount(0...Int(UInt16.max))) }
        if keyCount == 1 {
            guard let column = scope.keys.column(names[0]) else {
                throw .malformed(.body, at: start)
            }
            let own = scope.present.map(column.picked) ?? column
            guard own.codes.count == count else { throw .malformed(.body, at: start) }
            return .column(own)
        }
        guard let chain = scope.keys.chain(names, present: scope.present), chain.count == count
        else { throw .malformed(.body, at: start) }
        return .chain(chain)
    }

    @_lifetime(self: copy self)
    private mutating func nextRuns(
        _ count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        let start = offset
        let runCount = try nextCount(1...count)
        let heads = try nextSimple(runCount, &memory)
        let lengths = try nextPacked(runCount, &memory)
        var rest = count
        for length in lengths {
            guard length >= 0, length < Int64(rest) else { throw .malformed(.body, at: start) }
            rest -= Int(length) + 1
        }
        guard rest == 0 else { throw .malformed(.body, at: start) }
        return Self.repeated(heads, lengths, count)
    }

    @_lifetime(self: copy self)
    private mutating func nextExceptions(
        _ count: Int,
        _ keys: RowKeys,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        let start = offset
        let bitmap = try nextBytes(size: (count + 7) / 8, &memory)
        guard count & 7 == 0 || bitmap[bitmap.count - 1] >> UInt8(count & 7) == 0 else {
            throw .malformed(.body, at: start)
        }
        let exceptions = try nextSimple(Self.bitCount(bitmap), &memory)
        let values =
            switch keys {
            case .column(let column): Self.filled(bitmap, of: column, exceptions)
            case .chain(let chain): Self.filled(bitmap, chain, exceptions)
            }
        guard let values else { throw .malformed(.body, at: start) }
        return values
    }

    @_lifetime(self: copy self)
    private mutating func nextDistinct(
        _ count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> IntegerColumn {
        let start = offset
        let distinctCount = try nextCount(1...count)
        let distinct = try nextSimple(distinctCount, &memory)
        let codes = try nextSimple(count, &memory)
        guard let values = Self.picked(distinct, codes) else { throw .malformed(.body, at: start) }
        return IntegerColumn(values: values, indices: (codes, distinctCount))
    }
}
