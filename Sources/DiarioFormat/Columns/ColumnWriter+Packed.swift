import DiarioCore

/// How the numbers of a packed column relate to what its streams hold.
struct PackedForm: Equatable {
    var isZigzag = false
    var base: Int64 = 0
    var factor: UInt64 = 1
    /// As in the file: 0 no stream, 1 to 3 bits, from 4 on bytes.
    var width: UInt8 = 0

    /// Bits of each number for the widths 1 to 3.
    var bitCount: Int { 1 << (Int(width) - 1) }
    /// Streams for the widths from 4 on.
    var planeCount: Int { Int(width) - 3 }

    /// The form for these numbers, of which there is at least one.
    ///
    /// `isSigned` says that they lie around zero, like differences.
    init(_ values: Span<Int64>, isSigned: Bool) {
        var (lowest, highest) = (values[0], values[0])
        for index in values.indices {
            let value = values[index]
            if value < lowest { lowest = value }
            if value > highest { highest = value }
        }
        base = lowest
        guard lowest != highest else { return }
        let span = UInt64(bitPattern: highest &- lowest)
        factor = span > 15 ? Self.factor(values, base: lowest) : 1
        isZigzag = isSigned && lowest < 0 && highest > 0 && span / factor > 15
        if isZigzag {
            // The factor divides what lies between two numbers; here it must divide them all.
            if lowest.magnitude % factor != 0 { factor = 1 }
            base = 0
            let most = max(
                Varint.zigzag(lowest / Int64(bitPattern: factor)),
                Varint.zigzag(highest / Int64(bitPattern: factor))
            )
            width = Self.width(most)
        } else {
            width = Self.width(span / factor)
        }
    }

    /// The greatest number that divides all differences to `base`.
    private static func factor(_ values: Span<Int64>, base: Int64) -> UInt64 {
        var factor: UInt64 = 0
        for index in values.indices {
            var rest = UInt64(bitPattern: values[index] &- base)
            if factor != 0 { rest %= factor }
            guard rest != 0 else { continue }
            (factor, rest) = factor == 0 ? (rest, 0) : (rest, factor)
            while rest != 0 { (factor, rest) = (rest, factor % rest) }
            if factor == 1 { return 1 }
        }
        return 1...UInt64(Int64.max) ~= factor ? factor : 1
    }

    private static func width(_ most: UInt64) -> UInt8 {
        switch most {
        case 0: 0
        case 1: 1
        case 2...3: 2
        case 4...15: 3
        default: UInt8(3 + (UInt64.bitWidth - most.leadingZeroBitCount + 7) / 8)
        }
    }

    /// What stands for a number.
    @inline(__always)
    func code(_ value: Int64) -> UInt64 {
        if isZigzag {
            return Varint.zigzag(factor == 1 ? value : value / Int64(bitPattern: factor))
        }
        let offset = UInt64(bitPattern: value &- base)
        return factor == 1 ? offset : offset / factor
    }
}

extension ColumnWriter {
    /// Numbers by base, factor and streams.
    mutating func put(packed values: Span<Int64>, isSigned: Bool = false) throws(FormatError) {
        guard !values.isEmpty else { return }
        let form = PackedForm(values, isSigned: isSigned)
        put(form.width | (form.isZigzag ? 16 : 0))
        put(zigzag: form.base)
        put(varint: form.factor)
        switch form.width {
        case 0: break
        case 1...3: try put(bits: values, form)
        default: try put(planes: values, form)
        }
    }

    private mutating func put(bits values: Span<Int64>, _ form: PackedForm) throws(FormatError) {
        let bitCount = form.bitCount
        let perByte = 8 / bitCount
        var packed = scratch
        packed.removeAll(keepingCapacity: true)
        packed.reserveCapacity(values.count / perByte + 1)
        var index = 0
        while index < values.count {
            var byte: UInt64 = 0
            for place in 0..<min(perByte, values.count - index) {
                byte |= form.code(values[index + place]) << UInt64(place * bitCount)
            }
            packed.append(UInt8(truncatingIfNeeded: byte))
            index += perByte
        }
        try put(stream: packed.span)
        scratch = packed
    }

    private mutating func put(planes values: Span<Int64>, _ form: PackedForm) throws(FormatError) {
        let count = values.count
        var planes = scratch
        planes.removeAll(keepingCapacity: true)
        planes.append(repeating: 0, count: count * form.planeCount)
        var bytes = planes.mutableSpan
        for index in 0..<count {
            var code = form.code(values[index])
            var place = index
            for _ in 0..<form.planeCount {
                bytes[place] = UInt8(truncatingIfNeeded: code)
                code >>= 8
                place += count
            }
        }
        let content = planes.span
        for plane in 0..<form.planeCount {
            try put(stream: content.extracting(plane * count..<(plane + 1) * count))
        }
        scratch = planes
    }
}
