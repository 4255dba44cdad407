/// Floating-point numbers that are decimals.
enum Decimals {
    /// Stands for numbers that are written by their bits.
    static let none: UInt8 = 255
    static let scaleMax = 18
    /// By the scale: all exact in binary64.
    static let powers: [Double] = (0...scaleMax).map { scale in
        (0..<scale).reduce(1.0) { power, _ in power * 10 }
    }
    /// Above this, integers are not exact.
    private static let integerMax = 9_007_199_254_740_992.0

    /// The scale and the integers of which these numbers are the quotients, bit by bit.
    static func find(_ bits: [Int64]) -> (scale: Int, integers: [Int64])? {
        var scale = 0
        for word in bits {
            let value = Double(bitPattern: UInt64(bitPattern: word))
            while integer(value, scale: scale) == nil {
                scale += 1
                guard scale <= 15 else { return nil }
            }
        }
        var integers: [Int64] = []
        integers.reserveCapacity(bits.count)
        for word in bits {
            let value = Double(bitPattern: UInt64(bitPattern: word))
            guard let integer = integer(value, scale: scale) else { return nil }
            integers.append(integer)
        }
        return (scale, integers)
    }

    private static func integer(_ value: Double, scale: Int) -> Int64? {
        let product = (value * powers[scale]).rounded()
        guard product.magnitude <= integerMax else { return nil }
        let integer = Int64(product)
        guard (Double(integer) / powers[scale]).bitPattern == value.bitPattern else { return nil }
        return integer
    }
}
