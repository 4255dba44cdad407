import DiarioCore

extension ColumnReader {
    /// `count` numbers by base, factor and streams.
    @_lifetime(self: copy self)
    mutating func nextPacked(
        _ count: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        guard count > 0 else { return [] }
        let start = offset
        let mode = try nextByte()
        var form = PackedForm()
        form.width = mode & 15
        form.isZigzag = mode & 16 != 0
        guard mode < 32, form.width <= 11 else { throw .malformed(.body, at: start) }
        form.base = try reader.nextZigzag()
        form.factor = try reader.nextVarint()
        guard form.factor >= 1 else { throw .malformed(.body, at: start) }
        switch form.width {
        case 0: return [Int64](repeating: form.base, count: count)
        case 1...3: return try nextBits(count, form, &memory)
        default: return try nextPlanes(count, form, &memory)
        }
    }

    @_lifetime(self: copy self)
    private mutating func nextBits(
        _ count: Int,
        _ form: PackedForm,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        let start = offset
        let bitCount = form.bitCount
        let perByte = 8 / bitCount
        memory.expanded.removeAll(keepingCapacity: true)
        let place = try nextStream(size: (count + perByte - 1) / perByte, &memory)
        var output = [Int64](repeating: 0, count: count)
        let isWhole: Bool
        if place.isExpanded {
            isWhole = Self.unpack(memory.expanded.span.extracting(place.range), form, &output)
        } else {
            isWhole = Self.unpack(Span(bytes.extracting(place.range)), form, &output)
        }
        guard isWhole else { throw .malformed(.body, at: start) }
        return output
    }

    /// False if bits are set behind the last number.
    private static func unpack(
        _ packed: Span<UInt8>,
        _ form: PackedForm,
        _ output: inout [Int64]
    ) -> Bool {
        let bitCount = form.bitCount
        let perByte = 8 / bitCount
        // What each code stands for; there are few.
        let values = (0..<UInt64(1 << bitCount)).map(form.value)
        var target = output.mutableSpan
        let codes = values.span
        let mask = 1 << bitCount - 1
        let shift = perByte.trailingZeroBitCount
        precondition(packed.count == (target.count + perByte - 1) / perByte, "all bits are there")
        for index in 0..<target.count {
            // Safe: the span has a byte for each `perByte` numbers, and a code is below the mask.
            unsafe target[unchecked: index] =
                codes[
                    unchecked: Int(packed[unchecked: index &>> shift])
                        &>> ((index & (perByte - 1)) &* bitCount) & mask
                ]
        }
        let used = target.count & (perByte - 1)
        return used == 0 || Int(packed[packed.count - 1]) >> (used * bitCount) == 0
    }

    @_lifetime(self: copy self)
    private mutating func nextPlanes(
        _ count: Int,
        _ form: PackedForm,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> [Int64] {
        // Memory is asked for only if the block may hold that much.
        guard count <= expandedRest else { throw .malformed(.body, at: offset) }
        var output = [Int64](repeating: form.isZigzag ? 0 : form.base, count: count)
        for plane in 0..<form.planeCount {
            memory.expanded.removeAll(keepingCapacity: true)
            let place = try nextStream(size: count, &memory)
            let weight = (form.isZigzag ? 1 : Int64(bitPattern: form.factor)) << Int64(8 * plane)
            if place.isExpanded {
                let packed = memory.expanded.span.extracting(place.range)
                Self.add(packed, times: weight, to: &output)
            } else {
                Self.add(Span(bytes.extracting(place.range)), times: weight, to: &output)
            }
        }
        if form.isZigzag {
            var target = output.mutableSpan
            for index in target.indices {
                target[index] = form.value(UInt64(bitPattern: target[index]))
            }
        }
        return output
    }

    private static func add(_ plane: Span<UInt8>, times weight: Int64, to output: inout [Int64]) {
        var target = output.mutableSpan
        precondition(plane.count == target.count, "a plane has a byte for each number")
        if weight & (weight &- 1) == 0 {
            let shift = Int64(weight.trailingZeroBitCount)
            for index in 0..<plane.count {
                // Safe: both spans have the count that the loop goes to.
                unsafe target[unchecked: index] &+= Int64(plane[unchecked: index]) &<< shift
            }
        } else {
            for index in 0..<plane.count {
                // Safe: both spans have the count that the loop goes to.
                unsafe target[unchecked: index] &+= Int64(plane[unchecked: index]) &* weight
            }
        }
    }
}

extension PackedForm {
    /// A form that is read.
    init() {}

    /// The number that a code stands for.
    @inline(__always)
    func value(_ code: UInt64) -> Int64 {
        let signed =
            isZigzag
            ? Int64(bitPattern: code >> 1) ^ -Int64(bitPattern: code & 1) : Int64(bitPattern: code)
        return base &+ Int64(bitPattern: factor) &* signed
    }
}
