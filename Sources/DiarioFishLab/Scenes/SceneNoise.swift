import DiarioCore
import DiarioFish

extension SeededRandom {
    /// A direction, each as likely as the others.
    mutating func direction() -> Vector {
        while true {
            let point = Vector(uniform(-1...1), uniform(-1...1))
            let length = point.length
            if 0.1..<1 ~= length { return point * (1 / length) }
        }
    }
}

/// Smooth noise over a plane, from random values at whole places.
struct SceneNoise {
    private static let side = 128
    private let values: [Float]

    init(_ random: inout SeededRandom) {
        values = (0..<Self.side * Self.side).map { _ in Float(2 * random.unit() - 1) }
    }

    /// A value from -1 to 1 that changes over a distance of about 1.
    func at(_ x: Double, _ y: Double) -> Double {
        let (column, row) = (Self.floor(x), Self.floor(y))
        let (shareX, shareY) = (Self.smooth(x - Double(column)), Self.smooth(y - Double(row)))
        let mask = Self.side - 1
        let upper = (row & mask) * Self.side
        let lower = ((row + 1) & mask) * Self.side
        let (left, right) = (column & mask, (column + 1) & mask)
        let top = Self.mix(Double(values[upper + left]), Double(values[upper + right]), shareX)
        let bottom = Self.mix(Double(values[lower + left]), Double(values[lower + right]), shareX)
        return Self.mix(top, bottom, shareY)
    }

    /// Noise at three scales, the finer the weaker.
    func layered(_ x: Double, _ y: Double) -> Double {
        0.57 * at(x, y) + 0.29 * at(2.03 * x + 17, 2.03 * y) + 0.14 * at(4.1 * x, 4.1 * y + 31)
    }

    static func floor(_ value: Double) -> Int {
        let whole = Int(value)
        return Double(whole) > value ? whole - 1 : whole
    }

    /// From 0 to 1 without corners.
    static func smooth(_ share: Double) -> Double {
        let share = min(max(share, 0), 1)
        return share * share * (3 - 2 * share)
    }

    static func mix(_ first: Double, _ second: Double, _ share: Double) -> Double {
        first + (second - first) * share
    }

    /// A wave of period 1 between 0 and 1.
    static func wave(_ value: Double) -> Double {
        let share = value - Double(floor(value))
        return smooth(share < 0.5 ? 2 * share : 2 - 2 * share)
    }
}
