extension ColumnWriter {
    /// Numbers by the method that a plan chose for them.
    ///
    /// `start` is the first index that is new, for columns of indices. False if the method cannot
    /// be used here; then nothing is written.
    mutating func put(
        integers values: Span<Int64>,
        _ method: IntegerMethod,
        _ scope: ColumnScope,
        start: Int64 = 0
    ) throws(FormatError) -> Bool {
        guard !values.isEmpty else { return true }
        switch method {
        case .simple(let method): try put(simple: values, method, start: start)
        case .runs(let inner): try put(runs: values, inner, start: start)
        case .same(let names, let inner):
            guard let chain = scope.keys.chain(names, present: scope.present) else { return false }
            put(IntegerMethod.sameTag)
            put(names)
            try put(exceptions: values, chain, inner, start: start)
        case .last(let names):
            guard let chain = scope.keys.chain(names, present: scope.present) else { return false }
            put(IntegerMethod.lastTag)
            put(names)
            var differences = [Int64](repeating: 0, count: values.count)
            var target = differences.mutableSpan
            let links = chain.span
            for index in values.indices {
                let last = Int(links[index])
                target[index] = values[index] &- (last >= 0 ? values[last] : 0)
            }
            try put(packed: differences.span, isSigned: true)
        case .distinct(let first, let second): try put(distinct: values, first, second)
        case .offset(let column, let inner):
            let all = 0..<values.count
            guard let offsets = scope.values(of: column, all) else { return false }
            put(IntegerMethod.offsetTag)
            put(column.rawValue)
            var differences = [Int64](repeating: 0, count: values.count)
            var target = differences.mutableSpan
            for index in values.indices { target[index] = values[index] &- offsets[index] }
            try put(simple: differences.span, inner, isSigned: true)
        }
        return true
    }

    /// Numbers by a method that needs nothing else.
    mutating func put(
        simple values: Span<Int64>,
        _ method: SimpleMethod,
        start: Int64 = 0,
        isSigned: Bool = false
    ) throws(FormatError) {
        guard !values.isEmpty else { return }
        put(method.rawValue)
        switch method {
        case .plain: try put(packed: values, isSigned: isSigned)
        case .delta:
            var differences = [Int64](repeating: 0, count: values.count)
            var target = differences.mutableSpan
            var last: Int64 = 0
            for index in values.indices {
                let value = values[index]
                target[index] = value &- last
                last = value
            }
            try put(packed: differences.span, isSigned: true)
        case .new:
            put(varint: UInt64(bitPattern: start))
            var codes = [Int64](repeating: 0, count: values.count)
            var target = codes.mutableSpan
            var next = start
            for index in values.indices {
                let value = values[index]
                if value == next {
                    next &+= 1
                } else {
                    target[index] = value &+ 1
                }
            }
            try put(packed: codes.span)
        }
    }

    private mutating func put(_ names: [Int]) {
        put(UInt8(names.count))
        for name in names { put(varint: name) }
    }

    private mutating func put(
        runs values: Span<Int64>,
        _ inner: SimpleMethod,
        start: Int64
    ) throws(FormatError) {
        var heads: [Int64] = []
        var lengths: [Int64] = []
        var length: Int64 = 0
        for index in values.indices {
            let value = values[index]
            if index > 0, value == heads[heads.count - 1] {
                length += 1
            } else {
                if index > 0 { lengths.append(length) }
                heads.append(value)
                length = 0
            }
        }
        lengths.append(length)
        put(IntegerMethod.runsTag)
        put(varint: heads.count)
        try put(simple: heads.span, inner, start: start)
        try put(packed: lengths.span)
    }

    private mutating func put(
        exceptions values: Span<Int64>,
        _ chain: [Int32],
        _ inner: SimpleMethod,
        start: Int64
    ) throws(FormatError) {
        var bitmap = [UInt8](repeating: 0, count: (values.count + 7) / 8)
        let links = chain.span
        // A search tries the first rows only, whose links are the first as well.
        precondition(links.count >= values.count, "a chain has a link for each row")
        var bits = bitmap.mutableSpan
        // Safe: `count` is of values before the one at hand; a chain names rows in front of its
        // own, or none, and one comparison holds it to that; the bitmap has a bit for each row.
        let exceptions = unsafe [Int64](unsafeUninitializedCapacity: values.count) {
            target,
            count in
            count = 0
            guard let target = target.baseAddress else { return }
            for index in 0..<values.count {
                let last = Int(unsafe links[unchecked: index])
                let value = unsafe values[unchecked: index]
                // The value itself stands for a link that is missing.
                let isKnown = UInt(bitPattern: last) < UInt(bitPattern: index)
                let known = unsafe values[unchecked: isKnown ? last : index]
                let bit = !isKnown || known != value ? 1 : 0
                let mask = UInt8(truncatingIfNeeded: bit &<< (index & 7))
                unsafe bits[unchecked: index &>> 3] |= mask
                unsafe target[count] = value
                count &+= bit
            }
        }
        try put(stream: bitmap.span)
        try put(simple: exceptions.span, inner, start: start)
    }

    private mutating func put(
        distinct values: Span<Int64>,
        _ first: SimpleMethod,
        _ second: SimpleMethod
    ) throws(FormatError) {
        let (distinct, indices) = DistinctNumbers.find(values)
        put(IntegerMethod.distinctTag)
        put(varint: distinct.count)
        try put(simple: distinct.span, first)
        try put(simple: indices.span, second)
    }
}

/// Finds the distinct numbers of a column.
enum DistinctNumbers {
    /// The distinct ones in order of first sight, and for each number the index among them.
    static func find(_ values: Span<Int64>) -> (distinct: [Int64], indices: [Int64]) {
        var distinct: [Int64] = []
        var indices = [Int64](repeating: 0, count: values.count)
        var size = 16
        while size < values.count * 2 { size *= 2 }
        var table = [Int32](repeating: -1, count: size)
        var slots = table.mutableSpan
        var target = indices.mutableSpan
        let (multiplier, shift) = (SecretMultiplier.value, UInt64(64 - size.trailingZeroBitCount))
        for index in values.indices {
            let value = values[index]
            var slot = Int((UInt64(bitPattern: value) &* multiplier) >> shift)
            while slots[slot] >= 0, distinct[Int(slots[slot])] != value {
                slot = (slot + 1) & (size - 1)
            }
            if slots[slot] < 0 {
                slots[slot] = Int32(distinct.count)
                distinct.append(value)
            }
            target[index] = Int64(slots[slot])
        }
        return (distinct, indices)
    }
}
