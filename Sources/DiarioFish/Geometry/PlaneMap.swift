/// A map from one plane to another that keeps lines straight: of a photo to the table, for example.
package struct PlaneMap: Equatable, Sendable {
    /// What it makes of (x, y, 1), up to a factor; the third number is positive where it shows.
    package let matrix: Matrix3

    package init(_ matrix: Matrix3) { self.matrix = matrix }

    /// The map that enlarges by a factor.
    package init(scale: Double) {
        matrix = Matrix3(Vector3(scale, 0, 0), Vector3(0, scale, 0), Vector3(0, 0, 1))
    }

    /// The map that turns an ellipse into a circle of a diameter, about its centre.
    package init(of ellipse: Ellipse, toDiameter diameter: Double) {
        let along = ellipse.direction * (diameter / ellipse.width)
        let across = ellipse.direction.turned * (diameter / ellipse.height)
        matrix = Matrix3(
            Vector3(along.x, along.y, -along.dot(ellipse.centre)),
            Vector3(across.x, across.y, -across.dot(ellipse.centre)),
            Vector3(0, 0, 1)
        )
    }

    /// The map that takes four corners, in order around, to four others.
    ///
    /// Nil if three of a quadrangle are on a line, or if one has a corner that points inward.
    package init?(of corners: [Vector], to places: [Vector]) {
        guard let from = PlaneMap.basis(corners), let to = PlaneMap.basis(places) else {
            return nil
        }
        let matrix = to * from.adjugate
        let third = (matrix * Vector3(corners[0].x, corners[0].y, 1)).z
        guard third != 0, third.isFinite else { return nil }
        // The third number, 1 at this corner, has the same sign at all corners of convex figures.
        self.matrix = matrix * (1 / third)
    }

    /// Where a point goes; nil on and beyond the horizon.
    package func place(of point: Vector) -> Vector? {
        let image = matrix * Vector3(point.x, point.y, 1)
        guard image.z > 0 else { return nil }
        let place = Vector(image.x / image.z, image.y / image.z)
        return place.isFinite ? place : nil
    }

    /// The matrix that takes the axes and (1, 1, 1) to four corners.
    private static func basis(_ corners: [Vector]) -> Matrix3? {
        guard corners.count == 4, isConvex(corners) else { return nil }
        let points = corners.map { Vector3($0.x, $0.y, 1) }
        let columns = Matrix3(points[0], points[1], points[2])
        guard let factors = columns.transposed.solve(points[3]) else { return nil }
        let (a, b, c) = columns.rows
        return Matrix3(a * factors.x, b * factors.y, c * factors.z).transposed
    }

    /// True if a way around four corners turns to the same side at each, by some angle.
    private static func isConvex(_ corners: [Vector]) -> Bool {
        var turns: [Double] = []
        for index in 0..<4 {
            let side = corners[(index + 1) % 4] - corners[index]
            let next = corners[(index + 2) % 4] - corners[(index + 1) % 4]
            turns.append(side.cross(next) / (side.length * next.length))
        }
        return turns.allSatisfy { $0 > 1e-3 } || turns.allSatisfy { $0 < -1e-3 }
    }
}
