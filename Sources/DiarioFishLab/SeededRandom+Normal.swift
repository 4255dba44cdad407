package import DiarioCore

extension SeededRandom {
    /// A draw from the normal distribution, of mean 0 and standard deviation 1.
    ///
    /// The sum of twelve draws from 0 to 1, less six: no logarithm, which would differ from one
    /// machine to another. It never exceeds 6, and its 95th percentile is 0.4 % too small.
    package mutating func normal() -> Double {
        var sum = -6.0
        for _ in 0..<12 { sum += unit() }
        return sum
    }

    /// A number from `range.lowerBound` up to but not including `range.upperBound`.
    package mutating func uniform(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * unit()
    }
}
