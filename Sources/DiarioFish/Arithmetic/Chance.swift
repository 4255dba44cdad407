/// What chance brings about.
package enum Chance {
    /// The binary logarithm, to a tenth, of how likely it is that of `count` independent tries, of
    /// which each succeeds with `chance`, at least so many do; negated.
    package static func surprise(ofAtLeast least: Int, of count: Int, chance: Double) -> Double {
        guard least > 0, least <= count, chance > 0, chance < 1 else { return 0 }
        // The first term, then each by the one before.
        var term = 1.0
        for index in 0..<least {
            term *= chance * Double(count - index) / Double(index + 1)
        }
        for _ in least..<count { term *= 1 - chance }
        var sum = 0.0
        for index in least...count {
            sum += term
            term *= chance / (1 - chance) * Double(count - index) / Double(index + 1)
        }
        guard sum > 0, sum < 1 else { return 0 }
        return -(Double(sum.exponent) + sum.significand - 1)
    }
}
