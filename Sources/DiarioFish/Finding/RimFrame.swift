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

    /// A normal of the ellipse at a direction: the transposed inverse of the way there.
    func normal(_ turn: Vector) -> Vector {
        Vector(yToY * turn.x - xToY * turn.y, xToX * turn.y - yToX * turn.x)
    }

    func circle(_ placeX: Double, _ placeY: Double) -> (u: Double, v: Double) {
        let (ownX, ownY) = (placeX - x, placeY - y)
        let scale = 1 / (xToX * yToY - yToX * xToY)
        return ((yToY * ownX - yToX * ownY) * scale, (xToX * ownY - xToY * ownX) * scale)
    }

    /// The frame in which the circle is the wave that was seen in this one.
    func moved(by wave: RimWave) -> RimFrame {
        let (grown, stretch) = (1 + wave.mean, wave.stretch)
        return RimFrame(
            place(wave.way.x, wave.way.y),
            way(Vector(grown + stretch.x, stretch.y)),
            way(Vector(stretch.y, grown - stretch.x))
        )
    }

    /// The same after a picture was moved, and then enlarged.
    func moved(by way: Vector, scaled factor: Double = 1) -> RimFrame {
        RimFrame(
            (Vector(x, y) + way) * factor,
            Vector(xToX, xToY) * factor,
            Vector(yToX, yToY) * factor
        )
    }

    /// The shorter axis as a share of the longer one.
    var ratio: Double {
        let square = longer * longer
        return square > 0 ? (xToX * yToY - yToX * xToY).magnitude / square : 0
    }

    /// Half of the longer axis.
    var longer: Double {
        let half = (xToX * xToX + yToX * yToX + xToY * xToY + yToY * yToY) / 2
        let area = xToX * yToY - yToX * xToY
        let spread = max(half * half - area * area, 0).squareRoot()
        return (half + spread).squareRoot()
    }
}

extension Ellipse {
    /// Nil if the frame is too flat for one.
    init?(_ frame: RimFrame) {
        self.init(fitting: Vector.turns(8).map { frame.place($0.x, $0.y) })
    }
}

/// How far points are from a circle, as a wave of up to two periods over the turn.
struct RimWave {
    /// Of a constant, cosine and sine of the turn, and cosine and sine of twice that.
    private var shares = SIMD8<Double>.zero

    /// A circle of another radius, or no wave.
    init(mean: Double = 0) { shares[0] = mean }

    var mean: Double { shares[0] }
    /// Where the middle is, and what stretches the circle.
    var way: Vector { Vector(shares[1], shares[2]) }
    var stretch: Vector { Vector(shares[3], shares[4]) }

    func at(_ u: Double, _ v: Double) -> Double { (shares * RimWave.row(u, v)).sum() }

    private static func row(_ u: Double, _ v: Double) -> SIMD8<Double> {
        SIMD8(1, u, v, u * u - v * v, 2 * u * v, 0, 0, 0)
    }

    /// The wave of the same ellipse, moved and larger.
    func moved(_ way: Vector, growth: Double) -> RimWave {
        var wave = self
        wave.shares += SIMD8(growth, way.x, way.y, 0, 0, 0, 0, 0)
        return wave
    }

    /// True if the gap to another one differs, over the turn, by at most a share of it.
    func surrounds(_ other: RimWave, within share: Double) -> Bool {
        (way - other.way).length + (stretch - other.stretch).length < share * (mean - other.mean)
    }

    /// True if what it makes of a circle is an ellipse much like it.
    var isSmall: Bool { (0..<5).allSatisfy { shares[$0].magnitude < 0.5 } }

    /// Sums of least squares over points at directions (u, v).
    struct Sums {
        /// The matrix of five rows, the sixth column being the right side.
        private var rows = [SIMD8<Double>](repeating: .zero, count: 5)

        mutating func add(_ u: Double, _ v: Double, distance: Double, weight: Double) {
            var row = RimWave.row(u, v)
            row[5] = distance
            for index in 0..<5 { rows[index] += row * (weight * row[index]) }
        }

        /// The wave nearest to the points; nil if they do not fix one.
        func wave() -> RimWave? {
            // The matrix is positive definite, so elimination needs no exchange of rows.
            var rows = rows
            let least = 1e-4 * rows[0][0]
            for pivot in 0..<5 {
                guard rows[pivot][pivot] > least else { return nil }
                rows[pivot] /= SIMD8(repeating: rows[pivot][pivot])
                for row in 0..<5 where row != pivot {
                    rows[row] -= rows[pivot] * rows[row][pivot]
                }
            }
            var wave = RimWave()
            for index in 0..<5 { wave.shares[index] = rows[index][5] }
            return wave
        }
    }
}
