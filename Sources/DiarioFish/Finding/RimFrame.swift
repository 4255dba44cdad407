/// An ellipse as the image of a circle of radius 1: a middle, and where the two axes go.
///
/// A fit needs no other form. What is near the ellipse is taken back to the circle, where the
/// distance from 1 as a wave over the turn tells how to move, grow and stretch it.
struct RimFrame {
    var x: Double
    var y: Double
    /// The columns of a symmetric matrix up to a turn.
    var xToX: Double
    var yToX: Double
    var xToY: Double
    var yToY: Double

    init(x: Double, y: Double, radius: Double) {
        (self.x, self.y) = (x, y)
        (xToX, yToX, xToY, yToY) = (radius, 0, 0, radius)
    }

    /// By its middle, and where the two axes go.
    init(_ middle: Vector, _ first: Vector, _ second: Vector) {
        (x, y) = (middle.x, middle.y)
        (xToX, yToX, xToY, yToY) = (first.x, second.x, first.y, second.y)
    }

    /// The radius of the circle with the same area.
    var radius: Double { (xToX * yToY - yToX * xToY).magnitude.squareRoot() }

    func place(_ u: Double, _ v: Double) -> Vector {
        Vector(x + xToX * u + yToX * v, y + xToY * u + yToY * v)
    }

    /// The way that a way of the circle's plane becomes.
    func way(_ way: Vector) -> Vector {
        Vector(xToX * way.x + yToX * way.y, xToY * way.x + yToY * way.y)
    }

    func circle(_ placeX: Double, _ placeY: Double) -> (u: Double, v: Double) {
        let (ownX, ownY) = (placeX - x, placeY - y)
        let scale = 1 / (xToX * yToY - yToX * xToY)
        return ((yToY * ownX - yToX * ownY) * scale, (xToX * ownY - xToY * ownX) * scale)
    }

    /// The frame in which the circle is the wave that was seen in this one.
    func moved(by wave: RimWave) -> RimFrame {
        let (grown, across) = (1 + wave.mean, wave.sine2)
        let (first, second) = (grown + wave.cosine2, grown - wave.cosine2)
        var frame = self
        let middle = place(wave.cosine1, wave.sine1)
        (frame.x, frame.y) = (middle.x, middle.y)
        frame.xToX = xToX * first + yToX * across
        frame.yToX = xToX * across + yToX * second
        frame.xToY = xToY * first + yToY * across
        frame.yToY = xToY * across + yToY * second
        return frame
    }

    func scaled(by factor: Double) -> RimFrame {
        var frame = self
        frame.x *= factor
        frame.y *= factor
        frame.xToX *= factor
        frame.yToX *= factor
        frame.xToY *= factor
        frame.yToY *= factor
        return frame
    }

    /// The shorter axis as a share of the longer one.
    var ratio: Double {
        let half = (xToX * xToX + yToX * yToX + xToY * xToY + yToY * yToY) / 2
        let area = xToX * yToY - yToX * xToY
        let spread = max(half * half - area * area, 0).squareRoot()
        return half > 0 ? area.magnitude / (half + spread) : 0
    }
}

extension Ellipse {
    /// Nil if the frame is too flat for one.
    init?(_ frame: RimFrame) {
        self.init(fitting: Vector.turns(8).map { frame.place($0.x, $0.y) })
    }
}

extension Vector {
    /// Some directions, evenly around the turn.
    static func turns(_ count: Int) -> [Vector] {
        (0..<count).map { index in
            let angle = 2 * Trigonometry.pi * Double(index) / Double(count)
            let (sine, cosine) = Trigonometry.sineAndCosine(angle)
            return Vector(cosine, sine)
        }
    }
}

/// How far points are from a circle, as a wave of up to two periods over the turn.
struct RimWave {
    private(set) var mean = 0.0
    private(set) var cosine1 = 0.0
    private(set) var sine1 = 0.0
    private(set) var cosine2 = 0.0
    private(set) var sine2 = 0.0

    /// No wave.
    init() {}

    func at(_ u: Double, _ v: Double) -> Double {
        mean + cosine1 * u + sine1 * v + cosine2 * (u * u - v * v) + sine2 * (2 * u * v)
    }

    /// Sums of least squares over points at directions (u, v).
    struct Sums {
        private var products = [Double](repeating: 0, count: 30)

        mutating func add(_ u: Double, _ v: Double, distance: Double, weight: Double) {
            let row = [1, u, v, u * u - v * v, 2 * u * v, distance]
            for first in 0..<5 {
                let weighted = weight * row[first]
                for second in first..<6 { products[first * 6 + second] += weighted * row[second] }
            }
        }

        /// The wave nearest to the points; nil if they do not fix one.
        func wave() -> RimWave? {
            var rows = products
            for first in 0..<5 {
                for second in 0..<first { rows[first * 6 + second] = rows[second * 6 + first] }
            }
            // The matrix is positive definite, so elimination needs no exchange of rows.
            let least = 1e-4 * rows[0]
            for pivot in 0..<5 {
                guard rows[pivot * 6 + pivot] > least else { return nil }
                for row in pivot + 1..<5 {
                    let factor = rows[row * 6 + pivot] / rows[pivot * 6 + pivot]
                    for column in pivot..<6 {
                        rows[row * 6 + column] -= factor * rows[pivot * 6 + column]
                    }
                }
            }
            var result = [Double](repeating: 0, count: 5)
            for row in stride(from: 4, through: 0, by: -1) {
                var value = rows[row * 6 + 5]
                for column in row + 1..<5 { value -= rows[row * 6 + column] * result[column] }
                result[row] = value / rows[row * 6 + row]
            }
            var wave = RimWave()
            (wave.mean, wave.cosine1, wave.sine1) = (result[0], result[1], result[2])
            (wave.cosine2, wave.sine2) = (result[3], result[4])
            return wave
        }
    }
}
