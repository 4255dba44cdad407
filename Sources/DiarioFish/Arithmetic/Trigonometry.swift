// Sine, cosine and their inverses, of additions, multiplications, divisions and square roots alone.
//
// IEEE 754 fixes those to the bit, but neither a C library's functions nor a product and a sum in
// one step, which `stride` over real numbers makes. So a phone's page and a server measure the same
// fish to the same micrometre. No result differs from the true value by more than 1e-15 of it, or
// by 1e-24 where that is more.

/// Angles, in radians.
package enum Trigonometry {
    /// The nearest number to pi.
    package static let pi = 0x1.921fb54442d18p+1

    /// What a sine and a cosine are exact for: beyond it, they are not a number.
    package static let angleMax = 1e6

    /// The sine of an angle.
    package static func sine(_ angle: Double) -> Double { sineAndCosine(angle).sine }

    /// The cosine of an angle.
    package static func cosine(_ angle: Double) -> Double { sineAndCosine(angle).cosine }

    /// Both at once, which costs no more than twice one.
    package static func sineAndCosine(_ angle: Double) -> (sine: Double, cosine: Double) {
        guard abs(angle) <= angleMax else { return (.nan, .nan) }
        // The number of quarter turns, and what is left of the angle: at most an eighth of a turn.
        let turns = angle / halfPi
        let quarter = Int64(turns < 0 ? turns - 0.5 : turns + 0.5)
        let count = Double(quarter)
        // Half of pi in three parts of 33 bits, each of which times `count` is exact.
        let rest =
            ((angle - count * 0x1.921fb544p+0) - count * 0x1.0b4611a6p-34)
            - count * 0x1.3198a2e0p-69
        let (sine, cosine) = (sineSeries(rest), cosineSeries(rest))
        switch quarter & 3 {
        case 0: return (sine, cosine)
        case 1: return (cosine, -sine)
        case 2: return (-sine, -cosine)
        default: return (-cosine, sine)
        }
    }

    /// The angle from the axis of `x` to the point, from -pi to pi; zero for the origin.
    package static func arcTangent(y: Double, x: Double) -> Double {
        guard !y.isNaN, !x.isNaN else { return .nan }
        let (height, width) = (abs(y), abs(x))
        guard height > 0 || width > 0 else { return 0 }
        let small = firstOctant(min(height, width), max(height, width))
        // The angle between the axes is a quarter turn, of which this is what a Double has not.
        let steep = height > width ? (halfPi - small) + halfPiRest : small
        let forward = x < 0 ? (pi - steep) + 2 * halfPiRest : steep
        return y.sign == .minus ? -forward : forward
    }

    /// The angle from 0 to pi whose cosine is `cosine`; not a number beyond 1.
    package static func arcCosine(_ cosine: Double) -> Double {
        arcTangent(y: ((1 - cosine) * (1 + cosine)).squareRoot(), x: cosine)
    }

    private static let halfPi = 0x1.921fb54442d18p+0
    private static let halfPiRest = 6.123233995736766e-17

    /// Taylor's series to the 19th power, for at most an eighth of a turn.
    private static func sineSeries(_ angle: Double) -> Double {
        let square = angle * angle
        var sum = 1.0
        for power in stride(from: 18, to: 2, by: -2) {
            sum = 1 - square / Double(power * (power + 1)) * sum
        }
        return angle - angle * (square / 6 * sum)
    }

    /// Taylor's series to the 18th power, for at most an eighth of a turn.
    private static func cosineSeries(_ angle: Double) -> Double {
        let square = angle * angle
        var sum = 1.0
        for power in stride(from: 17, to: 0, by: -2) {
            sum = 1 - square / Double(power * (power + 1)) * sum
        }
        return sum
    }

    /// The angle of a point not above the diagonal.
    private static func firstOctant(_ y: Double, _ x: Double) -> Double {
        // The difference to the nearest of five angles with a known tangent is at most an eighth.
        let slope = y / x
        let (known, angle): (Double, Double) =
            switch slope {
            case ..<0.125: (0, 0)
            case ..<0.375: (0.25, 0x1.f5b75f92c80ddp-3)
            case ..<0.625: (0.5, 0x1.dac670561bb4fp-2)
            case ..<0.875: (0.75, 0x1.4978fa3269ee1p-1)
            default: (1, 0x1.921fb54442d18p-1)
            }
        let tangent = (slope - known) / (1 + slope * known)
        let square = tangent * tangent
        var sum = 0.0
        for power in stride(from: 19, to: 1, by: -2) { sum = square * (1 / Double(power) - sum) }
        return angle + (tangent - tangent * sum)
    }
}
