import DiarioCore

extension ColumnReader {
    /// Numbers by whatever method they were written.
    @_lifetime(self: copy self)
    mutating func nextIntegers(
        _ count: Int,
        _ scope: ColumnScope
    ) throws(FormatError) -> [Int64] {
        guard count > 0 else { return [] }
        let start = offset
        let tag = try nextByte()
        switch tag {
        case IntegerMethod.sameTag:
            let keys = try nextKey(count, scope)
            let bitmap = try nextStreams(size: (count + 7) / 8)
            guard count & 7 == 0 || bitmap[bitmap.count - 1] >> UInt8(count & 7) == 0 else {
                throw .malformed(.body, at: start)
            }
            let exceptions = try nextSimple(bitmap.reduce(0) { $0 + $1.nonzeroBitCount })
            guard let values = Self.filled(bitmap, keys, exceptions) else {
                throw .malformed(.body, at: start)
            }
            return values
        default: return try nextSimple(count, tag: tag, at: start)
        }
    }

    /// Numbers by a method that needs nothing else.
    @_lifetime(self: copy self)
    mutating func nextSimple(_ count: Int) throws(FormatError) -> [Int64] {
        guard count > 0 else { return [] }
        let start = offset
        return try nextSimple(count, tag: try nextByte(), at: start)
    }

    @_lifetime(self: copy self)
    private mutating func nextSimple(
        _ count: Int,
        tag: UInt8,
        at start: Int
    ) throws(FormatError) -> [Int64] {
        guard let method = SimpleMethod(rawValue: tag) else { throw .malformed(.body, at: start) }
        var values: [Int64]
        switch method {
        case .plain: values = try nextPacked(count)
        case .delta:
            values = try nextPacked(count)
            var last: Int64 = 0
            for index in values.indices {
                last &+= values[index]
                values[index] = last
            }
        case .new:
            var next = Int64(bitPattern: try reader.nextVarint())
            values = try nextPacked(count)
            for index in values.indices {
                let isNext = values[index] == 0
                values[index] = isNext ? next : values[index] &- 1
                next &+= isNext ? 1 : 0
            }
        }
        return values
    }

    /// Indices below a bound, by whatever method they were written; throws that `what` is malformed
    /// if one is not.
    @_lifetime(self: copy self)
    mutating func nextCodes(
        _ count: Int,
        below bound: Int,
        as what: FormatPart = .body,
        _ scope: ColumnScope
    ) throws(FormatError) -> [UInt32] {
        let start = offset
        let values = try nextIntegers(count, scope)
        let last = Int64(bound) - 1
        // Below zero once a value or its distance to the last is: a branch for each costs more.
        var signs: Int64 = 0
        var codes = [UInt32](repeating: 0, count: count)
        var target = codes.mutableSpan
        let source = values.span
        precondition(source.count == count, "each row has a value")
        for index in target.indices {
            // Safe: there are as many values as codes. Without checks, many go at a time.
            let value = unsafe source[unchecked: index]
            signs |= value | (last &- value)
            unsafe target[unchecked: index] = UInt32(truncatingIfNeeded: value)
        }
        guard signs >= 0 else { throw .malformed(what, at: start) }
        return codes
    }

    /// The column that says which rows belong together.
    @_lifetime(self: copy self)
    private mutating func nextKey(
        _ count: Int,
        _ scope: ColumnScope
    ) throws(FormatError) -> KeyColumn {
        let start = offset
        guard let key = scope.key(try nextCount(0...Int(UInt16.max))), key.codes.count == count
        else { throw .malformed(.body, at: start) }
        return key
    }

    /// Exceptions where the bitmap has a bit, else the value of the last row with the same key.
    ///
    /// Nil if there is no such row. There are as many exceptions as bits.
    private static func filled(
        _ bitmap: [UInt8],
        _ keys: KeyColumn,
        _ exceptions: [Int64]
    ) -> [Int64]? {
        // By key: the place of its last exception, counted from 1.
        var places = [Int32](repeating: 0, count: keys.cardinality)
        var values = [Int64](repeating: 0, count: keys.codes.count)
        var target = values.mutableSpan
        var lasts = places.mutableSpan
        let (codes, bits) = (keys.codes.span, bitmap.span)
        let padded = [0] + exceptions
        let given = padded.span
        precondition(bits.count * 8 >= codes.count, "there is a bit for each row")
        var next: Int32 = 0
        var isWhole = true
        for row in target.indices {
            // Safe: each row has a bit, a code and a value; the tables check what they are asked.
            let bit = unsafe Int32(bits[unchecked: row &>> 3] &>> UInt8(row & 7) & 1)
            next &+= bit
            let key = Int(unsafe codes[unchecked: row])
            let last = lasts[key]
            // Chosen without a branch, since exceptions come by chance.
            let place = last ^ (last ^ next) & (0 &- bit)
            lasts[key] = place
            isWhole = isWhole && place != 0
            unsafe target[unchecked: row] = given[Int(place)]
        }
        return isWhole ? values : nil
    }

    /// Whether all numbers are in a range.
    static func isWithin(_ range: ClosedRange<Int64>, _ numbers: [Int64]) -> Bool {
        var (lowest, highest) = (range.lowerBound, range.upperBound)
        for number in numbers {
            lowest = min(lowest, number)
            highest = max(highest, number)
        }
        return lowest == range.lowerBound && highest == range.upperBound
    }
}

extension ColumnReader {
    /// Numbers by base, factor and streams.
    @_lifetime(self: copy self)
    mutating func nextPacked(_ count: Int) throws(FormatError) -> [Int64] {
        guard count > 0 else { return [] }
        let start = offset
        let width = try nextByte()
        let form = PackedForm(
            base: try reader.nextZigzag(),
            factor: try reader.nextVarint(),
            width: Int(width)
        )
        guard form.width <= PackedForm.widthMax, form.factor >= 1 else {
            throw .malformed(.body, at: start)
        }
        guard form.width > 0 else { return [Int64](repeating: form.base, count: count) }
        let planes = try nextStreams(form.width, size: count)
        return form.values(planes.span, count: count)
    }
}
