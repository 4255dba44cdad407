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
            let chain = try nextChain(count, scope)
            return IntegerColumn(values: try nextExceptions(count, chain, &memory))
        case IntegerMethod.lastTag:
            let chain = try nextChain(count, scope)
            var values = try nextPacked(count, &memory)
            var target = values.mutableSpan
            let links = chain.span
            for index in 0..<count {
                let last = Int(links[index])
                if last >= 0 { target[index] &+= target[last] }
            }
            return IntegerColumn(values: values)
        case IntegerMethod.distinctTag: return try nextDistinct(count, &memory)
        case IntegerMethod.offsetTag:
            guard let column = OffsetColumn(rawValue: try nextByte()),
                let offsets = scope.values(of: column), offsets.count == count
            else { throw .malformed(.body, at: start) }
            var values = try nextSimple(count, &memory)
            var target = values.mutableSpan
            for index in 0..<count { target[index] &+= offsets[index] }
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
            for index in 0..<count {
                last &+= target[index]
                target[index] = last
            }
            return values
        case .new:
            var next = Int64(bitPattern: try reader.nextVarint())
            var values = try nextPacked(count, &memory)
            var target = values.mutableSpan
            for index in 0..<count {
                let code = target[index]
                if code == 0 {
                    target[index] = next
                    next &+= 1
                } else {
                    target[index] = code &- 1
                }
            }
            return values
        }
    }

    /// The keys of a column, and with them the last row with the same key for each row.
    @_lifetime(self: copy self)
    private mutating func nextChain(
        _ count: Int,
        _ scope: ColumnScope
    ) throws(FormatError) -> [Int32] {
        let start = offset
        let keyCount = try nextByte()
        guard 1...2 ~= keyCount else { throw .malformed(.body, at: start) }
        var names: [Int] = []
        for _ in 0..<keyCount { names.append(try nextCount(0...Int(UInt16.max))) }
        guard let chain = scope.keys.chain(names, present: scope.present), chain.count == count
        else { throw .malformed(.body, at: start) }
        return chain
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
        var values: [Int64] = []
        values.reserveCapacity(count)
        for index in 0..<runCount {
            let length = lengths[index]
            guard length >= 0, length < Int64(count - values.count) else {
                throw .malformed(.body, at: start)
            }
            values.append(contentsOf: repeatElement(heads[index], count: Int(length) + 1))
        }
        guard values.count == count else { throw .malformed(.body, at: start) }
        return values
    }

    @_lifetime(self: copy self)
    private mutating func nextExceptions(
        _ count: Int,
        _ chain: [Int32],
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        let start = offset
        let bitmap = try nextBytes(size: (count + 7) / 8, &memory)
        guard count & 7 == 0 || bitmap[bitmap.count - 1] >> UInt8(count & 7) == 0 else {
            throw .malformed(.body, at: start)
        }
        let exceptionCount = bitmap.reduce(0) { $0 + $1.nonzeroBitCount }
        let exceptions = try nextSimple(exceptionCount, &memory)
        var values = [Int64](repeating: 0, count: count)
        guard Self.fill(&values, bitmap, chain, exceptions) else {
            throw .malformed(.body, at: start)
        }
        return values
    }

    /// Puts exceptions where the bitmap has a bit, else the value that the chain names.
    ///
    /// False if a value is neither.
    private static func fill(
        _ values: inout [Int64],
        _ bitmap: [UInt8],
        _ chain: [Int32],
        _ exceptions: [Int64]
    ) -> Bool {
        var target = values.mutableSpan
        let links = chain.span
        let given = exceptions.span
        let bits = bitmap.span
        precondition(
            links.count == target.count && bits.count == (target.count + 7) / 8,
            "a chain has a link for each row, and the bitmap a bit"
        )
        guard !given.isEmpty else { return target.isEmpty }
        var next = 0
        var isWhole = true
        for index in target.indices {
            // Safe: a chain names rows in front of its own or none, `next` counts bits of the
            // bitmap, of which there are as many as exceptions, and it is held below their count.
            unsafe withNoBounds(index, &target, links, given, bits, &next, &isWhole)
        }
        return isWhole
    }

    /// One step of `fill`: picks without a branch, since exceptions come by chance.
    @unsafe
    @inline(__always)
    private static func withNoBounds(
        _ index: Int,
        _ target: inout MutableSpan<Int64>,
        _ links: Span<Int32>,
        _ given: Span<Int64>,
        _ bits: Span<UInt8>,
        _ next: inout Int,
        _ isWhole: inout Bool
    ) {
        // Safe: the caller keeps all indices in their spans.
        let shift = UInt8(truncatingIfNeeded: index & 7)
        let bit = Int(unsafe bits[unchecked: index >> 3] >> shift & 1)
        let link = Int(unsafe links[unchecked: index])
        isWhole = isWhole && (bit == 1 || link >= 0)
        let exception = unsafe given[unchecked: min(next, given.count - 1)]
        let last = unsafe target[unchecked: max(link, 0)]
        unsafe target[unchecked: index] = bit == 1 ? exception : last
        next += bit
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
        var values = [Int64](repeating: 0, count: count)
        var target = values.mutableSpan
        let source = distinct.span
        let indices = codes.span
        for index in 0..<count {
            let code = indices[index]
            guard code >= 0, code < Int64(distinctCount) else {
                throw .malformed(.body, at: start)
            }
            target[index] = source[Int(code)]
        }
        return IntegerColumn(values: values, indices: (codes, distinctCount))
    }
}
