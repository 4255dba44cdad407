/// A circle, as three points of its rim or the best fit to more of them determine it.
package struct Circle: Equatable, Sendable {
    package let centre: Vector
    package let diameter: Double

    package init(centre: Vector, diameter: Double) {
        self.centre = centre
        self.diameter = diameter
    }

    /// The circle through three points, or the one closest to more; nil if they are on a line.
    ///
    /// `x^2 + y^2 + a x + b y + c = 0` for each point is linear in a, b and c: three equations for
    /// three points, least squares for more. The diameter is `2 sqrt(a^2 / 4 + b^2 / 4 - c)`.
    package init?(through points: [Vector]) {
        guard points.count >= 3 else { return nil }
        // Around their middle and in units of their spread, points far off lose no digits.
        let middle = Vector.mean(points)
        var spread = 0.0
        for point in points { spread = max(spread, (point - middle).length) }
        guard spread > 0, spread.isFinite else { return nil }
        let rows = points.map { point in
            let place = (point - middle) * (1 / spread)
            return Vector3(place.x, place.y, 1)
        }
        let values = rows.map { -($0.x * $0.x + $0.y * $0.y) }
        guard Circle.areApart(rows) else { return nil }
        var (matrix, right) = (
            Matrix3(rows[0], rows[1], rows[2]), Vector3(values[0], values[1], values[2])
        )
        if points.count > 3 {
            matrix = matrix * 0
            right = right * 0
            for (row, value) in zip(rows, values) {
                matrix = matrix + Matrix3(row * row.x, row * row.y, row)
                right = right + row * value
            }
        }
        guard let solution = matrix.solve(right) else { return nil }
        let (a, b, c) = (solution.x, solution.y, solution.z)
        let square = a * a / 4 + b * b / 4 - c
        guard square > 0, square.isFinite else { return nil }
        centre = middle + Vector(-a / 2, -b / 2) * spread
        diameter = 2 * square.squareRoot() * spread
    }

    /// False if all points are within a thousandth of their spread of one line.
    private static func areApart(_ points: [Vector3]) -> Bool {
        var (xx, xy, yy) = (0.0, 0.0, 0.0)
        for point in points {
            xx += point.x * point.x
            xy += point.x * point.y
            yy += point.y * point.y
        }
        // The lesser moment of the points about their middle, which is zero on a line.
        let (half, difference) = ((xx + yy) / 2, (xx - yy) / 2)
        let lesser = half - (difference * difference + xy * xy).squareRoot()
        return lesser > 1e-6 * half
    }
}
