// The direct least-squares fit of an ellipse: Fitzgibbon, Pilu and Fisher (1999), in the stable
// form of Halir and Flusser (1998). Of all conics `a x^2 + b xy + c y^2 + d x + e y + f = 0` with
// `4ac - b^2 = 1`, which are ellipses, it finds that with the least sum of squares at the points.

/// An ellipse.
package struct Ellipse: Equatable, Sendable {
    package let centre: Vector
    /// The whole major axis.
    package let width: Double
    /// The whole minor axis.
    package let height: Double
    /// The direction of the major axis, of length 1.
    package let direction: Vector

    /// An ellipse by its axes, the longer of which becomes the width.
    package init(centre: Vector, width: Double, height: Double, direction: Vector) {
        let isWide = width >= height
        self.centre = centre
        self.width = isWide ? width : height
        self.height = isWide ? height : width
        self.direction = isWide ? direction : direction.turned
    }

    /// The minor axis as a part of the major one: 1 for a circle.
    package var axisRatio: Double { height / width }

    /// Points of the rim, evenly in the angle as seen on the circle that the ellipse shows.
    package func rim(count: Int) -> [Vector] {
        (0..<count).map { index in
            let turn = 2 * Trigonometry.pi * Double(index) / Double(count)
            let (sine, cosine) = Trigonometry.sineAndCosine(turn)
            return centre + direction * (cosine * width / 2)
                + direction.turned * (sine * height / 2)
        }
    }

    /// The ellipse closest to five points or more; nil if no ellipse fits them.
    package init?(fitting points: [Vector]) {
        guard points.count >= 5 else { return nil }
        let middle = Vector.mean(points)
        var square = 0.0
        for point in points { square += (point - middle).dot(point - middle) }
        let spread = (square / Double(points.count)).squareRoot()
        guard spread > 0, spread.isFinite else { return nil }
        let places = points.map { ($0 - middle) * (1 / spread) }
        guard let (quadratic, linear) = Ellipse.conic(closestTo: places),
            let found = Ellipse(quadratic: quadratic, linear: linear)
        else { return nil }
        self.init(
            centre: middle + found.centre * spread,
            width: found.width * spread,
            height: found.height * spread,
            direction: found.direction
        )
    }

    /// The numbers (a, b, c) and (d, e, f) of the conic.
    private static func conic(closestTo points: [Vector]) -> (Vector3, Vector3)? {
        // Sums of products of the quadratic and the linear parts of each point.
        let nothing = Matrix3(Vector3(0, 0, 0), Vector3(0, 0, 0), Vector3(0, 0, 0))
        var (squares, mixed, lines) = (nothing, nothing, nothing)
        for point in points {
            let quadratic = Vector3(point.x * point.x, point.x * point.y, point.y * point.y)
            let linear = Vector3(point.x, point.y, 1)
            squares = squares + outer(quadratic, quadratic)
            mixed = mixed + outer(quadratic, linear)
            lines = lines + outer(linear, linear)
        }
        let (first, second, third) = mixed.rows
        // For given quadratic parts, `linear` gives the best linear ones.
        guard let x = lines.solve(first * -1), let y = lines.solve(second * -1),
            let z = lines.solve(third * -1)
        else { return nil }
        let linear = Matrix3(x, y, z).transposed
        let (a, b, c) = (squares + mixed * linear).rows
        guard let quadratic = ellipticVector(of: Matrix3(c * 0.5, b * -1, a * 0.5)) else {
            return nil
        }
        return (quadratic, linear * quadratic)
    }

    private static func outer(_ left: Vector3, _ right: Vector3) -> Matrix3 {
        Matrix3(right * left.x, right * left.y, right * left.z)
    }

    /// The eigenvector that is an ellipse, whose eigenvalue is the greatest.
    ///
    /// The matrix is a positive one times the inverse of the constraint, which has one positive
    /// eigenvalue and two negative ones, and so has the product. All three are real, so Newton's
    /// method comes down to the greatest from above.
    private static func ellipticVector(of matrix: Matrix3) -> Vector3? {
        let (a, b, c) = matrix.rows
        let trace = a.x + b.y + c.z
        let minors =
            (a.x * b.y - a.y * b.x) + (a.x * c.z - a.z * c.x) + (b.y * c.z - b.z * c.y)
        let determinant = matrix.determinant
        var value = (a.dot(a) + b.dot(b) + c.dot(c)).squareRoot()
        for _ in 0..<100 {
            let polynomial = ((value - trace) * value + minors) * value - determinant
            let slope = (3 * value - 2 * trace) * value + minors
            guard slope > 0 else { break }
            let next = value - polynomial / slope
            guard next < value else { break }
            value = next
        }
        // Each row is at right angles to the vector; the two that are most apart give it best.
        let rows = Matrix3(
            a - Vector3(value, 0, 0),
            b - Vector3(0, value, 0),
            c - Vector3(0, 0, value)
        ).rows
        let candidates = [rows.0.cross(rows.1), rows.1.cross(rows.2), rows.2.cross(rows.0)]
        var best = candidates[0]
        for candidate in candidates where candidate.length > best.length { best = candidate }
        let length = best.length
        guard length > 0, length.isFinite else { return nil }
        return best * (1 / length)
    }

    /// The ellipse of a conic; nil if it is none, or thinner than a hundredth.
    private init?(quadratic: Vector3, linear: Vector3) {
        let sign: Double = quadratic.x + quadratic.z < 0 ? -1 : 1
        let (a, b, c) = (quadratic.x * sign, quadratic.y * sign, quadratic.z * sign)
        let (d, e, f) = (linear.x * sign, linear.y * sign, linear.z * sign)
        let discriminant = 4 * a * c - b * b
        guard discriminant > 0 else { return nil }
        let centre = Vector(b * e - 2 * c * d, b * d - 2 * a * e) * (1 / discriminant)
        let constant = -(f + (d * centre.x + e * centre.y) / 2)
        let difference = ((a - c) * (a - c) + b * b).squareRoot()
        // The curvature along the minor and along the major axis; their product has more digits
        // than the difference of two almost equal numbers.
        let steep = (a + c + difference) / 2
        let flat = discriminant / 4 / steep
        guard constant > 0, flat > steep * 1e-4 else { return nil }
        // Half the angle of (a - c, b) is the minor axis, and a quarter turn on the major one.
        var minor = Vector(0, -1)
        if difference > 0 {
            minor =
                a >= c
                ? Vector(difference + (a - c), b) : Vector(b, difference - (a - c))
        }
        self.init(
            centre: centre,
            width: 2 * (constant / flat).squareRoot(),
            height: 2 * (constant / steep).squareRoot(),
            direction: (minor.direction ?? Vector(0, -1)).turned
        )
        guard centre.isFinite, width.isFinite else { return nil }
    }
}
