import DiarioCore

extension ColumnWriter {
    /// Numbers by the method that a plan chose for them.
    ///
    /// `start` is the first index that is new, for columns of indices. False if the method cannot
    /// be used here; then nothing is written.
    mutating func put(
        integers values: [Int64],
        _ method: IntegerMethod,
        _ scope: ColumnScope,
        start: Int64 = 0
    ) throws(FormatError) -> Bool {
        guard !values.isEmpty else { return true }
        switch method {
        case .simple(let method): try put(simple: values, method, start: start)
        case .same(let name, let inner):
            guard let key = scope.key(name) else { return false }
            put(IntegerMethod.sameTag)
            put(varint: name)
            try put(exceptions: values, key, inner, start: start)
        }
        return true
    }

    /// Numbers by a method that needs nothing else.
    mutating func put(
        simple values: [Int64],
        _ method: SimpleMethod,
        start: Int64 = 0
    ) throws(FormatError) {
        guard !values.isEmpty else { return }
        put(method.rawValue)
        switch method {
        case .plain: try put(packed: values)
        case .delta:
            var differences = values
            var last: Int64 = 0
            for index in values.indices {
                differences[index] &-= last
                last = values[index]
            }
            try put(packed: differences)
        case .new:
            put(varint: UInt64(bitPattern: start))
            var codes = values
            var next = start
            for index in values.indices {
                let isNext = values[index] == next
                codes[index] = isNext ? 0 : values[index] &+ 1
                next &+= isNext ? 1 : 0
            }
            try put(packed: codes)
        }
    }

    private mutating func put(
        exceptions values: [Int64],
        _ key: KeyColumn,
        _ inner: SimpleMethod,
        start: Int64
    ) throws(FormatError) {
        var bitmap = [UInt8](repeating: 0, count: (values.count + 7) / 8)
        var exceptions: [Int64] = []
        var lasts = [Int64](repeating: 0, count: key.cardinality)
        var isKnown = [Bool](repeating: false, count: key.cardinality)
        for index in values.indices {
            let (code, value) = (Int(key.codes[index]), values[index])
            guard !isKnown[code] || lasts[code] != value else { continue }
            bitmap[index >> 3] |= 1 << UInt8(index & 7)
            exceptions.append(value)
            lasts[code] = value
            isKnown[code] = true
        }
        try put(stream: bitmap.span)
        try put(simple: exceptions, inner, start: start)
    }

    /// Numbers by base, factor and streams.
    private mutating func put(packed values: [Int64]) throws(FormatError) {
        guard !values.isEmpty else { return }
        let form = PackedForm(values)
        put(UInt8(form.width))
        put(zigzag: form.base)
        put(varint: form.factor)
        let planes = form.planes(values)
        try put(streams: planes.span, size: values.count)
    }
}
