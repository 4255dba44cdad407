import DiarioCore

/// How the numbers of a packed column relate to the bytes in its streams.
struct PackedForm: Equatable {
    let base: Int64
    /// At least 1.
    let factor: UInt64
    /// Streams, each with one byte of every number.
    let width: Int

    static let widthMax = 8

    init(base: Int64, factor: UInt64, width: Int) {
        self.base = base
        self.factor = factor
        self.width = width
    }

    /// The form for these numbers, of which there is at least one.
    init(_ values: [Int64]) {
        var (lowest, highest) = (values[0], values[0])
        for value in values {
            lowest = min(lowest, value)
            highest = max(highest, value)
        }
        base = lowest
        let span = UInt64(bitPattern: highest &- lowest)
        factor = span > 255 ? Self.factor(values, base: lowest) : 1
        width = (UInt64.bitWidth - (span / factor).leadingZeroBitCount + 7) / 8
    }

    /// The greatest number that divides all differences to `base`.
    private static func factor(_ values: [Int64], base: Int64) -> UInt64 {
        var factor: UInt64 = 0
        for value in values {
            var rest = UInt64(bitPattern: value &- base)
            if factor != 0 { rest %= factor }
            guard rest != 0 else { continue }
            (factor, rest) = factor == 0 ? (rest, 0) : (rest, factor)
            while rest != 0 { (factor, rest) = (rest, factor % rest) }
            if factor == 1 { return 1 }
        }
        return factor
    }

    /// The code that stands for a number.
    func code(_ value: Int64) -> UInt64 {
        let offset = UInt64(bitPattern: value &- base)
        return factor == 1 ? offset : offset / factor
    }

    /// The codes of all numbers as planes: byte p of each, for each p from the lowest on.
    func planes(_ values: [Int64]) -> [UInt8] {
        var planes = [UInt8](repeating: 0, count: values.count * width)
        guard width > 0 else { return planes }
        for index in values.indices {
            var code = code(values[index])
            for place in stride(from: index, to: planes.count, by: values.count) {
                planes[place] = UInt8(truncatingIfNeeded: code)
                code >>= 8
            }
        }
        return planes
    }

    /// The numbers whose codes lie in planes.
    func values(_ planes: Span<UInt8>, count: Int) -> [Int64] {
        precondition(planes.count == width * count, "each number has a byte in each plane")
        var values = [Int64](repeating: base, count: count)
        var target = values.mutableSpan
        var unit = Int64(bitPattern: factor)
        for plane in 0..<width {
            for index in 0..<count {
                // Safe: the values are `count`, and the planes were counted just now. Without
                // checks the loop handles many numbers at a time, which is half of its time.
                unsafe target[unchecked: index] &+=
                    Int64(planes[unchecked: plane &* count &+ index]) &* unit
            }
            unit &<<= 8
        }
        return values
    }
}
